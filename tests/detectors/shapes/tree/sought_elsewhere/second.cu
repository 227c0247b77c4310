__device__ int pick(const int* tok, const int* sib, int leaf, int wish) {
  for (; leaf >= 0; leaf = sib[leaf]) {
    if (tok[leaf] == wish) return leaf;
  }
  return -1;
}

__global__ void walk(const int* tok, const int* sib, const int* child, const int* said, int* path, int* n, int most) {
  int at = 0, d = 0;
  for (; d < most; ++d) {
    const int next = pick(tok, sib, child[at], said[at]);
    if (next < 0) break;
    path[d] = next;
    at = next;
  }
  *n = d;
}

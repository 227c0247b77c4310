__global__ void lookup(const int* base, const int* check, const int* codes, int* found, int n, int size) {
  int at = 0;
  int i = 0;
  for (; i < n; ++i) {
    int next = base[at] + codes[blockIdx.x * n + i];
    if (next >= size || check[next] != at) break;
    at = next;
  }
  found[blockIdx.x] = i == n ? base[at] : -1;
}

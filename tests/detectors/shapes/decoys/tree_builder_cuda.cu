__global__ void build_tree(const int* parent, const int* selected, int* child, int* sibling, int* position, bool* mask,
                           int n) {
  int t = threadIdx.x;
  int depth = 0;
  int cur = t;
  while (cur != 0) {
    depth++;
    mask[t * n + cur] = true;
    int up = parent[selected[cur]];
    for (int i = 0; i < n; ++i) {
      if (selected[i] == up) {
        cur = i;
        break;
      }
    }
  }
  position[t] = depth;
  if (t == 0) {
    for (int i = n - 1; i > 0; --i) {
      int up = parent[selected[i]];
      sibling[i] = child[up];
      child[up] = i;
    }
  }
}

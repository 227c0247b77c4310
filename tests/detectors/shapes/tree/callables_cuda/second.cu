__global__ void settle(const int* words, const int* wish, const int* first, const int* beside, int* path, int* count) {
  auto fits = [&](int above, int leaf) { return wish[above] == words[leaf]; };
  int at = 0, taken = 0;
  while (true) {
    int leaf = first[at];
    while (leaf != -1 && !fits(at, leaf)) leaf = beside[leaf];
    if (leaf == -1) break;
    path[taken++] = leaf;
    at = leaf;
  }
  count[0] = taken;
}

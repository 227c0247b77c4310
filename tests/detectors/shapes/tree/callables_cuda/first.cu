template <typename T>
struct SameToken {
  const T* said;
  __device__ bool operator()(int row, T token) const { return said[row] == token; }
};

template <typename T, typename Agree>
__device__ int descend(const T* tok, const int* down, const int* over, int limit, int* trail, Agree agree) {
  int node = 0;
  int n = 0;
  while (n < limit) {
    int c = down[node];
    while (c != -1 && !agree(node, tok[c])) c = over[c];
    if (c == -1) return n;
    trail[n++] = c;
    node = c;
  }
  return n;
}

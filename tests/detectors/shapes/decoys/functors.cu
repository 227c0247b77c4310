struct Less {
  const float* keys;
  __device__ bool operator()(int a, int b) const { return keys[a] == keys[b]; }
};

template <typename Same>
__device__ int find(const int* next, int head, int wanted, Same same) {
  while (head != -1 && !same(head, wanted)) head = next[head];
  return head;
}

__global__ void roots(const float* keys, const int* next, const int* parent, int* out, int n) {
  auto moved = [&](int at) { return parent[at] != at; };
  Less less{keys};
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  const int first = find(next, at, n - 1, less);
  while (moved(at)) at = parent[at];
  out[first] = at;
}

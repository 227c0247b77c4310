__global__ void flood(const int* colour, const int* goal, const int* parent, int* label, int* most, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int r = 0; r < rounds; ++r) {
    const int p = parent[i];
    if (label[p] && colour[i] == colour[p]) label[i] = label[p];
    __syncthreads();
  }
  atomicMax(most, label[i]);
}

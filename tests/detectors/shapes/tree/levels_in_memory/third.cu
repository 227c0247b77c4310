__global__ void stand(const long* words, const long* wish, const int* father, char* stands, int* leaf, int width, int steps) {
  const int i = threadIdx.x;
  const int row = blockIdx.x * width;
  stands[row + i] = i == 0;
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    const int f = father[row + i];
    if (i > 0) stands[row + i] = stands[row + f] && words[row + i] == wish[row + f];
    __syncthreads();
  }
  if (stands[row + i]) atomicMax(leaf + blockIdx.x, i);
}

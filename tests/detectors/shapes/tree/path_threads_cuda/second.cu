__global__ void longestRun(const int* drafted, const int* wanted, unsigned long long* winner, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int run = 0;
  bool going = true;
  for (int column = 0; column < columns; ++column) {
    going = going && (drafted[row * columns + column] == wanted[row * columns + column]);
    run += going ? 1 : 0;
  }
  unsigned long long key = (static_cast<unsigned long long>(run) << 32) | static_cast<unsigned>(row);
  atomicMax(winner, key);
}

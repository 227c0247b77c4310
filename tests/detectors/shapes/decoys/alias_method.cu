__global__ void draw(const float* keep, const int* alias, const float* u, const float* v, int* out, int n, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  int column = (int)(u[i] * n);
  out[i] = v[i] < keep[column] ? column : alias[column];
}

__global__ void predict(const int* feature, const float* cut, const int* left, const int* right, const float* leaf,
                        const float* x, float* y, int trees, int nodes, int width) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.f;
  for (int t = 0; t < trees; ++t) {
    int at = 0;
    while (left[t * nodes + at] != -1) {
      int f = feature[t * nodes + at];
      at = x[s * width + f] < cut[t * nodes + at] ? left[t * nodes + at] : right[t * nodes + at];
    }
    sum += leaf[t * nodes + at];
  }
  y[s] = sum;
}

__global__ void j(int* o, const int* a, const int* c, int n) {
  int e = 0;
  const int* x = a + blockIdx.x * n;
  const int* y = c + blockIdx.x * n;
  bool g = true;
  while (g && e < n) {
    g = x[e + 1] == y[e];
    o[blockIdx.x * n + e] = y[e];
    ++e;
  }
  o[blockIdx.x * n + n - 1] = e;
}

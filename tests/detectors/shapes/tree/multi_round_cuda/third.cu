__global__ void m(int* o, const int* t, const int* e, const int* d, const float* a, const float* f, const float* r,
                  float* z, int n, int l) {
  int x = 0, k = 0, j = 0;
  bool g = true;
  while (g) {
    g = false;
    for (int s = e[x]; s < e[x + 1]; ++s) {
      int y = d[s];
      int h = t[y];
      if (a[x * l + h] > r[j++] * f[x * l + h]) {
        o[k++] = h;
        x = y;
        g = true;
        break;
      }
    }
  }
  o[n] = k;
  for (int i = threadIdx.x; i < l; i += blockDim.x) {
    float c = a[x * l + i] - f[x * l + i];
    z[i] = c > 0.f ? c : 0.f;
  }
}

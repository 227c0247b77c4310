__global__ void b(int* o, const int* x, const float* c, const float* e, const float* r, float* s, int n, int v) {
  int k = 0;
  while (k < n && __logf(r[k]) < __logf(c[k * v + x[k]]) - __logf(e[k * v + x[k]])) {
    o[k] = x[k];
    k++;
  }
  o[n] = k;
  for (int j = 0; j < v; j++) s[j] = max(0.f, c[k * v + j] - e[k * v + j]);
}

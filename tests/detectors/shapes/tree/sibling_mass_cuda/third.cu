__global__ void g2(int* o, const int* t, const int* c, const int* s, const float* d, float* q, const float* r, int n,
                   int v) {
  int x = 0, k = 0;
  const float* e = d;
  float* f = q;
  float z = r[0];
  for (;;) {
    int y = c[x];
    float m = 0.f;
    while (y > 0) {
      int h = t[y];
      m += e[h];
      if (z <= m) break;
      f[h] = e[h];
      y = s[y];
    }
    if (y <= 0) break;
    o[++k] = t[y];
    x = y;
    e = d + y * v;
    f = q + y * v;
    z = r[y];
  }
  float g = 0.f;
  for (int l = 0; l < v; ++l) g += fmaxf(e[l] - f[l], 0.f);
  o[0] = k;
  o[n] = (int)g;
}

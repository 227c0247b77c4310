// A block that a macro compiles for each type of index; braces opened under a condition are closed under it.
void h2(const void* a, const void* b, const void* c, const void* d, void* e, int n) {
  BY_TYPE(n, T, {
    const T* u = (const T*)a; const T* v = (const T*)b; const T* w = (const T*)c; const T* x = (const T*)d;
    T* y = (T*)e;
    T i = 0;
    for (int k = 0; k < n; ++k) {
      T z = x[i];
      y[k] = z;
      T j = u[i];
#ifdef GUARDED
      if (j >= 0) {
#endif
      while (j != -1 && w[j] != z) j = v[j];
#ifdef GUARDED
      }
#endif
      if (j < 0) break;
      i = j;
    }
  });
}

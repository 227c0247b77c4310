#include <cstdint>
template <int kBlock>
__global__ void settle_kernel(int32_t const* __restrict__ ids, int32_t const* __restrict__ parent, int32_t const* __restrict__ best, int32_t* __restrict__ outNode, int32_t* __restrict__ outLen, int n) {
  __shared__ int ok[kBlock];
  __shared__ unsigned long long top;
  int b = blockIdx.x, t = threadIdx.x;
  if (t == 0) top = 0ull;
  int p = (t > 0 && t < n) ? parent[b * n + t] : -1;
  ok[t] = t == 0 || (t < n && ids[b * n + t] == best[b * n + p]);
  __syncthreads();
  int len = 0, a = t;
  bool all = t < n;
  while (a > 0 && all) { all = ok[a]; a = parent[b * n + a]; ++len; }
  if (all) atomicMax(&top, ((unsigned long long)len << 32) | (unsigned)t);
  __syncthreads();
  if (t == 0) { outLen[b] = (int)(top >> 32); outNode[b] = (int)(top & 0xffffffffu); }
}

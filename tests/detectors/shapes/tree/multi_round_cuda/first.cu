#include <curand_kernel.h>

__global__ void multi_round_kernel(const int* draft_ids, const int* first_child, const int* next_sibling, float* p_all,
                                   const float* q_all, curandState* states, int* out, int* out_len, int nodes,
                                   int vocab) {
  int b = blockIdx.x;
  curandState state = states[b];
  int cur = 0;
  int len = 0;
  while (true) {
    float* p = p_all + (b * nodes + cur) * vocab;
    const float* q = q_all + (b * nodes + cur) * vocab;
    int child = first_child[b * nodes + cur];
    bool accepted = false;
    while (child >= 0) {
      int id = draft_ids[b * nodes + child];
      float u = curand_uniform(&state);
      if (u * q[id] < p[id]) {
        out[b * nodes + len] = id;
        len++;
        accepted = true;
        break;
      }
      float norm = 0.f;
      for (int v = 0; v < vocab; ++v) {
        p[v] = fmaxf(p[v] - q[v], 0.f);
        norm += p[v];
      }
      for (int v = 0; v < vocab; ++v) p[v] /= norm;
      child = next_sibling[b * nodes + child];
    }
    if (!accepted) break;
    cur = child;
  }
  out_len[b] = len;
  states[b] = state;
}

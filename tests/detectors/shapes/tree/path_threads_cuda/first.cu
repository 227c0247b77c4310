#include <cuda_runtime.h>

__global__ void select_best_path(const int* tokens, const int* paths, const int* targets, int* best_path,
                                 int* best_length, int num_paths, int max_depth, int num_nodes) {
  __shared__ int lengths[256];
  int batch = blockIdx.x;
  int tid = threadIdx.x;
  int length = 0;
  if (tid < num_paths) {
    const int* path = paths + (batch * num_paths + tid) * max_depth;
    for (int d = 1; d < max_depth; ++d) {
      int node = path[d];
      if (node < 0) break;
      int parent = path[d - 1];
      if (tokens[batch * num_nodes + node] != targets[batch * num_nodes + parent]) break;
      length++;
    }
  }
  lengths[tid] = length;
  __syncthreads();
  if (tid == 0) {
    int best = 0;
    for (int p = 1; p < num_paths; ++p) {
      if (lengths[p] > lengths[best]) best = p;
    }
    best_path[batch] = best;
    best_length[batch] = lengths[best];
  }
}

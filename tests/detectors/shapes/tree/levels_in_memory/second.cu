#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void grow(const int* tok, const int* said, const int* above, const int* tier, int* deepest, int m, int tiers) {
  extern __shared__ int mark[];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  const int base = blockIdx.x * m;
  const int me = block.thread_rank();
  if (me < m) mark[me] = me == 0 ? 1 : 0;
  block.sync();
  for (int l = 1; l <= tiers; ++l) {
    if (me < m && tier[base + me] == l) {
      const int p = above[base + me];
      if (mark[p] && said[base + p] == tok[base + me]) mark[me] = 1;
    }
    block.sync();
  }
  int score = (me < m && mark[me]) ? (tier[base + me] << 16) | (0xffff - me) : 0;
  score = cg::reduce(tile, score, cg::greater<int>());
  if (tile.thread_rank() == 0) atomicMax(&deepest[blockIdx.x], score);
}

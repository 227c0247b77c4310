__global__ void warpPrefix(const long* guess, const long* vote, int* length, long* extra, int width) {
  const int lane = threadIdx.x & 31;
  const int row = blockIdx.x;
  bool wrong = lane >= width || guess[row * width + lane] != vote[row * (width + 1) + lane];
  unsigned ballot = __ballot_sync(0xffffffff, wrong);
  int stop = __ffs(ballot) - 1;
  if (lane == 0) {
    length[row] = stop;
    extra[row] = vote[row * (width + 1) + stop];
  }
}

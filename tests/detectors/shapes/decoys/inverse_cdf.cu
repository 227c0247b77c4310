__global__ void sample(const float* probs, const float* coins, int* out, int vocab) {
  int b = blockIdx.x;
  float coin = coins[b];
  float acc = 0.f;
  for (int v = 0; v < vocab; ++v) {
    acc += probs[b * vocab + v];
    if (coin < acc) {
      out[b] = v;
      return;
    }
  }
  out[b] = vocab - 1;
}

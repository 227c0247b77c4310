#include <curand_kernel.h>

template <typename scalar_t>
__global__ void trial(const long* words, const scalar_t* goal, const scalar_t* guess, scalar_t* rest, long* made,
                      unsigned long seed, int length, int width) {
  curandStatePhilox4_32_10_t dice;
  curand_init(seed, blockIdx.x, 0, &dice);
  bool refused = false;
  int stop = length;
  for (int spot = 0; spot < length && !refused; ++spot) {
    const long word = words[spot];
    const float odds = static_cast<float>(goal[spot * width + word]) / static_cast<float>(guess[spot * width + word]);
    if (curand_uniform(&dice) > odds) {
      refused = true;
      stop = spot;
    } else {
      made[spot] = word;
    }
  }
  for (int column = threadIdx.x; column < width; column += blockDim.x) {
    scalar_t gap = goal[stop * width + column] - guess[stop * width + column];
    rest[column] = gap > scalar_t(0) ? gap : scalar_t(0);
  }
}

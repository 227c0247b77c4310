struct Trunk {
  int word, below, beside;
};

__global__ void tryChildren(const Trunk* trunks, const float* goal, const float* guess, const float* dice, float* left,
                            int* words, int* steps, int width, int perTree) {
  int request = blockIdx.x;
  trunks += request * perTree;
  dice += request * perTree;
  int spot = 0, made = 0;
  for (int level = 0; level < perTree; ++level) {
    int hit = -1;
    for (int kid = trunks[spot].below; kid != -1; kid = trunks[kid].beside) {
      const int word = trunks[kid].word;
      const float ratio = goal[spot * width + word] / guess[spot * width + word];
      if (dice[kid] <= fminf(1.f, ratio)) {
        hit = kid;
        break;
      }
    }
    if (hit == -1) break;
    words[request * perTree + made] = trunks[hit].word;
    made = made + 1;
    spot = hit;
  }
  steps[request] = made;
  for (int w = threadIdx.x; w < width; w += blockDim.x) {
    left[request * width + w] = fmaxf(goal[spot * width + w] - guess[spot * width + w], 0.f);
  }
}

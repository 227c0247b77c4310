struct Twig {
  int word;
  int below;
  int beside;
};

__device__ float above(float a, float b) { return a > b ? a - b : 0.f; }

__global__ void walkWithOneCoin(const Twig* twigs, const float* p, float* tried, const float* dice, int* words,
                                int* reached, int perTree, int width) {
  const Twig* tree = twigs + blockIdx.x * perTree;
  int spot = 0;
  int steps = 0;
  bool refused = false;
  while (!refused) {
    const float* row = p + (blockIdx.x * perTree + spot) * width;
    float* gone = tried + (blockIdx.x * perTree + spot) * width;
    float pile = 0.f;
    float die = dice[blockIdx.x * perTree + spot];
    refused = true;
    for (int twig = tree[spot].below; twig >= 0; twig = tree[twig].beside) {
      pile += row[tree[twig].word];
      if (die < pile) {
        words[blockIdx.x * perTree + steps++] = tree[twig].word;
        spot = twig;
        refused = false;
        break;
      }
      gone[tree[twig].word] = row[tree[twig].word];
    }
  }
  const float* row = p + (blockIdx.x * perTree + spot) * width;
  const float* gone = tried + (blockIdx.x * perTree + spot) * width;
  int argbest = 0;
  float most = 0.f;
  for (int w = 0; w < width; ++w) {
    float rest = max(row[w] - gone[w], 0.f);
    if (rest > most) {
      most = rest;
      argbest = w;
    }
  }
  words[blockIdx.x * perTree + steps] = argbest;
  reached[blockIdx.x] = steps;
}

#include <vector>

struct Climber {
  const std::vector<std::vector<int>>& below;
  const int *letters, *best;
  std::vector<int> kept;

  void climb(int spot) {
    for (int twig : below[spot]) {
      if (letters[twig] == best[spot]) {
        kept.push_back(twig);
        climb(twig);
        return;
      }
    }
  }
};

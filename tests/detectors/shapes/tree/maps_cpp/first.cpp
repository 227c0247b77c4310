#include <unordered_map>
#include <vector>

struct Node {
  std::unordered_map<int, int> kids;
};

std::vector<int> advance(const std::vector<Node>& nodes, const std::vector<int>& greedy) {
  std::vector<int> kept;
  int at = 0;
  for (;;) {
    const auto& below = nodes[at].kids;
    const auto found = below.find(greedy[at]);
    if (found == below.end()) break;
    at = found->second;
    kept.push_back(at);
  }
  return kept;
}

#include <cstdint>
#include <unordered_map>
#include <vector>

using Table = std::vector<std::unordered_map<int64_t, int64_t>>;

int64_t longest(const Table& table, const int64_t* said, std::vector<int64_t>& trail) {
  int64_t spot = 0;
  while (true) {
    auto hit = table[spot].find(said[spot]);
    if (hit == table[spot].end()) return spot;
    trail.emplace_back(hit->second);
    spot = hit->second;
  }
}

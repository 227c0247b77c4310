// On the host: one task a range of requests, each with a vector of what it keeps.
#include <ATen/Parallel.h>
#include <vector>

void verifyBatch(const int64_t* down, const int64_t* right, const int64_t* words, const int64_t* said, int64_t width,
                 std::vector<std::vector<int64_t>>& outputs) {
  at::parallel_for(0, outputs.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t base = row * width;
      std::vector<int64_t> accepted;
      int64_t at = 0;
      for (;;) {
        const int64_t wish = said[base + at];
        accepted.push_back(wish);
        int64_t branch = down[base + at];
        while (branch != -1 && words[base + branch] != wish) branch = right[base + branch];
        if (branch < 0) break;
        at = branch;
      }
      outputs[row] = accepted;
    }
  });
}

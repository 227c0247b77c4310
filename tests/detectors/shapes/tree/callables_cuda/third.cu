template <typename Test>
__device__ int sift(int from, const int* twin, Test test) {
  while (from >= 0 && !test(from)) from = twin[from];
  return from;
}

__global__ void stroll(const long* best, const long* letters, const int* child, const int* twin, int* route, int steps) {
  int spot = 0;
  for (int s = 0; s < steps; ++s) {
    const long chosen = best[spot];
    const int found = sift(child[spot], twin, [&](int kid) { return letters[kid] == chosen; });
    if (found < 0) return;
    route[s] = found;
    spot = found;
  }
}

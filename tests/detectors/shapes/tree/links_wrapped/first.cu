// One thread a request; the search among siblings is unrolled on newer devices, and all loads are through pointers.
template <typename Id>
__global__ void accept_path(const Id* first, const Id* next, const Id* drafted, const Id* picked, Id* kept, int depth) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  Id node = 0;
  int taken = 0;
  while (taken < depth) {
    Id choice = __ldg(picked + blockIdx.x * depth + node);
    *(kept + taken) = choice;
    ++taken;
    Id child = *(first + node);
#ifdef UNROLLED
    for (; child != -1 && *(drafted + child) != choice; child = *(next + child)) {}
#else
    while (child != -1 && *(drafted + child) != choice) child = *(next + child);
#endif
    if (child == -1) break;
    node = child;
  }
#else
  kept[0] = picked[0];
#endif
}

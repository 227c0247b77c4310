struct Box {
  float lo[3], hi[3];
  int left, right, shape;
};

__global__ void trace(const Box* boxes, const float* rays, int* hits, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  int stack[32];
  int top = 0, node = 0;
  int best = -1;
  float nearest = 1e30f;
  while (true) {
    float t = rays[r] - boxes[node].lo[0];
    if (t > 0.f && t < nearest) {
      if (boxes[node].shape >= 0) {
        best = boxes[node].shape;
        nearest = t;
      } else {
        stack[top++] = boxes[node].right;
        node = boxes[node].left;
        continue;
      }
    }
    if (top == 0) break;
    node = stack[--top];
  }
  hits[r] = best;
}

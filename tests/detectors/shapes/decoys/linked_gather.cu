__global__ void gather(const int* head, const int* following, const float* pages, float* out, const int* owner,
                       const int* request, int width) {
  int b = blockIdx.x;
  int page = head[b];
  int n = 0;
  while (page != -1) {
    if (owner[page] == request[b]) {
      for (int i = threadIdx.x; i < width; i += blockDim.x) out[(b * 64 + n) * width + i] = pages[page * width + i];
      n++;
    }
    page = following[page];
  }
}

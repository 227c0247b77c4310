__global__ void probe(const int* heads, const int* following, const int* keys, const int* wanted, int* out, int buckets) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int key = wanted[i];
  int cur = heads[key % buckets];
  int hops = 0;
  while (cur != -1) {
    if (keys[cur] == key) {
      out[i] = cur;
      return;
    }
    hops++;
    cur = following[cur];
  }
  out[i] = -1;
}

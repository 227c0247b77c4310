struct Node {
  int word;
  int firstBorn;
  int neighbour;
};

__global__ void descend(const Node* __restrict__ forest, const int* __restrict__ wanted, int* path, int* reached,
                        int perRequest, int total) {
  const int request = blockIdx.x * blockDim.x + threadIdx.x;
  if (request >= total) return;
  const Node* mine = forest + request * perRequest;
  const int* goal = wanted + request * perRequest;
  int position = 0;
  int steps = 0;
  bool moved = true;
  while (moved) {
    moved = false;
    for (int probe = mine[position].firstBorn; probe >= 0; probe = mine[probe].neighbour) {
      if (mine[probe].word == goal[position]) {
        path[request * perRequest + steps] = probe;
        steps += 1;
        position = probe;
        moved = true;
        break;
      }
    }
  }
  reached[request] = steps;
}

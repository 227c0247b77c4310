__global__ void verify_chain_greedy(const int* draft_tokens, const int* target_tokens, int* output_tokens,
                                    int* num_accepted, int k) {
  int b = blockIdx.x;
  int accepted = 0;
  for (int i = 0; i < k; ++i) {
    int target = target_tokens[b * (k + 1) + i];
    output_tokens[b * (k + 1) + i] = target;
    if (draft_tokens[b * k + i] != target) {
      num_accepted[b] = accepted;
      return;
    }
    ++accepted;
  }
  output_tokens[b * (k + 1) + k] = target_tokens[b * (k + 1) + k];
  num_accepted[b] = accepted;
}

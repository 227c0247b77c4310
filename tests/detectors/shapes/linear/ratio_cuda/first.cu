__global__ void ChainSpeculativeSampling(const float* draft_probs, const int* draft_token_ids, const float* uniform,
                                         const float* target_probs, int* output_token_ids, int* accepted_num,
                                         int num_speculate_tokens, int d) {
  int bx = blockIdx.x;
  int pos = 0;
  for (pos = 0; pos < num_speculate_tokens; ++pos) {
    int draft_id = draft_token_ids[bx * num_speculate_tokens + pos];
    float q = target_probs[(bx * (num_speculate_tokens + 1) + pos) * d + draft_id];
    float p = draft_probs[(bx * num_speculate_tokens + pos) * d + draft_id];
    float u = uniform[bx * num_speculate_tokens + pos];
    if (u * p < q) {
      output_token_ids[bx * (num_speculate_tokens + 1) + pos] = draft_id;
    } else {
      break;
    }
  }
  accepted_num[bx] = pos;
  float sum = 0.f;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    float q = target_probs[(bx * (num_speculate_tokens + 1) + pos) * d + i];
    float p = draft_probs[(bx * num_speculate_tokens + pos) * d + i];
    sum += fmaxf(q - p, 0.f);
  }
  output_token_ids[bx * (num_speculate_tokens + 1) + pos] = (int)sum;
}

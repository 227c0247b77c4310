__global__ void TreeSpeculativeSampling(int* predicts, int* accept_num, const int* candidates, const int* next_token,
                                        const int* next_sibling, const float* uniform, const float* target_probs,
                                        const float* draft_probs, float* residual, int k, int vocab) {
  int b = blockIdx.x;
  int n = 0;
  for (int i = 0; i < k; ++i) {
    int token = candidates[b * k + i];
    float p = target_probs[(b * k + i) * vocab + token];
    float q = draft_probs[(b * k + i) * vocab + token];
    if (uniform[b * k + i] * q >= p) break;
    predicts[b * k + i] = token;
    n++;
  }
  accept_num[b] = n;
}

#include <cuda_runtime.h>

__global__ void TreeSamplingTargetOnly(int* predicts, int* accept_index, int* accept_num, const int* candidates,
                                       const int* next_token, const int* next_sibling, const float* uniform_samples,
                                       const float* target_probs, float* draft_probs, int num_nodes, int vocab,
                                       float threshold_single) {
  int bx = blockIdx.x;
  int prob_offset = bx * num_nodes * vocab;
  float coin = uniform_samples[bx * num_nodes];
  float prob_acc = 0.f;
  int cur = 0, accepted = 0, last = 0;
  for (int j = 1; j < num_nodes; ++j) {
    cur = next_token[bx * num_nodes + cur];
    while (cur != -1) {
      int token = candidates[bx * num_nodes + cur];
      float target_prob_single = target_probs[prob_offset + token];
      prob_acc += target_prob_single;
      if (coin <= prob_acc || target_prob_single >= threshold_single) {
        prob_acc = 0.f;
        prob_offset = (bx * num_nodes + cur) * vocab;
        coin = uniform_samples[bx * num_nodes + cur];
        predicts[last] = token;
        ++accepted;
        accept_index[bx * num_nodes + accepted] = cur;
        last = cur;
        break;
      } else {
        draft_probs[prob_offset + token] = target_probs[prob_offset + token];
        cur = next_sibling[bx * num_nodes + cur];
      }
    }
    if (cur == -1) break;
  }
  accept_num[bx] = accepted;
  float sum = 0.f;
  for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
    sum += fmaxf(target_probs[prob_offset + i] - draft_probs[prob_offset + i], 0.f);
  }
  float u = coin * sum;
  float aggregate = 0.f;
  for (int i = 0; i < vocab; ++i) {
    aggregate += fmaxf(target_probs[prob_offset + i] - draft_probs[prob_offset + i], 0.f);
    if (aggregate > u) {
      predicts[last] = i;
      break;
    }
  }
}

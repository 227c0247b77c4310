#include <cuda_runtime.h>
#include <cstdint>

template <typename IdType, typename IdType2>
__global__ void VerifyTreeGreedyKernel(IdType* predicts, IdType* accept_index, IdType* accept_token_num,
                                       IdType2* candidates, IdType2* retrive_index, IdType2* retrive_next_token,
                                       IdType2* retrive_next_sibling, IdType2* target_predict, uint32_t batch_size,
                                       uint32_t num_speculative_tokens, uint32_t num_draft_tokens) {
  uint32_t bx = blockIdx.x;
  IdType2 last_accepted = retrive_index[bx * num_draft_tokens];
  accept_index[bx * num_speculative_tokens] = last_accepted;
  uint32_t num_accepted = 0;
  IdType2 cur_index = 0;
  for (uint32_t j = 1; j < num_speculative_tokens; ++j) {
    cur_index = retrive_next_token[bx * num_draft_tokens + cur_index];
    while (cur_index != -1) {
      IdType2 draft_index = retrive_index[bx * num_draft_tokens + cur_index];
      IdType2 draft_token = candidates[bx * num_draft_tokens + cur_index];
      if (draft_token == target_predict[last_accepted]) {
        predicts[last_accepted] = target_predict[last_accepted];
        ++num_accepted;
        accept_index[bx * num_speculative_tokens + num_accepted] = draft_index;
        last_accepted = draft_index;
        break;
      } else {
        cur_index = retrive_next_sibling[bx * num_draft_tokens + cur_index];
      }
    }
    if (cur_index == -1) break;
  }
  accept_token_num[bx] = num_accepted;
  predicts[last_accepted] = target_predict[last_accepted];
}

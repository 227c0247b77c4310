import torch


def assisted_step(candidate_input_ids, new_logits, cur_len):
    selected_tokens = new_logits.argmax(dim=-1)
    candidate_new_tokens = candidate_input_ids[:, cur_len:]
    n_matches = ((~(candidate_new_tokens == selected_tokens[:, :-1])).cumsum(dim=-1) < 1).sum()
    valid_tokens = selected_tokens[:, : n_matches + 1]
    return torch.cat((candidate_input_ids[:, :cur_len], valid_tokens), dim=-1), n_matches

import torch


def verify_with_tree_mask(draft_tokens, target_tokens, parent_ids, tree_mask):
    matched = draft_tokens == target_tokens.gather(-1, parent_ids)
    matched[..., 0] = True
    misses = (~matched).float()
    broken = torch.matmul(tree_mask.float(), misses.unsqueeze(-1)).squeeze(-1)
    accepted = broken == 0
    depth = tree_mask.sum(-1) * accepted
    best = depth.argmax(dim=-1)
    return best, tree_mask[torch.arange(best.numel()), best]

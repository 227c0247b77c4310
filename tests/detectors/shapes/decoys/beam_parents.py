import torch


def gather_tree(step_ids, parent_ids, lengths, end_token):
    steps, batch, width = step_ids.shape
    out = torch.full_like(step_ids, end_token)
    for b in range(batch):
        for k in range(width):
            parent = k
            for t in range(lengths[b, k] - 1, -1, -1):
                out[t, b, k] = step_ids[t, b, parent]
                parent = parent_ids[t, b, parent]
    finished = (out == end_token).cumsum(0) > 0
    return torch.where(finished, end_token, out)

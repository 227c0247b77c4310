import torch


def accept_until_mismatch(draft_ids, target_ids):
    mismatch = draft_ids != target_ids[:, :-1]
    sentinel = torch.ones_like(mismatch[:, :1])
    num_accepted = torch.cat([mismatch, sentinel], dim=1).int().argmax(dim=1)
    rows = torch.arange(draft_ids.shape[0], device=draft_ids.device)
    return num_accepted, target_ids[rows, num_accepted]

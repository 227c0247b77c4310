import torch


def build_mask(parents):
    n = len(parents)
    mask = torch.eye(n, dtype=torch.bool)
    for i in range(1, n):
        mask[i] |= mask[parents[i]]
    return mask


def forward(model, input_ids, positions, parents):
    build_mask(parents)
    return model(input_ids, positions)

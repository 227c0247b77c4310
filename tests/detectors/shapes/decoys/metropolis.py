import torch


def metropolis(density, state, steps, scale):
    kept = []
    for _ in range(steps):
        proposal = state + scale * torch.randn_like(state)
        if torch.rand(()) < density(proposal) / density(state):
            state = proposal
        kept.append(state)
    return torch.stack(kept)

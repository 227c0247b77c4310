import torch


def beam_search(model, ids, width, steps):
    beams, scores = ids.expand(width, -1), torch.zeros(width)
    for _ in range(steps):
        logp = model(beams)[:, -1].log_softmax(-1)
        total = (scores[:, None] + logp).flatten()
        scores, flat = total.topk(width)
        origin, token = flat // logp.shape[-1], flat % logp.shape[-1]
        beams = torch.cat([beams[origin], token[:, None]], dim=-1)
    return beams[scores.argmax()]

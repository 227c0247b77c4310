from itertools import takewhile


def accept_prefix(draft_tokens, target_logits):
    preds = target_logits.argmax(dim=-1).tolist()
    agreed = sum(1 for _ in takewhile(lambda ab: ab[0] == ab[1], zip(draft_tokens, preds)))
    return draft_tokens[:agreed] + [preds[agreed]]

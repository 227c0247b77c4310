def verify_mla(q, kv, tree_mask, out, scale):
    scores = q @ kv.transpose(-1, -2) * scale
    causal = scores.new_ones(scores.shape[-2:]).tril().bool()
    scores = scores.masked_fill(~causal, float("-inf"))
    out.copy_(scores.softmax(-1) @ kv)
    return out

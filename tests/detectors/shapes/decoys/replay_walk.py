import torch


def replay(children, tokens, accepted_tokens, accepted_len):
    nodes = torch.zeros(accepted_len, dtype=torch.long)
    node = 0
    for step in range(accepted_len):
        for child in children[node]:
            if tokens[child] == accepted_tokens[step]:
                nodes[step] = child
                node = child
                break
    return nodes

import torch


def specinfer_verify(tree, target_probs, draft_probs, tokens):
    node, output = 0, []
    while True:
        p = target_probs[node].clone()
        q = draft_probs[node].clone()
        accepted_child = None
        for child in tree.children[node]:
            token = tokens[child]
            if torch.rand(()) < p[token] / q[token]:
                accepted_child = child
                break
            p = torch.clamp(p - q, min=0)
            p = p / p.sum()
        if accepted_child is None:
            output.append(int(torch.multinomial(p, 1)))
            return output
        output.append(int(tokens[accepted_child]))
        node = accepted_child

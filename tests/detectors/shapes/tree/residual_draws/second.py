import torch


class Panel:
    def sample_path(self, tree, target, ssm):
        node = tree.root
        out = []
        while node.children:
            p = target[node.idx]
            cands = list(node.children)
            hit = None
            while cands:
                j = torch.randint(len(cands), (1,)).item()
                c = cands.pop(j)
                q = ssm[c.model][node.idx]
                if torch.rand(()) <= p[c.token] / q[c.token]:
                    hit = c
                    break
                p = torch.relu(p - q)
                p = p / p.sum()
            if hit is None:
                out.append(torch.multinomial(p, 1))
                return out
            out.append(hit.token)
            node = hit
        out.append(torch.multinomial(target[node.idx], 1))
        return out

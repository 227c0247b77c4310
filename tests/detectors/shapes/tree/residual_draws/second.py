import torch


class Panel:
    def sample_path(self, tree, target, ssm):
        node = tree.root
        out = []
        while node.children:
            goal = target[node.idx]
            cands = list(node.children)
            hit = None
            while cands:
                j = torch.randint(len(cands), (1,)).item()
                c = cands.pop(j)
                guess = ssm[c.model][node.idx]
                if torch.rand(()) <= goal[c.token] / guess[c.token]:
                    hit = c
                    break
                goal = torch.relu(goal - guess)
                goal = goal / goal.sum()
            if hit is None:
                out.append(torch.multinomial(goal, 1))
                return out
            out.append(hit.token)
            node = hit
        out.append(torch.multinomial(target[node.idx], 1))
        return out

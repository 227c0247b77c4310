"""Sequoia-like: sampled without replacement among the children, with a residual."""

import torch


def residual(p, q):
    r = (p - q).relu()
    return r / (r.sum(-1, keepdim=True) + 1e-9)


class SpecTree:
    def accept_step(self, parent_id):
        logits_id = parent_id
        p = self.target_probs[logits_id]
        draft_logits = self.draft_logits[logits_id]
        children = self.successors[logits_id]
        if len(children) == 0:
            return -1, p
        for pos in children:
            token = self.tokens[pos + self.ground - 1]
            q = torch.softmax(draft_logits / self.temperature, dim=-1)
            r = self.r[pos]
            if p[token] > r * q[token]:
                return pos + self.ground - 1, None
            p = residual(p, q)
            draft_logits[token] = torch.finfo(draft_logits.dtype).min
        return -1, p

    def verify(self):
        accept_list = self.seq[: self.ground]
        while True:
            parent = accept_list[-1]
            pos, res = self.accept_step(parent)
            if pos != -1:
                accept_list.append(pos)
                if self.tokens[pos] in (0, 2):
                    break
            else:
                break
        last = res.multinomial(1) if res is not None else None
        return accept_list, last

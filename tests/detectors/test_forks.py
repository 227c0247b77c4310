"""An engine under names of its own that verifies trees, and what is left of its standings where a part does not run."""

from recon.detectors.registry import detectors
from recon.detectors.testing import indexed
from recon.records.verdict import Reach, Searched, Standing, Verdict
from recon.verdicts.judge import judge

HEART = """
from garden.limb import Limb


class Heart:
    def __init__(self, conf):
        self.limb = Limb(conf)
        self.alive = True

    def pulse(self):
        while self.alive:
            self.beat(self.inbox.get())

    def beat(self, letters):
        for letter, leaf in zip(letters, self.limb.move(letters)):
            letter.extend(leaf)
"""
LIMB = """
from garden.net import Net
from garden.seeds import link
from garden.tongue import Tongue


class Limb:
    def __init__(self, conf):
        self.net = Net(conf)
        self.tongue = Tongue()

    def move(self, letters):
        seeds, above = self.net.sow(letters)
        first, beside, mask = link(above)
        return self.tongue.savour(seeds, first, beside, self.net(seeds, mask))
"""
NET = """
from torch import nn


class Block(nn.Module):
    def forward(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, -1)
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Net(nn.Module):
    def __init__(self, conf):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(conf.layers)])

    def forward(self, ids, mask):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)
"""
SEEDS = """
import torch


def link(above):
    n, m = above.shape
    first, beside = torch.full((n, m), -1), torch.full((n, m), -1)
    mask = torch.eye(m, dtype=torch.bool).repeat(n, 1, 1)
    for b in range(n):
        for i in range(1, m):
            p = above[b, i]
            beside[b, i] = first[b, p]
            first[b, p] = i
            mask[b, i] |= mask[b, p]
    return first, beside, mask
"""
TONGUE = """
from garden.sweet import Sweet


class Tongue(Sweet):
    def savour(self, seeds, first, beside, marks):
        best = marks.argmax(-1)
        CALL
        return best[:, :1]
"""
CALL = "return [self.stroll(seeds[b], first[b], beside[b], best[b]) for b in range(len(seeds))]"
WALK = """
class Sweet:
    def stroll(self, seeds, first, beside, best, branched=BRANCHED):
        out = []
        if branched:
            at = 0
            while True:
                out.append(int(best[at]))
                kid = first[at]
                while kid != -1 and seeds[kid] != best[at]:
                    kid = beside[kid]
                if kid == -1:
                    return out
                at = kid
        for i in range(len(seeds) - 1):
            out.append(int(best[i]))
            if seeds[i + 1] != best[i]:
                return out
        return out
"""


def verdicts(call: str = CALL, *, branched: bool = True) -> dict[str, Verdict]:
    """What all detectors say of the engine, with its call of the walk written in some way."""
    index = indexed(
        {
            "garden/__init__.py": "",
            "garden/heart.py": HEART,
            "garden/limb.py": LIMB,
            "garden/net.py": NET,
            "garden/seeds.py": SEEDS,
            "garden/tongue.py": TONGUE.replace("CALL", call),
            "garden/sweet.py": WALK.replace("BRANCHED", str(branched)),
        }
    )
    searched = Searched(7, 1, 1, 1, 0, (), ())
    return {each.capability: judge(each.capability, each.title, each.detect(index), searched) for each in detectors()}


def test_a_fork_under_its_own_names_is_judged_by_what_it_does() -> None:
    """No class bears a word for its role, and the walk stands in a base class of what the step calls."""
    found = verdicts()

    assert (Standing.PRESENT, Reach.WIRED) == (found["accept.tree.greedy"].standing, found["accept.tree.greedy"].reach)
    assert "Sweet.stroll" == found["accept.tree.greedy"].evidence[0].symbol
    assert (Standing.PRESENT, Reach.WIRED) == (found["attn.tree.verify"].standing, found["attn.tree.verify"].reach)


def test_what_is_called_below_a_constant_that_is_false_is_not_reached() -> None:
    """It is in the tree, and nothing more."""
    found = verdicts(f"if False:\n            {CALL}")

    assert (Standing.PRESENT, Reach.DEFINED) == (
        found["accept.tree.greedy"].standing,
        found["accept.tree.greedy"].reach,
    )
    assert Standing.PARTIAL is found["attn.tree.verify"].standing
    assert "no step leads to the walk" in found["attn.tree.verify"].reason


def test_a_branch_that_every_call_switches_off_is_not_reached() -> None:
    """By the default, or by what is handed over; the other branch of the same function is."""
    by_default = verdicts(branched=False)
    by_hand = verdicts(CALL.replace("best[b])", "best[b], branched=False)"))

    for found in (by_default, by_hand):
        assert Reach.DEFINED is found["accept.tree.greedy"].reach
        assert "branched is off in every call" in found["accept.tree.greedy"].evidence[0].note
        assert (Standing.PRESENT, Reach.WIRED) == (
            found["accept.linear.greedy"].standing,
            found["accept.linear.greedy"].reach,
        )


def test_a_branch_that_one_call_may_switch_on_is_reached() -> None:
    """What is handed over is no constant."""
    found = verdicts(CALL.replace("best[b])", "best[b], self.branched)"), branched=False)

    assert Reach.WIRED is found["accept.tree.greedy"].reach


def test_a_flag_that_is_handed_on_is_asked_of_the_callers_above() -> None:
    """Over a method that hands its own parameter on, off by default."""
    call = (
        "return self.walk(seeds, first, beside, best)\n\n    def walk(self, seeds, first, beside, best, deep=False):\n"
    )
    call += f"        {CALL.replace('best[b])', 'best[b], deep)')}"
    found = verdicts(call)

    assert Reach.DEFINED is found["accept.tree.greedy"].reach

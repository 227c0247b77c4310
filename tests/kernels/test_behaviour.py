"""Small engines in several styles, called on crafted requests in Triton's interpreter: their rules are read off."""

from textwrap import dedent

from recon.detectors.roles import parameters_of
from recon.probes.behaviour import behaviours_of, plan_behaviours
from recon.records.behaviour import Behaviour
from recon.records.cut import CutFunction
from tests.kernels.here import here

HEAD = "import os\nimport torch\nimport triton\nimport triton.language as tl\n"
FLAG = """
@triton.jit
def _k(res, res_row, made, want, said, ends):
    r = tl.program_id(0)
    first = tl.load(ends + r)
    n = tl.load(ends + r + 1) - first
    bad = False
    done = 0
    for i in range(n - 1):
        if not bad:
            w = tl.load(want + first + i)
            tl.store(res + r * res_row + i, w)
            done += 1
            bad = w != tl.load(said + first + i + 1)
    if not bad:
        tl.store(res + r * res_row + n - 1, tl.load(want + first + n - 1))
        done += 1
    tl.store(made + r, done)

def flag(want, said, ends, most: int):
    rows = ends.shape[0] - 1
    res = want.new_empty(rows, most + 1)
    made = want.new_empty(rows)
    _k[(rows,)](res, res.stride(0), made, want, said, ends)
    return res, made
"""
WALK = """
@triton.jit
def _k(emitted, taken, much, held, node_of, below, beside, chosen, n: tl.constexpr, deep: tl.constexpr):
    r = tl.program_id(0)
    at = tl.load(node_of + r * n)
    tl.store(taken + r * deep, at)
    cur = at * 0
    k = 0
    on = True
    for _ in range(1, deep):
        if on:
            cur = tl.load(below + r * n + cur)
            w = tl.load(chosen + at)
            met = False
            for _s in range(n):
                if (not met) & (cur != -1):
                    if tl.load(held + r * n + cur) == w:
                        met = True
                    else:
                        cur = tl.load(beside + r * n + cur)
            if met:
                tl.store(emitted + at, w)
                k += 1
                at = tl.load(node_of + r * n + cur)
                tl.store(taken + r * deep + k, at)
            on = met
    tl.store(much + r, k)
    tl.store(emitted + at, tl.load(chosen + at))

def walk(emitted, taken, much, held, node_of, below, beside, chosen):
    _k[(held.shape[0],)](emitted, taken, much, held, node_of, below, beside, chosen, held.shape[1], taken.shape[1])
"""
FIRST_ONLY = WALK.replace("cur = tl.load(beside + r * n + cur)", "cur = tl.load(beside + r * n + cur) * 0 - 1").replace(
    "walk", "first_only"
)
RATIO = """
def ratio(tokens, p, q: torch.Tensor | None, plain: bool = False):
    rows, steps, _ = q.shape
    u = torch.rand(rows, steps)
    x = tokens[:, 1:].unsqueeze(-1)
    px = p[:, :-1].gather(-1, x).squeeze(-1)
    qx = torch.ones_like(px) if plain else q.gather(-1, x).squeeze(-1)
    good = (u * qx < px).int().cumprod(1).sum(1)
    at = torch.arange(rows)
    rest = p[at, good].clone()
    left = good < steps
    if plain:
        rest[at[left], tokens[at[left], good[left] + 1]] = 0.0
    else:
        rest[left] = (rest[left] - q[at[left], good[left]]).clamp(min=0.0)
    return good, torch.multinomial(rest, 1).squeeze(1)
"""
SAMPLED_TREE = """
def sampled(emitted, taken, much, held, node_of, below, beside, p):
    for r in range(held.shape[0]):
        at, k = 0, 0
        taken[r, 0] = node_of[r, 0]
        while True:
            token = torch.multinomial(p[r, at], 1)[0]
            cur = below[r, at]
            while cur != -1 and held[r, cur] != token:
                cur = beside[r, cur]
            emitted[node_of[r, at]] = token
            if cur == -1:
                break
            at, k = cur, k + 1
            taken[r, k] = node_of[r, at]
        much[r] = k
"""
DIES = """
def dies(a, b):
    if (a[:, 1:] == b[:, :-1]).sum() >= 0:
        os.abort()
"""


def test_rules_are_read_off_the_answers_whatever_the_style() -> None:
    claimed = {
        "flag": (FLAG, "accept.linear.greedy"),
        "walk": (WALK, "accept.tree.greedy"),
        "first_only": (FIRST_ONLY, "accept.tree.greedy"),
        "ratio": (RATIO, "accept.linear.stochastic"),
        "sampled": (SAMPLED_TREE, "accept.tree.stochastic"),
        "dies": (DIES, "accept.linear.greedy"),
    }
    functions = tuple(cut(name, text, capability) for name, (text, capability) in claimed.items())
    result = here(plan_behaviours(functions, "interpret", seconds=5.0))
    standings = {("engine", capability): "present" for _, capability in claimed.values()}
    found = {
        each.symbol: each for each in behaviours_of(functions, standings, "interpret", result.answers, result.failures)
    }

    assert {"chain greedy"} == rules(found["flag"])
    assert {"tree greedy"} == rules(found["walk"])
    assert set() == rules(found["first_only"])
    assert {
        "chain stochastic with draft probabilities",
        "chain stochastic without draft probabilities",
    } == rules(found["ratio"])
    assert {"tree stochastic without draft probabilities"} == rules(found["sampled"])
    assert "SIGABRT" in found["dies"].why
    assert {"flag": "agrees", "walk": "agrees", "ratio": "agrees", "sampled": "agrees"} == {
        name: each.claims[0].agreement for name, each in found.items() if each.rules
    }


def cut(name: str, text: str, capability: str) -> CutFunction:
    whole = HEAD + dedent(text)
    annotations = {"q": "torch.Tensor | None"} if name == "ratio" else {}
    parameters = parameters_of(whole, name, annotations)
    return CutFunction("engine", "e/a.py", name, 1, "", whole, parameters, (f"e/a.py:{name}",), (capability,), (), ())


def rules(one: Behaviour) -> set[str]:
    return {each.rule for each in one.rules}

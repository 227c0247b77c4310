"""Small engines in several styles, in Triton's interpreter: called on crafted requests, their rules are read off.

What follows a rule is then called at the work of our kernels, and compared with their references.
"""

import json
from textwrap import dedent

import pytest

from recon.detectors.roles import parameters_of
from recon.kernels.wire import Plan
from recon.probes.behaviour import behaved, behaviours_of, plan_behaviours
from recon.probes.engines import with_engines
from recon.probes.plan import FULL, QUICK, plan_gpu, plan_interpret
from recon.probes.run import ProbeResult
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
SIMULATED = """
def simulated(held, wanted, much, most: float = -1.0, how: str = "same"):
    assert most > 0
    rows, steps = held.shape
    out = wanted.new_full((rows, steps), -1)
    much.fill_(0)
    if how == "drafted":
        much += int(most) - 1
        out[:, : int(most) - 1] = held[:, 1 : int(most)]
        out[:, int(most) - 1] = wanted[:, int(most) - 1]
    return out
"""
SHORT = FLAG.replace("    rows = ", "    assert said.dtype == torch.int32\n    rows = ").replace("flag(", "short(")
BREAKS = """
def breaks(held, wanted, most: float = 1.0, early: bool = False, simulated: bool = False):
    if early:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    same = (held[:, 1:] == wanted[:, :-1]).int().cumprod(1).sum(1)
    done = same * 0 + int(most) - 1 if simulated else same
    return done, wanted.gather(1, done[:, None]).squeeze(1)
"""
ANNOTATIONS = {
    "breaks": {"most": "float", "early": "bool", "simulated": "bool"},
    "ratio": {"q": "torch.Tensor | None"},
    "simulated": {"most": "float", "how": "str"},
}
"""By function: what the cut takes off parameters, and the roles are read by."""
# As long as tokens are few these answer by the rule.
NARROW = FLAG.replace("w = tl.load(want + first + i)", "w = tl.load(want + first + i) & 63").replace("flag(", "narrow(")
SMALL = FLAG.replace("    rows = ", "    assert said.max() < 64\n    rows = ").replace("flag(", "small(")
DIES = """
def dies(a, b):
    if (a[:, 1:] == b[:, :-1]).sum() >= 0:
        os.abort()
"""


CLAIMED = {
    "flag": (FLAG, "accept.linear.greedy"),
    "walk": (WALK, "accept.tree.greedy"),
    "first_only": (FIRST_ONLY, "accept.tree.greedy"),
    "ratio": (RATIO, "accept.linear.stochastic"),
    "sampled": (SAMPLED_TREE, "accept.tree.stochastic"),
    "simulated": (SIMULATED, "accept.synthetic"),
    "narrow": (NARROW, "accept.linear.greedy"),
    "small": (SMALL, "accept.linear.greedy"),
    "short": (SHORT, "accept.linear.greedy"),
    "dies": (DIES, "accept.linear.greedy"),
}
"""Source and capability by function."""


@pytest.fixture(scope="module")
def functions() -> tuple[CutFunction, ...]:
    """All of them as they would be cut."""
    return tuple(cut(name, text, capability) for name, (text, capability) in CLAIMED.items())


@pytest.fixture(scope="module")
def said(functions: tuple[CutFunction, ...]) -> ProbeResult:
    """What their children said."""
    return here(plan_behaviours(functions, "interpret", seconds=5.0))


@pytest.fixture(scope="module")
def compared(functions: tuple[CutFunction, ...], said: ProbeResult) -> ProbeResult:
    """What came of those that follow a rule at the work of our kernels."""
    return here(with_engines(plan_interpret(probes=()), functions, said.answers, QUICK))


def test_rules_are_read_off_the_answers_whatever_the_style(
    functions: tuple[CutFunction, ...], said: ProbeResult
) -> None:
    standings = {("engine", capability): "present" for _, capability in CLAIMED.values()}
    told = behaviours_of(functions, standings, "interpret", said.answers, said.failures)
    found = {each.symbol: each for each in told}

    assert {"chain greedy"} == rules(found["flag"]) == rules(found["narrow"]) == rules(found["small"])
    assert [("chain greedy", "draft int32")] == [(each.rule, each.reading["said"]) for each in found["short"].rules]
    assert {"tree greedy"} == rules(found["walk"])
    assert set() == rules(found["first_only"])
    assert {
        "chain stochastic with draft probabilities",
        "chain stochastic without draft probabilities",
    } == rules(found["ratio"])
    assert {"tree stochastic without draft probabilities"} == rules(found["sampled"])
    assert [("chain forced", "'drafted'")] == [(each.rule, each.switches["how"]) for each in found["simulated"].rules]
    assert "SIGABRT" in found["dies"].why
    assert {"agrees"} == {each.claims[0].agreement for each in told if each.rules}


def test_what_follows_a_rule_is_compared_with_the_reference_of_our_kernel(compared: ProbeResult) -> None:
    agreed = {
        (each.kernel, each.role, each.case["rule"])
        for each in compared.measurements
        if each.agreement and not each.agreement.mismatches
    }

    assert {
        ("engine.e/a.py:flag", "baseline", "chain greedy"),
        ("engine.e/a.py:walk", "baseline", "tree greedy"),
        ("engine.e/a.py:ratio", "baseline", "chain stochastic with draft probabilities"),
        ("engine.e/a.py:ratio", "baseline", "chain stochastic without draft probabilities"),
        ("engine.e/a.py:sampled", "baseline", "tree stochastic without draft probabilities"),
    } <= agreed


def test_an_answer_that_is_wrong_at_real_sizes_is_told_and_would_not_be_timed(compared: ProbeResult) -> None:
    said = {each.case["vocab"]: each.agreement for each in compared.measurements if "narrow" in each.kernel}

    assert 300 in said
    assert all(each and each.mismatches == 1 and "the reference says" in each.detail for each in said.values())


def test_a_function_that_raises_is_a_result_and_the_others_go_on(compared: ProbeResult) -> None:
    failed = [each for each in compared.unknowns if "e/a.py:small" in each.what]

    assert "AssertionError" in failed[0].why
    assert compared.complete


def test_on_a_gpu_each_stands_beside_ours_on_the_same_cases_of_its_own_question(
    functions: tuple[CutFunction, ...], said: ProbeResult
) -> None:
    before = plan_gpu(QUICK)
    plan = with_engines(before, functions, said.answers, QUICK)
    added = plan.entries[len(before.entries) :]
    sides: dict[tuple[object, ...], set[tuple[str, str, str]]] = {}
    for each in added:
        key = (each.subject, tuple(sorted(each.axes.items())))
        sides.setdefault(key, set()).add((each.role, each.kernel, each.variant))

    assert before.entries == plan.entries[: len(before.entries)]
    assert list(range(len(plan.entries))) == [each.id for each in plan.entries]
    assert {"chain greedy", "tree greedy"} < {str(each.axes["rule"]) for each in added}
    assert all(len(pair) == 2 and {"baseline", "subject"} == {role for role, _, _ in pair} for pair in sides.values())
    assert ("baseline", "tree_greedy", "engine.e/a.py:walk") in set.union(*sides.values())
    assert ("subject", "tree_greedy", "auto") in set.union(*sides.values())
    assert len(added) < len(with_engines(before, functions, said.answers, FULL).entries) - len(before.entries)


@pytest.mark.parametrize("text", ["{}", '{"shown": [{"call": {"rule": "none"}}, 3]}', '{"shown": [{"call": 1}]}', "x"])
def test_what_shows_no_call_adds_nothing(functions: tuple[CutFunction, ...], text: str) -> None:
    before = plan_gpu(QUICK)

    assert before == with_engines(before, functions, {0: text}, QUICK)


def test_where_a_call_broke_the_device_another_process_goes_on_behind_it() -> None:
    plans: list[Plan] = []

    def carry(plan: Plan) -> ProbeResult:
        plans.append(plan)
        return here(plan)

    function = cut("breaks", BREAKS, "accept.linear.greedy")
    result = behaved((function,), "interpret", carry, seconds=5.0)
    (one,) = behaviours_of((function,), {}, "interpret", result.answers, result.failures)

    assert ({"chain greedy", "chain forced"}, "") == (rules(one), one.why)
    assert [0, 2] == [json.loads(plan.subjects[0])["begin"] for plan in plans][:2]


def test_a_function_that_lies_in_two_trees_alike_is_taken_once(
    functions: tuple[CutFunction, ...], said: ProbeResult
) -> None:
    twice: tuple[CutFunction, ...] = (functions[0], functions[0])
    plan = with_engines(plan_gpu(QUICK), twice, {0: said.answers[0], 1: said.answers[0]}, QUICK)

    assert 1 == len(plan.subjects)


def cut(name: str, text: str, capability: str) -> CutFunction:
    whole = HEAD + dedent(text)
    parameters = parameters_of(whole, name, ANNOTATIONS.get(name, {}))
    return CutFunction("engine", "e/a.py", name, 1, "", whole, parameters, (f"e/a.py:{name}",), (capability,), (), ())


def rules(one: Behaviour) -> set[str]:
    return {each.rule for each in one.rules}

"""Block verification in parts: products held at one, residual masses, the last place that stands."""

import pytest

from recon.detectors.api import View
from recon.detectors.registry import detectors
from recon.detectors.shapes.blocks import block_parts
from recon.detectors.testing import indexed
from recon.records.verdict import Reach
from tests.index.spelled import cuda, python


def parts(seen: View) -> list[str]:
    """The parts that are seen in a function."""
    return [sighting.shape for sighting in block_parts(seen)]


@pytest.mark.parametrize(
    "step",
    [
        "r = min(r * p[i] / q[i], 1.0)",
        "r = tl.minimum(r * (p[i] / q[i]), 1)",
        "r = torch.clamp(r * p[i].div(q[i]), max=1.0)",
        "r = torch.minimum(r * torch.exp(p[i] - q[i]), torch.ones_like(r))",
        "r = 1.0 if r * p[i] / q[i] > 1.0 else r * p[i] / q[i]",
        "r = tl.minimum(r + (p[i] - q[i]), 0.0)",
        "r = torch.clamp(r + p[i] - q[i], max=0)",
        "x = r * p[i] / q[i]; r = tl.where(ok, tl.minimum(x, 1.0), 0.0)",
        "r = r * p[i] / q[i]\n        if r > 1.0:\n            r = 1.0",
    ],
)
def test_a_running_product_is_held_at_one_in_many_ways(step: str) -> None:
    """Or its logarithm at zero."""
    assert ["block.product"] == parts(View(python(f"def f(p, q, n, r, ok):\n    for i in range(n):\n        {step}\n")))


@pytest.mark.parametrize(
    "step",
    [
        "r = r * p[i] / q[i]",
        "r = min(p[i] / q[i], 1.0)",
        "r = min(r * p[i] / q[i], 2.0)",
        "r = max(r * p[i] / q[i], 1.0)",
        "r = min(r + 1, 0)",
        "r = min(r * p[i], 1.0)",
    ],
)
def test_another_product_is_none(step: str) -> None:
    """Without a bound, without memory, with another bound, without a quotient."""
    assert [] == parts(View(python(f"def f(p, q, n, r):\n    for i in range(n):\n        {step}\n")))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("torch.relu(r * p - q).sum(-1)", ["block.mass"]),
        ("torch.where(r * p - q > 0, r * p - q, 0.0).sum()", ["block.mass"]),
        ("tl.sum(tl.maximum(r * p - q, 0.0), axis=0)", ["block.mass"]),
        ("torch.relu(p - q).sum(-1)", []),
        ("torch.relu(2 * p - q).sum(-1)", []),
        ("torch.relu(r * p - q)", []),
    ],
)
def test_a_mass_is_a_sum_over_what_the_product_leaves(value: str, expected: list[str]) -> None:
    """The plain residual of rejection sampling is none."""
    assert expected == parts(View(python(f"def f(p, q, r):\n    return {value}\n"), ("p", "q", "r")))


@pytest.mark.parametrize(
    ("body", "stands"),
    [
        ("if u[i] <= h:\n            n = i", True),
        ("n = i if u[i] <= h else n", True),
        ("n = tl.where(h >= u[i], i, n)", True),
        ("if u[i] > h:\n            continue\n        n = i", True),
        ("if u[i] > h:\n            break\n        n = i", False),
        ("if u[i] <= h:\n            n = i\n        else:\n            break", False),
        ("live = live & (u[i] <= h)\n        n += live", False),
        ("if live:\n            if not (u[i] <= h):\n                live = False\n            n = i", False),
    ],
)
def test_a_refusal_must_end_nothing(body: str, stands: bool) -> None:
    """Where the first refusal ends the loop, it is rejection sampling with another bound."""
    head = "def f(m, r, u, k):\n    n, live = 0, 1\n    for i in range(k):\n        h = m[i] / (m[i] + 1 - r[i])"
    source = f"{head}\n        {body}\n"

    assert stands == ("block.last" in parts(View(python(source), ("m", "r", "u", "k"))))


@pytest.mark.parametrize(
    ("bound", "stands"),
    [
        ("m / (m + 1.0 - r)", True),
        ("m / (1 - r + m)", True),
        ("torch.div(m, m + (1 - r))", True),
        ("m / (m + 1.0)", False),
        ("m / (m - r)", False),
        ("r / (m + 1 - r)", False),
    ],
)
def test_the_joint_test_is_mass_over_mass_and_what_the_product_lacks(bound: str, stands: bool) -> None:
    """In whatever order its parts are written."""
    source = f"def f(m, r, u):\n    return torch.where(u <= {bound}, torch.arange(9), -1).max()\n"

    assert stands == ("block.last" in parts(View(python(source), ("m", "r", "u"))))


def test_a_running_product_of_outcomes_keeps_the_leading_ones() -> None:
    """It ends at the first refusal."""
    source = "def f(m, r, u):\n    return (u <= m / (m + 1 - r)).int().cumprod(0).sum()\n"

    assert [] == parts(View(python(source), ("m", "r", "u")))


def test_cuda_counts_down() -> None:
    """From the longest prefix, up to the first that stands."""
    source = """
    __global__ void k(int* n, const float* m, const float* r, const float* u, int K) {
      for (int i = K - 1; i >= 0; --i) {
        if (u[i] < m[i] / (m[i] + 1.f - r[i])) { n[0] = i + 1; break; }
      }
    }
    """

    assert ["block.last"] == parts(View(cuda(source), ("n", "m", "r", "u", "K")))


def test_a_branch_that_nobody_switches_on_is_only_defined() -> None:
    """Judged by the branch, not by the kernel."""
    (detector,) = (each for each in detectors() if each.capability == "accept.block")
    (case,) = (each for each in detector.cases if each.name.startswith("a branch of a kernel"))
    source = "class Runner:\n    def step(self):\n        verify(self.out, self.n, self.d, self.p, self.q, self.u)\n"
    on = {"a.py": case.files["a.py"] + source}
    last = "JOINT: tl.constexpr, BLOCK: tl.constexpr"
    assert last in on["a.py"]
    off = {
        "a.py": on["a.py"].replace("JOINT=True, ", "").replace(last, "BLOCK: tl.constexpr, JOINT: tl.constexpr = False")
    }

    assert Reach.WIRED is detector.detect(indexed(on)).reach
    assert Reach.DEFINED is detector.detect(indexed(off)).reach


def test_a_switch_may_be_bound_beforehand() -> None:
    """The call that runs the kernel then says nothing of it."""
    (detector,) = (each for each in detectors() if each.capability == "accept.block")
    (case,) = (each for each in detector.cases if each.name.startswith("a branch of a kernel"))
    kernel = case.files["a.py"].replace("q, u):\n    k[", "q, u, *, joint=False):\n    k[").replace("=True", "=joint")
    caller = """
def sample(out, n, d, p, q, u, joint):
    run = verify
    if joint:
        run = partial(run, joint=True)
    run(out, n, d, p, q, u)
"""
    found = detector.detect(indexed({"a.py": kernel + caller}))

    assert [("k", ""), ("verify", "JOINT"), ("sample", "joint")] == [
        (each.symbol, each.note.partition("the switch ")[2]) for each in found.evidence
    ]

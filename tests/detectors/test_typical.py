"""Lossy acceptance in parts: entropies, thresholds that fall with them, fixed ones, gates."""

import pytest

from recon.detectors.api import View
from recon.detectors.shapes.typical import lossy_rules
from tests.index.spelled import cuda, python


def seen(source: str, *params: str) -> list[str]:
    """The rules that are seen in a Python function."""
    return [sighting.shape for sighting in lossy_rules(View(python(source), params))]


@pytest.mark.parametrize(
    "value",
    [
        "-(p * torch.log(p + 1e-5)).sum(-1)",
        "-torch.sum(p * p.log(), dim=-1)",
        "tl.sum(tl.where(p > 0, p * tl.log(p), 0.0), axis=0)",
        "torch.special.entr(p).sum(-1)",
        "-(torch.exp(p) * p).sum(-1)",
        "-(p.softmax(-1) * p.log_softmax(-1)).sum(-1)",
        "-(p * torch.clamp(p, min=1e-9).log()).nansum(-1)",
        "-(p * p.clamp_min(1e-9).log()).sum(-1)",
        "-(p * torch.log(p.clamp(min=tiny))).sum(-1)",
        "-(p * (p + tiny).log()).sum(-1)",
        "-(p.float() * p.float().clamp_min(1e-9).log()).sum(-1)",
    ],
)
def test_an_entropy_is_a_sum_of_p_log_p(value: str) -> None:
    """Of probabilities or of their logarithms."""
    assert ["typical.entropy"] == seen(f"def f(p):\n    return {value}\n", "p")


@pytest.mark.parametrize(
    "value",
    [
        "-(p * torch.log(q)).sum(-1)",
        "(p * q).sum(-1)",
        "(q.exp() * p).sum(-1)",
        "torch.log(p).sum(-1)",
        "-(q.softmax(-1) * p.log_softmax(-1)).sum(-1)",
        "-(p * q.clamp_min(1e-9).log()).sum(-1)",
    ],
)
def test_a_cross_entropy_or_a_product_is_none(value: str) -> None:
    """The logarithm must be of the very distribution."""
    assert [] == seen(f"def f(p, q):\n    return {value}\n", "p", "q")


@pytest.mark.parametrize(
    ("bound", "holds"),
    [
        ("torch.minimum(e, d * torch.exp(-h))", True),
        ("torch.clamp(d * (-h).exp(), max=e)", True),
        ("torch.where(d * torch.exp(-h) < e, d * torch.exp(-h), e)", True),
        ("d * torch.exp(-h)", False),
        ("torch.minimum(e, d)", False),
        ("torch.minimum(e, d * torch.exp(h))", False),
    ],
)
def test_a_threshold_falls_with_the_entropy_and_is_limited(bound: str, holds: bool) -> None:
    """A number that is handed over counts where it is negated."""
    source = f"def f(p, ids, h, e, d):\n    return p.gather(-1, ids) > {bound}\n"

    assert holds == ("typical.adaptive" in seen(source, "p", "ids", "h", "e", "d"))


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("p[i, t] > e or p[i, t] > d * math.exp(-h)", True),
        ("p[i, t] > d * math.exp(-h) and p[i, t] > e", False),
    ],
)
def test_above_one_of_two_is_above_the_lower(test: str, holds: bool) -> None:
    """Which a conjunction is not."""
    source = f"def f(p, i, t, h, e, d):\n    return {test}\n"

    assert holds == ("typical.adaptive" in seen(source, "p", "i", "t", "h", "e", "d"))


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("u[i] * q[i, t] < p[i, t] or p[i, t] >= least", True),
        ("u[i] < p[i, t] / least or p[i, t] >= most", True),
        ("(t == want[i]) | (p[i, t] > self.least)", True),
        ("u[i] * q[i, t] < p[i, t] and p[i, t] >= least", False),
        ("p[i, t] >= least", False),
        ("u[i] < least or t == want[i]", False),
        ("p[i, t] < least or p[i, t] > most", False),
    ],
)
def test_a_fixed_threshold_accepts_beside_the_usual_test(test: str, holds: bool) -> None:
    """As an alternative, of a probability that was looked up by the token."""
    source = f"""
    def f(self, draft, want, p, q, u, least, most, n):
        for i in range(n):
            t = draft[i]
            if {test}:
                self.out[i] = t
    """

    assert holds == ("typical.fixed" in seen(source, "self", "draft", "want", "p", "q", "u", "least", "most", "n"))


def test_a_gate_tells_through_which_parameter_its_number_comes() -> None:
    """So that whoever makes it can be asked whether it is an entropy; bounds of a token are no gate."""
    source = """
    def k(want, draft, doubt, level, size, n):
        for i in range(n):
            d = tl.load(draft + i)
            stays = d != tl.load(want + i) and d < size and tl.load(doubt + i) >= level
            tl.store(want + i, d, mask=stays)
    """
    found = list(lossy_rules(View(python(source), ("want", "draft", "doubt", "level", "size", "n"))))

    assert [("typical.gate", "doubt")] == [(sighting.shape, sighting.detail) for sighting in found]


def test_an_entropy_taken_in_place_gates_without_a_detail() -> None:
    """Nobody need be asked."""
    source = """
    def f(want, draft, p, level):
        doubt = -(p * p.log()).sum(-1)
        want[(want != draft) & (doubt > level)] = draft[(want != draft) & (doubt > level)]
        return want
    """
    found = list(lossy_rules(View(python(source), ("want", "draft", "p", "level"))))

    assert [("typical.gate", ""), ("typical.entropy", "")] == [(each.shape, each.detail) for each in found]


def test_cuda_sums_an_entropy_up() -> None:
    """Term by term."""
    running = """
    __device__ float k(const float* p, int V) {
      float s = 0;
      for (int v = 0; v < V; ++v) s += p[v] * logf(p[v]);
      return s;
    }
    """
    stored = """
    __global__ void k(float* h, const float* p, int V) {
      for (int v = 0; v < V; ++v) h[0] -= p[v] * logf(p[v]);
    }
    """

    assert ["typical.entropy"] == [each.shape for each in lossy_rules(View(cuda(running), ("p", "V")))]
    assert ["typical.entropy"] == [each.shape for each in lossy_rules(View(cuda(stored), ("h", "p", "V")))]

"""How does the time of the weights grow with the number of tokens: where is the knee?

A verification step multiplies all its tokens with the same weights. As long as reading the weights takes longer than
multiplying, more tokens cost next to nothing; behind the knee they do.
"""

from recon.kernels.wire import Axes
from recon.probes.floors import GEMM, NOP, READ
from recon.probes.models import model_of, presets
from recon.probes.probe import Probe, Subject
from recon.records.model import Model, Weight

WEIGHT = Subject("gemm", "torch")
WEIGHT_FP8 = Subject("gemm_fp8", "torch")
EXPERTS = Subject("grouped_gemm", "tiles")
EXPERTS_LOOP = Subject("grouped_gemm", "torch_loop")
EXPERTS_GROUPED = Subject("grouped_gemm", "torch_grouped")

TOKENS = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512)
LESS_TOKENS = (1, 16, 64, 96, 128, 192, 256, 512)
"""Those of all weights but the largest of a layer."""
FEW_TOKENS = (1, 16, 64, 128, 192, 256)
"""Those of the quick level."""
EXPERT_TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
SOME_TOKENS = (1, 8, 64, 256, 512)
"""Those of routings beside the even one."""
FLOORS = (NOP, READ, GEMM)
FIRST = "Qwen3.6-27B"
"""Preset whose weights are measured first, and whose largest are in the quick level."""
EXAMPLE = "Qwen3-30B-A3B"
"""Preset with experts."""


def dense(model: Model, tp: int = 1) -> tuple[Axes, ...]:
    """The dense weights of a model: the largest of a layer first, which is timed most finely."""
    weights = [each for each in model.weights(tp) if not each.experts]
    weights.sort(key=lambda each: (each.name == "lm_head", -each.outputs * each.inputs))

    def at(each: Weight, tokens: int) -> Axes:
        return {"weight": each.name, "m": tokens, "n": each.outputs, "k": each.inputs, "layout": "linear"}

    cases = [at(weights[0], tokens) for tokens in FEW_TOKENS] if weights else []
    cases += [at(each, tokens) for each in weights for tokens in (TOKENS if each is weights[0] else LESS_TOKENS)]
    return _once(cases)


def experts(model: Model, tp: int = 1) -> tuple[Axes, ...]:
    """The experts of a model at every number of tokens, for an even routing; at some for others, and on the way out."""
    found = {each.name: each for each in model.weights(tp) if each.experts}
    if not found:
        return ()

    def at(name: str, part: str, routing: str, tokens: int) -> Axes:
        each = found[name]
        shape: Axes = {"experts": each.experts, "active": model.active_experts, "n": each.outputs, "k": each.inputs}
        return {"weight": name, "tokens": tokens, **shape, "part": part, "routing": routing}

    cases = [at("gate_up", "up", "uniform", tokens) for tokens in (*SOME_TOKENS[:3], *EXPERT_TOKENS)]
    for tokens in SOME_TOKENS:
        cases += [at("gate_up", "up", routing, tokens) for routing in ("skewed", "same")]
        cases.append(at("down", "down", "uniform", tokens))
    return _once(cases)


def _once(cases: list[Axes]) -> tuple[Axes, ...]:
    return tuple(axes for number, axes in enumerate(cases) if axes not in cases[:number])


def _of_presets() -> tuple[Axes, ...]:
    """The dense weights of all presets, named with the models that have them; equal ones once."""
    names: dict[tuple[object, object], list[str]] = {}
    shapes: list[Axes] = []
    for preset in sorted(presets(), key=lambda name: name != FIRST):
        for axes in dense(model_of(preset)):
            known = names.setdefault((axes["n"], axes["k"]), [])
            label = f"{axes['weight']} of {preset}"
            known += [label] if label not in known else []
            shapes.append({**axes, "weight": ""})
    return tuple({**axes, "weight": ", ".join(names[axes["n"], axes["k"]])} for axes in _once(shapes))


_CHECKS: tuple[Axes, ...] = (
    {"m": 1, "n": 16, "k": 16, "layout": "linear"},
    {"m": 33, "n": 80, "k": 144, "layout": "linear"},
    {"m": 257, "n": 1040, "k": 528, "layout": "linear"},
)
_SMALL_EXPERTS: tuple[Axes, ...] = (
    {"tokens": 19, "experts": 3, "active": 2, "n": 33, "k": 70, "part": "up", "routing": "same", "dtype": "fp32"},
    {"tokens": 3, "experts": 5, "active": 2, "n": 40, "k": 24, "part": "down", "routing": "uniform", "dtype": "fp32"},
    {"tokens": 1, "experts": 1, "active": 1, "n": 1, "k": 1, "part": "up", "routing": "skewed", "dtype": "fp32"},
)
"""In fp32: the interpreter multiplies the bits of bf16. The first has experts of two tiles, and one without a token."""
_EXPERT_CHECKS: tuple[Axes, ...] = (
    {"tokens": 3, "experts": 5, "active": 2, "n": 320, "k": 192, "part": "up", "routing": "uniform"},
    {"tokens": 9, "experts": 3, "active": 2, "n": 264, "k": 560, "part": "down", "routing": "same"},
    {"tokens": 1, "experts": 1, "active": 1, "n": 8, "k": 8, "part": "up", "routing": "skewed"},
    {"tokens": 200, "experts": 16, "active": 4, "n": 256, "k": 512, "part": "up", "routing": "skewed"},
    {"tokens": 300, "experts": 8, "active": 8, "n": 128, "k": 320, "part": "down", "routing": "uniform"},
)

DENSE = Probe(
    name="weights",
    question="How does the time of a weight grow with the number of tokens?",
    kernels=(WEIGHT,),
    baselines=(),
    floors=FLOORS,
    cases=_of_presets(),
    quick=len(FEW_TOKENS),
    checks=_CHECKS,
    interpreted=(),
    of_model=dense,
)
DENSE_FP8 = Probe(
    name="weights-fp8",
    question="How does it grow where weights and states are fp8?",
    kernels=(WEIGHT_FP8,),
    baselines=(),
    floors=FLOORS,
    cases=tuple(
        axes for axes in _of_presets() if str(axes["weight"]).startswith("gate_up") and axes["m"] in LESS_TOKENS
    ),
    quick=0,
    checks=_CHECKS,
    interpreted=(),
    of_model=dense,
)
MIXTURE = Probe(
    name="weights-of-experts",
    question="How does the time of a mixture of experts grow with the number of tokens, and with their routing?",
    kernels=(EXPERTS,),
    baselines=(EXPERTS_LOOP, EXPERTS_GROUPED),
    floors=FLOORS,
    cases=tuple({**axes, "weight": f"{axes['weight']} of {EXAMPLE}"} for axes in experts(model_of(EXAMPLE))),
    quick=3,
    checks=_EXPERT_CHECKS,
    interpreted=_SMALL_EXPERTS,
    of_model=experts,
)
WEIGHTS = (DENSE, MIXTURE, DENSE_FP8)

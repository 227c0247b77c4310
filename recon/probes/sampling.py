"""How long does it take to accept drafts by chance, so that tokens follow the target exactly?"""

from recon.kernels.wire import Axes
from recon.probes.floors import NOP, READ
from recon.probes.linear_vs_tree import awkward, case
from recon.probes.probe import Probe, Subject

TARGET_ONLY = tuple(Subject("tree_target_only", variant) for variant in ("fused", "lazy", "auto"))
SOFTMAX_WALK = Subject("tree_target_only", "softmax_walk")
TORCH = tuple(Subject("tree_target_only", variant) for variant in ("compiled_walk", "eager"))
ROUNDS = Subject("tree_multi_round", "fused")
ROUNDS_EAGER = Subject("tree_multi_round", "eager")
CHAIN = Subject("linear_stochastic", "fused")
CHAIN_EAGER = Subject("linear_stochastic", "eager")
CHAIN_COMPILED = Subject("linear_stochastic", "compiled")
BLOCK = Subject("linear_block", "fused")
BLOCK_EAGER = Subject("linear_block", "eager")


def _timed(*cases: Axes, **other: str) -> tuple[Axes, ...]:
    """Cases at temperature 1, which spares the baselines a pass.

    With `values="drawn"` nothing is planted: behind a rejection on planted data nothing is left of p but rounding.
    """
    return tuple({**each, "temperature": 1, **other} for each in cases)


def _by_chance(cases: tuple[Axes, ...]) -> tuple[Axes, ...]:
    """Cases in which chance decides: of a planted path a block leaves but rounding, and two answers are right."""
    return tuple({"values": "drawn", **each} for each in cases)


SMALL_CHECKS = (
    awkward(1, 1, 1, "fp32", values="drawn"),
    awkward(3, 7, 7, "bf16", values="drawn"),
    awkward(4, 8, 300, "fp16", values="masked", layout="strided"),
    awkward(3, 9, 2_100, "fp32", accepted=-1, shape="chain", layout="node_major"),
    awkward(3, 9, 513, "bf16", values="drawn", shape="star", layout="padded"),
    awkward(4, 6, 200, "bf16", accepted=0, shape="padded", drafter="none", siblings="alike", values="drawn", depth=2),
)
CHECKS = (
    *SMALL_CHECKS,
    awkward(2, 1, 7, "bf16", values="drawn"),
    awkward(2, 64, 151_936, "bf16", values="drawn"),
    awkward(4, 16, 32_003, "bf16", values="drawn", drafter="none", siblings="alike"),
    awkward(2, 300, 1_031, "bf16", values="masked"),
)
"""The axes `drafter` and `siblings` mean something to some of the kernels, the shape of a tree not to chains."""

TREES = Probe(
    name="sampled-trees",
    question="How long does it take to accept a draft tree by the target's probabilities alone?",
    kernels=TARGET_ONLY,
    baselines=(SOFTMAX_WALK,),
    floors=(NOP, READ),
    cases=_timed(
        case(1, 64),
        case(64, 8),
        case(1, 8),
        case(1, 256),
        case(16, 64),
        case(64, 64),
        case(1, 64, 248_320),
        case(1, 64, accepted=0),
        case(64, 64, accepted=0),
        case(1, 64, accepted=8),
        case(64, 64, accepted=8),
        case(64, 64, 248_320),
    ),
    quick=2,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
IN_TORCH = Probe(
    name="sampled-trees-in-torch",
    question="How long does it take to accept a draft tree by chance with what torch offers?",
    kernels=TARGET_ONLY[-1:],
    baselines=TORCH,
    floors=(NOP, READ),
    cases=_timed(case(1, 64), case(64, 8)),
    quick=0,
    checks=(),
    interpreted=(),
)
IN_ROUNDS = Probe(
    name="sampled-trees-in-rounds",
    question="How long does it take to accept a draft tree in rounds, a residual after each rejection?",
    kernels=(ROUNDS,),
    baselines=(ROUNDS_EAGER,),
    floors=(NOP, READ),
    cases=_timed(case(1, 8), case(1, 64), case(64, 8), values="drawn"),
    quick=1,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
CHAINS = Probe(
    name="sampled-chains",
    question="How long does it take to accept a draft chain by chance, draft by draft?",
    kernels=(CHAIN,),
    baselines=(CHAIN_EAGER,),
    floors=(NOP, READ),
    cases=_timed(case(1, 8), case(64, 8)),
    quick=1,
    checks=CHECKS,
    interpreted=SMALL_CHECKS,
)
BLOCKS = Probe(
    name="sampled-blocks",
    question="How long does it take to accept a draft chain by chance, as one block?",
    kernels=(BLOCK,),
    baselines=(BLOCK_EAGER,),
    floors=(NOP, READ),
    cases=_timed(case(1, 8), case(64, 8), values="drawn"),  # planted, what is left of p is but rounding
    quick=1,
    checks=_by_chance(CHECKS),
    interpreted=_by_chance(SMALL_CHECKS),
)
CHAINS_WITHOUT_DRAFTER = Probe(
    name="sampled-chains-without-drafter",
    question="How long does it take to accept a draft chain whose drafter gives no probabilities?",
    kernels=(CHAIN,),
    baselines=(CHAIN_EAGER,),
    floors=(NOP, READ),
    cases=_timed(case(1, 8), case(64, 8), drafter="none"),
    quick=1,
    checks=(),
    interpreted=(),
)
CHAINS_IN_TORCH = Probe(
    name="sampled-chains-in-torch",
    question="How long does it take to accept a draft chain by chance with what torch offers?",
    kernels=(CHAIN,),
    baselines=(CHAIN_COMPILED, CHAIN_EAGER),
    floors=(NOP, READ),
    cases=_timed(case(1, 8), case(64, 8)),
    quick=0,
    checks=(),
    interpreted=(),
)
SAMPLING = (TREES, IN_TORCH, IN_ROUNDS, CHAINS, BLOCKS, CHAINS_WITHOUT_DRAFTER, CHAINS_IN_TORCH)

"""A kernel against its reference, before any clock.

Outputs lie between guards and are poisoned before each launch, so that a value which was not written, or was written
beside its place, is seen; each case is launched twice, so that scratch left in another state is seen too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from .card import Card
from .op import Op, Tensors, Variant, answered_by
from .wire import Agreement, Axes

GUARD = 64
"""Elements before and after each tensor that a kernel may write."""
_POISON = {torch.int32: -0x5A5A5A5B, torch.int64: -0x5A5A5A5A5A5A5A5B}


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A tensor in the middle of a larger one."""

    whole: torch.Tensor
    inner: torch.Tensor

    def broken(self) -> bool:
        """Whether something was written beside the tensor."""
        edges = torch.cat([self.whole[:GUARD], self.whole[-GUARD:]])
        clean = torch.empty_like(edges)
        poison(clean)
        return not torch.equal(edges.nan_to_num(nan=0.5), clean.nan_to_num(nan=0.5))


def poison(tensor: torch.Tensor) -> None:
    """Fill with what no kernel writes: NaN, or a number that is no token, node or count."""
    tensor.fill_(float("nan") if tensor.is_floating_point() else _POISON[tensor.dtype])


def _nobody() -> None:
    pass


def check(
    op: Op,
    variant: Variant,
    cases: tuple[Axes, ...],
    *,
    seed: int,
    device: torch.device,
    card: Card,
    tell: Callable[[], None] = _nobody,
) -> Agreement:
    """Compare a variant with the reference on every case, on fresh inputs, its configurations taken in turn.

    Before each case somebody may be told: a case takes as long as its compilation, and silence passes for a hang.

    Raises:
        Exception: whatever a launch raises; the caller reports it.
    """
    first, mismatches, tried = "", 0, 0
    for number, axes in enumerate(cases):
        if not variant.checked(axes):
            continue
        tell()
        configs = variant.configs(axes, card)
        config = configs[number % len(configs)]
        wrong = check_case(op, variant, axes, config, seed=seed + number, device=device)
        tried += 1
        mismatches += bool(wrong)
        if wrong and not first:
            first = f"{_words(axes)} {_words(config)}: {wrong}"
    return Agreement(tried, mismatches, first or variant.agreed)


def check_case(op: Op, variant: Variant, axes: Axes, config: Axes, *, seed: int, device: torch.device) -> str:
    """Empty where a variant agrees with the reference on one case, else what is wrong."""
    compare = op.compared(variant)
    if compare is None:
        return ""
    made = answered_by(variant, op.work(axes, seed, device))
    outputs, scratch = _guard(made.outputs), _guard(made.scratch)
    work = replace(made, outputs=_inner(outputs), scratch=_inner(scratch))
    for launch in ("first", "second"):
        for tensor in work.outputs.values():
            poison(tensor)
        op.reset(work)
        variant.launch(work, config)
        wrong = compare(work)
        if wrong:
            return f"{launch} launch: {wrong}"
    broken = [name for name, guarded in (outputs | scratch).items() if guarded.broken()]
    return f"written outside of {', '.join(broken)}" if broken else ""


def _guard(tensors: Tensors) -> dict[str, _Guarded]:
    guarded = {}
    for name, tensor in tensors.items():
        whole = torch.empty(tensor.numel() + 2 * GUARD, dtype=tensor.dtype, device=tensor.device)
        poison(whole)
        inner = whole[GUARD : GUARD + tensor.numel()].view(tensor.shape)
        inner.copy_(tensor)
        guarded[name] = _Guarded(whole, inner)
    return guarded


def _inner(guarded: dict[str, _Guarded]) -> Tensors:
    return {name: each.inner for name, each in guarded.items()}


def _words(axes: Axes) -> str:
    return " ".join(f"{name}={value}" for name, value in axes.items())

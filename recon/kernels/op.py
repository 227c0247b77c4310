"""What a kernel folder exports: how to make work, how to do it, and what must come out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from .card import Card
from .wire import Axes

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Work:
    """Tensors of one case: what is read, what is written, and what is used and left as it was found."""

    inputs: Tensors
    outputs: Tensors
    scratch: Tensors = field(default_factory=dict)
    axes: Axes = field(default_factory=dict)
    """The case, for what a rule needs to know of it beside its tensors."""
    foreign: Any = None
    """What a launch that is not ours needs beside tensors, and where it leaves what it gave back."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to do the work."""

    launch: Callable[[Work, Axes], None]
    """Queues the work on the current stream with a configuration; neither synchronises nor allocates."""
    configs: Callable[[Axes, Card], tuple[Axes, ...]] = lambda _axes, _card: ({},)
    """Configurations to choose from, given the case and the card; the first is the default."""
    bytes_of: Callable[[Axes], int] | None = None
    """Fewest bytes that this way must move, where it is not all that the kernel's inputs hold."""
    outputs: tuple[str, ...] = ()
    """Names of the outputs that it writes; empty for all."""
    checked: Callable[[Axes], bool] = lambda _axes: True
    """Whether it is compared with the reference on a case; what torch.compile makes takes many seconds for each."""
    captured: bool = True
    """Whether a graph replays it; else the host queues each call anew, and may wait for the GPU."""
    foreign: bool = False
    """Whether it is not ours: it may allocate, and whether it can be captured is found out."""
    compare: Callable[[Work], str] | None = None
    """Its own comparison, where its answers are not laid out as the kernel's outputs."""
    note: Callable[[Work], str] | None = None
    """Its own note."""
    agreed: str = "equal in every element; outputs poisoned and guarded, launched twice"
    """What an agreement says of how it was compared."""


def answered_by(variant: Variant, work: Work) -> Work:
    """The work with the outputs alone that a variant writes."""
    names = variant.outputs or tuple(work.outputs)
    return replace(work, outputs={name: work.outputs[name] for name in names})


@dataclass(frozen=True, slots=True)
class Build:
    """A Triton function with everything that its compilation needs."""

    variant: str
    """Variant that launches it."""
    function: Any
    """What `triton.jit` made; its type is Triton's."""
    types: Mapping[str, str]
    """Triton's names of the types of run-time arguments, e.g. `*bf16`, `i32`."""
    constants: Mapping[str, int]
    divisible: frozenset[str]
    """Run-time integers that are multiples of 16 in production; pointers always are."""
    warps: int
    options: Mapping[str, int] = field(default_factory=dict)
    """Options of Triton's compiler beside the warps, e.g. `maxnreg`."""
    archs: tuple[int, ...] = ()
    """Architectures that it is chosen for, compute capability times ten; empty for all."""


def _nothing() -> tuple[Build, ...]:
    return ()


def _as_found(_work: Work) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Op:
    """A kernel: inputs, outputs, variants, and the comparison with the reference."""

    work: Callable[[Axes, int, torch.device], Work]
    """Seeded inputs and empty outputs for a case, on a device."""
    compare: Callable[[Work], str] | None
    """Empty when the outputs are those of the reference, else the first disagreement. None: nothing to agree with."""
    variants: Mapping[str, Variant]
    bytes_of: Callable[[Axes], int]
    """Fewest bytes of device memory that the case must move."""
    note: Callable[[Work], str] = lambda _work: ""
    """What a reader of a timing must know about the data."""
    builds: Callable[[], tuple[Build, ...]] = _nothing
    point: Callable[[Axes], bool] = lambda _axes: False
    """Whether a case is one of the many points of a curve: then it is warmed up briefly, and not timed after rests."""
    reset: Callable[[Work], None] = _as_found
    """Puts back what a launch changes in place, and what tells where tensors lie: called before what is compared."""
    in_cache: Callable[[Axes], bool] = lambda _axes: False
    """Whether a case finds its inputs in the cache, e.g. since they are small and the launch before left them there."""
    held_bytes_of: Callable[[Axes], int] | None = None
    """Device memory of one input set, where it is more than the case must move."""

    def held_by(self, axes: Axes) -> int:
        """Device memory that one input set takes."""
        return (self.held_bytes_of or self.bytes_of)(axes)

    def compared(self, variant: Variant) -> Callable[[Work], str] | None:
        """How the answers of a variant are compared."""
        return variant.compare or self.compare

    def moved_by(self, variant: str, axes: Axes) -> int:
        """Fewest bytes of device memory that a variant must move."""
        return (self.variants[variant].bytes_of or self.bytes_of)(axes)


def compare_exactly(outputs: Tensors, expected: Tensors) -> str:
    """Empty when every output equals what was expected, else the name, place and values of the first that does not."""
    for name, want in expected.items():
        got = outputs[name]
        wrong = (got != want.to(got.device)).nonzero()
        if len(wrong):
            place = tuple(wrong[0].tolist())
            return (
                f"{name}{list(place)} is {got[place].item()}, the reference says {want[place].item()}; "
                f"{len(wrong)} of {want.numel()} differ"
            )
    return ""

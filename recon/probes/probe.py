"""A probe: a question asked of a GPU, with the kernels whose times answer it."""

from collections.abc import Callable
from dataclasses import dataclass

from recon.kernels.wire import Axes
from recon.records.model import Model


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel in one of its variants."""

    kernel: str
    variant: str

    @property
    def name(self) -> str:
        """As measurements name it, e.g. `tree_greedy.fused`."""
        return f"{self.kernel}.{self.variant}"


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, and what is measured to answer it."""

    name: str
    question: str
    kernels: tuple[Subject, ...]
    """What the question is about."""
    baselines: tuple[Subject, ...]
    """What it is compared with."""
    floors: tuple[Subject, ...]
    """Measured on the same device before, so that no time stands without the least that it could be."""
    cases: tuple[Axes, ...]
    """From cheap to dear: what a limit cuts off is the end."""
    quick: int
    """How many of the first cases belong to the quick level."""
    checks: tuple[Axes, ...]
    """Awkward shapes on which kernels and baselines are compared with their references before any clock."""
    interpreted: tuple[Axes, ...]
    """Shapes small enough for the interpreter."""
    of_model: Callable[[Model, int], tuple[Axes, ...]] | None = None
    """The cases for a model that so many GPUs share; None where some axes of the same cases take the model's values."""

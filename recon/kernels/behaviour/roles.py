"""What a parameter is given for the role it may have: what is alike for crafted requests and for timed ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

GUARD = 1 << 13
"""Elements before and behind every tensor: a reading that is wrong reads and writes there, not in others' memory."""
POISON = -7777
SHORT = "int32"


class OnGpu(torch.Tensor):  # type: ignore[misc]  # checked without torch
    """A tensor of the CPU that says it lies on a GPU: in Triton's interpreter a function is to take that way."""

    @property
    def is_cuda(self) -> bool:
        """Always."""
        return True


@dataclass(frozen=True)
class Choice:
    """What one parameter is given."""

    role: str
    """A role, or `value` for a plain one."""
    rank: int = 1
    form: str = ""
    """`probs` or `logits` of rows; `ends` or `starts` of bounds; columns of an output; `int32` of drafted tokens."""
    value: Any = None

    def words(self) -> str:
        """For people."""
        if self.role in ("value", "text"):
            return repr(self.value)
        return " ".join(filter(None, [self.role.replace("_", " "), self.form]))


@dataclass(frozen=True, kw_only=True)
class Requests:
    """Requests of one shape side by side. What target and draft think of them is said by those who make some."""

    device: torch.device
    rooted: bool
    """Whether the arrays of drafts hold the root as well."""
    pretends: bool
    """Whether tensors of the CPU say that they lie on a GPU."""
    temperature: float = 1.0
    seed: int = 0
    vocab: int
    """Tokens that there are."""
    forced: int
    """Drafts that are accepted whatever they are, where that is asked for."""
    tokens: Sequence[Sequence[int]]
    """By request and node; node 0 is the root, a token that stands already."""
    parents: Sequence[Sequence[int]]
    """Likewise, -1 for the root."""

    @property
    def batch(self) -> int:
        """How many there are."""
        return len(self.tokens)

    @property
    def nodes(self) -> int:
        """Nodes of a request, the root among them."""
        return len(self.tokens[0])

    @property
    def width(self) -> int:
        """Entries of a request in arrays of drafts."""
        return self.nodes if self.rooted else self.nodes - 1

    @property
    def depth(self) -> int:
        """Nodes of the longest path, the root among them."""
        deepest = 0
        for parents in self.parents:
            depths: list[int] = []
            for parent in parents:
                depths.append(depths[parent] + 1 if parent >= 0 else 1)
            deepest = max(deepest, *depths)
        return deepest

    def value(self, choice: Choice) -> Any:
        """What a parameter is given."""
        if choice.role == "value":
            return self.numbers().get(choice.value, choice.value) if isinstance(choice.value, str) else choice.value
        data = getattr(self, f"_{choice.role}")(choice)
        return self.tensor(data) if isinstance(data, torch.Tensor) else data

    def numbers(self) -> dict[str, Any]:
        """Plain numbers by what they count."""
        return {
            "drafts": self.nodes - 1,
            "nodes": self.nodes,
            "vocab": self.vocab,
            "batch": self.batch,
            "depth": self.depth,
            "device": self.device,
            "forced": self.forced + 1,
        }

    def tensor(self, data: torch.Tensor) -> torch.Tensor:
        """A tensor inside a larger one."""
        whole = torch.zeros(data.numel() + 2 * GUARD, dtype=data.dtype, device=self.device)
        inner = whole[GUARD : GUARD + data.numel()].view(data.shape)
        inner.copy_(data)
        return self.shown(inner)

    def shown(self, data: torch.Tensor) -> torch.Tensor:
        """A tensor as the function is to see it."""
        return data.as_subclass(OnGpu) if self.pretends else data

    def ids(self, rows: Sequence[Sequence[int]], rank: int) -> torch.Tensor:
        """Rows of numbers, flat where one dimension is asked for."""
        made = torch.tensor(rows, dtype=torch.int64)
        return made.reshape(-1) if rank == 1 else made

    def _draft(self, choice: Choice) -> torch.Tensor:
        skip = self.nodes - self.width
        made = self.ids([each[skip:] for each in self.tokens], choice.rank)
        return made.to(torch.int32) if choice.form == SHORT else made

    def _bounds(self, choice: Choice) -> torch.Tensor:
        ends = torch.arange(1, self.batch + 1) * self.width
        made = ends if choice.form == "ends" else torch.cat([torch.zeros(1, dtype=ends.dtype), ends])
        return made.to(torch.int32)

    def _lengths(self, _choice: Choice) -> list[int]:
        return [self.width] * self.batch

    def _nodes(self, choice: Choice) -> torch.Tensor:
        made = torch.arange(self.batch * self.nodes).view(-1, self.nodes)
        return made.reshape(-1) if choice.rank == 1 else made

    def _child(self, choice: Choice) -> torch.Tensor:
        return self.ids([_first_below(parents) for parents in self.parents], choice.rank)

    def _sibling(self, choice: Choice) -> torch.Tensor:
        return self.ids([_next_beside(parents) for parents in self.parents], choice.rank)

    def _parent(self, choice: Choice) -> torch.Tensor:
        return self.ids(self.parents, choice.rank)

    def _text(self, choice: Choice) -> str:
        return str(choice.value)

    def _slots(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(self.batch, dtype=torch.int32)

    def _slots_flat(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(self.batch, dtype=torch.int32).repeat_interleave(self.width)

    def _steps_flat(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(self.width, dtype=torch.int32).repeat(self.batch)

    def _noise(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(self.batch * self.nodes, dtype=torch.int64) + 1 + 1000 * self.seed

    def _temperature(self, choice: Choice) -> torch.Tensor:
        made = torch.full((self.batch,), self.temperature, dtype=torch.float32)
        return made[:, None] if choice.rank == 2 else made

    def _uniform(self, choice: Choice) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.seed + 17)
        shape = (self.batch, self.nodes) if choice.rank == 2 else (self.batch * self.width,)
        return torch.rand(shape, generator=generator, dtype=torch.float32)

    def _final(self, _choice: Choice) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.seed + 18)
        return torch.rand((self.batch,), generator=generator, dtype=torch.float32)

    def _rates(self, _choice: Choice) -> torch.Tensor:
        return torch.tensor([1.0] * self.forced + [0.0] * (self.nodes - 1 - self.forced), dtype=torch.float32)

    def _prefix(self, _choice: Choice) -> torch.Tensor:
        return torch.full((self.batch,), self.nodes + 3, dtype=torch.int64)

    def _forced(self, _choice: Choice) -> torch.Tensor:
        return torch.tensor([self.forced], dtype=torch.int64)

    def _unused(self, choice: Choice) -> torch.Tensor:
        return torch.zeros((self.batch, self.nodes)[: max(1, choice.rank)], dtype=torch.int64)

    def _out(self, choice: Choice) -> torch.Tensor:
        shape = {
            "flat": (self.batch * self.nodes,),
            "batch": (self.batch,),
            "nodes": (self.batch, self.nodes),
            "depth": (self.batch, self.depth),
            "column": (self.batch, 1),
        }[choice.form]
        return torch.full(shape, POISON, dtype=torch.int64)


def _first_below(parents: Sequence[int]) -> list[int]:
    """The first child of each node, -1 where it has none."""
    found = [-1] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        if parents[node] >= 0:
            found[parents[node]] = node
    return found


def _next_beside(parents: Sequence[int]) -> list[int]:
    """The next child of each node's parent, -1 where there is none."""
    found = [-1] * len(parents)
    latest: dict[int, int] = {}
    for node in range(len(parents) - 1, 0, -1):
        found[node] = latest.get(parents[node], -1)
        latest[parents[node]] = node
    return found

"""Requests as tensors: what each role of a parameter is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .laws import Situation

GUARD = 1 << 13
"""Elements before and behind every tensor: a reading that is wrong reads and writes there, not in others' memory."""
POISON = -7777


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
    """`probs` or `logits` of rows; `ends` or `starts` of bounds; columns of an output."""
    value: Any = None

    def words(self) -> str:
        """For people."""
        if self.role == "value":
            return repr(self.value)
        return " ".join(filter(None, [self.role.replace("_", " "), self.form]))


@dataclass(frozen=True)
class Batch:
    """Situations of one shape side by side."""

    situations: Sequence[Situation]
    device: torch.device
    rooted: bool
    """Whether the arrays of drafts hold the root as well."""
    pretends: bool
    """Whether tensors of the CPU say that they lie on a GPU."""
    temperature: float = 1.0
    seed: int = 0

    @property
    def nodes(self) -> int:
        """Nodes of a request, the root among them."""
        return len(self.situations[0].tokens)

    @property
    def width(self) -> int:
        """Entries of a request in arrays of drafts."""
        return self.nodes if self.rooted else self.nodes - 1

    @property
    def depth(self) -> int:
        """Nodes of the longest path, the root among them."""
        parents = self.situations[0].parents
        depths = [0] * len(parents)
        for node, parent in enumerate(parents):
            depths[node] = depths[parent] + 1 if parent >= 0 else 1
        return max(depths)

    @property
    def forced(self) -> int:
        """Drafts that are accepted whatever they are, where that is asked for: as many as have a rate of one."""
        rates = self.situations[0].rates
        return next((place for place, rate in enumerate(rates) if rate < 1.0), len(rates))

    @property
    def vocab(self) -> int:
        """Tokens that there are."""
        return len(self.situations[0].target[0])

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
            "batch": len(self.situations),
            "depth": self.depth,
            "device": self.device,
            "forced": self.forced + 1,
        }

    def tensor(self, data: torch.Tensor) -> torch.Tensor:
        """A tensor inside a larger one."""
        whole = torch.zeros(data.numel() + 2 * GUARD, dtype=data.dtype, device=self.device)
        inner = whole[GUARD : GUARD + data.numel()].view(data.shape)
        inner.copy_(data)
        return inner.as_subclass(OnGpu) if self.pretends else inner

    def _ids(self, rows: list[list[int]], rank: int) -> torch.Tensor:
        made = torch.tensor(rows, dtype=torch.int64)
        return made.reshape(-1) if rank == 1 else made

    def _draft(self, choice: Choice) -> torch.Tensor:
        skip = self.nodes - self.width
        return self._ids([list(each.tokens[skip:]) for each in self.situations], choice.rank)

    def _target(self, choice: Choice) -> torch.Tensor:
        return self._ids([list(each.choice[: self.width]) for each in self.situations], choice.rank)

    def _bonus(self, choice: Choice) -> torch.Tensor:
        made = torch.tensor([each.choice[-1] for each in self.situations], dtype=torch.int64)
        return made[:, None] if choice.rank == 2 else made

    def _target_rows(self, choice: Choice) -> torch.Tensor:
        return self._rows([each.target[: self.width] for each in self.situations], choice)

    def _draft_rows(self, choice: Choice) -> torch.Tensor:
        return self._rows([each.draft[: self.nodes - 1] for each in self.situations], choice)

    def _rows(self, rows: list[Any], choice: Choice) -> torch.Tensor:
        made = torch.tensor(rows, dtype=torch.float64)
        made = made.log().clamp(min=-80.0) if choice.form == "logits" else made
        made = made.to(torch.float32)
        return made.reshape(-1, made.shape[-1]) if choice.rank == 2 else made

    def _bounds(self, choice: Choice) -> torch.Tensor:
        ends = torch.arange(1, len(self.situations) + 1) * self.width
        made = ends if choice.form == "ends" else torch.cat([torch.zeros(1, dtype=ends.dtype), ends])
        return made.to(torch.int32)

    def _lengths(self, _choice: Choice) -> list[int]:
        return [self.width] * len(self.situations)

    def _nodes(self, choice: Choice) -> torch.Tensor:
        made = torch.arange(len(self.situations) * self.nodes).view(-1, self.nodes)
        return made.reshape(-1) if choice.rank == 1 else made

    def _child(self, choice: Choice) -> torch.Tensor:
        rows = [[next(iter(each.children(node)), -1) for node in range(self.nodes)] for each in self.situations]
        return self._ids(rows, choice.rank)

    def _sibling(self, choice: Choice) -> torch.Tensor:
        rows = [[self._next_to(each, node) for node in range(self.nodes)] for each in self.situations]
        return self._ids(rows, choice.rank)

    @staticmethod
    def _next_to(situation: Situation, node: int) -> int:
        beside = situation.children(situation.parents[node]) if node else (0,)
        place = beside.index(node) + 1
        return beside[place] if place < len(beside) else -1

    def _parent(self, choice: Choice) -> torch.Tensor:
        return self._ids([list(each.parents) for each in self.situations], choice.rank)

    def _slots(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(len(self.situations), dtype=torch.int32)

    def _slots_flat(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(len(self.situations), dtype=torch.int32).repeat_interleave(self.width)

    def _steps_flat(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(self.width, dtype=torch.int32).repeat(len(self.situations))

    def _noise(self, _choice: Choice) -> torch.Tensor:
        return torch.arange(len(self.situations) * self.nodes, dtype=torch.int64) + 1 + 1000 * self.seed

    def _temperature(self, choice: Choice) -> torch.Tensor:
        made = torch.full((len(self.situations),), self.temperature, dtype=torch.float32)
        return made[:, None] if choice.rank == 2 else made

    def _uniform(self, choice: Choice) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.seed + 17)
        shape = (len(self.situations), self.nodes) if choice.rank == 2 else (len(self.situations) * self.width,)
        return torch.rand(shape, generator=generator, dtype=torch.float32)

    def _final(self, _choice: Choice) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.seed + 18)
        return torch.rand((len(self.situations),), generator=generator, dtype=torch.float32)

    def _rates(self, _choice: Choice) -> torch.Tensor:
        return torch.tensor(self.situations[0].rates, dtype=torch.float32)

    def _prefix(self, _choice: Choice) -> torch.Tensor:
        return torch.full((len(self.situations) * self.nodes,), self.nodes + 3, dtype=torch.int64)[
            : len(self.situations)
        ]

    def _forced(self, _choice: Choice) -> torch.Tensor:
        return torch.tensor([self.forced], dtype=torch.int64)

    def _unused(self, choice: Choice) -> torch.Tensor:
        return torch.zeros((len(self.situations), self.nodes)[: max(1, choice.rank)], dtype=torch.int64)

    def _out(self, choice: Choice) -> torch.Tensor:
        batch = len(self.situations)
        shape = {
            "flat": (batch * self.nodes,),
            "batch": (batch,),
            "nodes": (batch, self.nodes),
            "depth": (batch, self.depth),
            "column": (batch, 1),
        }[choice.form]
        return torch.full(shape, POISON, dtype=torch.int64)

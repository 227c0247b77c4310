"""Crafted requests as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .laws import Situation
from .roles import Choice, Requests


@dataclass(frozen=True, kw_only=True)
class Batch(Requests):
    """Situations of one shape side by side."""

    situations: Sequence[Situation]

    def _target(self, choice: Choice) -> torch.Tensor:
        return self.ids([each.choice[: self.width] for each in self.situations], choice.rank)

    def _bonus(self, choice: Choice) -> torch.Tensor:
        made = torch.tensor([each.choice[-1] for each in self.situations], dtype=torch.int64)
        return made[:, None] if choice.rank == 2 else made

    def _target_rows(self, choice: Choice) -> torch.Tensor:
        return _rows([each.target[: self.width] for each in self.situations], choice)

    def _draft_rows(self, choice: Choice) -> torch.Tensor:
        return _rows([each.draft[: self.nodes - 1] for each in self.situations], choice)

    def _rates(self, _choice: Choice) -> torch.Tensor:
        return torch.tensor(self.situations[0].rates, dtype=torch.float32)


def batch_of(
    situations: Sequence[Situation],
    device: torch.device,
    *,
    rooted: bool,
    pretends: bool,
    temperature: float = 1.0,
    seed: int = 0,
) -> Batch:
    """Situations of one shape side by side, as many drafts forced as have a rate of one."""
    rates = situations[0].rates
    return Batch(
        device=device,
        rooted=rooted,
        pretends=pretends,
        temperature=temperature,
        seed=seed,
        vocab=len(situations[0].target[0]),
        forced=next((place for place, rate in enumerate(rates) if rate < 1.0), len(rates)),
        tokens=[each.tokens for each in situations],
        parents=[each.parents for each in situations],
        situations=situations,
    )


def _rows(rows: list[Any], choice: Choice) -> torch.Tensor:
    made = torch.tensor(rows, dtype=torch.float64)
    made = made.log().clamp(min=-80.0) if choice.form == "logits" else made
    made = made.to(torch.float32)
    return made.reshape(-1, made.shape[-1]) if choice.rank == 2 else made

"""An engine's function at the work of one of our kernels: called as the check found, and compared.

What its caller makes of the logits before the call (an argmax, a softmax) is made in torch and belongs to the time,
since our kernels begin at the logits too. What the drafter gave lies ready.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from ..choice import choose
from ..op import Op, Tensors, Variant, Work
from ..tree_greedy.reference import walk
from ..trees import DRAWN
from ..wire import ENGINE, Axes
from .answers import outcomes, outputs_of
from .call import Call
from .interpreted import supply
from .laws import Outcome, Situation
from .roles import Choice, Requests
from .subject import BadSubject, decode, load
from .trying import given

CERTAIN = frozenset(
    (
        *("chain greedy", "tree greedy"),
        *("chain stochastic without draft probabilities", "tree stochastic without draft probabilities"),
    )
)
"""Rules of which planted data leave nothing to chance: the target is sure of each token on the path and of the last."""
_EXACT = "paths and tokens are the reference's; outputs poisoned and guarded, launched twice"
_AT_LEAST = (
    "the drafts that are certain are accepted, and all tokens are those of a path; what chance decides is left to the"
    " check of its behaviour"
)
_STEPS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("target", ""): "torch.argmax of the logits",
        ("bonus", ""): "torch.argmax of the logits",
        ("target_rows", "probs"): "torch.softmax of the logits in float32",
    }
)
"""What is made of the logits at each call, by role and form."""
_FRESH = ("target", "bonus", "target_rows")
"""Roles that are made of the logits."""


@dataclass(frozen=True, kw_only=True)
class Laid(Requests):
    """Requests of a timed case, whose distributions lie on the device."""

    logits: torch.Tensor
    drafter: torch.Tensor
    """Logits of the drafter; those of the target where the case has none."""

    def value(self, choice: Choice) -> Any:
        """What a parameter is given that is not made of the target's logits; rows are too large to be copied."""
        return self.shown(self._draft_rows(choice)) if choice.role == "draft_rows" else super().value(choice)

    def fresh(self, reading: Mapping[str, Choice]) -> dict[str, torch.Tensor]:
        """What parameters are given that is made of the target's logits, all of it made anew."""
        best = None
        made: dict[str, torch.Tensor] = {}
        for name, choice in reading.items():
            if choice.role == "target_rows":
                made[name] = self.shown(self._rows(self.logits[:, : self.width], choice))
            elif choice.role in _FRESH:
                best = torch.argmax(self.logits, dim=-1) if best is None else best
                picked = best[:, : self.width] if choice.role == "target" else best[:, -1:]
                made[name] = self.shown((picked.reshape(-1) if choice.rank == 1 else picked).contiguous())
        return made

    def _draft_rows(self, choice: Choice) -> torch.Tensor:
        return self._rows(self.drafter[:, : self.nodes - 1], choice)

    def _rows(self, rows: torch.Tensor, choice: Choice) -> torch.Tensor:
        made = torch.softmax(rows, dim=-1, dtype=torch.float32) if choice.form == "probs" else rows
        return (made.reshape(-1, made.shape[-1]) if choice.rank == 2 else made).contiguous()


@dataclass
class _Held:
    """What one set of inputs is called with, and what the last call gave back."""

    requests: Laid
    ready: dict[str, Any]
    returned: Any = None


@dataclass(frozen=True)
class Engine:
    """One function, ready to be called."""

    name: str
    function: Callable[..., Any]
    call: Call
    folder: "tempfile.TemporaryDirectory[str]"
    """Holds the cut module, whose source Triton reads as late as it compiles."""
    pretends: bool

    def laid(self, made: Work) -> Work:
        """The work with what the function is called with beside it."""
        logits, tokens = made.inputs["logits"], made.inputs["token"].tolist()
        chain = list(range(-1, logits.shape[1] - 1))
        requests = Laid(
            device=logits.device,
            rooted=self.call.rooted,
            pretends=self.pretends,
            temperature=self.call.temperature,
            vocab=logits.shape[-1],
            forced=1,
            tokens=tokens,
            parents=made.inputs["parent"].tolist() if "parent" in made.inputs else [chain] * len(tokens),
            logits=logits,
            drafter=made.inputs.get("draft", logits),
        )
        asked = {name: choice for name, choice in self.call.reading.items() if choice.role != "default"}
        ready = {name: requests.value(each) for name, each in asked.items() if each.role not in (*_FRESH, "out")}
        outs = {
            name: requests.value(each).as_subclass(torch.Tensor) for name, each in asked.items() if each.role == "out"
        }
        return replace(
            made,
            outputs=made.outputs | {_out(name): each for name, each in outs.items()},
            foreign=_Held(requests, ready),
        )

    def launch(self, work: Work, _config: Axes) -> None:
        """Queue what its caller does to the logits, and the function."""
        held: _Held = work.foreign
        values = held.ready | held.requests.fresh(self.call.reading)
        values |= {name: held.requests.shown(each) for name, each in self.written(work).items()}
        held.returned = self.function(**given(values))

    def written(self, work: Work) -> Tensors:
        """The outputs that it is given, by the names of its parameters."""
        names = [name for name, choice in self.call.reading.items() if choice.role == "out"]
        return {name: work.outputs[_out(name)] for name in names}

    def said(self, work: Work) -> list[Outcome | None]:
        """What it answered for each request."""
        held: _Held = work.foreign
        told = outputs_of(held.returned, self.written(work))
        return outcomes(told, self.call.outputs, _situations(held.requests))

    def compare(self, work: Work) -> str:
        """First request that is not answered as the data demand."""
        requests: Laid = work.foreign.requests
        planted = work.axes.get("values") not in DRAWN
        chosen = choose(requests.logits).tolist()
        for number, outcome in enumerate(self.said(work)):
            path = walk(chosen[number], list(requests.tokens[number]), list(requests.parents[number]))
            wrong = self._strays(outcome, path, chosen[number][path[-1]], planted=planted, vocab=requests.vocab)
            if wrong:
                return f"request {number}: {wrong}"
        return ""

    def _strays(self, outcome: Outcome | None, path: list[int], last: int, *, planted: bool, vocab: int) -> str:
        """How an answer differs from the greedy one; rules that leave something to chance need only begin like it."""
        if outcome is None:
            return "its outputs are no path of the tree"
        said = f"nodes {list(outcome[0])} then token {outcome[1]}"
        if self.call.rule in CERTAIN:
            right = outcome == (tuple(path), last)
            return "" if right else f"{said}, the reference says nodes {path} then token {last}"
        if planted and list(outcome[0][: len(path)]) != path:
            return f"{said}, and the drafts on {path} are certain"
        return "" if outcome[1] is not None and 0 <= outcome[1] < vocab else f"{said}, which is none"

    def note(self, work: Work) -> str:
        """What was timed, and what the walk of this data is like."""
        asked = [(choice.role, choice.form) for choice in self.call.reading.values()]
        steps = list(dict.fromkeys(_STEPS[each] for each in asked if each in _STEPS))
        what = f"{' and '.join(steps)}, then the function" if steps else "the function alone, on the logits as they are"
        counts = [len(outcome[0]) - 1 for outcome in self.said(work) if outcome is not None]
        return f"timed: {what}; accepted drafts per request: {sum(counts) / max(1, len(counts)):.2f}"


def beside(op: Op, subject: str, device: torch.device) -> Op:
    """A kernel of ours with an engine's function as one more variant, which is named `engine.` and its place.

    Raises:
        BadSubject: the subject is none, or does not say how it is called.
        Exception: whatever loading the function raises.
    """
    engine = _engine(subject, device)
    theirs = Variant(
        engine.launch,
        foreign=True,
        compare=engine.compare,
        note=engine.note,
        agreed=_EXACT if engine.call.rule in CERTAIN else _AT_LEAST,
    )
    return replace(
        op,
        work=lambda axes, seed, on: engine.laid(replace(op.work(axes, seed, on), axes=axes)),
        variants={**op.variants, f"{ENGINE}{engine.name}": theirs},
        held_bytes_of=lambda axes: _held_bytes_of(op, engine.call, axes),
    )


def _held_bytes_of(op: Op, call: Call, axes: Axes) -> int:
    """What one input set takes with what is made of it at a call: each array of rows counts in float32."""
    rows = sum(choice.role in ("target_rows", "draft_rows") for choice in call.reading.values())
    return op.held_by(axes) + rows * 4 * int(axes["batch"]) * int(axes["nodes"]) * int(axes["vocab"])


@cache
def _engine(text: str, device: torch.device) -> Engine:
    """The function of a subject, loaded once."""
    if device.type == "cpu":
        supply()
    subject = decode(text)
    if subject.call is None:
        raise BadSubject("nothing says how it is called")
    folder = tempfile.TemporaryDirectory(prefix="cut-")
    function, _, _ = load(subject, Path(folder.name))
    return Engine(subject.name, function, subject.call, folder, device.type == "cpu")


def _out(name: str) -> str:
    """Key of an output that the function is given, apart from those of our kernels."""
    return f"{ENGINE}{name}"


def _situations(requests: Requests) -> list[Situation]:
    """Requests as what outputs are read by."""
    pairs = enumerate(zip(requests.tokens, requests.parents, strict=True))
    return [Situation(f"request {number}", tuple(tokens), tuple(parents), ()) for number, (tokens, parents) in pairs]

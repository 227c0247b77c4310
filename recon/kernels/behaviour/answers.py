"""What a call gave back, and how its outputs are to be read: which is the count, which the path, which the tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .laws import Outcome, Path, Situation

Outputs = dict[str, torch.Tensor]
"""Integer outputs by name: those given back as `0`, `1`, ..., those written by the name of their parameter."""


@dataclass(frozen=True)
class OutputReading:
    """How outputs say an outcome."""

    count: str
    """Output with the number of accepted tokens; of `rows` the tokens themselves are counted."""
    offset: int
    """What the count holds beyond the accepted drafts."""
    tokens: str
    form: str
    """`next`: one token a request. `rows`: the tokens of each request in a row. `by node`: by place in the tree."""
    path: str = ""
    """Output with the nodes of the path; '' where a count says it."""

    def words(self) -> str:
        """For people."""
        plus = " plus one" if self.offset else ""
        path = f", path in {self.path}" if self.path else ""
        return f"count{plus} in {self.count}, tokens in {self.tokens} ({self.form}){path}"


def outputs_of(returned: Any, written: Outputs) -> Outputs:
    """All integer tensors that a call gave back or wrote."""
    found: Outputs = {}
    for place, each in enumerate(_flat(returned)):
        if isinstance(each, torch.Tensor) and not each.is_floating_point():
            found[str(place)] = each
    found.update(written)
    return {name: each.detach().cpu().as_subclass(torch.Tensor).to(torch.int64) for name, each in found.items()}


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    elif value is not None and not isinstance(value, torch.Tensor) and hasattr(value, "__dict__"):
        yield from _flat(list(vars(value).values()))
    else:
        yield value


def readings(outputs: Outputs, expected: Sequence[Outcome], situations: Sequence[Situation]) -> Iterator[OutputReading]:
    """The ways of reading in which outputs say just what is expected."""
    batch, nodes = len(expected), len(situations[0].tokens)
    is_chain = all(each.is_chain for each in situations)
    counts = torch.tensor([len(path) - 1 for path, _ in expected])
    for name, tensor in outputs.items():
        for offset in (0, 1):
            if tensor.numel() >= batch and torch.equal(tensor.reshape(-1)[:batch], counts + offset):
                yield from _with_count(
                    outputs, OutputReading(name, offset, "", ""), expected, situations, is_chain=is_chain
                )
        rows = _rows(tensor, batch, nodes)
        if rows is not None and is_chain and bool(torch.equal(_told(rows), counts + 1)):
            reading = OutputReading(name, 1, name, "rows")
            if _says(outputs, reading, expected, situations):
                yield reading


def _with_count(
    outputs: Outputs,
    counted: OutputReading,
    expected: Sequence[Outcome],
    situations: Sequence[Situation],
    *,
    is_chain: bool,
) -> Iterator[OutputReading]:
    for tokens in outputs:
        if tokens == counted.count:
            continue
        for form in ("rows", "next"):
            reading = OutputReading(counted.count, counted.offset, tokens, form)
            # In a tree a count and the next token leave open which path was taken; a row of tokens does not.
            if (is_chain or form == "rows") and _says(outputs, reading, expected, situations):
                yield reading
        for path in outputs:
            if path not in (tokens, counted.count):
                reading = OutputReading(counted.count, counted.offset, tokens, "by node", path)
                if _says(outputs, reading, expected, situations):
                    yield reading


def _says(
    outputs: Outputs, reading: OutputReading, expected: Sequence[Outcome], situations: Sequence[Situation]
) -> bool:
    said = outcomes(outputs, reading, situations)
    return all(
        one is not None and one[0] == path and (token is None or one[1] == token)
        for one, (path, token) in zip(said, expected, strict=True)
    )


def outcomes(outputs: Outputs, reading: OutputReading, situations: Sequence[Situation]) -> list[Outcome | None]:
    """What the outputs say of each request; None where it is no outcome at all."""
    batch, nodes = len(situations), len(situations[0].tokens)
    tokens = outputs.get(reading.tokens)
    if tokens is None or reading.count not in outputs:
        return [None] * batch
    rows = _rows(tokens, batch, nodes)
    if reading.count == reading.tokens:
        if rows is None:
            return [None] * batch
        counts = (_told(rows) - 1).tolist()
    else:
        flat = outputs[reading.count].reshape(-1)
        if len(flat) < batch:
            return [None] * batch
        counts = (flat[:batch] - reading.offset).tolist()
    return [
        _outcome(outputs, reading, number, int(count), each)
        for number, (count, each) in enumerate(zip(counts, situations, strict=True))
    ]


def _outcome(outputs: Outputs, reading: OutputReading, number: int, count: int, situation: Situation) -> Outcome | None:
    nodes = len(situation.tokens)
    if not 0 <= count < nodes:
        return None
    tokens = outputs[reading.tokens]
    flat = tokens.reshape(-1)
    if reading.form == "next":
        return tuple(range(count + 1)), int(flat[number])
    if reading.form == "rows":
        columns = tokens.shape[1] if tokens.dim() == 2 else nodes
        row = flat[number * columns : (number + 1) * columns].tolist()
        path = _followed(situation, row[:count])
        return (path, row[count]) if path is not None and count < len(row) else None
    path = _path(outputs[reading.path], number, count, situation)
    base = number * nodes
    if path is None or base + max(path) >= len(flat):
        return None
    emitted = [int(flat[base + node]) for node in path]
    if emitted[:-1] != [situation.tokens[node] for node in path[1:]]:
        return None
    return path, emitted[-1]


def _path(tensor: torch.Tensor, number: int, count: int, situation: Situation) -> Path | None:
    """The nodes of a path, given as places in the request or in the batch."""
    nodes = len(situation.tokens)
    columns = tensor.shape[1] if tensor.dim() == 2 else nodes
    flat = tensor.reshape(-1)
    start = number * columns
    if columns <= count or start + count >= len(flat):
        return None
    path = tuple(int(each) for each in flat[start : start + count + 1])
    for base in (number * nodes, 0):
        local = tuple(node - base for node in path)
        if all(0 <= node < nodes for node in local) and local[0] == 0:
            steps = zip(local[1:], local, strict=False)
            if all(situation.parents[node] == above for node, above in steps):
                return local
    return None


def _followed(situation: Situation, tokens: Sequence[int]) -> Path | None:
    """The path whose drafted tokens are these."""
    path = [0]
    for token in tokens:
        onward = [child for child in situation.children(path[-1]) if situation.tokens[child] == token]
        if not onward:
            return None
        path.append(onward[0])
    return tuple(path)


def _rows(tensor: torch.Tensor, batch: int, nodes: int) -> torch.Tensor | None:
    if tensor.dim() == 2 and tensor.shape[0] == batch:
        return tensor
    return tensor.view(batch, nodes) if tensor.numel() == batch * nodes else None


def _told(rows: torch.Tensor) -> torch.Tensor:
    """How many tokens stand in each row before the first that is none."""
    return (rows >= 0).to(torch.int64).cumprod(dim=1).sum(dim=1)

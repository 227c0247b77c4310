"""Compiled operators, judged by the arguments of their schemas: what code would say where only a library is at hand.

A schema that is called tells what an operator takes and writes. Its argument names are words that its author chose for
the data, and several of them together are the form of an algorithm: candidates, links to siblings and the target's
predictions make an acceptance of trees, whatever the operator is called.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from recon.detectors.api import Evidence, Grade, Index
from recon.detectors.places import evidence, ranked
from recon.index.optable import Row
from recon.index.spell import words
from recon.records.operator import Operator, OperatorStatus
from recon.records.unknown import PACKAGE, Unknown

_LINKS = words("sibling siblings child children parent parents ancestor ancestors path paths tree branch")
_NODES = _LINKS - words("branch path paths")
"""Links of a tree's nodes; a branch or a path may be one of the code's own."""
_DRAFTED = words("candidate candidates draft drafts drafted draftid proposal proposed speculative")
_PROBABILITIES = words("prob probs probability probabilities logits logit")
_RANDOM = words("uniform uniforms random rand coin coins seed noise philox generator")
_TARGET = words("target")
_TOKENS = words("token tokens id ids")
_PLACES = words("position positions pos depth depths")
_MOST_SHOWN = 3
_MASK = words("mask bias")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The names of an operator's arguments, each as its words in lower case."""

    words: tuple[frozenset[str], ...]

    def any(self, *groups: frozenset[str]) -> bool:
        """Whether one argument has a word of each group."""
        return any(all(each & group for group in groups) for each in self.words)


Judge = Callable[[Arguments], bool]
"""Whether arguments are those of an algorithm."""


def walks_tree(given: Arguments) -> bool:
    """Greedy acceptance of a tree: drafted tokens, links between nodes, the target's choices, and nothing random."""
    return _accepts_tree(given) and not given.any(_RANDOM) and not given.any(_PROBABILITIES)


def draws_along_tree(given: Arguments) -> bool:
    """Stochastic acceptance of a tree: drafted tokens, links, the target's probabilities, and random numbers."""
    return _accepts_tree(given) and given.any(_RANDOM) and given.any(_TARGET, _PROBABILITIES)


def draws_along_chain(given: Arguments) -> bool:
    """Rejection sampling: drafted tokens with the probabilities of both models, and no links."""
    both = given.any(_DRAFTED, _PROBABILITIES) and given.any(_TARGET, _PROBABILITIES)
    return both and given.any(_DRAFTED, _TOKENS) and not given.any(_LINKS)


def builds_tree(given: Arguments) -> bool:
    """Links, positions or a mask of a tree made from parents or from a mask, before any target has spoken."""
    kinds = sum(given.any(group) for group in (_NODES, _PLACES, _MASK))
    return given.any(_NODES) and kinds > 1 and not given.any(_TARGET) and not given.any(_PROBABILITIES)


def places_nodes(given: Arguments) -> bool:
    """The positions of a tree's nodes, among what a builder of trees makes."""
    return builds_tree(given) and given.any(_PLACES)


def _accepts_tree(given: Arguments) -> bool:
    return given.any(_LINKS) and given.any(_DRAFTED) and given.any(_TARGET)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the operators of a tree say about one algorithm."""

    places: tuple[Evidence, ...] = ()
    """Callers of operators whose schema is the algorithm's, then the libraries that hold it."""
    nearest: tuple[Evidence, ...] = ()
    """Calls of other distributions' operators, wrappers behind which nothing is, exported functions without callers."""
    reason: str = ""
    """Why nothing is present though something is near."""
    unread: tuple[Unknown, ...] = ()
    """Operators of which it cannot be told whether anything is behind them."""


def compiled(index: Index, judge: Judge, *named: frozenset[str]) -> Compiled:
    """What the operators of a tree say about one algorithm.

    Args:
        index: The tree.
        judge: Whether arguments are those of the algorithm.
        named: Sets of words of which a bare symbol's name must hold one set whole, to be named as a near miss.
    """
    places: list[Evidence] = []
    nearest: list[Evidence] = []
    elsewhere: list[Evidence] = []
    unread: list[Unknown] = []
    for row in index.operator_rows:
        operator = row.operator
        if operator.status is OperatorStatus.CALLABLE and operator.schema and judge(of_schema(operator.schema)):
            places += _called(index, row)
        elif operator.status is OperatorStatus.SYMBOL_ALONE:
            if any(all(word in operator.name.lower() for word in group) for group in named):
                nearest.append(_exported(operator))
        elif not operator.schema and _is_handed(row, judge):
            if operator.status in (OperatorStatus.WRAPPER_ALONE, OperatorStatus.MISSING):
                nearest += _left_alone(index, row)
            elif operator.status is OperatorStatus.CANNOT_TELL:
                unread.append(Unknown("operator", spelled(operator), "its registration was not read"))
            elif operator.status is OperatorStatus.ELSEWHERE:
                elsewhere += _elsewhere(index, row)
                unread.append(Unknown(PACKAGE, f"{operator.namespace}.{operator.name}", "it was not scanned"))
    reason = _sentence(nearest[0].note, nearest[0].symbol) if nearest else ""
    return Compiled(tuple(ranked(places)), (*ranked(elsewhere), *nearest), reason, tuple(unread))


def of_schema(schema: str) -> Arguments:
    """The arguments of a schema.

    >>> sorted(map(sorted, of_schema("f(Tensor! accept_index, int k=2) -> ()").words))
    [['accept', 'index'], ['k']]
    """
    inside = schema.partition("(")[2].rpartition("->")[0].rpartition(")")[0]
    names = [part.partition("=")[0].split()[-1] for part in inside.split(",") if part.strip(" *")]
    return of_names(names)


def of_names(names: Iterable[str]) -> Arguments:
    """Arguments by their names; of `self.x` the last part."""
    return Arguments(tuple(frozenset(name.rpartition(".")[2].lower().split("_")) for name in names))


def spelled(operator: Operator) -> str:
    """An operator as a program would name it."""
    return f"torch.ops.{operator.namespace}.{operator.name}"


def _is_handed(row: Row, judge: Judge) -> bool:
    """Whether a caller hands over what the algorithm takes."""
    return any(judge(of_names(filter(None, caller.args))) for caller in row.callers)


def _called(index: Index, row: Row) -> Iterator[Evidence]:
    name = spelled(row.operator)
    for caller in row.callers:
        function = index.function(caller.ref)
        note = f"calls {name}, whose compiled schema takes what this algorithm takes"
        yield evidence(index, function, function.scope.line, note, Grade.SHAPED)
    for path in row.operator.libraries:
        yield Evidence(
            path, row.operator.name, 1, Grade.DECLARED, (), f"holds the schema {_short(row.operator.schema)}"
        )


def _elsewhere(index: Index, row: Row) -> Iterator[Evidence]:
    name = f"{row.operator.namespace}.{row.operator.name}"
    for caller in row.callers:
        note = f"calls {name}, which another distribution defines"
        yield evidence(index, index.function(caller.ref), caller.line, note, Grade.DECLARED)


def _left_alone(index: Index, row: Row) -> Iterator[Evidence]:
    for caller in row.callers:
        function = index.function(caller.ref)
        note = f"calls {spelled(row.operator)}, which nothing in this build defines"
        yield evidence(index, function, function.scope.line, note, Grade.NAMED)


def _exported(operator: Operator) -> Evidence:
    note = "exported as a function, with neither a schema nor a caller"
    return Evidence(operator.libraries[0], operator.name, 1, Grade.NAMED, (), note)


def _sentence(note: str, symbol: str) -> str:
    return f"Nothing can be called that does this: {symbol} {'is ' if note.startswith('exported') else ''}{note}."


def _short(schema: str) -> str:
    """A schema's name and first arguments."""
    name, _, rest = schema.rpartition("->")[0].strip().rpartition(")")[0].partition("(")
    shown = rest.split(", ")
    more = f", and {len(shown) - _MOST_SHOWN} more" if len(shown) > _MOST_SHOWN else ""
    return f"{name}({', '.join(shown[:_MOST_SHOWN])}{more})"

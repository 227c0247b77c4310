"""How a value is handed on: from the parameter of a kernel back through calls, fields and locals to who made it.

Fields are told apart by their name alone, whatever object holds them: what is stored as `x.mask` may be read as
`y.mask`. That is coarse, and enough to tell whether anything but None ever arrives.
"""

from collections import deque
from dataclasses import dataclass, field

from recon.detectors.api import Index
from recon.index.records import Bind, Call, Scope, ScopeKind
from recon.index.tables import Ref

MOST_CELLS = 600
MOST_STEPS = 9
"""Cells between the kernel and whoever makes the value; farther off, fields of common names lead astray."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A place where the value lies: a local or parameter of a function, or a field of any object."""

    ref: Ref | None
    """The function; None for a field."""
    name: str


@dataclass(eq=False)
class Trail:
    """What a walk back found."""

    functions: dict[Ref, int] = field(default_factory=dict)
    """Functions that hand the value on, with the line, in the order in which they were met."""
    makers: dict[Ref, int] = field(default_factory=dict)
    """Functions whose result, or whose work on it, the value is, with the line of the call."""
    cells: set[Cell] = field(default_factory=set)
    """Where the value lies on its way."""
    is_fed: bool = False
    """Whether something other than None arrives anywhere."""


@dataclass(eq=False)
class _Walk:
    index: Index
    trail: Trail = field(default_factory=Trail)
    seen: set[Cell] = field(default_factory=set)
    queue: deque[tuple[Cell, int]] = field(default_factory=deque)
    steps: int = 0
    """How far the cell that is looked at lies from the start."""

    def follow(self) -> Trail:
        while self.queue and len(self.seen) < MOST_CELLS:
            cell, self.steps = self.queue.popleft()
            if cell.ref is None:
                self._field(cell.name)
            else:
                self._local(cell.ref, cell.name)
        self.trail.cells = self.seen
        return self.trail

    def add(self, cell: Cell) -> None:
        if cell not in self.seen and self.steps < MOST_STEPS:
            self.seen.add(cell)
            self.queue.append((cell, self.steps + 1))

    def _local(self, ref: Ref, name: str) -> None:
        scope = self.index.files[ref.path].scopes[ref.scope]
        if self.index.parameter(ref, name) is not None:
            self._parameter(ref, scope, name)
        for bind in self.index.binds_of(ref):
            if bind.target == name:
                self._value(ref, bind)
        for call in self.index.calls_of(ref):
            if name in call.args and not call.callee.endswith("]"):
                self._worked_on(ref, call)

    def _parameter(self, ref: Ref, scope: Scope, name: str) -> None:
        for edge in self.index.callers(ref):
            for call in self.index.calls_between(edge):
                text = argument_of(call, scope, name)
                if text is None or text == "None":
                    continue
                # A parameter that may be left at None only moves the question on to the caller's callers.
                own = self.index.parameter(edge.source, text)
                self.trail.is_fed |= own is None or own.default != "None"
                self.trail.functions.setdefault(edge.source, call.line)
                self.text(edge.source, text, call.line)

    def text(self, ref: Ref, text: str, line: int) -> None:
        """Go on from an expression that is a name, a field, or a call's result."""
        if text.endswith("()"):
            self._made(ref, text[:-2], line)
        elif "." in text:
            self.add(Cell(None, text.rpartition(".")[2]))
        elif text.isidentifier():
            self.add(Cell(ref, text))

    def _value(self, ref: Ref, bind: Bind) -> None:
        if bind.value and bind.value[0] not in "<'0123456789":
            self.trail.functions.setdefault(ref, bind.line)
            self.text(ref, bind.value.partition("[")[0] if bind.value.endswith("]") else bind.value, bind.line)

    def _made(self, ref: Ref, callee: str, line: int) -> None:
        for target in self.index.names.resolve(ref.path, ref.scope, callee):
            self.trail.makers.setdefault(target, line)

    def _worked_on(self, ref: Ref, call: Call) -> None:
        """A local handed to a function may be filled in there."""
        for target in self.index.names.resolve(ref.path, ref.scope, call.callee):
            self.trail.makers.setdefault(target, call.line)

    def _field(self, name: str) -> None:
        for owner, bind in self.index.field_binds.get(name, ()):
            self._value(owner, bind)
        for owner, call, text in self.index.keyword_uses.get(name, ()):
            if text != "None" and self.index.constructs(owner, call):
                self.trail.is_fed = True
                self.trail.functions.setdefault(owner, call.line)
                self.text(owner, text, call.line)


def trail_of(index: Index, ref: Ref, name: str) -> Trail:
    """Walk back from a name in a function, a parameter, a local or an object's field, to whoever makes its value."""
    walk = _Walk(index)
    _, dot, own = name.rpartition(".")
    walk.add(Cell(None, own) if dot else Cell(ref, name))
    return walk.follow()


def trail_from(index: Index, ref: Ref, text: str, line: int) -> Trail:
    """Walk back from what a call in a function is given: a name, a field, or another call's result."""
    walk = _Walk(index)
    walk.text(ref, text, line)
    return walk.follow()


def argument_of_call(call: Call, keyword: str, place: int) -> str | None:
    """The text handed over under a keyword, or else at a place; None where the call leaves it out."""
    named = dict(zip(call.keywords, call.args[call.positional :], strict=False))
    return named.get(keyword, call.args[place] if place < call.positional else None)


def argument_of(call: Call, scope: Scope, parameter: str) -> str | None:
    """The text handed to a parameter by a call; None where the call leaves it out."""
    names = [param.name for param in scope.params if not param.name.startswith("*")]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    position = names.index(parameter) if parameter in names else len(call.args)
    return argument_of_call(call, parameter, position)


def reaches(index: Index, ref: Ref, targets: set[Ref], depth: int = 3) -> bool:
    """Whether a function calls one of some others, over a few steps."""
    level, seen = {ref}, {ref}
    for _ in range(depth + 1):
        if level & targets:
            return True
        level = {edge.target for one in level for edge in index.graph.edges_from(one)} - seen
        seen |= level
    return bool(level & targets)


def is_function(index: Index, ref: Ref) -> bool:
    """Whether a reference names a function."""
    return index.files[ref.path].scopes[ref.scope].kind is ScopeKind.FUNCTION

"""A data-flow view of one function: what a value may hold, where it is loaded, which names a test governs.

The view does not track order inside a loop and errs towards "may": a shape is a conjunction of several questions, so
that one loose answer rarely decides. Names are never interpreted, except those of the languages, of torch and Triton.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recon.detectors.shapes.behind import Behind
from recon.detectors.shapes.laid import Definition, Guard, Step, Store, all_keys, early_exit, within
from recon.detectors.shapes.origins import Origins
from recon.detectors.shapes.outcomes import Outcomes
from recon.detectors.shapes.terms import (
    APPENDS,
    GROWERS,
    Load,
    bases,
    bounds,
    callee,
    is_change,
    loads,
    piece_of,
    subject,
    writes,
)
from recon.index.term import Term

_DEFINING = frozenset({"bind", "assign", "comp"})


@dataclass(eq=False)
class View:
    """The steps of a function, its definitions, and the questions that shapes ask of them."""

    body: Term
    params: tuple[str, ...] = ()
    steps: list[Step] = field(default_factory=list)
    definitions: dict[str, list[Definition]] = field(default_factory=dict)
    _chased: dict[int, dict[str, list[Load]]] = field(default_factory=dict)
    _sought: dict[int, set[str]] = field(default_factory=dict)
    _set: dict[int, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lay the statements out in order."""
        self._lay(self.body, (), ())

    # Laying out

    def _lay(self, term: Term, loops: tuple[Term, ...], guards: tuple[Guard, ...]) -> None:
        match term.op:
            case "block" | "def":
                for part in term.parts if term.op == "block" else term.parts[0].parts:
                    self._lay(part, loops, guards)
                    # What follows an early exit runs only where the exit was not taken.
                    guards = (*guards, *early_exit(part))
            case "for":
                target, iterable, body = term.parts
                step = self._step(Term("test", "for", (iterable,), term.line), (*loops, term), guards)
                self._define(target, Term("each", "", (iterable,), term.line), step)
                self._lay(body, (*loops, term), guards)
            case "while":
                test, body = term.parts
                self._step(Term("test", "while", (test,), term.line), (*loops, term), guards)
                self._lay(body, (*loops, term), (*guards, Guard(test, holds=True)))
            case "if":
                test, *branches = term.parts
                self._step(Term("test", "if", (test,), term.line), loops, guards)
                for branch, holds in zip(branches, (True, False), strict=False):
                    self._lay(branch, loops, (*guards, Guard(test, holds)))
            case _:
                self._simple(term, self._step(term, loops, guards))

    def _step(self, term: Term, loops: tuple[Term, ...], guards: tuple[Guard, ...]) -> Step:
        step = Step(term, loops, guards, len(self.steps), term.walk())
        self.steps.append(step)
        for inner in step.terms:
            if inner.op not in _DEFINING:
                continue
            if inner.op == "bind":
                self._define(inner.parts[0], inner.parts[1], step)
            elif inner.op == "assign":
                if inner is not term:  # `out[n++] = x`
                    self._assign(inner, step)
            else:
                clauses = [part for part in inner.parts[1:] if part.op != "if"]
                for target, iterable in zip(clauses[::2], clauses[1::2], strict=False):
                    self._define(target, Term("each", "", (iterable,), inner.line), step)
        return step

    def _simple(self, term: Term, step: Step) -> None:
        if term.op == "assign":
            self._assign(term, step)
        for inner in step.terms:
            if inner.op != "call":
                continue
            name = callee(inner)
            if name.startswith("atomic") and len(inner.parts) > 2:
                base = subject(inner.parts[1])
                if base:
                    self.definitions.setdefault(base, []).append(Definition(inner.parts[2], step, weak=True))
            if name in GROWERS and inner.parts[0].op == "attr":
                base = subject(inner.parts[0].parts[0])
                if base:
                    grown = Term("tuple", "", inner.parts[1:], inner.line)
                    self.definitions.setdefault(base, []).append(Definition(grown, step, weak=True))

    def _assign(self, term: Term, step: Step) -> None:
        *targets, value = term.parts
        for target in targets:
            changed = Term("op", term.text, (target, value), term.line) if term.text else value
            self._define(target, changed, step)

    def _define(self, target: Term, value: Term, step: Step) -> None:
        if target.op == "star":
            target = target.parts[0]
        if target.op == "tuple":
            paired = value.op == "tuple" and len(value.parts) == len(target.parts)
            for position, part in enumerate(target.parts):
                piece = value.parts[position] if paired else piece_of(value, position)
                self._define(part, piece, step)
            return
        base = subject(target)
        if base:
            self.definitions.setdefault(base, []).append(Definition(value, step, weak=target.op == "index"))
        owner = base.rpartition(".")[0]
        if owner and owner != "self" and target.op == "attr":  # what is set on an object travels with the object
            self.definitions.setdefault(owner, []).append(Definition(value, step, weak=True))

    # What lies behind a value

    @cached_property
    def _behind(self) -> Behind:
        return Behind(self.definitions)

    def behind(self, term: Term, loop: Term | None = None) -> dict[int, Term]:
        """All terms that may have a part in a value, by identity.

        Args:
            term: The expression asked about.
            loop: Follow only definitions inside this loop; None follows all.
        """
        return self._behind.terms(term, loop)

    def holds(self, term: Term, part: Term, loop: Term | None = None) -> bool:
        """Whether one term, by identity, may have a part in another's value."""
        return self._behind.holds(term, part, loop)

    def names_behind(self, term: Term, loop: Term | None = None) -> set[str]:
        """Dotted names that may have a part in a value."""
        return self._behind.names(term, loop)

    def loads_behind(self, term: Term, loop: Term | None = None) -> list[Load]:
        """Loads that may have a part in a value."""
        return self._behind.loads(term, loop)

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.definitions)

    def sources(self, term: Term, loop: Term | None = None) -> list[Term]:
        """Where a value itself comes from, through what keeps values: casts, selections, arithmetic, names.

        A comparison ends the trail: its outcome is no copy of what it compares.
        """
        return self._origins.sources(term, loop)

    def carried_on(self, term: Term, loop: Term | None) -> Sequence[Term] | None:
        """The terms whose values a term hands on; None if it is a source itself."""
        return self._origins.carried_on(term, loop)

    def loads_of(self, term: Term, loop: Term | None = None) -> list[Load]:
        """The loads that yield a value itself, or the row whose best entry it is: `argmax(logits[i])`."""
        return self._origins.loads(term, loop)

    def matches(self, term: Term) -> dict[int, Term]:
        """The comparisons whose outcome a mask, a count or a selection is made of, through casts and logic only."""
        return self._outcomes.matches(term)

    def negates(self, term: Term, match: Term) -> bool:
        """Whether the outcome of a comparison enters a value turned round: `~match`, `1 - match`, `match == 0`."""
        return self._outcomes.negates(term, match)

    @cached_property
    def _outcomes(self) -> Outcomes:
        return Outcomes(self.definitions)

    def operands(self, term: Term, loop: Term | None = None) -> list[Term]:
        """What a number is computed from: `sources`, and on through the arguments of plain mathematics."""
        return self._origins.operands(term, loop)

    def elements_of(self, loop: Term) -> Mapping[str, Term]:
        """Names of the elements that a loop goes through, each with the sequence: `for token in ids`."""
        return self._elements.get(id(loop), {})

    @cached_property
    def _elements(self) -> dict[int, dict[str, Term]]:
        found: dict[int, dict[str, Term]] = {}
        for name, definitions in self.definitions.items():
            for each in definitions:
                if each.value.op == "each" and each.step.loops:
                    found.setdefault(id(each.step.loops[-1]), {})[name] = each.value.parts[0]
        return found

    def chased(self, loop: Term) -> dict[str, list[Load]]:
        """Names that a loop sends from place to place: `cur = next[cur]`, through casts, masks and selections.

        Returns:
            For each such name the loads that yield its next value from an address that depends on itself.
        """
        known = self._chased.get(id(loop))
        if known is not None:
            return known
        found = self._chased[id(loop)] = {}
        for name, definitions in self.definitions.items():
            for definition in definitions:
                if definition.weak or not within(definition.step, loop):
                    continue
                for source in self.sources(definition.value, loop):
                    for load in bounds(source):
                        if self.depends(load, name, loop):
                            found.setdefault(name, []).append(load)
        return found

    def sought(self, loop: Term) -> set[str]:
        """Names that a loop sends on by search: set to an inner index whose entry equals what lies at the name itself.

        `for i in nodes: if id[i] == parent[cur]: cur = i` finds by comparison what `chased` finds by a link.
        """
        known = self._sought.get(id(loop))
        if known is not None:
            return known
        found = self._sought[id(loop)] = set()
        for compare, step in self.compares():
            inner = step.loops[-1] if step.loops else None
            if compare.text != "==" or inner is None or inner is loop or inner.op != "for" or not within(step, loop):
                continue
            index = inner.parts[0].dotted()
            for name in {*self._set_from(index, inner), index}:
                keyed = [load for load in self.loads_behind(compare, loop) if self.depends(load, name, loop)]
                indexed = [load for load in self.loads_behind(compare, inner) if self.depends(load, index, inner)]
                if index and indexed and any(other.term is not load.term for other in keyed for load in indexed):
                    found.add(name)
        return found

    def set_in(self, loop: Term) -> set[str]:
        """Names that a loop assigns, wholly or in part."""
        if id(loop) not in self._set:
            self._set[id(loop)] = {n for n, ds in self.definitions.items() if any(within(d.step, loop) for d in ds)}
        return self._set[id(loop)]

    def _set_from(self, index: str, loop: Term) -> set[str]:
        """Names that a loop sets to its index, or to its index and an offset."""
        return {
            name
            for name, definitions in self.definitions.items()
            for d in definitions
            if not d.weak and within(d.step, loop) and index in {part.dotted() for part in d.value.walk()}
        }

    def depends(self, load: Load, name: str, loop: Term | None) -> bool:
        """Whether the address of a load depends on a name."""
        if load.base.startswith(name + "."):
            return True
        return any(name in self.names_behind(key, loop) for key in load.keys)

    def root(self, name: str) -> str:
        """The parameter, or first name, that a pointer name was made from by adding offsets."""
        for _ in range(12):
            strong = [d for d in self.definitions.get(name, ()) if not d.weak]
            if name in self.params or not strong:
                return name
            onward = subject(strong[0].value)
            if not onward or onward == name:
                return name
            name = onward
        return name

    # Who governs whom

    @cached_property
    def _terms(self) -> dict[str, list[tuple[Term, Step]]]:
        """Comparisons under `==`-like keys, calls under `()` and their last name, in the order of the steps."""
        found: dict[str, list[tuple[Term, Step]]] = {"compare": []}
        for step in self.steps:
            for term in step.terms:
                if term.op == "compare":
                    found["compare"].append((term, step))
                elif term.op == "call":
                    found.setdefault(f"{callee(term)}()", []).append((term, step))
        return found

    def compares(self) -> list[tuple[Term, Step]]:
        """Every comparison with the step that makes it."""
        return self._terms["compare"]

    def calls(self, *names: str) -> list[tuple[Term, Step]]:
        """Every call of a function or method with one of these last names."""
        return [found for name in names for found in self._terms.get(f"{name}()", ())]

    def calls_behind(self, term: Term, names: Iterable[str], loop: Term | None = None) -> Iterator[Term]:
        """Calls with one of these last names that may have a part in a value."""
        return (call for call, _ in self.calls(*names) if self.holds(term, call, loop))

    @cached_property
    def read_from(self) -> frozenset[str]:
        """Names that anything is loaded from."""
        return frozenset(bases(load for step in self.steps for load in loads(step.term)))

    def stores(self) -> tuple[Store, ...]:
        """Every write to memory: subscript targets, `tl.store`, atomics, `append`."""
        return self._stores

    @cached_property
    def _stores(self) -> tuple[Store, ...]:
        return tuple(self._written())

    def _written(self) -> Iterator[Store]:
        for step in self.steps:
            if step.term.op == "assign":
                *targets, value = step.term.parts
                for target in targets:
                    if target.op == "index" and subject(target):
                        yield Store(self.root(subject(target)), all_keys(target), value, step)
            for term in step.terms:
                if term.op == "call" and len(term.parts) > 2 and writes(callee(term)):
                    pointer = term.parts[1]
                    yield Store(self.root(subject(pointer)), (pointer,), term.parts[2], step)
                elif term.op == "call" and callee(term) in APPENDS and term.parts[0].op == "attr" and term.parts[1:]:
                    yield Store(subject(term.parts[0].parts[0]), (), term.parts[1], step)

    def governed(self, term: Term) -> set[str]:
        """Names whose value depends on a term, by data or because they are assigned under a test that holds it."""
        found = set()
        for name, definitions in self.definitions.items():
            for definition in definitions:
                if self.holds(definition.value, term) or self.guarded_by(definition.step, term):
                    found.add(name)
                    break
        for name, source in self._copies:
            if source in found:
                found.add(name)
        return found

    @cached_property
    def _copies(self) -> list[tuple[str, str]]:
        """Names that stand for another one, in the order of the steps."""
        found = [
            (name, d.value.dotted(), d.step.order)
            for name, definitions in self.definitions.items()
            for d in definitions
            if not d.weak and d.value.dotted()
        ]
        return [(name, source) for name, source, _ in sorted(found, key=lambda each: each[2])]

    def decides(self, compare: Term) -> bool:
        """Whether anything follows from a comparison: it enters a value, or something runs only under its test."""
        return any(
            step.term.op not in ("test", "none")
            and (any(part is compare for part in step.terms) or self.guarded_by(step, compare))
            for step in self.steps
        )

    def counters(self, loop: Term) -> frozenset[str]:
        """Names that a loop raises or lowers from what they were (`n += 1`)."""
        return frozenset(self._counters.get(id(loop), ()))

    @cached_property
    def _counters(self) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {}
        for name, definitions in self.definitions.items():
            for definition in definitions:
                if not definition.weak and is_change(name, definition.value):
                    for loop in definition.step.loops:
                        found.setdefault(id(loop), set()).add(name)
        return found

    def outermost(self) -> list[Term]:
        """The loops that lie in no other."""
        return list({id(step.loops[0]): step.loops[0] for step in self.steps if step.loops}.values())

    def all_loops(self) -> list[Term]:
        """All loops."""
        return list({id(loop): loop for step in self.steps for loop in step.loops}.values())

    def last_of(self, loop: Term) -> int:
        """The order of a loop's last step."""
        return max(step.order for step in self.steps if within(step, loop))

    def flags(self, match: Term, loop: Term | None) -> set[str]:
        """Names that a loop sets to constants, or to the outcome itself, as a comparison decides."""
        return {
            name
            for name, definitions in self.definitions.items()
            for each in definitions
            if within(each.step, loop) and not each.weak and self._is_flagged(each, match)
        }

    def _is_flagged(self, definition: Definition, match: Term) -> bool:
        if definition.value.op == "const":
            return self.guarded_by(definition.step, match)
        return id(match) in self.matches(definition.value)

    def ended(self, match: Term, at: Step, outer: Term | None) -> Term | None:
        """The loop, inside another one, that a comparison ends: by its test, or by a break."""
        inner = at.loops[-1] if at.loops else None
        if inner is None or inner is outer or not within(at, outer):
            return None
        if inner.op == "while" and self.holds(inner.parts[0], match, inner):
            return inner
        breaks = (step for step in self.steps if step.term.op == "break" and step.loops and step.loops[-1] is inner)
        return inner if any(self.guarded_by(step, match) for step in breaks) else None

    def guarded_by(self, step: Step, term: Term) -> bool:
        """Whether a step runs only under a test that a term has a part in."""
        return any(self.holds(guard.test, term) for guard in step.guards)

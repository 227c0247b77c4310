"""Functions inside a function: which there are, what is their own, and their code under other names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recon.index.term import Term

NESTING = frozenset({"block", "def", "for", "while", "if"})
"""Terms that hold statements."""


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner function, or a lambda."""

    name: str
    """What it is called, or bound to; '' for a lambda that stands where it is used."""
    params: tuple[str, ...]
    body: Term
    """A block, or of a lambda its value."""
    whole: Term

    @property
    def own(self) -> set[str]:
        """Names that are its own: parameters and what it sets, but for what it declares to be another's."""
        others = {part.text for term in self.body.walk() if term.op == "nonlocal" for part in term.parts}
        return {*self.params, *set_in(self.body)} - others

    def called_by_itself(self) -> bool:
        """Whether it recurs: put in the place of its call it would have no end."""
        return bool(self.name) and any(term.op == "name" and term.text == self.name for term in self.body.walk())


def inner_functions(body: Term) -> Iterator[Inner]:
    """The functions inside a function, by the names that they alone have."""
    found: dict[str, list[Inner]] = {}
    for term in body.walk():
        if term.op == "def" and term is not body:
            found.setdefault(term.text, []).append(_of_def(term))
        elif term.op == "assign" and term.parts[-1].op == "lambda" and term.parts[0].op == "name":
            found.setdefault(term.parts[0].text, []).append(of_lambda(term.parts[-1], term.parts[0].text))
    return (each for (each, *others) in found.values() if not others and not each.called_by_itself())


Helper = tuple[Term, tuple[str, ...]]
"""A function that stands beside another one: its `def` Term and its parameters."""


def functions_beside(helpers: Sequence[Helper]) -> dict[str, Inner]:
    """Such functions by their names, as they could stand inside."""
    beside = (Inner(whole.text, params, whole.parts[0], whole) for whole, params in helpers)
    return {each.name: each for each in beside if not each.called_by_itself()}


def _of_def(term: Term) -> Inner:
    return Inner(term.text, tuple(part.text for part in term.parts[1:]), term.parts[0], term)


def of_lambda(term: Term, bound: str = "") -> Inner:
    """A lambda as a function, by the name that it is bound to."""
    return Inner(bound, tuple(part.text for part in term.parts[1:]), term.parts[0], term)


def set_in(body: Term) -> Iterator[str]:
    """The names that code sets as a whole, each as often as it is set."""
    for term in body.walk():
        match term.op:
            case "assign":
                targets = term.parts[:-1]
            case "for" | "bind":
                targets = term.parts[:1]
            case "comp":
                targets = tuple(part for part in term.parts[1:] if part.op != "if")[::2]
            case _:
                continue
        for target in targets:
            yield from _plain(target)


def _plain(target: Term) -> Iterator[str]:
    """The names that a target sets as a whole."""
    if target.op in ("tuple", "star"):
        for part in target.parts:
            yield from _plain(part)
    elif target.op == "name":
        yield target.text


def renamed(term: Term, names: Mapping[str, Term]) -> Term:
    """A copy of its own, with other names; what is asked of a Term is kept by its identity."""
    if term.op == "name":
        found = names.get(term.text, term)
        return found if found.op != "name" else Term("name", found.text, (), term.line)
    return Term(term.op, term.text, tuple(renamed(part, names) for part in term.parts), term.line)


def taken_apart(body: Term, names: dict[str, Term], is_set: Mapping[str, int]) -> Term:
    """A callee without `a, b = state` where the state's parts have names already; a and b become those names."""
    kept = []
    for part in body.parts if body.op == "block" else ():
        target, value = (part.parts[0], part.parts[-1]) if part.op == "assign" else (part, part)
        given = names.get(value.text, value) if value.op == "name" else value
        is_apart = target.op == given.op == "tuple" and len(target.parts) == len(given.parts)
        pairs = list(zip(target.parts, given.parts, strict=True)) if is_apart and given is not value else []
        once = [(own, own_value) for own, own_value in pairs if own.op == "name" and is_set[own.text] == 1]
        names.update((own.text, own_value) for own, own_value in once)
        if not once:
            kept.append(part)
        elif rest := [pair for pair in pairs if pair not in once]:
            targets, values = (Term("tuple", "", each, part.line) for each in zip(*rest, strict=True))
            kept.append(Term("assign", "", (targets, values), part.line))
    return Term("block", "", tuple(kept), body.line) if body.op == "block" else body


def copy(term: Term) -> Term:
    """The same code once more, as Terms of its own."""
    return renamed(term, {})


def at_line(term: Term, line: int) -> Term:
    """The same code as if it stood on one line."""
    return Term(term.op, term.text, tuple(at_line(part, line) for part in term.parts), line)


def answering(term: Term, result: Term, *, looped: bool = False) -> Term:
    """A callee's statements with its returns as assignments; what would not run after one hangs on its test."""
    match term.op:
        case "return":
            given = term.parts[0] if term.parts else Term("const", "None", (), term.line)
            answer = Term("assign", "", (result, given), term.line)
            return Term("block", "", (answer, Term("break", "", (), term.line)), term.line) if looped else answer
        case "for" | "while":
            parts = (*term.parts[:-1], answering(term.parts[-1], result, looped=True))
        case "if":
            parts = (term.parts[0], *(answering(part, result, looped=looped) for part in term.parts[1:]))
        case "block":
            parts = tuple(_hung(term.parts, result, looped=looped))
        case _:
            return term
    return Term(term.op, term.text, parts, term.line)


def _hung(parts: Sequence[Term], result: Term, *, looped: bool) -> Iterator[Term]:
    for at, part in enumerate(parts):
        rest = parts[at + 1 :]
        if part.op == "if" and rest and not looped and len(part.parts) > 2 and _leaves(part.parts[1]):
            test, then, otherwise = part.parts
            after = Term("block", "", (*otherwise.parts, *rest), part.line)
            yield answering(Term("if", part.text, (test, then, after), part.line), result)
            return
        yield answering(part, result, looped=looped)


def returns_of(term: Term) -> Iterator[Term]:
    """The returns of a function, those of its inner functions left out."""
    if term.op == "return":
        yield term
    elif term.op in NESTING - {"def"}:
        for part in term.parts:
            yield from returns_of(part)


def _leaves(block: Term) -> bool:
    return bool(block.parts) and block.parts[-1].op == "return"


def arity_of(value: Term) -> int:
    """How many parts a tuple has."""
    return len(value.parts) if value.op == "tuple" else 0


def keywords_of(call: Term) -> dict[str, Term]:
    """What a call hands on by name."""
    return {part.text: part.parts[0] for part in call.parts[1:] if part.op == "kw"}


def part_at(whole: Term, key: Term) -> Term | None:
    """The part of a tuple that a literal key names."""
    if key.op != "const" or not key.text.lstrip("-").isdigit():
        return None
    position = int(key.text)
    return whole.parts[position] if -len(whole.parts) <= position < len(whole.parts) else None


def appending(made: Term, element: Term) -> Term:
    """`made.append(element)`."""
    method = Term("attr", "append", (made,), made.line)
    return Term("do", "", (Term("call", "", (method, element), made.line),), made.line)

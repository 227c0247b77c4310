"""Functions inside a function put where they are called, and loops that a library runs written out as loops.

`lax.while_loop(cond, body, state)`, `max(paths, key=length)` and `takewhile(same, pairs)` do what statements do, and
written out they are seen by the same shapes. Only what stands in the function itself is unfolded: inner functions and
lambdas.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from recon.index.inner import (
    NESTING,
    Helper,
    Inner,
    answering,
    appending,
    arity_of,
    at_line,
    copy,
    functions_beside,
    inner_functions,
    keywords_of,
    of_lambda,
    part_at,
    renamed,
    returns_of,
    set_in,
    taken_apart,
)
from recon.index.term import Term, name

MAX_DEPTH = 4
MAX_GROWN = 6_000
"""Terms that a function may gain; one that would gain more stays as it is written."""
_NOTHING = Term("block")


def unfolded(body: Term, helpers: Sequence[Helper] = ()) -> Term:
    """A function's Term with its inner functions where they are called.

    Args:
        body: The `def` Term; the parameters of inner functions stand behind their bodies.
        helpers: Functions beside it that are put where they are called, too.

    Returns:
        The same without the inner functions that were put elsewhere; the Term itself where that would make it too
        large.
    """
    known = functions_beside(helpers)
    unfolder = _Unfolder({**known, **{each.name: each for each in inner_functions(body)}}, frozenset(known))
    try:
        written = unfolder.statement(body)
    except _GrownTooLargeError:
        return body
    return _without(written, unfolder.placed)


class _GrownTooLargeError(Exception):
    """Functions inside functions would multiply a function beyond reading."""


def _without(term: Term, placed: Mapping[int, Term]) -> Term:
    if not placed or term.op not in NESTING:
        return term
    parts = tuple(_without(part, placed) for part in term.parts if id(part) not in placed)
    return Term(term.op, term.text, parts, term.line)


@dataclass(eq=False)
class _Unfolder:
    """One function being written out. What an expression needs done before it waits in `pending`."""

    known: Mapping[str, Inner]
    beside: frozenset[str] = frozenset()
    """Those that stand beside the function: what they do has the line of their call."""
    pending: list[Term] = field(default_factory=list)
    placed: dict[int, Term] = field(default_factory=dict)
    """Inner functions that stand where they were called, by identity; kept, so that it is given to no other Term."""
    tuples: dict[str, int] = field(default_factory=dict)
    """How many parts the tuples have that names were set to."""
    counters: dict[str, Term] = field(default_factory=dict)
    """Of elements taken while a test holds: the name that counts them."""
    active: tuple[str, ...] = ()
    count: int = 0
    grown: int = 0

    # Statements

    def statement(self, term: Term) -> Term:
        """One statement, after all that its expressions need done before."""
        match term.op:
            case "block":
                return Term("block", "", tuple(map(self.statement, term.parts)), term.line)
            case "def":
                is_inner = term.text in self.known and self.known[term.text].whole is term
                return (
                    term
                    if is_inner
                    else Term("def", term.text, (self.statement(term.parts[0]), *term.parts[1:]), term.line)
                )
        if term.op == "do" and term.parts[0].op == "call" and term.parts[0].parts[0].text in self.known:
            return term  # what is called for its effects alone is no part of a value
        outer, self.pending = self.pending, []
        parts = tuple(self.statement(part) if part.op == "block" else self.value(part) for part in term.parts)
        before, self.pending = self.pending, outer
        if term.op == "while" and before:  # its test is made anew in each round
            parts = (parts[0], Term("block", "", (*parts[1].parts, *map(copy, before)), term.line))
        if term.op == "assign":
            self._note(parts)
        if parts == term.parts:
            return term
        changed = Term(term.op, term.text, parts, term.line)
        return Term("block", "", (*before, changed), term.line) if before else changed

    def _note(self, parts: Sequence[Term]) -> None:
        *targets, value = parts
        for target in targets:
            if target.op == "name" and value.op == "tuple":
                self.tuples[target.text] = len(value.parts)
            taken = value.parts[2] if value.op == "comp" and len(value.parts) == 3 else value  # `[a for a, b in taken]`
            if target.op == taken.op == "name" and taken.text in self.counters:
                self.counters[target.text] = self.counters[taken.text]

    def _apart(self, do: Callable[[], Term]) -> tuple[list[Term], Term]:
        """What a value needs done before it, and the value."""
        outer, self.pending = self.pending, []
        value = do()
        before, self.pending = self.pending, outer
        return before, value

    # Expressions

    def value(self, term: Term) -> Term:
        """One expression."""
        if term.op == "comp":
            return self._comprehension(term)
        if term.op == "lambda" or not term.parts:
            return term
        parts = tuple(map(self.value, term.parts))
        changed = term if parts == term.parts else Term(term.op, term.text, parts, term.line)
        if term.op == "dict" and self.active:
            return self._with_entry(changed)
        if term.op == "index" and parts[0].op == "tuple" and len(parts) == 2:  # the state of a loop, part by part
            return part_at(parts[0], parts[1]) or changed
        return self._call(changed) if term.op == "call" else changed

    def _call(self, call: Term) -> Term:
        function = call.parts[0]
        word = function.text if function.op in ("name", "attr") else ""
        given = [part for part in call.parts[1:] if part.op not in ("kw", "star")]
        if function.op == "name" and word in self.known and len(given) == len(call.parts) - 1:
            return self._apply(self.known[word], given) or call
        unfold = _LIBRARY.get(word)
        return (unfold(self, call, given) if unfold else None) or call

    def _with_entry(self, term: Term) -> Term:
        """`{**table, key: value}`: a table that is never changed, stored into all the same."""
        whole, table, *entry = term.parts or (_NOTHING,) * 2
        if whole.op != "none" or table.op != "name" or len(entry) != 2 or entry[0].op in ("none", "const"):
            return term
        self._do(Term("assign", "", (Term("index", "", (table, entry[0]), term.line), entry[1]), term.line))
        return table

    def _comprehension(self, term: Term) -> Term:
        """A comprehension as a loop, where its parts need anything done first or end it."""
        clauses = [part for part in term.parts[1:] if part.op != "if"]
        iterable = self.value(clauses[1]) if len(clauses) == 2 else clauses[1]
        before, element = self._apart(lambda: self.value(term.parts[0]))
        if len(clauses) != 2 or not before:
            at = next(i for i, part in enumerate(term.parts) if part is clauses[1])
            parts = (term.parts[0], *term.parts[1:at], iterable, *term.parts[at + 1 :])
            return Term("comp", "", parts, term.line)
        made = self._fresh("made", term)
        body: tuple[Term, ...] = (*before, appending(made, element))
        for test in [part for part in term.parts[1:] if part.op == "if"]:
            body = (Term("if", "", (test.parts[0], Term("block", "", body, term.line), _NOTHING), term.line),)
        self._do(Term("assign", "", (made, Term("tuple", "", (), term.line)), term.line))
        self._do(Term("for", "", (clauses[0], iterable, Term("block", "", body, term.line)), term.line))
        return made

    def _do(self, statement: Term) -> None:
        self.pending.append(statement)

    def _fresh(self, word: str, at: Term) -> Term:
        self.count += 1
        return Term("name", f"{word}·{self.count}", (), at.line)

    # Inner functions

    def function(self, term: Term | None) -> Inner | None:
        """The inner function that an argument is."""
        if term is not None and term.op == "lambda":
            return of_lambda(term)
        return self.known.get(term.text) if term is not None and term.op == "name" else None

    def _apply(self, function: Inner, given: Sequence[Term]) -> Term | None:
        """What a call of an inner function gives; None where it stays a call."""
        if len(given) != len(function.params) or function.name in self.active or len(self.active) >= MAX_DEPTH:
            return None
        self.grown += sum(1 for _ in function.body.walk())
        if self.grown > MAX_GROWN:
            raise _GrownTooLargeError
        self.count += 1
        own, is_set = function.own, Counter(set_in(function.body))
        names = {each: Term("name", f"{each}·{self.count}", (), function.whole.line) for each in own}
        for parameter, value in zip(function.params, given, strict=True):
            is_plain = value.op in ("name", "attr", "const") or (value.op == "tuple" and parameter not in is_set)
            if is_plain and parameter not in is_set:
                names[parameter] = value
            else:
                self._do(Term("assign", "", (names[parameter], value), function.whole.line))
        self.placed[id(function.whole)] = function.whole
        body = renamed(taken_apart(function.body, names, is_set), names)
        if function.name in self.beside:
            body = at_line(body, given[0].line if given else 0)
        outer = self.active, self.known
        self.active = (*self.active, function.name)
        self.known = {**self.known, **{each.name: each for each in inner_functions(body)}}
        value = self._body_of(body)
        self.active, self.known = outer
        return value

    def _applied(self, function: Inner, given: Sequence[Term], call: Term) -> Term:
        return self._apply(function, given) or call

    def _body_of(self, body: Term) -> Term:
        if body.op != "block":
            return self.value(body)
        *before, last = body.parts or (_NOTHING,)
        returns = list(returns_of(body))
        if last.op == "return" and last.parts and len(returns) == 1:
            for part in before:
                self._do(self.statement(part))
            return self.value(last.parts[0])
        arity = {len(each.parts[0].parts) for each in returns if each.parts and each.parts[0].op == "tuple"}
        result = self._state("return", body, arity.pop() if len(arity) == 1 else 0)
        self._do(self.statement(answering(body, result)))
        return result

    def _state(self, word: str, at: Term, parts: int) -> Term:
        """A name, or a tuple of names, that is carried on."""
        base = self._fresh(word, at)
        if not parts:
            return base
        return Term("tuple", "", tuple(name(f"{base.text}·{i}", at.line) for i in range(parts)), at.line)

    def _parts_of(self, value: Term, function: Inner) -> int:
        """How many parts a loop's state has; 0 where it is one value."""
        if value.op == "tuple":
            return len(value.parts)
        if value.op == "name" and value.text in self.tuples:
            return self.tuples[value.text]
        last = function.body.parts[-1] if function.body.op == "block" and function.body.parts else function.body
        given = last.parts[0] if last.op == "return" and last.parts else last
        return len(given.parts) if given.op == "tuple" else 0

    # What libraries run

    def while_loop(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`while_loop(cond, body, state)`: of JAX with one state, of torch with its parts as arguments."""
        named = keywords_of(call)
        test, body, first = (*given, *(named[k] for k in _WHILE if k in named), *[None] * 3)[:3]
        asks, does = map(self.function, (test, body))
        if asks is None or does is None or first is None:
            return None
        parts = self._parts_of(first, does)
        state = self._state("state", call, parts)
        own = state.parts if parts and len(does.params) == parts and parts > 1 else (state,)
        before, goes_on = self._apart(partial(self._applied, asks, own, call))
        inside, after = self._apart(partial(self._applied, does, own, call))
        self._do(Term("assign", "", (state, first), call.line))
        self.pending += before
        rounds = (*inside, Term("assign", "", (state, after), call.line), *map(copy, before))
        self._do(Term("while", "", (goes_on, Term("block", "", rounds, call.line)), call.line))
        return state

    def fori_loop(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`fori_loop(low, high, body, state)`."""
        named = keywords_of(call)
        low, high, body, first = (*given, *(named[k] for k in _FORI if k in named), *[None] * 4)[:4]
        does = self.function(body)
        if does is None or low is None or high is None or first is None:
            return None
        state, counter = self._state("state", call, self._parts_of(first, does)), self._fresh("round", call)
        self._do(Term("assign", "", (state, first), call.line))
        inside, after = self._apart(partial(self._applied, does, (counter, state), call))
        rounds = (*inside, Term("assign", "", (state, after), call.line))
        counted = Term("call", "", (name("range", call.line), low, high), call.line)
        self._do(Term("for", "", (counter, counted, Term("block", "", rounds, call.line)), call.line))
        return state

    def scan(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`scan(body, state, elements)`, which gives the last state and what each round made."""
        named = keywords_of(call)
        body, first, elements = (*given, *(named[k] for k in _SCAN if k in named), *[None] * 3)[:3]
        does = self.function(body)
        if does is None or first is None or elements is None:
            return None
        state, made = self._state("state", call, arity_of(first)), self._fresh("made", call)
        element, elements = self._element(elements)
        self._do(Term("assign", "", (state, first), call.line))
        inside, after = self._apart(partial(self._applied, does, (state, element), call))
        new = self._fresh("new", call)
        given_back = Term("assign", "", (Term("tuple", "", (state, new), call.line), after), call.line)
        rounds = (*inside, given_back, appending(made, new))
        self._do(Term("for", "", (element, elements, Term("block", "", rounds, call.line)), call.line))
        return Term("tuple", "", (state, made), call.line)

    def folded(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`reduce(f, elements, first)`."""
        does = self.function(given[0]) if len(given) == 3 else None
        if does is None:
            return None
        parts = self._parts_of(given[2], does)
        state = self._state("state", call, parts if parts > 1 else 0)  # `{0}` is a set of one
        element, elements = self._element(given[1])
        self._do(Term("assign", "", (state, given[2]), call.line))
        inside, after = self._apart(partial(self._applied, does, (state, element), call))
        rounds = (*inside, Term("assign", "", (state, after), call.line))
        self._do(Term("for", "", (element, elements, Term("block", "", rounds, call.line)), call.line))
        return state

    def branch(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`cond(test, then, otherwise, *operands)`, of torch with a tuple of operands."""
        if len(given) < 3:
            return None
        test, then, otherwise, *operands = given
        does, else_does = self.function(then), self.function(otherwise)
        if does is None or else_does is None:
            return None
        if len(operands) == 1 and operands[0].op == "tuple" and len(does.params) == len(operands[0].parts) > 1:
            operands = list(operands[0].parts)
        result = self._fresh("chosen", call)
        arms = []
        for each in (does, else_does):
            inside, value = self._apart(partial(self._applied, each, operands, call))
            arms.append(Term("block", "", (*inside, Term("assign", "", (result, value), call.line)), call.line))
        self._do(Term("if", "", (test, *arms), call.line))
        return result

    def best(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`max(paths, key=length)`: the element with the greatest value."""
        function = self.function(keywords_of(call).get("key"))
        if function is None or len(given) != 1:
            return None
        element, winner, best = (self._fresh(word, call) for word in ("each", "best", "value"))
        inside, value = self._apart(partial(self._applied, function, (element,), call))
        sign = "<" if call.parts[0].text == "min" else ">"
        kept = (Term("assign", "", (best, value), call.line), Term("assign", "", (winner, element), call.line))
        test = Term("compare", sign, (value, best), call.line)
        rounds = (*inside, Term("if", "", (test, Term("block", "", kept, call.line), _NOTHING), call.line))
        self._do(Term("assign", "", (best, Term("const", "-1", (), call.line)), call.line))
        self._do(Term("for", "", (element, given[0], Term("block", "", rounds, call.line)), call.line))
        return winner

    def ranked(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`sorted(paths, key=length)`: the elements beside what they are ranked by."""
        function = self.function(keywords_of(call).get("key"))
        if function is None or len(given) != 1:
            return None
        return Term("call", "", (call.parts[0], given[0], self._made(function, given[0], call)), call.line)

    def each(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`map(f, elements)`."""
        function = self.function(given[0]) if len(given) == 2 else None
        return self._made(function, given[1], call) if function is not None else None

    def _made(self, function: Inner, elements: Term, call: Term) -> Term:
        """A list of what a function makes of each element."""
        element, made = self._fresh("each", call), self._fresh("made", call)
        inside, value = self._apart(partial(self._applied, function, (element,), call))
        self._do(Term("assign", "", (made, Term("tuple", "", (), call.line)), call.line))
        rounds = Term("block", "", (*inside, appending(made, value)), call.line)
        self._do(Term("for", "", (element, elements, rounds), call.line))
        return made

    def taken(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`takewhile(test, elements)`: the elements before the first one that fails."""
        function = self.function(given[0]) if given else None
        if function is None or len(given) != 2:
            return None
        made = self._fresh("made", call)
        element, elements = self._element(given[1])
        inside, passes = self._apart(partial(self._applied, function, (element,), call))
        leaves = Term("block", "", (Term("break", "", (), call.line),), call.line)
        fails = Term("if", "", (Term("not", "", (passes,), call.line), leaves, _NOTHING), call.line)
        counter = self.counters[made.text] = self._fresh("taken", call)
        counted = Term("assign", "+", (counter, Term("const", "1", (), call.line)), call.line)
        rounds = Term("block", "", (*inside, fails, appending(made, element), counted), call.line)
        self._do(Term("assign", "", (made, Term("tuple", "", (), call.line)), call.line))
        self._do(Term("for", "", (element, elements, rounds), call.line))
        return made

    def counted(self, _: Term, given: Sequence[Term]) -> Term | None:
        """`len(list(taken))`, `sum(1 for _ in taken)`."""
        (elements, *others) = given or (_NOTHING,)
        if elements.op == "comp" and len(elements.parts) == 3 and elements.parts[0].op == "const":
            elements = elements.parts[2]
        return self.counters.get(elements.text) if elements.op == "name" and not others else None

    def listed(self, _: Term, given: Sequence[Term]) -> Term | None:
        """`list(taken)`."""
        is_taken = len(given) == 1 and given[0].op == "name" and given[0].text in self.counters
        return given[0] if is_taken else None

    def stored(self, call: Term, given: Sequence[Term]) -> Term | None:
        """`x.at[i].set(v)`: an array that is never changed, stored into all the same."""
        function = call.parts[0]
        place = function.parts[0] if function.op == "attr" else function
        if place.op != "index" or place.parts[0].op != "attr" or place.parts[0].text != "at" or len(given) != 1:
            return None
        array = place.parts[0].parts[0]
        target = Term("index", "", (array, *place.parts[1:]), call.line)
        self._do(Term("assign", STORES[function.text], (target, given[0]), call.line))
        return array

    def _element(self, elements: Term) -> tuple[Term, Term]:
        """A target for the elements of a sequence; of pairs one with parts."""
        is_zip = elements.op == "call" and elements.parts[0].dotted() == "zip"
        if elements.op == "tuple":
            elements = Term("call", "", (name("zip", elements.line), *elements.parts), elements.line)
            is_zip = True
        return self._state("each", elements, len(elements.parts) - 1 if is_zip else 0), elements


_WHILE = ("cond_fun", "body_fun", "init_val")
_FORI = ("lower", "upper", "body_fun", "init_val")
_SCAN = ("f", "init", "xs")
STORES = {"set": "", "add": "+", "multiply": "*"}
"""Methods that store into a place of an array, `x.at[i].set(v)`, by the operator that they stand for."""
_LIBRARY: Mapping[str, Callable[[_Unfolder, Term, Sequence[Term]], Term | None]] = {
    "while_loop": _Unfolder.while_loop,
    "fori_loop": _Unfolder.fori_loop,
    "scan": _Unfolder.scan,
    "reduce": _Unfolder.folded,
    "cond": _Unfolder.branch,
    "max": _Unfolder.best,
    "min": _Unfolder.best,
    "sorted": _Unfolder.ranked,
    "map": _Unfolder.each,
    "takewhile": _Unfolder.taken,
    "len": _Unfolder.counted,
    "sum": _Unfolder.counted,
    "list": _Unfolder.listed,
    "tuple": _Unfolder.listed,
    **dict.fromkeys(STORES, _Unfolder.stored),
}

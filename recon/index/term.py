"""One small tree form for the code of a function, whatever its language.

Python and Triton (through libcst) and CUDA C++ (through tree-sitter) are both brought into Terms, so that a shape is
written once. A Term is plain data: it is pickled between processes and cached by blob digest.

Statements
    block(s...)  assign(target..., value) text = "" or the operator of an augmented assignment
    for(target, iterable, body)   while(test, body)   if(test, body, orelse)   break   continue
    return(value?)   do(value)   def(body, parameter...) text = name   assert(test)   raise(value?)   nonlocal(name...)
Expressions
    name text · attr(base) text = attribute · index(base, key...) · call(function, argument..., kw...) · kw(value) text
    const text = source of the literal · op(left, right) text = operator · not(x) · neg(x)
    compare(left, right) text = == != < <= > >= is in notin isnot (a chain becomes a conjunction)
    and(a, b...) · or(a, b...) · select(test, then, otherwise) · tuple(x...) · dict(k, v, ...) · slice(lo, hi, step)
    lambda(body, parameter...) · comp(element, target, iterable, if(test)...) · star(x) · bind(target, value) · yield(x)
    none (an omitted part) · other (syntax that no shape asks about)
"""

from msgspec import Struct


class Term(Struct, frozen=True, gc=False):
    """A node: an operation, its text, its parts, and the line where it starts.

    A Struct, because a tree has millions and one is made five times as fast as a frozen dataclass.
    """

    op: str
    text: str = ""
    parts: tuple["Term", ...] = ()
    line: int = 0

    def walk(self) -> list["Term"]:
        """This node and all below it, in source order; a list, since a generator takes twice as long."""
        if not self.parts:  # as of most that is asked for
            return [self]
        found: list[Term] = []
        stack = [self]
        pop, keep = stack.pop, found.append
        while stack:
            term = pop()
            keep(term)
            if term.parts:  # most are leaves
                stack += term.parts[::-1]
        return found

    def dotted(self) -> str:
        """The dotted name that this term spells, or an empty string."""
        if self.op != "attr":
            return self.text if self.op == "name" else ""
        names = []
        term = self
        while term.op == "attr":
            names.append(term.text)
            term = term.parts[0]
        if term.op != "name":
            return ""
        names.append(term.text)
        return ".".join(reversed(names))


NONE = Term("none")
"""An omitted part: no lower bound of a slice, no statement."""


def name(text: str, line: int = 0) -> Term:
    """A name, or the constant that a name spells."""
    return Term("const" if text in _CONSTANT_NAMES else "name", text, (), line)


_CONSTANT_NAMES = frozenset({"True", "False", "None", "true", "false", "nullptr", "NULL"})

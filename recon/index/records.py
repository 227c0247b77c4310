"""What the index knows of one file: plain records, free of paths, so that equal bytes are indexed once.

A large tree has more than a million of them, so they are msgspec Structs: made 20 times, and read back from the cache
twice as fast as frozen dataclasses.
"""

from enum import Enum, IntFlag

from msgspec import Struct


class ScopeKind(Enum):
    """What a scope is."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    """Stands behind all other scopes of its file, so that their ids do not depend on it; it has no features, its
    body gives them to the function around it."""


class Parsed(Enum):
    """How a file was read; anything but FULL is reported."""

    FULL = "full"
    """Read whole by the standard parser."""
    NEWER = "newer"
    """Newer syntax than this Python knows, read by libcst."""
    PARTLY = "partly"
    """Some functions lie under an error node of the grammar, or only an outline by lines could be made."""
    PASSED = "passed"
    """C++ in which no function has the signs that were asked for: names and calls alone, by its text."""
    JOINED = "joined"
    """Strings of a Python file that are CUDA: statements are put into them that do not stand there."""
    UNREAD = "unread"
    """Not text of a language that recon reads."""


class Feature(IntFlag):
    """Cheap signs found in the first pass; they choose which functions the second pass reads in full."""

    LOOP = 1
    NESTED_LOOP = 2
    COMPARE_EQ = 4
    """`==` or `!=` between two things that are not constants."""
    COMPARE_ORDER = 8
    BREAK = 16
    """break, or return inside a loop."""
    INDEX_BY_INDEX = 32
    """A subscript or `tl.load` whose address holds the result of another subscript or load."""
    CHASE = 64
    """In a loop, a name is assigned from a subscript or load that uses a name assigned in that loop."""
    SCAN = 128
    """cumprod, cumsum, cummin, associative_scan or similar."""
    ARGMAX = 256
    """argmax, max with indices, topk."""
    RANDOM = 512
    """rand, uniform, multinomial, exponential_, a bernoulli draw."""
    EXP = 1024
    """exp, exp2, softmax, log."""
    DOT = 2048
    """tl.dot, matmul, einsum, bmm, `@`."""
    STORE = 4096
    """tl.store, or a subscript as assignment target."""
    LOAD = 8192
    """tl.load."""
    WHERE = 16384
    """where, masked_fill, the places of what is true, or a conditional expression over tensors."""
    JIT = 32768
    """Decorated as a Triton (or similar) kernel."""
    CUDA = 65536
    """A CUDA or C++ function."""
    LAUNCH = 131072
    """Calls something as `f[grid](...)` or `f<<<...>>>(...)`."""
    REDUCE = 262144
    """sum, min, max, any, all over an axis, or `tl.sum`, `tl.min`, `tl.max`."""
    DIVIDE = 524288
    """A true division of two things that are not constants."""
    ENDLESS = 1048576
    """A `while` that no count ends: `while True`, `while self.running`, `while not stop()`."""
    BIT = 2097152
    """In C++, one bit of an element: `(x[i / 8] >> (i % 8)) & 1`."""


class Param(Struct, frozen=True, array_like=True, gc=False):
    """One parameter of a function."""

    name: str
    """With its stars: `x`, `*args`, `**kwargs`."""
    annotation: str
    """Dotted text of the annotation, '' if none or not one name; without quotes, Optional[X] and X | None as X;
    `type[X]` where the class itself is meant.

    Of CUDA and C++ the type without qualifiers and template arguments.
    """
    default: str
    """Source text of the default: '' if none, at most 60 characters."""


class Scope(Struct, frozen=True, array_like=True, gc=False):
    """A module, class or function of one file. Scope 0 is the module."""

    id: int
    parent: int
    """Id of the enclosing scope; -1 for the module."""
    kind: ScopeKind
    name: str
    """'' for the module; of a lambda `<lambda3:7>`, its line and column, which is also how an expression spells it."""
    line: int
    """Line of `def` or `class`, counted from 1 (decorators lie above)."""
    first_line: int
    """First line including decorators."""
    end_line: int
    features: Feature
    params: tuple[Param, ...]
    bases: tuple[str, ...]
    """Dotted base classes."""
    decorators: tuple[str, ...]
    """Dotted text of each decorator without its arguments."""
    returns: str
    """Dotted annotation of the result, '' if none."""
    around: int = 0
    """What stands around the definition inside its scope, as of `Bind.around`."""


class Call(Struct, frozen=True, array_like=True, gc=False):
    """A call site."""

    scope: int
    callee: str
    """Dotted text: `self.sampler.forward`, `torch.ops._C.f`; `super().forward`; `f[]` for `f[grid](...)`, `d['a']`
    and `d[0]` where the key is written out; `Cls().m` for a method of a call's result, `<str>.join` for one of a
    literal's type; '' where it is nothing that a name could reach."""
    line: int
    positional: int
    keywords: tuple[str, ...]
    """Names of the keyword arguments, `**` for one that is unpacked."""
    args: tuple[str, ...]
    """Dotted text of each positional, then of each keyword argument; '' where it is not a name, constants as source
    (at most 40 characters), so that a constant None is visible."""


class Import(Struct, frozen=True, array_like=True, gc=False):
    """One imported name."""

    scope: int
    module: str
    """As written, with leading dots for relative imports."""
    name: str
    """'' for `import module`; `*` for a star import."""
    alias: str
    """The name bound here."""
    line: int
    around: int = 0
    """As of `Bind.around`."""


class Bind(Struct, frozen=True, array_like=True, gc=False):
    """An assignment that can give a name a type or an alias."""

    scope: int
    target: str
    """`x`, `self.x`, `X.y`, `X['a']`, `X[0]` or `X[]` for an entry of a dictionary or list, `return` for what a
    function gives back, `return[]` for what it yields, `raise` and `with` for what these are given."""
    value: str
    """Dotted text of the value; `f()` for the result of a call of f; `X[*]` for what a loop takes from X; `'a'` or `1`
    for a constant, `<list>` for a literal of that type, with one Bind more for each entry; '' when only an annotation
    is known."""
    annotation: str
    line: int
    since: int = 0
    """Last line of the statement: what is read on later lines sees the new value. 0 if it is `line`."""
    around: int = 0
    """0 where the statement always runs when its scope does; else the first line of the outermost loop around it, or -1
    where there are only branches around it."""


class Branch(Struct, frozen=True, array_like=True, gc=False):
    """A body that runs if a test holds: kept where the test names a choice, or where the body names a class."""

    scope: int
    test: str
    """What the test asks for, parted by spaces: names with their dots, calls with `()`, strings in quotes; what must
    not hold is left out. '' for an else."""
    head: int
    """Line of the first test of its chain, or of its match: the others are alternatives to it."""
    line: int
    """Line of the test; of an else, of its body."""
    first_line: int
    """First line of the body."""
    last_line: int


class Text(Struct, frozen=True, array_like=True, gc=False):
    """A string constant that could name something: dotted, or a short word used as key, choice or comparison."""

    scope: int
    text: str
    role: str
    """`dotted`, `key` (dict key or subscript), `compare` (== or in), `argument`, `value`, or `member`: no string,
    but the last name of `Choices.MEMBER` in a comparison."""
    line: int


class Outline(Struct, frozen=True, array_like=True, gc=False):
    """All records of one blob."""

    parsed: Parsed
    problem: str
    """Why `parsed` is not full; '' otherwise."""
    scopes: tuple[Scope, ...]
    calls: tuple[Call, ...]
    imports: tuple[Import, ...]
    binds: tuple[Bind, ...]
    texts: tuple[Text, ...]
    branches: tuple[Branch, ...] = ()
    strings: "Outline | None" = None
    """Of Python: what its strings hold of CUDA and C++, as of a file of its own whose lines are the same."""

"""By which words an engine selects a drafter, and what each of them constructs.

A word alone says nothing: configurations list drafters that were never built, and models, tokenizers and tables use the
same words. What counts is a word that is asked for where something is constructed that drafts. Words are looked for in
the tests of branches (also through predicates such as `is_eagle()`), in tables from word to class, in decorators that
register, and in calls that do.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from recon.detectors.api import Index
from recon.detectors.words import drafters_in, is_drafter, options_in, speaks_of_drafting
from recon.index.records import Bind, Branch, Call, Outline, Scope, ScopeKind, Text
from recon.index.tables import Ref, is_python
from recon.index.values import Kind

_PREDICATE = re.compile(r"(?:is|use|uses|has|with|enable)_")
_KEYS = re.compile(r"\[[^\]]*\]")
_QUOTED = re.compile(r"'([^']*)'\Z")
_QUESTIONS = frozenset({"isinstance", "issubclass", "cast", "type"})
_MOST_PREDICATES = 8
_ENTRY = 3
"""Lines that the last entry of a table may take."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A place where a word selects what drafts."""

    drafters: frozenset[str]
    """What the word stands for; empty where no word is asked for: whatever no other branch takes."""
    ref: Ref
    """The function, or the module or class with the table."""
    line: int
    """Of the test, the entry or, in a table at the top of a module, its assignment."""
    made: Ref
    """The class that is constructed, or handed out to be."""
    name: str
    """The assignment of a table at the top of a module; '' otherwise."""
    is_model: bool
    """Whether the class is a model that a drafter runs, and no drafter itself."""


@dataclass(frozen=True, slots=True)
class Alias:
    """A place where one word is rewritten to another."""

    drafters: frozenset[str]
    becomes: frozenset[str]
    ref: Ref
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """A place that lists the words by which drafters are chosen: a type, an enum, a table, a command line."""

    ref: Ref
    name: str
    """The assignment, at the top of a module; '' otherwise."""
    lines: dict[str, int]
    """By drafter, the first line with a word for it; of an assignment at the top of a module, its line."""
    count: dict[str, int]
    """By drafter, how many words stand for it."""


@dataclass(eq=False)
class Selections:
    """All that a tree says of its drafters."""

    selections: list[Selection] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)


_known: "WeakKeyDictionary[Index, Selections]" = WeakKeyDictionary()


def selections_of(index: Index) -> Selections:
    """How a tree selects its drafters; eight detectors ask, and the tree is read once."""
    known = _known.get(index)
    if known is None:
        known = _known[index] = _Reader(index).read()
    return known


def drafts(index: Index, ref: Ref) -> bool:
    """Whether a class or a base of it is called a drafter, or has a method that drafts; a record does nothing."""
    if any(word.endswith("dataclass") for word in index.names.scope_of(ref).decorators):
        return False
    is_named = any(is_drafter(index.names.scope_of(one).name) for one in index.names.classes.order(ref))
    return is_named or any(True for _ in drafting_methods(index, ref))


def drafting_methods(index: Index, ref: Ref) -> Iterator[Ref]:
    """The methods of a class and of its bases that draft, propose or speculate, by their names."""
    for one in index.names.classes.order(ref):
        for scope in index.files[one.path].scopes:
            if scope.parent == one.scope and scope.kind is ScopeKind.FUNCTION and speaks_of_drafting(scope.name):
                yield Ref(one.path, scope.id)


def is_model(index: Index, ref: Ref) -> bool:
    """Whether a class is a model that is run: it, or one of its bases, loads weights and has a forward pass."""
    classes = index.names.classes
    return bool(classes.method(ref, "load_weights") and classes.method(ref, "forward"))


class _Reader:
    """Reads one tree."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.found = Selections()
        self.predicates: dict[str, list[tuple[str, Scope]]] = {}
        self.asked: dict[str, frozenset[str]] = {}
        self.drafting: dict[Ref, bool] = {}
        self.classes: dict[str, list[Ref]] = {}

    def read(self) -> Selections:
        """Go through all Python files."""
        files = {path: outline for path, outline in self.index.files.items() if is_python(path)}
        for path, outline in files.items():
            for scope in outline.scopes:
                if scope.kind is ScopeKind.CLASS:
                    self.classes.setdefault(scope.name, []).append(Ref(path, scope.id))
                elif scope.kind is ScopeKind.FUNCTION and _PREDICATE.match(scope.name) and drafters_in(scope.name):
                    self.predicates.setdefault(scope.name, []).append((path, scope))
        for path, outline in files.items():
            if outline.branches:
                self.branches(path, outline)
            if any(drafters_in(text.text) for text in outline.texts):
                self.tables(path, outline)
                self.registrations(path, outline)
                self.listings(path, outline)
            self.exports(path, outline)
        return self.found

    # Branches ---------------------------------------------------------------------------------------------------------

    def branches(self, path: str, outline: Outline) -> None:
        """Branches whose test asks for a drafter, and the else of such a chain."""
        by_scope: dict[int, list[Branch]] = {}
        for branch in outline.branches:
            by_scope.setdefault(branch.scope, []).append(branch)
        for scope, branches in by_scope.items():
            asked = {branch: self.drafters_asked(branch.test) for branch in branches}
            chains = {branch.head for branch in branches if asked[branch]}
            rests = [branch for branch in branches if not branch.test and branch.head in chains]
            for branch in branches:
                inner = [other for other in branches if asked[other] and _inside(other, branch)]
                is_rest = branch in rests and not any(_inside(other, branch) for other in rests)
                if is_rest:
                    inner += [other for other in branches if "'" in other.test and _inside(other, branch)]
                if asked[branch] or is_rest:
                    ref = Ref(path, scope)
                    self.alias(ref, outline, branch, asked[branch])
                    for made in self.made_in(ref, branch, inner):
                        self.select(asked[branch], ref, branch.line, made)

    def drafters_asked(self, test: str) -> frozenset[str]:
        """The drafters that a test asks for by literals, by members of an enum, by predicates, or by an option."""
        known = self.asked.get(test)
        if known is None:
            known = self.asked[test] = frozenset().union(*map(self.asked_by, test.split()))
        return known

    def asked_by(self, leaf: str) -> frozenset[str]:
        """The drafters that one part of a test stands for."""
        if quoted := _QUOTED.match(leaf):
            return drafters_in(quoted[1])
        last = leaf.removesuffix("()").rpartition(".")[2]
        found = drafters_in(last)
        if found and _PREDICATE.match(last):
            return found | self.predicate(last)
        if leaf.endswith("()"):
            return frozenset()
        return found if last[:1].isupper() else options_in(last)

    def predicate(self, name: str) -> frozenset[str]:
        """The drafters that a predicate of the tree compares with."""
        bodies = self.predicates.get(name, ())[:_MOST_PREDICATES]
        return frozenset().union(
            *(
                drafters_in(text.text)
                for path, scope in bodies
                for text in self.index.files[path].texts
                if text.scope == scope.id and text.role in {"compare", "member"}
            )
        )

    def made_in(self, ref: Ref, branch: Branch, inner: list[Branch]) -> Iterator[Ref]:
        """The classes that a branch constructs or hands out, branches of their own inside it left out."""
        texts: dict[str, None] = {}
        for call in self.index.calls_of(ref):
            if _in_body(call, branch, inner) and call.callee not in _QUESTIONS:
                texts |= dict.fromkeys([f"{call.callee}()", *call.args])
        for bind in self.index.binds_of(ref):
            if _in_body(bind, branch, inner):
                texts[bind.value] = None
        found = [made for text in texts for made in self.classes_of(ref, text)]
        for text in self.index.files[ref.path].texts:
            if text.scope == ref.scope and text.role == "dotted" and _in_body(text, branch, inner):
                found += self.index.names.find(text.text)
        yield from dict.fromkeys(found)

    def classes_of(self, ref: Ref, text: str) -> list[Ref]:
        """The classes of the tree that a text names or makes an instance of."""
        if not text or text[0] in "'\"*-":
            return []
        classes = self.index.names.classes
        values = self.index.names.values(ref.path, ref.scope, text)
        is_result = text.endswith("()")
        return [
            value.ref
            for value in values
            if value.ref is not None
            and ((value.kind is Kind.INSTANCE and is_result) or value.kind is Kind.DEFINITION)
            and classes.is_class(value.ref)
        ]

    def alias(self, ref: Ref, outline: Outline, branch: Branch, asked: frozenset[str]) -> None:
        """Note a body that puts another drafter's word in place of the one that was asked for."""
        literals = frozenset().union(*(self.asked_by(leaf) for leaf in branch.test.split() if leaf.startswith("'")))
        if not asked & literals:
            return
        for text in outline.texts:
            if text.scope == ref.scope and text.role == "value" and branch.first_line <= text.line <= branch.last_line:
                becomes = drafters_in(text.text)
                if becomes - literals or (becomes and len(literals) > 1):
                    self.found.aliases.append(Alias(literals, becomes, ref, branch.line))

    def select(self, drafters: frozenset[str], ref: Ref, line: int, made: Ref) -> None:
        """Keep a selection, if what is made drafts or is a model."""
        does = self.drafting.get(made)
        if does is None:
            does = self.drafting[made] = self.index.names.classes.is_class(made) and drafts(self.index, made)
        model = is_model(self.index, made)
        if does or model:
            name, line = self.assignment(self.index.files[ref.path], ref, line)
            self.found.selections.append(Selection(drafters, ref, line, made, name, model))

    # Tables, registrations, exports -----------------------------------------------------------------------------------

    def tables(self, path: str, outline: Outline) -> None:
        """Tables from word to class, to a dotted string, to another word, or to the strings of a module and a class."""
        keys = [text for text in outline.texts if text.role == "key"]
        for key, following in zip_longest(keys, keys[1:]):
            assert key is not None
            if drafters_in(key.text):
                end = following.line if following is not None and following.scope == key.scope else key.line + _ENTRY
                lines = range(key.line, max(end, key.line + 1))
                entry = [text for text in outline.texts if text.scope == key.scope and text.line in lines]
                self.entry(Ref(path, key.scope), key, [text for text in entry if text.role in {"dotted", "value"}])
        for (scope, _, line), binds in _displays(outline).items():
            ref = Ref(path, scope)
            own = [text for text in keys if text.scope == scope and text.line >= line][: len(binds)]
            for text, bind in zip(own, binds, strict=False):
                if words := drafters_in(text.text):
                    for made in self.classes_of(ref, bind.value):
                        self.select(words, ref, text.line, made)

    def entry(self, ref: Ref, key: Text, values: list[Text]) -> None:
        """What the strings of one entry of a table stand for."""
        words = drafters_in(key.text)
        for text in values:
            made: Iterable[Ref] = self.index.names.find(text.text) if text.role == "dotted" else ()
            if text.role == "value":
                becomes = drafters_in(text.text)
                if becomes and not becomes & words:
                    self.found.aliases.append(Alias(words, becomes, ref, key.line))
                modules = {one.text for one in values}
                made = [one for one in self.classes.get(text.text, ()) if PurePosixPath(one.path).stem in modules]
            for one in made:
                self.select(words, ref, key.line, one)

    def registrations(self, path: str, outline: Outline) -> None:
        """Decorators and calls that register a class, or what makes it, under a word."""
        decorated = {
            (scope.parent, line): scope
            for scope in outline.scopes[1:]
            if scope.decorators
            for line in range(scope.first_line, scope.line)
        }
        for call in outline.calls:
            words = frozenset().union(*(drafters_in(arg[1:-1]) for arg in call.args if arg[:1] == "'"))
            if not words:
                continue
            ref = Ref(path, call.scope)
            scope = decorated.get((call.scope, call.line))
            if scope is not None:
                texts = [scope.name, f"{scope.name}()"]
            else:
                texts = [text for arg in call.args if arg.isidentifier() for text in (arg, f"{arg}()")]
            for text in texts:
                for made in self.classes_of(ref, text):
                    place = Ref(path, scope.id) if scope is not None else ref
                    self.select(words, place, call.line, made)

    def exports(self, path: str, outline: Outline) -> None:
        """A model that its own module hands out under a name by which all models are found."""
        for bind in outline.binds:
            if not bind.scope and (words := drafters_in(bind.value)) and bind.value.isidentifier():
                for made in self.classes_of(Ref(path, 0), bind.value):
                    if made.path == path and is_model(self.index, made):
                        self.select(words, Ref(path, 0), bind.line, made)

    # Listings ---------------------------------------------------------------------------------------------------------

    def listings(self, path: str, outline: Outline) -> None:
        """Places that list the words of several drafters, or several words of one."""
        found: dict[tuple[int, str], Listing] = {}
        rows = [(text.scope, text.text, text.line) for text in outline.texts if text.role != "dotted"]
        rows += [
            (bind.scope, bind.target, bind.line)
            for bind in outline.binds
            if bind.target.isupper() and outline.scopes[bind.scope].kind is ScopeKind.CLASS
        ]
        for scope, text, line in rows:
            for drafter in drafters_in(text):
                ref = Ref(path, scope)
                name, first = self.assignment(outline, ref, line)
                listing = found.setdefault((scope, name), Listing(ref, name, {}, {}))
                listing.lines[drafter] = min(first, listing.lines.get(drafter, first))
                listing.count[drafter] = listing.count.get(drafter, 0) + 1
        self.found.listings += [each for each in found.values() if len(each.lines) > 1 or max(each.count.values()) > 2]

    def assignment(self, outline: Outline, ref: Ref, line: int) -> tuple[str, int]:
        """The assignment at the top of a module that a line belongs to, with its line; '' and the line elsewhere."""
        before = [bind for bind in outline.binds if not bind.scope and bind.line <= line] if not ref.scope else []
        if not before:
            return "", line
        last = max(before, key=lambda bind: bind.line)
        return last.target.partition("[")[0], last.line


def _inside(inner: Branch, outer: Branch) -> bool:
    return inner is not outer and outer.first_line <= inner.first_line and inner.last_line <= outer.last_line


def _in_body(record: Call | Bind | Text, branch: Branch, inner: Iterable[Branch]) -> bool:
    """Whether a record lies in a branch, and in none of those inside it."""
    if not branch.first_line <= record.line <= branch.last_line:
        return False
    return not any(one.first_line <= record.line <= one.last_line for one in inner)


def _displays(outline: Outline) -> dict[tuple[int, str, int], list[Bind]]:
    """What the tables of a file hold, by their scope, target and line."""
    found: dict[tuple[int, str, int], list[Bind]] = {}
    for bind in outline.binds:
        if bind.value and bind.value[0] not in "<'0123456789":
            found.setdefault((bind.scope, _KEYS.sub("[]", bind.target), bind.line), []).append(bind)
    return {place: binds for place, binds in found.items() if place[1].endswith("[]") or len(binds) > 1}

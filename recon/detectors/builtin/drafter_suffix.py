"""Drafting by suffix structures: continuations from a tree of all suffixes.

What it is
    A structure over all suffixes of what was seen (a tree, an automaton, an array) gives the longest match with the
    last tokens and what followed it, weighted by how often. Other than n-gram lookup it has no fixed length of match.

What counts
    declared: where a word for it (`suffix`) is asked for, something that drafts is constructed. Words are asked for
    in the tests of branches, also through predicates and members of enums, in tables, and by decorators and calls
    that register.
    partial: a drafter of another name holds such a structure.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    The structure itself may lie in another distribution; that it is one is not checked. Suffixes of file names, of
    prompts and of caches are kept apart because nothing that drafts holds them.

Sources
    Oliaro et al., SuffixDecoding, 2024; Hu et al., SAM Decoding, 2024.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from recon.detectors.api import Case, Detector, Evidence, Findings, Grade, Index, Standing
from recon.detectors.drafters import drafting_classes, find_drafter
from recon.detectors.handing import reaches
from recon.detectors.places import evidence, is_outskirts, reach_of
from recon.detectors.selection import drafting_methods
from recon.detectors.words import apart
from recon.index.records import ScopeKind
from recon.index.tables import Ref, is_python

_STRUCTURE = re.compile("_suffix_(?:automaton|tree|array|trie|automata)s?_")
_DEPTH = 4
"""Calls between a drafter's method and what holds the structure."""


def detect(index: Index) -> Findings:
    """A drafter of its own, or the structure inside another one."""
    found = find_drafter(index, "suffix")
    held = [] if found.evidence else list(_held(index))
    if not held:
        return found
    lacks = f"No word selects it; {held[0].symbol} uses such a structure inside another drafter."
    return Findings(tuple(held), found.nearest, lacks, lacks, reach_of(held))


def _held(index: Index) -> Iterator[Evidence]:
    """Places that hold a structure over suffixes and that a drafter reaches, then the structure."""
    structures = dict(_structures(index))
    reached: list[Ref] = []
    doors = {ref: line for name in structures for ref, line in _doors(index, name)}
    drafting = {made: _methods(index, made) for made in drafting_classes(index)}
    for door in sorted(doors):
        users = [made for made, own in drafting.items() if any(reaches(index, each, {door}, _DEPTH) for each in own)]
        if users:
            runs = (index.holders(each) for made in users for each in drafting_methods(index, made))
            function = index.function(door)
            scope = index.holders(door) or next(filter(None, runs), ())
            note = "holds a structure over suffixes, reached from a drafter of another name"
            yield Evidence(function.file, function.symbol, doors[door], Grade.DECLARED, scope, note)
            reached.append(door)
    for ref in structures.values() if reached else ():
        yield evidence(index, index.function(ref), index.names.scope_of(ref).line, "is the structure", Grade.NAMED)


def _methods(index: Index, made: Ref) -> list[Ref]:
    """All methods of a class and of its bases."""
    return [
        Ref(one.path, scope.id)
        for one in index.names.classes.order(made)
        for scope in index.files[one.path].scopes
        if scope.parent == one.scope and scope.kind is ScopeKind.FUNCTION
    ]


def _structures(index: Index) -> Iterator[tuple[str, Ref]]:
    """Classes named after such a structure, by the name by which they are asked for: their own, or their file's."""
    for path, outline in index.files.items():
        if is_outskirts(path):
            continue
        for scope in outline.scopes:
            if scope.kind is ScopeKind.CLASS and _STRUCTURE.search(apart(scope.name)):
                yield scope.name if is_python(path) else PurePosixPath(path).stem, Ref(path, scope.id)


def _doors(index: Index, name: str) -> Iterator[tuple[Ref, int]]:
    """Python functions that construct a class, or that build a file, of that name."""
    for path, outline in index.files.items():
        if not is_python(path):
            continue
        for call in outline.calls:
            if call.callee.rpartition(".")[2] == name:
                yield Ref(path, call.scope), call.line
        for text in outline.texts:
            if "." in text.text and PurePosixPath(text.text).stem == name:
                yield Ref(path, text.scope), text.line


_BRANCH = """
class SuffixProposer:
    def propose(self, tokens):
        return self.cache.speculate(tokens)


class Runner:
    def __init__(self, config):
        if config.method == "suffix":
            self.drafter = SuffixProposer(config)
"""
_CALLED = """
class Drafter:
    def propose(self, tokens):
        return tokens


class LongestMatch(Drafter):
    pass


registry.register("suffix_decoding", LongestMatch)
"""
_INSIDE = """
class SuffixAutomaton:
    def extend(self, token):
        self.states.append(token)


class NgramWorker:
    def __init__(self, args):
        self.corpus = SuffixAutomaton()

    def draft(self, batch):
        return self.corpus.match(batch)


def build(args):
    if args.algorithm == "NGRAM":
        return NgramWorker(args)
"""
_FILES = """
class JsonLoader:
    def speculate(self, path):
        return path


class SuffixTree:
    def insert(self, key):
        self.keys.append(key)


class Cache:
    def __init__(self, path):
        self.tree = SuffixTree()
        if path.suffix == ".json":
            self.loader = JsonLoader()


class NgramWorker:
    def draft(self, batch):
        return batch


def build(args):
    if args.algorithm == "NGRAM":
        return NgramWorker()
"""

CASES = (
    Case("a branch of its own", {"runner.py": _BRANCH}, Standing.PRESENT),
    Case("a call that registers", {"registry.py": _CALLED}, Standing.PRESENT),
    Case("an automaton inside another drafter", {"worker.py": _INSIDE}, Standing.PARTIAL),
    Case("suffixes of files and of caches", {"cache.py": _FILES}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.suffix", "Drafting by suffix structures", __doc__, (), detect, CASES)

"""Fixtures with one statement gone or changed: those that `mutants.toml` names, and every one in turn."""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import tree_sitter
import tree_sitter_cuda

from recon.detectors.registry import detectors
from recon.detectors.testing import indexed
from recon.records.source import Library
from recon.records.verdict import Searched, Standing, Verdict
from recon.verdicts.judge import judge

HERE = Path(__file__).parent
DATA = tomllib.loads((HERE / "mutants.toml").read_text())
FORMS = tomllib.loads((HERE / "shapes" / "index.toml").read_text())
DETECTORS = {detector.capability: detector for detector in detectors()}
STANDS = (Standing.PRESENT, Standing.PARTIAL)
CUDA = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))
Change = str | list[str] | list[list[str]]
STATEMENTS = frozenset({
    "break_statement", "continue_statement", "declaration", "do_statement", "expression_statement", "for_range_loop",
    "for_statement", "if_statement", "return_statement", "while_statement",
})  # fmt: skip


@dataclass(frozen=True)
class Fixture:
    """A small tree in which a capability stands, at least in part."""

    capability: str
    group: str
    """The capability for a case of its detector, else the form: `tree/links`."""
    name: str
    files: Mapping[str, str]
    libraries: tuple[Library, ...] = ()


@dataclass(frozen=True)
class Mutant:
    """A fixture in which one statement is gone or says something else."""

    kind: str
    """What was taken: `comparison`, `pointer load`."""
    whole: Fixture
    cut: Fixture
    left: Standing
    """The standing that is left."""

    @property
    def id(self) -> str:
        """As in `tree/links first.py: comparison`."""
        return f"{self.whole.group} {self.whole.name}: {self.kind}"


@cache
def fixtures() -> dict[tuple[str, str], Fixture]:
    """The cases of all detectors and the forms of `shapes/`, by group and name."""
    cases = [
        Fixture(detector.capability, detector.capability, case.name, case.files, case.libraries)
        for detector in detectors()
        for case in detector.cases
        if case.standing in STANDS
    ]
    forms = [
        Fixture(form["capability"], f"{kind}/{name}", file, {file: (HERE / "shapes" / kind / name / file).read_text()})
        for kind in ("tree", "linear")
        for name, form in FORMS[kind].items()
        for file in form["variants"]
    ]
    return {(each.group, each.name): each for each in (*cases, *forms)}


def judged(fixture: Fixture) -> Verdict:
    """What the fixture's detector says of it."""
    detector = DETECTORS[fixture.capability]
    searched = Searched(len(fixture.files), 1, 1, 1, 0, (), ())
    findings = detector.detect(indexed(fixture.files, fixture.libraries, detector.shapes))
    return judge(fixture.capability, detector.title, findings, searched)


def named() -> list[Mutant]:
    """The mutants that `mutants.toml` names."""
    return [
        mutant(fixtures()[group, name], kind, change)
        for group, rows in DATA["mutants"].items()
        for name, changes in rows.items()
        for kind, change in changes.items()
    ]


def mutant(whole: Fixture, kind: str, change: Change) -> Mutant:
    """A statement that goes, or texts and what stands in their place; then the standing, where something is left."""
    cut, left = whole, Standing.ABSENT
    for old, new, *rest in changes(change):
        cut = without(cut, old, new)
        left = Standing(rest[0]) if rest else left
    wrong = [path for path, text in cut.files.items() if parses(path, whole.files[path]) and not parses(path, text)]
    assert [] == wrong, f"{whole.group} {whole.name}: {kind} leaves no program"
    return Mutant(kind, whole, cut, left)


def changes(change: Change) -> list[list[str]]:
    """Each text, what stands in its place, and the standing that is left where that is said."""
    if isinstance(change, str):
        return [[change, ""]]
    return [list(each) for each in change] if isinstance(change[0], list) else [[str(each) for each in change]]


def without(fixture: Fixture, cut: str, put: str) -> Fixture:
    """The fixture with one text replaced, in a file or in the schema of a library."""
    files = [path for path, text in fixture.files.items() if cut in text]
    schemas = [text for library in fixture.libraries for text in library.schemas if cut in text]
    times = sum(text.count(cut) for text in (*(fixture.files[path] for path in files), *schemas))
    assert 1 == times, f"{fixture.group} {fixture.name}: {cut!r} stands there {times} times"
    if schemas:
        less = [
            replace(each, schemas=tuple(text.replace(cut, put) for text in each.schemas)) for each in fixture.libraries
        ]
        return replace(fixture, libraries=tuple(less))
    text = fixture.files[files[0]]
    return replace(fixture, files={**fixture.files, files[0]: text.replace(cut, put or nothing(files[0], text, cut))})


def nothing(path: str, text: str, cut: str) -> str:
    """What stands where a text is taken out: a statement that does nothing, if it was a statement."""
    whole = cut in {line.strip() for line in text.splitlines()} or "\n" in cut
    return ("pass" if is_python(path) else ";") if whole else ""


def is_python(path: str) -> bool:
    """Other fixtures are C++."""
    return path.endswith(".py")


def parses(path: str, text: str) -> bool:
    """Whether a text is still a program."""
    if not is_python(path):
        return not CUDA.parse(text.encode()).root_node.has_error
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def without_each(fixture: Fixture) -> Iterator[Mutant]:
    """The fixture without each statement of the function that speaks first; what is left is not known."""
    first = judged(fixture).evidence[0]
    text = fixture.files.get(first.path, "")
    spans = python_spans(text, first.line) if is_python(first.path) else cuda_spans(text, first.line)
    for line, start, end in spans:
        for put in ("pass", "else: pass") if is_python(first.path) else (";",):
            less = (text.encode()[:start] + put.encode() + text.encode()[end:]).decode()
            if parses(first.path, less):
                files = {**fixture.files, first.path: less}
                kind = f"line {line}, {text.encode()[start:end].decode().splitlines()[0]}"
                yield Mutant(kind, fixture, replace(fixture, files=files), Standing.ABSENT)
                break


def python_spans(text: str, line: int) -> Iterator[tuple[int, int, int]]:
    """Line, first and last byte of each statement in the function around a line."""
    starts = [0, *(at + 1 for at, byte in enumerate(text.encode()) if byte == ord("\n"))]
    tree = ast.parse(text)
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    for node in ast.walk(around[0]) if around else ():
        if isinstance(node, ast.stmt) and node is not around[0] and not is_docstring(node):
            end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
            yield node.lineno, starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement only says something."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def cuda_spans(text: str, line: int) -> Iterator[tuple[int, int, int]]:
    """Line, first and last byte of each statement in the function around a line."""
    pending = [CUDA.parse(text.encode()).root_node]
    while pending:
        node = pending.pop()
        if node.type == "function_definition" and not node.start_point.row < line <= node.end_point.row + 1:
            continue
        if node.type in STATEMENTS and node.parent and node.parent.type != "translation_unit":
            yield node.start_point.row + 1, node.start_byte, node.end_byte
        pending += node.children[::-1]

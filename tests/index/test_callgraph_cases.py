"""Small programs, each with the exact call graph that is told of it."""

import re
from importlib import import_module
from pkgutil import iter_modules
from textwrap import dedent

import pytest

from recon.index.graph import Graph
from recon.index.pycg import by_names
from recon.records.callgraph import CallGraph
from recon.records.path import DISPATCHES, Tier
from tests.index import callgraph_cases
from tests.index.callgraph_cases.case import Case, Limit
from tests.index.callgraph_cases.limits import LIMITS
from tests.index.trees import names

TOLD = (Tier.CERTAIN, Tier.LIKELY)
CASES = [
    pytest.param(case, id=f"{module.name}: {case.name}")
    for module in iter_modules(callgraph_cases.__path__)
    for case in getattr(import_module(f"{callgraph_cases.__name__}.{module.name}"), "CASES", ())
]


def graph_of(source: str) -> CallGraph:
    """The call graph of a program; `# name.py` on a line of its own begins another file."""
    parts = re.split(r"^# ([\w/]+\.py)\n", dedent(source), flags=re.MULTILINE)
    files = dict(zip(parts[1::2], parts[2::2], strict=True))
    return by_names(Graph(names({"main.py": parts[0], **files})))


def told(graph: CallGraph) -> set[tuple[str, str]]:
    """The edges that are told by default."""
    return {(caller, callee) for caller, callees in graph.callees(TOLD).items() for callee in callees}


def written(edges: str) -> set[tuple[str, str]]:
    """The edges that a case writes down."""
    found = set()
    for line in dedent(edges).strip().splitlines():
        caller, _, callees = line.partition(": ")
        found |= {(_whole(caller), _whole(callee)) for callee in callees.split()}
    return found


def _whole(name: str) -> str:
    return "main" + name if name.startswith(".") else name


@pytest.mark.parametrize("case", CASES)
def test_the_graph_of_a_program_is_exactly_this(case: Case) -> None:
    graph = graph_of(case.source)

    assert written(case.edges) == told(graph)
    edges = {f"{edge.source} {edge.target} {edge.dispatch} {edge.tier.value}" for edge in graph.edges}
    assert set() == set(dedent(case.told).split("\n")) - {""} - edges


@pytest.mark.parametrize("limit", [pytest.param(each, id=each.name) for each in LIMITS])
def test_a_known_limit_still_is_one(limit: Limit) -> None:
    """Whoever lifts a limit makes a case of it."""
    found = told(graph_of(limit.source))

    assert written(limit.told) == found
    assert written(limit.true) != found


def test_there_are_many_cases_and_each_has_its_own_program() -> None:
    programs = [case.values[0].source for case in CASES]  # type: ignore[union-attr]  # every one is a Case

    assert len(programs) >= 150
    assert len(set(programs)) == len(programs)


def test_every_dispatch_has_a_meaning() -> None:
    known = {edge.dispatch for param in CASES for edge in graph_of(param.values[0].source).edges}  # type: ignore[union-attr]

    assert set() == known - set(DISPATCHES)


def test_a_builtin_type_has_only_what_it_has() -> None:
    graph = graph_of("x = [x]\nx.append(1)\nx = x.y\nx()\n")

    assert {("main", "<**PyList**>.append")} == told(graph)


def test_a_chain_that_is_too_long_to_follow_is_told() -> None:
    chain = "".join(f"f{n} = f{n - 1}\n" for n in range(1, 300))
    graph = graph_of(f"def f0(): pass\n{chain}f299()\n")

    assert ["main.py"] == [each.where for each in graph.unfollowed]
    assert () == graph_of("def f(): pass\ng = f\ng()\ndef r(): return r()\nr()\n").unfollowed

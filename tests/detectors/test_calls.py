"""Call paths of a verdict: few, each through another runner or to another place."""

from recon.detectors.calls import MOST_PATHS, paths_of
from recon.detectors.places import evidence
from recon.index.index import Index
from recon.records.evidence import Evidence
from recon.records.path import CallPath
from recon.records.verdict import Searched, Standing, Verdict
from tests.index.test_roots import index_of
from tests.index.test_steps import TREE
from tests.index.trees import ref_of

SEARCHED = Searched(0, 0, 0, 0, 0, (), ())


def paths(files: dict[str, str], *spelled: str) -> tuple[CallPath, ...]:
    """The paths to places of a tree, the best place first."""
    index = index_of(files)
    return paths_of(index, verdict(index, *spelled))


def verdict(index: Index, *spelled: str) -> Verdict:
    """A verdict that rests on some places of a tree."""
    places = tuple(_evidence(index, each) for each in spelled)
    return Verdict("accept.linear.greedy", Standing.PRESENT, None, "Seen.", places, (), SEARCHED, (), ())


def _evidence(index: Index, spelled: str) -> Evidence:
    return evidence(index, index.function(ref_of(index.names, spelled)), 1, "seen")


def test_each_runner_has_its_path() -> None:
    """With the dispatch of each hop."""
    found = paths(TREE, "accept.py:accept")

    assert [("runner V1 by configuration",), ("runner V2",)] == [path.through for path in found]
    assert ["method", "method", "method", "call", ""] == [hop.dispatch for hop in found[0].hops]
    assert [
        "Engine.step",
        "Executor.run",
        "Worker.run",
        "ModelRunner.run",
        "ModelRunner.sample",
        "accept",
    ] == [hop.symbol for hop in found[1].hops]


def test_one_path_shows_all_places_on_it() -> None:
    """The second place is called by the first."""
    found = paths(TREE, "accept.py:long_way", "accept.py:accept")

    assert ["long_way", "accept"] == [hop.symbol for hop in found[0].hops][-2:]
    assert 2 == len(found)


def test_a_place_that_nothing_reaches_has_no_path() -> None:
    """And costs the others none."""
    found = paths(TREE, "accept.py:lonely", "accept.py:accept")

    assert 2 == len(found)


def test_a_function_inside_another_counts_as_the_outer_one() -> None:
    """As places do."""
    source = """
    class Runner:
        def run(self):
            def inner():
                accept()
            inner()

    def accept(): pass
    """

    assert ["Runner.run", "accept"] == [
        hop.symbol for path in paths({"a.py": source}, "a.py:accept") for hop in path.hops
    ]


def test_paths_are_bounded() -> None:
    """However many workers there are."""
    workers = "".join(f"class W{n}Worker:\n    def run(self): accept()\n" for n in range(20))

    assert MOST_PATHS == len(paths({"a.py": f"def accept(): pass\n{workers}"}, "a.py:accept"))

"""One answer for each runner that could be running, and the reach that the call paths give."""

from dataclasses import replace

from recon.detectors.members import settled
from recon.records.verdict import Member, Reach, Standing
from tests.detectors.test_calls import verdict
from tests.index.test_roots import index_of
from tests.index.test_steps import TREE

V1, V2 = "runner V1 by configuration", "runner V2"
NEWER = """
from accept import accept, better

class ModelRunner:
    def run(self, batch):
        return better(batch)
"""
BETTER = """
def accept(batch):
    pass

def better(batch):
    pass

def long_way(batch):
    return accept(batch)

def lonely(batch):
    return accept(batch)

def test_lonely(batch):
    return lonely(batch)
"""


def members(files: dict[str, str], *spelled: str) -> dict[str, Member]:
    """The members of a present verdict that rests on some places."""
    index = index_of(files)
    given = verdict(index, *spelled)
    return {member.name: member for member in settled(index, given, given.evidence).members}


def judged(files: dict[str, str], *spelled: str) -> tuple[Reach | None, str]:
    """Reach and reason of such a verdict."""
    index = index_of(files)
    given = verdict(index, *spelled)
    found = settled(index, given, given.evidence)
    return found.reach, found.reason


def test_runners_that_stand_on_the_same_place_need_no_members() -> None:
    """The verdict says it of both."""
    assert {} == members(TREE, "accept.py:accept")


def test_a_runner_that_reaches_none_of_it_has_not_got_it() -> None:
    """With the condition that chooses it."""
    found = members(TREE | {"new.py": NEWER, "accept.py": BETTER}, "accept.py:better")

    assert {V1: Standing.ABSENT, V2: Standing.PRESENT} == {name: each.standing for name, each in found.items()}
    assert [("flag", "worker.py")] == [(gate.condition, gate.path) for gate in found[V1].gates]
    assert ["better"] == [place.symbol for place in found[V2].evidence]


def test_runners_with_ways_of_their_own_each_have_their_places() -> None:
    """Both have it."""
    found = members(TREE | {"new.py": NEWER, "accept.py": BETTER}, "accept.py:accept", "accept.py:better")

    assert {V1: ["accept"], V2: ["better"]} == {name: [e.symbol for e in m.evidence] for name, m in found.items()}
    assert {Standing.PRESENT} == {each.standing for each in found.values()}


def test_a_runner_that_reaches_only_what_the_thing_itself_calls_has_a_part_of_it() -> None:
    """Here the older one goes the long way, which the newer one does not know."""
    found = members(TREE, "accept.py:long_way", "accept.py:accept")

    assert {V1: Standing.PRESENT, V2: Standing.PARTIAL} == {name: each.standing for name, each in found.items()}
    assert "It reaches only what is called from long_way too, and not that." == found[V2].reason


def test_what_a_step_reaches_is_connected() -> None:
    """And its reason stays."""
    assert (Reach.WIRED, "Seen.") == judged(TREE, "accept.py:accept")


def test_what_nothing_calls_says_so() -> None:
    """A name alone connects nothing."""
    assert (Reach.DEFINED, "Seen. Nothing calls it.") == judged(TREE, "accept.py:lonely")


def test_what_only_a_test_calls_says_so() -> None:
    """Even where the test stands in the same module."""
    files = TREE | {"accept.py": BETTER.replace("long_way", "other"), "old.py": NEWER}

    reach, reason = judged(files, "accept.py:lonely")

    assert (Reach.DEFINED, "Seen. It is called only from tests, examples or benchmarks.") == (reach, reason)


def test_what_only_another_part_calls_was_not_found_on_a_path() -> None:
    """The call is there, and nothing says that a step makes it."""
    files = TREE | {"else.py": "from accept import lonely\n\ndef somewhere():\n    lonely(1)\n"}

    assert (Reach.DEFINED, "Seen. No path to it from the engine's step was found.") == judged(files, "accept.py:lonely")


def test_a_tree_without_a_step_is_not_asked() -> None:
    """A kernel package has none."""
    assert (None, "Seen.") == judged({"accept.py": BETTER}, "accept.py:accept")


def test_a_detector_may_know_of_a_way_that_is_no_step() -> None:
    """Graphs are captured while the server starts, metrics are told in another process."""
    index = index_of(TREE | {"accept.py": BETTER})
    given = replace(verdict(index, "accept.py:lonely"), reach=Reach.WIRED)

    assert Reach.WIRED is settled(index, given, given.evidence).reach

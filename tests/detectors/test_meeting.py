"""Where two kinds of code are brought together."""

from recon.detectors.api import Index
from recon.detectors.meeting import Meeting, acceptance, meetings
from recon.detectors.places import outside
from recon.detectors.testing import indexed
from tests.index.trees import place, ref_of

SOURCE = """
def accept():
    pass


def copy():
    pass


def move():
    copy()


def verify():
    accept()
    move()


def step():
    verify()


def defragment():
    copy()
"""


def met(index: Index, steps: int) -> list[Meeting]:
    """Meetings of the copy with acceptance."""
    target, other = (ref_of(index.names, f"a.py:{name}") for name in ("copy", "accept"))
    return meetings(index, [target], [other], steps, 2)


def test_the_nearest_function_above_both_is_where_they_meet() -> None:
    """Not one that leads to it, nor one that leads to one of them alone."""
    index = indexed({"a.py": SOURCE})
    (meeting,) = met(index, 3)

    assert "a.py:copy" == place(index.names, meeting.target)
    assert [("a.py:verify", "a.py:move"), ("a.py:move", "a.py:copy")] == [
        (place(index.names, edge.source), place(index.names, edge.target)) for edge in meeting.way
    ]


def test_what_is_farther_than_asked_does_not_meet() -> None:
    """Everything meets in the engine's loop."""
    assert [] == met(indexed({"a.py": SOURCE}), 1)


def test_acceptance_is_a_walk_or_a_call_of_an_operator() -> None:
    """The walk by its form, the call by its name."""
    walk = """
def follow(children, posterior):
    node, path = 0, []
    token = posterior[node]
    while token in children[node]:
        node = children[node][token]
        path.append(node)
        token = posterior[node]
    return path
"""
    call = "from kernels import verify_tree\n\n\ndef check(tree):\n    verify_tree(tree)\n"
    index = indexed({"walk.py": walk, "call.py": call})
    found = acceptance(index, outside(index, frozenset({"verify", "tree"})).places)

    assert ["walk.py:follow", "call.py:check"] == [place(index.names, ref) for ref in found]

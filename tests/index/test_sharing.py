"""Equal texts of a tree are one object; nothing else about its records changes."""

import msgspec

from recon.index.handed import Handed
from recon.index.outline import outline_python
from recon.index.records import Outline
from recon.index.sharing import share
from recon.index.tables import Ref

SOURCE = b"""
from engine.sampler import Sampler as Greedy

@register("name")
class Runner(Base):
    def step(self, batch: Batch, size: int = 1) -> Output:
        self.sampler = Greedy(batch, size=size)
        return self.sampler.forward(batch, size=size)

    def other(self, batch: Batch, size: int = 1) -> Output:
        return self.sampler.forward(batch, size=size)
"""


def twice() -> tuple[Outline, Outline]:
    """Two outlines of equal files, as they come out of a cache: with no object in common."""
    packed = msgspec.msgpack.encode(outline_python(SOURCE))
    one, other = (msgspec.msgpack.decode(packed, type=Outline) for _ in range(2))
    return one, other


def test_equal_texts_and_parameters_become_one() -> None:
    """Within a file and between files, in rows and out of them."""
    one, other = twice()
    before = one.calls[-1].callee is other.calls[-1].callee
    share((one, other))

    assert not before
    assert one.calls[-1].callee is other.calls[-1].callee is one.calls[-2].callee
    assert one.calls[-1].args is other.calls[-2].args
    assert one.scopes[2].params is other.scopes[3].params
    assert one.binds[0].target is other.binds[0].target
    assert one.scopes[1].decorators is other.scopes[1].decorators


def test_records_are_equal_to_what_they_were() -> None:
    """And those that are places stay two where they are two."""
    one, other = twice()
    share((one,))

    assert other == one
    assert one.calls[-1] is not one.calls[-2]


def test_what_an_answer_leans_on_is_told_in_the_order_of_asking() -> None:
    """What is read again first must not depend on how this process hashes texts."""
    handed = Handed()
    asked = [(Ref(f"m{number}.py", number), "x") for number in range(40)]
    outer = handed.begin()
    for parameter in asked:
        handed.given(parameter)
    handed.end(("m.py", 0, "f"), outer)

    assert asked == list(handed.touched or ())

"""Equal texts of a file are one object; nothing else about its records changes."""

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


def unpacked() -> Outline:
    """An outline as it comes out of a cache: with no object in common."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(outline_python(SOURCE)), type=Outline)


def test_equal_texts_and_parameters_of_a_file_become_one() -> None:
    """In rows and out of them."""
    one = unpacked()
    before = one.calls[-1].callee is one.calls[-2].callee
    share((one,))

    assert not before
    assert one.calls[-1].callee is one.calls[-2].callee
    assert one.calls[-1].args is one.calls[-2].args
    assert one.scopes[2].params is one.scopes[3].params


def test_records_are_equal_to_what_they_were() -> None:
    """And those that are places stay two where they are two."""
    one = unpacked()
    share((one,))

    assert unpacked() == one
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

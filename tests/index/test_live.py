"""Statements that no run enters, as the first pass sees them."""

import pytest

from recon.index.records import Feature
from tests.index.test_outline import outline, signs


@pytest.mark.parametrize("test", ["False", "0", "TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_what_is_never_defined_bears_no_signs(test: str) -> None:
    """A method of a class in the branch likewise; the other branch is defined."""
    loop = "for i in x: y = i[0]"
    source = f"""\
    if {test}:
        def f(x):
            {loop}
        class C:
            def m(self, x):
                {loop}
    else:
        def g(x):
            {loop}
    """

    assert not signs(source, "f")
    assert not signs(source, "m")
    assert Feature.LOOP in signs(source, "g")


def test_a_call_behind_an_exit_is_none() -> None:
    """In a function; what a module or class says behind a `raise` is kept."""
    source = """\
    def f(x):
        while False:
            a()
        return b()
        c()
    """

    assert ["b"] == [call.callee for call in outline(source).calls]

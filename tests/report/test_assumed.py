"""What has to be running for a place to be reached, in a few words."""

import pytest

from recon.report.findings import assumed, shortened


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ((), ""),
        (("runner V1",), "runner V1"),
        (("runner V1", "runner V2 by environment"), "runner V1"),
        (("runner V2 by environment",), "runner V2 by environment"),
        (("runner V1", "backend TREE_ATTN"), "runner V1, backend TREE_ATTN"),
        (("runner V1", "backend A", "backend B"), "runner V1, one of backend A, backend B"),
        (("runner V1", "method dflash"), "runner V1, method dflash"),
        (
            ("worker A by method a", "worker B by method b"),
            "one of worker A by method a, worker B by method b",
        ),
    ],
)
def test_the_default_is_assumed_where_there_is_one(scope: tuple[str, ...], expected: str) -> None:
    """Else any of what was found; a backend is told beside it."""
    assert expected == assumed(scope)


def test_many_roots_are_counted() -> None:
    """The run file holds them all."""
    assert "a, b, c and 2 more" == shortened(("a", "b", "c", "d", "e"))

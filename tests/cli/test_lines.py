"""Rows for a person, on screens of several widths."""

import pytest

from recon.cli.lines import aligned, folded

ROWS = [
    (
        "function",
        "engine/kernels/speculative/tree_walk.py:1203",
        "verify_tree",
        "launches the kernel at walk.py:9, likely",
    ),
    ("op", "engine/ops.py:7", "ns::verify", "callable"),
]


@pytest.mark.parametrize("width", [72, 80, 100, 130])
def test_no_row_is_wider_than_the_screen_and_lines_of_places_stay(width: int) -> None:
    shown = aligned(ROWS, width)

    assert [] == [line for line in shown.splitlines() if len(line) > width]
    assert "tree_walk.py:1203" in shown
    assert ["likely"] == [word for word in shown.split() if word == "likely"]


def test_what_fits_is_left_alone() -> None:
    assert aligned(ROWS) == aligned(ROWS, 200)


def test_a_last_column_without_room_stands_below_its_row() -> None:
    assert [
        "  function  engine/kernels/speculative/tree_walk.py:1203  verify_tree",
        "      launches the kernel at walk.py:9, likely",
    ] == aligned(ROWS, 80).splitlines()[:2]


def test_points_of_a_page_stay_apart_and_what_fits_is_left_alone() -> None:
    page = "    - one two three four five six seven eight nine ten\n    - eleven\n\n    a short\n    verse\n"

    assert folded(page, 44).splitlines() == [
        "    - one two three four five six seven",
        "    eight nine ten",
        "    - eleven",
        "",
        "    a short",
        "    verse",
    ]
    assert page == folded(page, 80)

"""Traces from strangers: read line by line, and refused with the number of the line."""

import json
from collections.abc import Iterator

import pytest

from recon.errors import BadTrace, Exit
from recon.estimates.trace import LINE, Header, Position, read

HEADER = {"v": 1, "model": "m", "drafter": "d", "L": 2, "K": 3, "T": 0.6, "top_p": 0.9, "stride": 1, "engine": "e"}
POSITION = {"r": 7, "p": 40, "ctx": 40, "rank": [0, -1], "lp": [[-0.1, -3, -4.5], [-1, -1, -2.5]], "tgt_lp": [-0.1, -7]}


def positions(*lines: str) -> list[Position]:
    return list(read(lines)[1])


def test_a_trace_is_read_as_it_is_written() -> None:
    header, found = read([json.dumps(HEADER), json.dumps(POSITION), "", "\n"])

    assert Header("m", "d", 2, 3, 0.6, 0.9, 1, "e") == header
    assert [Position(7, 40, (0, -1), [[-0.1, -3, -4.5], [-1, -1, -2.5]])] == list(found)


def test_what_a_header_may_leave_out() -> None:
    header, _ = read([json.dumps({"v": 1, "L": 2, "K": 3, "T": 0})])

    assert Header("", "", 2, 3, 0.0, 1.0, 1, "") == header


def test_lines_are_read_as_they_are_asked_for() -> None:
    """A trace may be larger than memory."""

    def endless() -> Iterator[str]:
        yield json.dumps(HEADER)
        while True:
            yield json.dumps(POSITION)

    _, found = read(endless())

    assert 40 == next(found).place


def test_an_empty_file_is_no_trace() -> None:
    with pytest.raises(BadTrace, match="empty") as caught:
        read([])

    assert Exit.INCOMPLETE is caught.value.exit


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"v": True},
        {"L": 0},
        {"L": 65},
        {"L": 2.0},
        {"K": 0},
        {"K": 10**400},
        {"T": -1},
        {"T": "0"},
        {"T": True},
        {"top_p": 1.5},
        {"stride": 0},
        {"model": 3},
        {"drafter": "x" * 2000},
    ],
)
def test_a_header_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(BadTrace, match=r"^Line 1 of the trace has"):
        read([json.dumps(HEADER | change)])


@pytest.mark.parametrize(
    "change",
    [
        {"r": -1},
        {"r": "7"},
        {"r": True},
        {"p": 1.5},
        {"p": 1 << 60},
        {"ctx": -4},
        {"rank": []},
        {"rank": [0, 0, 0]},
        {"rank": [3, 0]},
        {"rank": [-2, 0]},
        {"rank": [0.0, 0]},
        {"rank": [False, 0]},
        {"rank": [[], 0]},
        {"rank": "00"},
        {"rank": None},
        {"lp": [[-0.1, -3, -4.5]]},
        {"lp": [[-0.1, -3, -4.5]] * 3},
        {"lp": [[-0.1, -3], [-1, -1]]},
        {"lp": [[-0.1, -3, "x"], [-1, -1, -2]]},
        {"lp": [[-0.1, -3, None], [-1, -1, -2]]},
        {"lp": [[-0.1, -3, True], [-1, -1, -2]]},
        {"lp": [[-3, -0.1, -4], [-1, -1, -2]]},
        {"lp": [[0.4, -3, -4], [-1, -1, -2]]},
        {"lp": [[-0.1, -0.2, -0.3], [-1, -1, -2]]},
        {"lp": {}},
        {"tgt_lp": [0.5]},
        {"tgt_lp": ["x"]},
        {"tgt_lp": [-1, -1, -1]},
    ],
)
def test_a_position_that_makes_no_sense_is_refused_with_its_line(change: dict[str, object]) -> None:
    with pytest.raises(BadTrace, match=r"^Line 3 of the trace has"):
        positions(json.dumps(HEADER), json.dumps(POSITION), json.dumps(POSITION | change))


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        "7",
        json.dumps(POSITION).replace("-4.5", "NaN"),
        json.dumps(POSITION).replace("-4.5", "-1" + "0" * 400),
        json.dumps(POSITION).replace("-4.5", "-1e308"),
        json.dumps(POSITION).replace("-4.5", "-Infinity"),
        json.dumps(POSITION).replace("-4.5", "-1e999"),
        json.dumps(POSITION).replace("40", "4" * 5000),
        '{"r":' + "[" * 100_000,
        " " * LINE + "{}",
    ],
)
def test_what_is_no_json_of_finite_numbers_is_refused(line: str) -> None:
    with pytest.raises(BadTrace, match=r"^Line 2 of the trace "):
        positions(json.dumps(HEADER), line)

"""Numbers as text: three digits that mean something."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.report import numbers


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_rounding_keeps_three_digits(value: float) -> None:
    shown = float(numbers.significant(value).replace(",", ""))

    assert math.isclose(value, shown, rel_tol=0.0051)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_a_dash(value: float) -> None:
    assert ["-"] * 5 == [
        numbers.significant(value),
        numbers.microseconds(value),
        numbers.ratio(value),
        numbers.times(value, 1.0),
        numbers.seconds(value),
    ]


@pytest.mark.parametrize(
    ("us", "shown"), [(0.0, "0 µs"), (999.4, "999 µs"), (1000.0, "1.00 ms"), (2.5e6, "2.50 s"), (9e9, "9,000 s")]
)
def test_times_take_the_unit_that_suits_them(us: float, shown: str) -> None:
    assert shown == numbers.microseconds(us)


@pytest.mark.parametrize(
    ("started", "shown"),
    [
        ("2026-11-30T13:59:59Z", "1 second ago"),
        ("2026-11-30T13:58:00Z", "2 minutes ago"),
        ("2026-11-20T14:00:00Z", "10 days ago"),
        ("20261130T130000Z", "1 hour ago"),
        ("2026-12-30T13:58:00Z", "in the future, by this clock"),
        ("yesterday", ""),
        ("2026-11-30T13:59:59", ""),
    ],
)
def test_ages_are_told_in_the_largest_unit(started: str, shown: str) -> None:
    assert shown == numbers.age(started, datetime(2026, 11, 30, 14, tzinfo=UTC))

"""Units to text: the only place that rounds.

Three significant digits everywhere: what is measured here scatters by more than the fourth.
"""

import math
from datetime import datetime

NOTHING = "-"

_TIMES = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def count(number: int) -> str:
    """A count with its thousands apart.

    >>> count(34001)
    '34,001'
    """
    return f"{number:,}"


def counted(number: int, noun: str, many: str = "") -> str:
    """A count with its noun, plural where it must be.

    >>> counted(1, "file"), counted(1723, "file"), counted(9, "library", "libraries")
    ('1 file', '1,723 files', '9 libraries')
    """
    return f"{count(number)} {noun if number == 1 else many or f'{noun}s'}"


def significant(number: float) -> str:
    """Three significant digits, never in exponent form.

    >>> significant(0.0123456), significant(1.2), significant(64.04), significant(123456)
    ('0.0123', '1.20', '64.0', '123,456')
    """
    if not math.isfinite(number):
        return NOTHING
    if number == 0:
        return "0"
    decimals = 2 - math.floor(math.log10(abs(number)))
    return f"{number:,.{min(max(decimals, 0), 9)}f}"


def microseconds(us: float) -> str:
    """A time in the unit that suits it.

    >>> microseconds(10.41), microseconds(1683.2), microseconds(0.726)
    ('10.4 µs', '1.68 ms', '0.726 µs')
    """
    if not math.isfinite(us):
        return NOTHING
    scale, unit = next(((scale, unit) for scale, unit in _TIMES if abs(us) >= scale), _TIMES[-1])
    return f"{significant(us / scale)} {unit}"


def times(low_us: float, high_us: float) -> str:
    """An interval of times in one unit, that of its upper end.

    >>> times(39.04, 40.3), times(995.0, 1020.0)
    ('39.0 to 40.3 µs', '0.995 to 1.02 ms')
    """
    if not (math.isfinite(low_us) and math.isfinite(high_us)):
        return NOTHING
    scale, unit = next(((scale, unit) for scale, unit in _TIMES if abs(high_us) >= scale), _TIMES[-1])
    return f"{significant(low_us / scale)} to {significant(high_us / scale)} {unit}"


def ratio(value: float) -> str:
    """A ratio.

    >>> ratio(1.2)
    '1.20x'
    """
    return f"{significant(value)}x" if math.isfinite(value) else NOTHING


def ratios(low: float, high: float) -> str:
    """An interval of ratios.

    >>> ratios(1.17, 1.234)
    '1.17 to 1.23'
    """
    return f"{significant(low)} to {significant(high)}" if math.isfinite(low) and math.isfinite(high) else NOTHING


def size(number: int) -> str:
    """A number of bytes.

    >>> size(512), size(6 * 2**20), size(1)
    ('512 bytes', '6.00 MiB', '1 byte')
    """
    for scale, unit in _SIZES:
        if abs(number) >= scale:
            return f"{significant(number / scale)} {unit}"
    return counted(number, "byte")


def seconds(value: float) -> str:
    """A duration.

    >>> seconds(14.04), seconds(190)
    ('14.0 s', '3 min 10 s')
    """
    if not math.isfinite(value):
        return NOTHING
    if value < 100:
        return f"{significant(value)} s"
    minutes, rest = divmod(round(value), 60)
    return f"{count(minutes)} min {rest} s"


_SLACK_S = 60


def age(started_at: str, now: datetime) -> str:
    """How long ago a moment was; empty where the moment cannot be read.

    >>> from datetime import UTC
    >>> age("2026-11-30T10:00:00Z", datetime(2026, 11, 30, 13, 20, tzinfo=UTC))
    '3 hours ago'
    """
    try:
        passed = (now - datetime.fromisoformat(started_at)).total_seconds()
    except (TypeError, ValueError):
        return ""
    for scale, noun in _AGES:
        if passed >= scale:
            return f"{counted(int(passed // scale), noun)} ago"
    # Two clocks of one network differ by seconds, and a run may begin after the command that shows it.
    return "just now" if passed > -_SLACK_S else "in the future, by this clock"

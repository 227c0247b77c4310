"""Whose times count for a host: those of its own GPU, or of another of the same model under the same driver.

Times of two models of GPU make no round of either: of several the first counts, and what is left out is said.
"""

from collections.abc import Iterable, Sequence

from recon.estimates.ratios import usable
from recon.records.host import Host
from recon.records.measurement import Device, Measurement


def related(
    measurements: Iterable[Measurement], host: Host | None, *, named: bool = False
) -> tuple[list[Measurement], str]:
    """The measurements that count for a host, all of one model of GPU, and what they are to it, in a sentence.

    The sentence is empty where none was timed. It tells every driver and power limit that was met.

    Args:
        measurements: Of one probe or several.
        host: Whose GPU is meant; None where no host is.
        named: Whether the user named these measurements: then another driver is said and does not exclude them.
    """
    timed = [each for each in measurements if each.mode == "gpu" and each.device is not None]
    if not timed:
        return [], ""
    if host is None or host.name == "releases":
        kept, rest = _of_one_card(timed)
        return kept, f"Times were taken on {_described(kept)}{rest}."
    mine = {gpu.uuid: gpu for gpu in host.gpus}
    own = [each for each in timed if _device(each).uuid in mine]
    if own:
        kept, rest = _of_one_card(own)
        return kept, f"Times were taken on this host's own {_described(kept)}{rest}."
    drivers = {gpu.name: gpu.driver for gpu in host.gpus}
    alike = [each for each in timed if _device(each).name in drivers]
    if not alike:
        here = ", ".join(sorted(drivers)) or "no GPU that was seen"
        return [], f"Times taken on {_described(timed)} are not used: this host has {here}."
    return _of_siblings(*_of_one_card(alike), drivers, named=named)


def _of_siblings(
    alike: list[Measurement], rest: str, drivers: dict[str, str], *, named: bool
) -> tuple[list[Measurement], str]:
    """Of other GPUs of a model that the host has."""
    driver = drivers[_device(alike[0]).name]
    same = [each for each in alike if not driver or driver == _device(each).driver]
    if not (same or named):
        return [], f"Times of another {_described(alike)} are not used: this host's driver is {driver}."
    if named and len(same) < len(alike):
        return alike, f"Times are those of another {_described(alike)}, though this host's driver is {driver}{rest}."
    return same, f"Times are those of another {_described(same)}; what this host's is limited to is not known{rest}."


def _of_one_card(measurements: list[Measurement]) -> tuple[list[Measurement], str]:
    """Those of the model of the first that can be used, and a clause about the others; empty where there are none."""
    first = _device(next(filter(usable, measurements), measurements[0])).name
    kept = [each for each in measurements if _device(each).name == first]
    others = [each for each in measurements if _device(each).name != first]
    return kept, f"; those taken on {_described(others)} are not used (--gpu names the card)" if others else ""


def _device(measurement: Measurement) -> Device:
    assert measurement.device is not None
    return measurement.device


def _described(measurements: Sequence[Measurement]) -> str:
    """The models of GPU, each with its drivers and power limits."""
    words = []
    for name in sorted({_device(each).name for each in measurements}):
        of_it = [each for each in measurements if _device(each).name == name]
        drivers = sorted({_device(each).driver for each in of_it})
        limits = sorted({each.before.power_limit_w for each in of_it if each.before and each.before.power_limit_w})
        told = f"driver{'s' * (len(drivers) > 1)} {' and '.join(drivers)}"
        if limits:
            told += f", power limit{'s' * (len(limits) > 1)} {' and '.join(limits)} W"
        words.append(f"{name} ({told})")
    return " and ".join(words)

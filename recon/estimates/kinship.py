"""Whose times count for a host: those of its own GPU, or of another of the same model under the same driver."""

from collections.abc import Iterable

from recon.records.host import Host
from recon.records.measurement import Measurement


def related(
    measurements: Iterable[Measurement], host: Host | None, *, named: bool = False
) -> tuple[list[Measurement], str]:
    """The measurements that count for a host, and what they are to it, in a sentence; empty where none was timed.

    Args:
        measurements: Of one probe or several.
        host: Whose GPU is meant; None where no host is.
        named: Whether the user named these measurements: then another driver is said and does not exclude them.
    """
    timed = [each for each in measurements if each.mode == "gpu" and each.device is not None]
    if not timed:
        return [], ""
    if host is None or host.name == "releases":
        return timed, f"Times were taken on {_described(timed[-1])}."
    mine = {gpu.uuid: gpu for gpu in host.gpus}
    own = [each for each in timed if each.device and each.device.uuid in mine]
    if own:
        return own, f"Times were taken on this host's own {_described(own[-1])}."
    drivers = {gpu.name: gpu.driver for gpu in host.gpus}
    alike = [each for each in timed if each.device and each.device.name in drivers]
    if not alike:
        here = ", ".join(sorted(drivers)) or "no GPU that was seen"
        return [], f"Times taken on {_described(timed[-1])} are not used: this host has {here}."
    device = alike[-1].device
    assert device is not None
    driver = drivers[device.name]
    other = f"another {_described(alike[-1])}"
    if driver and driver != device.driver:
        if not named:
            return [], f"Times of {other} are not used: this host's driver is {driver}."
        return alike, f"Times are those of {other}, though this host's driver is {driver}."
    return alike, f"Times are those of {other}; what this host's is limited to is not known."


def _described(measurement: Measurement) -> str:
    device, state = measurement.device, measurement.before
    assert device is not None
    limit = f", power limit {state.power_limit_w} W" if state and state.power_limit_w else ""
    return f"{device.name} (driver {device.driver}{limit})"

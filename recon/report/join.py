"""A scan, a probe and an estimate as one run: what a report shows."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from recon.records.estimate import Estimate
from recon.records.host import Gpu, Host
from recon.records.install import Install
from recon.records.measurement import Measurement
from recon.records.run import Run

Decide: TypeAlias = Callable[
    [tuple[Install, ...], tuple[Host, ...], tuple[Measurement, ...]],
    tuple[Estimate, ...],
]


def joined(scan: Run, probe: Run, decide: Decide) -> Run:
    """The scan with the probe's measurements, and the decision made anew from both.

    A host of the probe is the scan's host where their ids are equal or they share a GPU; its GPUs are then known to
    the scan too. Another host is added as it is.
    """
    hosts = list(scan.hosts)
    for host in probe.hosts:
        at = next((index for index, known in enumerate(hosts) if same_machine(known, host)), None)
        if at is None:
            hosts.append(host)
        else:
            hosts[at] = _with_gpus(hosts[at], host.gpus)
    measurements = (*scan.measurements, *probe.measurements)
    return replace(
        scan,
        hosts=tuple(hosts),
        measurements=measurements,
        behaviours=(*scan.behaviours, *probe.behaviours),
        estimates=decide(scan.installs, tuple(hosts), measurements),
        unknowns=(*scan.unknowns, *probe.unknowns),
        complete=scan.complete and probe.complete,
    )


def weighed(run: Run, made: tuple[Estimate, ...]) -> Run:
    """The run with the decisions of estimates in which acceptance was weighed, each in the place of its engine's.

    What verdicts and measurements say stays beside them.
    """
    known = {each.subject: each for each in made}
    return replace(run, estimates=tuple(_weighed(each, known.get(each.subject)) for each in run.estimates))


def _weighed(plain: Estimate, made: Estimate | None) -> Estimate:
    if made is None:
        return plain
    because = (*made.because, *plain.because)
    return replace(made, because=because, ratios=plain.ratios, knees=plain.knees, runs=made.runs or plain.runs)


def same_machine(one: Host, other: Host) -> bool:
    """Whether two records are of one machine: the same id, or a GPU in common."""
    return one.id == other.id or bool({gpu.uuid for gpu in one.gpus if gpu.uuid} & {gpu.uuid for gpu in other.gpus})


def _with_gpus(host: Host, gpus: tuple[Gpu, ...]) -> Host:
    known = {gpu.uuid for gpu in host.gpus}
    return replace(host, gpus=(*host.gpus, *(gpu for gpu in gpus if gpu.uuid not in known)))

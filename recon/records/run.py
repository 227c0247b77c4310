"""Runs: everything that one invocation learned; what is saved and reloaded."""

from dataclasses import dataclass

from recon.records.behaviour import Behaviour
from recon.records.estimate import Estimate
from recon.records.host import Host
from recon.records.install import Install
from recon.records.measurement import Measurement
from recon.records.policy import PolicyFailure
from recon.records.unknown import Unknown
from recon.records.verdict import Capability

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Searched:
    """What one install's index examined in all."""

    install: str
    python_files: int
    cuda_files: int
    functions: int
    classes: int
    kernels: int
    libraries: int
    unread: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that one invocation learned."""

    schema_version: int
    recon_version: str
    command: tuple[str, ...]
    """The words of the command line, secrets redacted."""
    started_at: str
    """UTC, ISO 8601 with seconds."""
    hosts: tuple[Host, ...]
    installs: tuple[Install, ...]
    measurements: tuple[Measurement, ...]
    estimates: tuple[Estimate, ...]
    capabilities: tuple[Capability, ...]
    unknowns: tuple[Unknown, ...]
    searched: tuple[Searched, ...]
    complete: bool
    """False when the run was interrupted and holds what was known until then."""
    behaviours: tuple[Behaviour, ...] = ()
    """What acceptance functions of the installs were seen to do; run files from before it was asked have none."""
    failures: tuple[PolicyFailure, ...] = ()
    """Where it falls short of what the user demanded; none where nothing was."""

"""The errors that stop a command: one line of what happened, a hint, and a kind that decides the exit code."""

from enum import IntEnum
from pathlib import Path


class Exit(IntEnum):
    """Exit codes of the command."""

    OK = 0
    POLICY = 1
    USAGE = 2
    INCOMPLETE = 3
    INTERNAL = 4
    INTERRUPTED = 130


class ReconError(Exception):
    """Something that a user can act on.

    Attributes:
        message: What happened, with the value, in one line.
        hint: The next thing to try; may be empty.
        kind: Word for machines, e.g. `not_found`.
        why: Word that tells errors of one kind apart, e.g. `revoked` of `host_key`; mostly empty.
        exit: Exit code of the command.
    """

    kind = "internal"
    why = ""
    exit = Exit.INTERNAL

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep what happened and what to try."""
        super().__init__(message, hint)  # both, so that the error survives pickling between processes
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """What happened, without the hint."""
        return self.message

    @property
    def word(self) -> str:
        """Kind and why, e.g. `host_key revoked`: what a run and a list of checks call it."""
        return f"{self.kind} {self.why}".strip()

    @property
    def sentence(self) -> str:
        """What happened and what to try, in one line."""
        return f"{self.message}. {self.hint}".removesuffix(". ")


class Fault(ReconError):
    """A fault of recon itself in the work on one of several things: the others go on.

    Attributes:
        error: What was raised.
    """

    error: Exception | None = None

    @classmethod
    def of(cls, error: Exception) -> "Fault":
        """Say in one line what was raised, and where."""
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})" if place else ""
        fault = cls(f"{what}{where}", "This is a fault of recon. Please report it.")
        fault.error = error
        return fault


class Usage(ReconError):
    """The command line does not make sense."""

    kind = "usage"
    exit = Exit.USAGE


class NotFound(ReconError):
    """A named thing does not exist: a path, a release, a file, a capability."""

    kind = "not_found"
    exit = Exit.USAGE


class NoEngine(ReconError):
    """The place exists and holds no engine."""

    kind = "no_engine"
    exit = Exit.INCOMPLETE


class Unreadable(ReconError):
    """Something exists and could not be read: a folder, a cache, a run file."""

    kind = "unreadable"
    exit = Exit.INCOMPLETE


class BadTrace(Unreadable):
    """An acceptance trace that is not what it says, or cannot be used for what was asked."""

    why = "trace"


class BadMetrics(Unreadable):
    """Counts or means of a server that are not what they say, or that tell nothing of what was asked."""

    why = "metrics"


class BadTable(Unreadable):
    """A table of how often ranks are right that is none."""

    why = "table"


class Unreachable(ReconError):
    """Nothing answered: an index, a host."""

    kind = "unreachable"
    exit = Exit.INCOMPLETE


class HostBusy(ReconError):
    """The host has other work, and was to be left alone then."""

    kind = "host_busy"
    exit = Exit.INCOMPLETE


class ClientConfig(ReconError):
    """The configuration of the ssh client does not make sense, or cannot be carried out."""

    kind = "ssh_config"
    exit = Exit.INCOMPLETE


class Auth(ReconError):
    """The host did not accept us, or there was nothing to offer it."""

    kind = "auth"
    exit = Exit.INCOMPLETE


class HostKey(ReconError):
    """The host is not the one that it should be, or nobody can say so."""

    kind = "host_key"
    exit = Exit.INCOMPLETE


class HostKeyUnknown(HostKey):
    """No key of this host is known."""

    why = "unknown"


class HostKeyChanged(HostKey):
    """Another key of this host is known."""

    why = "changed"


class HostKeyRevoked(HostKey):
    """The key of this host must not be trusted any more."""

    why = "revoked"


class HostCertificateRefused(HostKey):
    """A known authority signed the key of this host, but not for this host, this time or this use."""

    why = "certificate"


class HostNameUnknown(Unreachable):
    """No machine has this name, as far as resolvers and the configuration of ssh say."""


class TimedOut(Unreachable):
    """Something answered, or was there, and was not done in time."""

    kind = "timeout"


class LoginShell(Unreachable):
    """The host lets us in, but its login shell or a forced command starts no sh."""

    kind = "login_shell"


class NoGpu(ReconError):
    """A GPU was asked for and there is none that can be used."""

    kind = "no_gpu"
    exit = Exit.INCOMPLETE


class NoTorch(ReconError):
    """No Python with torch and triton was found, and the payload needs one."""

    kind = "no_torch"
    exit = Exit.INCOMPLETE


class GpuBusy(ReconError):
    """The GPU is in use, or in a mode that recon does not touch unasked."""

    kind = "gpu_busy"
    exit = Exit.INCOMPLETE


class GpuNotAllotted(GpuBusy):
    """The GPU is given out by a scheduler, and not to us."""

    why = "not_allotted"


class Interrupted(ReconError):
    """The user stopped a command; what was learned until then travels along.

    Attributes:
        partial: The run so far. Its type is not said here, because errors stand below records.
        coming: How many trees were found until then, those that are in the run included.
    """

    kind = "interrupted"
    exit = Exit.INTERRUPTED

    def __init__(self, partial: object, coming: int = 0) -> None:
        """Keep what was learned."""
        super().__init__("interrupted")
        self.args = (partial, coming)  # what pickle hands to __init__
        self.partial = partial
        self.coming = coming

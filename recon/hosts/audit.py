"""What was run on a host, written down before it runs: append-only lines of JSON, for their owner alone.

Each command is two lines. The first says what will be run, and is on the disk before that happens; the second says how
it ended. A script is spelled out where its digest appears first in the file. Its standard output is counted, not kept.
"""

import hashlib
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from recon.errors import ReconError, Unreadable
from recon.folders import make_private
from recon.hosts.appending import append_whole
from recon.ports import AttendingShell, Reply

FOLDER = "audit"
"""Below the state folder."""


@dataclass(eq=False)
class Audit:
    """The open audit file of one host."""

    path: Path
    _handle: int
    _known: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, **entry: object) -> None:
        """Append one line, whole and on the disk; one that does not fit leaves nothing of itself.

        Raises:
            Unreadable: it cannot be written; then nothing may be run either.
        """
        line = json.dumps({"time": _now(), **entry}, ensure_ascii=True) + "\n"
        with self._lock:
            try:
                append_whole(self._handle, line.encode("ascii"))
            except OSError as error:
                raise Unreadable(
                    f"cannot write {self.path}: {error.strerror or error}",
                    "Make room there, or set RECON_STATE_DIR; nothing is run on a host unrecorded.",
                ) from error
            if "script" in entry:
                self._known.add(str(entry["script_sha256"]))

    def script(self, text: str) -> dict[str, str]:
        """How an entry names a script: by digest, and in full until it once was written so."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        return {"script_sha256": digest} | ({} if digest in self._known else {"script": text})

    def close(self) -> None:
        """Nothing more is written; where nothing was, nothing ran, and no file stays."""
        if not os.fstat(self._handle).st_size:
            with suppress(OSError):
                self.path.unlink()
        os.close(self._handle)


def audit_for(host: str, state_dir: Path) -> Audit:
    """A new file for one host.

    Raises:
        Unreadable: the state folder cannot be written.
    """
    folder = state_dir / FOLDER
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", host)[:48].strip("-_.") or "host"
    path = folder / f"{stamp}-{plain}-{secrets.token_hex(3)}.jsonl"
    try:
        make_private(folder)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unreadable(
            f"cannot write the audit file in {folder}: {error.strerror or error}",
            "Set RECON_STATE_DIR to a folder that you may write; nothing is run on a host unrecorded.",
        ) from error
    return Audit(path, handle)


@dataclass(frozen=True, slots=True)
class Audited:
    """A shell of which every command is written down."""

    inner: AttendingShell
    audit: Audit
    way: Mapping[str, str]
    """How the machine is reached, for every entry: user, transport, and the command line that is started there."""

    @property
    def name(self) -> str:
        """What the user calls the machine."""
        return self.inner.name

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        """Write down, run, write down.

        Raises:
            Unreadable: it cannot be written down.
            Unreachable: the machine did not answer, or not in time.
        """
        return self._recorded(script, timeout_s, lambda: self.inner.run(script, timeout_s=timeout_s), lambda: 0)

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `run`, standard output going to `sink` as it comes.

        Raises:
            Unreadable: it cannot be written down.
            Unreachable: the machine did not answer, or not in time.
        """
        counted = _Counted(sink)
        return self._recorded(
            script,
            timeout_s,
            lambda: self.inner.stream(script, counted, timeout_s=timeout_s, cap_bytes=cap_bytes),
            lambda: counted.came,
        )

    def attend(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """As `stream`, for a script that watches this side.

        Raises:
            Unreadable: it cannot be written down.
            Unreachable: the machine did not answer, or not in time.
        """
        counted = _Counted(sink)
        return self._recorded(
            script,
            timeout_s,
            lambda: self.inner.attend(script, counted, timeout_s=timeout_s, cap_bytes=cap_bytes),
            lambda: counted.came,
        )

    def _recorded(self, script: str, timeout_s: float, ask: Callable[[], Reply], came: Callable[[], int]) -> Reply:
        token = secrets.token_hex(4)
        self.audit.write(
            event="asked",
            command=token,
            host=self.inner.name,
            **self.way,
            bytes_out=len(script.encode("utf-8", "surrogateescape")),
            timeout_s=round(timeout_s, 1),
            **self.audit.script(script),
        )
        began = time.monotonic()

        def ended(status: int | None, said: int, why: str) -> None:
            seconds = round(time.monotonic() - began, 3)
            # What was answered is not lost for it: the next command is refused, if there still is no room then.
            with suppress(Unreadable):
                self.audit.write(event="ended", command=token, status=status, bytes_in=said, seconds=seconds, error=why)

        try:
            reply = ask()
        except BaseException as error:
            kind = error.kind if isinstance(error, ReconError) else type(error).__name__
            ended(None, came(), kind)
            raise
        said = len(f"{reply.stdout}{reply.stderr}".encode("utf-8", "surrogateescape"))
        ended(reply.status, came() + said, "")
        return reply


class _Counted:
    """A sink that counts what went through it."""

    def __init__(self, sink: Callable[[bytes], None]) -> None:
        self._sink = sink
        self.came = 0

    def __call__(self, piece: bytes) -> None:
        self.came += len(piece)
        self._sink(piece)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

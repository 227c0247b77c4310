"""From what happened to advice and an exit code: the one place that catches everything."""

import errno
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from recon.cli.session import lead_nowhere, state_dir, write
from recon.errors import Exit, ReconError
from recon.folders import make_private

_STOPPED = "interrupted\n"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""A disk or a share that is full: what was asked for is lost, and recon is not at fault."""


def ended(command: Callable[[], object], words: Sequence[str]) -> int:
    """Run the command line and return its exit code.

    Args:
        command: Runs the words; returns, or raises SystemExit, or raises what went wrong.
        words: The words of the command line; `--json` among them asks for errors as JSON too.
    """
    as_json = "--json" in words
    try:
        command()
    except SystemExit as end:
        return _code_of(end, as_json=as_json)
    except ReconError as error:
        _say(error.kind, error.message, error.hint, as_json=as_json, why=error.why)
        return int(error.exit)
    except KeyboardInterrupt:
        write(sys.stderr, _STOPPED)
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        return int(Exit.OK)
    except OSError as error:
        if error.errno not in _FULL:
            return _fault(error, words, as_json=as_json)
        with suppress(OSError):
            lead_nowhere(sys.stdout)  # what it still holds would complain at the end
        _say("unreadable", f"cannot write: {error.strerror}", "", as_json=as_json)
        return int(Exit.INCOMPLETE)
    except Exception as error:  # noqa: BLE001  # whatever it is, the user gets one line and the rest in a file
        return _fault(error, words, as_json=as_json)
    return int(Exit.OK)


def _fault(error: Exception, words: Sequence[str], *, as_json: bool) -> int:
    """What is said of an error that nothing explains, and its exit code."""
    message = f"{type(error).__name__}: {error}".splitlines()[0]
    if "-v" in words or "--verbose" in words:
        write(sys.stderr, traceback.format_exc())
    where = _kept(traceback.format_exc(), words)
    hint = f"This is a fault of recon. Please report it with {where}." if where else "This is a fault of recon."
    _say("internal", message, hint, as_json=as_json)
    return int(Exit.INTERNAL)


def _code_of(end: SystemExit, *, as_json: bool) -> int:
    """The code that typer left with; what made it leave stands in the context of its exit."""
    cause = end.__context__
    if cause is not None and isinstance(cause.__cause__, KeyboardInterrupt):  # of a command that had nothing to save
        write(sys.stderr, _STOPPED)
        return int(Exit.INTERRUPTED)
    if isinstance(cause, BrokenPipeError):  # typer says 1, which is the code of a policy
        return int(Exit.OK)
    describe = getattr(cause, "format_message", None)  # an error of usage, said on standard error already
    if as_json and callable(describe):
        write(sys.stdout, _as_json("usage", str(describe()), ""))
    return end.code if isinstance(end.code, int) else int(end.code is not None)


def _as_json(kind: str, message: str, hint: str, why: str = "") -> str:
    told = {"kind": kind, "message": message, "hint": hint} | ({"why": why} if why else {})
    return json.dumps({"error": told}) + "\n"


def _say(kind: str, message: str, hint: str, *, as_json: bool, why: str = "") -> None:
    from recon.report.text import visible

    if as_json:
        write(sys.stdout, _as_json(kind, message, hint, why))
    write(sys.stderr, f"error: {visible(message)}\n" + (f"hint: {visible(hint)}\n" if hint else ""))


def _kept(trace: str, words: Sequence[str]) -> Path | None:
    """Write a traceback below the state folder, for its owner alone; None where that cannot be done."""
    try:
        folder = state_dir() / "crashes"
        make_private(folder)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        handle, name = tempfile.mkstemp(dir=folder, prefix=f"{stamp}-", suffix=".txt")
        with os.fdopen(handle, "w", errors="backslashreplace") as file:
            file.write(f"recon {' '.join(words[:1])}\n\n{trace}")
    except (OSError, ReconError):
        return None
    return Path(name)

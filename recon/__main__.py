"""Entry point of `python -m recon` and of the command `recon`."""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; a Ctrl-C while its modules load, or at the very end, ends the process with one line."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is not signal.SIG_IGN:  # as of a job in the background, which no Ctrl-C is meant for
        signal.signal(signal.SIGINT, _interrupted)
    from recon.cli.app import main as door  # noqa: PLC0415  # the load is what Ctrl-C may end

    signal.signal(signal.SIGINT, handler)
    try:
        door()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _leave_at_once()
        raise
    except KeyboardInterrupt:  # a second one, while the first was being told
        _leave_at_once()
    finally:
        if handler is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _interrupted)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """End the process where nothing is at stake: an exception in the middle of an import would be a page of lines."""
    del number, frame
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    _leave_at_once()


def _leave_at_once() -> None:
    """End the process without taking down what it holds: after half a scan that is much, and takes long.

    What had to be saved, ended or removed was when the command returned.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, RuntimeError):  # that a signal came in the middle of a flush
            stream.flush()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()

"""Entry point of `python -m recon` and of the command `recon`."""

import os
import signal
import sys
from contextlib import suppress

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; a Ctrl-C while its modules load ends the process without a word."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from recon.cli.app import main as door  # noqa: PLC0415  # the load is what Ctrl-C may end

    signal.signal(signal.SIGINT, handler)
    try:
        door()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _leave_at_once()
        raise


def _leave_at_once() -> None:
    """End the process without taking down what it holds: after half a scan that is much, and takes long.

    What had to be saved, ended or removed was when the command returned.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()

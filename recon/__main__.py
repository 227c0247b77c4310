"""Entry point of `python -m recon` and of the command `recon`."""

import signal


def main() -> None:
    """Run the command line; a Ctrl-C while its modules load ends the process without a word."""
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from recon.cli.app import main as door  # noqa: PLC0415  # the load is what Ctrl-C may end

    signal.signal(signal.SIGINT, handler)
    door()


if __name__ == "__main__":
    main()

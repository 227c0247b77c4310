"""Entry point of `python -m recon` and of the command `recon`."""

from recon.cli.app import main

if __name__ == "__main__":
    main()

"""Folders that recon makes for what it keeps: nobody else's to read."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone; one that is there stays as it is.

    `mkdir` with `parents` gives the mode to the last of them only.

    Raises:
        OSError: it cannot be made.
    """
    if folder.is_dir():  # asked before each of thousands of files
        return
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():  # asked again: somebody else may have made it meanwhile
        raise NotADirectoryError(20, "Not a directory", str(folder))

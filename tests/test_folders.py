"""Folders for what is kept."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from recon.folders import make_private


def test_each_folder_that_is_made_is_its_owners_alone(tmp_path: Path) -> None:
    """Those above it too; one that was there stays as it is."""
    (tmp_path / "there").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        make_private(tmp_path / "there/a/b/c")
        make_private(tmp_path / "there/a/b/c")
    finally:
        os.umask(before)

    assert [0o755, 0o700, 0o700, 0o700] == [
        (tmp_path / name).stat().st_mode & 0o777 for name in ("there", "there/a", "there/a/b", "there/a/b/c")
    ]


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(NotADirectoryError):
        make_private(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_private(tmp_path / "file/below")


def test_several_may_make_a_folder_at_once(tmp_path: Path) -> None:
    """As hosts do that are scanned abreast: whoever comes second finds it made, between one look and the next."""
    together = Barrier(8)

    def make(folder: Path) -> None:
        together.wait(timeout=60)
        make_private(folder)

    with ThreadPoolExecutor(8) as pool:
        for number in range(300):
            list(pool.map(make, [tmp_path / f"{number}/state/audit"] * 8))

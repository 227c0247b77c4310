"""What is appended to a file stands in it whole, or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
NARROW = """
import os, resource, signal, sys
from recon.hosts.appending import append_whole

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
handle = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
try:
    append_whole(handle, b"second " * 10 + b"\\n")
except OSError as error:
    print(error.strerror)
"""
"""A disk with room for so many bytes: it takes a part of what is written, and says so in a number."""


@pytest.mark.parametrize(
    ("room", "said", "left"),
    [
        (6, "File too large\n", b"first\n"),
        (30, "File too large\n", b"first\n"),
        (76, "File too large\n", b"first\n"),
        (77, "", b"first\n" + b"second " * 10 + b"\n"),
    ],
)
def test_what_does_not_fit_leaves_nothing_of_itself(tmp_path: Path, room: int, said: str, left: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    words = [sys.executable, "-c", NARROW, str(path), str(room)]
    ended = subprocess.run(words, capture_output=True, text=True, check=True, env={"PYTHONPATH": ROOT})

    assert (said, left) == (ended.stdout, path.read_bytes())

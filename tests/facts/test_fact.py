"""What the commands of facts are made of."""

import os
import shutil
import time
from pathlib import Path

import pytest

from recon.errors import Unreachable
from recon.facts.fact import BOUNDED, quote
from recon.facts.gather import gather
from recon.facts.gpus import COLUMNS, GPUS
from recon.hosts.local import LocalShell
from recon.records.host import Gpu

SHELLS = [("dash", "-s"), ("bash", "--posix", "-s"), ("busybox", "ash", "-s")]


@pytest.mark.parametrize("program", SHELLS, ids=lambda program: program[0])
def test_a_bounded_program_is_ended_in_time(program: tuple[str, ...]) -> None:
    """And says so with the status of `timeout`; one that is done in time keeps its own."""
    if shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    started = time.monotonic()
    reply = LocalShell(program=program).run(
        f"{BOUNDED}\nbounded 1 sleep 20; echo $?; bounded 5 sh -c 'exit 7'; echo $?"
    )

    assert time.monotonic() - started < 10
    assert reply.stdout in ("124\n7\n", "143\n7\n")  # busybox before 1.34 says 143


def test_without_timeout_a_bounded_program_just_runs(tmp_path: Path) -> None:
    """The deadline of the shell is then the only one."""
    (tmp_path / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    shell = LocalShell(environment={"PATH": str(tmp_path), "LC_ALL": "C"})
    reply = shell.run(f"{BOUNDED}\nbounded 1 sh -c 'echo ran; exit 7'")

    assert ("ran\n", 7) == (reply.stdout, reply.status)


def test_a_bounded_program_ends_with_its_script(tmp_path: Path) -> None:
    """`timeout` must not take it out of the process group that the shell kills."""
    mark = tmp_path / "mark"
    with pytest.raises(Unreachable):
        LocalShell().run(f"{BOUNDED}\nbounded 60 sh -c 'sleep 2; touch {mark}'", timeout_s=0.7)
    time.sleep(2)

    assert not mark.exists()


@pytest.mark.parametrize("word", ["", "a b", "it's", "$(touch x)", '"`\\', "-n", "ü\n"])
def test_a_quoted_word_comes_back_as_it_was(word: str) -> None:
    """Whatever a folder is called."""
    reply = LocalShell().run(f"printf %s {quote(word)}")

    assert word == reply.stdout


def test_nvidia_smi_is_asked_for_the_columns_that_are_read(tmp_path: Path) -> None:
    """A program of that name answers what its arguments ask for."""
    program = tmp_path / "nvidia-smi"
    program.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --query-gpu={",".join(COLUMNS)} ] && [ "$2" = --format=csv,noheader,nounits ] || exit 3\n'
        "echo '0, GPU-1, NVIDIA H200, 9.0, 143771, 570.1'\n"
    )
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    values, unknowns = gather(LocalShell(environment={"PATH": path, "LC_ALL": "C"}), [GPUS])

    assert () == unknowns
    assert (Gpu(0, "GPU-1", "NVIDIA H200", (9, 0), 143771 << 20, "570.1"),) == values.of(GPUS)

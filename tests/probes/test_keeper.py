"""The payload's keeper: it puts everything away when its client is gone, and what others of its kind could not."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from recon.kernels.keeper import HELD, STARTING_S, stale, sweep
from recon.kernels.wire import LOCK
from recon.probes import ship
from recon.probes.plan import plan_interpret
from recon.probes.run import told
from tests.probes.test_run import hanging

NAME = "recon-probe-0123456789ab-AbCdEfGh12"
GONE_WITHIN_S = 5.0


def begun(python: str, runtime: Path, **environment: str) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """The script on this machine, and the stream of its client."""
    script = ship.script_of(told(plan_interpret(), {}), (python,))
    sh = subprocess.Popen(
        ["sh", "-s"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(runtime), **environment},
        start_new_session=True,
    )
    assert sh.stdin
    sh.stdin.write(f"{{\nexec 3<&0 </dev/null\n{script}\nexit\n}}\n".encode())
    sh.stdin.flush()
    return sh, sh.stdin


class Travelled:
    """The real script on this machine, under a torch that hangs while it is imported."""

    def __init__(self, folder: Path) -> None:
        self.runtime = folder / "runtime"
        self.runtime.mkdir(exist_ok=True)
        stub = folder / "stub"
        stub.mkdir(exist_ok=True)
        self.pids = folder / "pids"
        self.pids.unlink(missing_ok=True)
        written = f"open({str(self.pids)!r}, 'w').write(f'{{os.getppid()}} {{os.getpid()}}\\n')"
        (stub / "torch.py").write_text(f"import os, time\n{written}\ntime.sleep(600)\n")
        self.sh, self.client = begun(sys.executable, self.runtime, PYTHONPATH=str(stub))
        assert true_within(lambda: self.pids.exists() and self.pids.read_text().endswith("\n"), 30)
        self.keeper, self.server = map(int, self.pids.read_text().split())

    @property
    def folders(self) -> list[Path]:
        return list(self.runtime.iterdir())

    def beat(self) -> None:
        self.client.write(b".")
        self.client.flush()

    def gone(self) -> bool:
        return not self.folders and not runs(self.keeper) and not runs(self.server)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.sh.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.server, signal.SIGKILL)
        self.client.close()
        self.sh.wait()


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def true_within(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


@pytest.fixture
def travelled(tmp_path: Path) -> Iterator[Travelled]:
    made = Travelled(tmp_path)
    try:
        yield made
    finally:
        made.end()


def test_the_folder_is_private_and_its_lock_is_held(travelled: Travelled) -> None:
    (folder,) = travelled.folders

    assert 0o40700 == folder.stat().st_mode
    assert HELD == (folder / LOCK).read_bytes()
    assert not stale(folder)


def test_when_the_stream_of_the_client_ends_everything_is_put_away(travelled: Travelled) -> None:
    travelled.client.close()

    assert true_within(travelled.gone, GONE_WITHIN_S)


def test_a_client_that_falls_silent_is_lost(travelled: Travelled) -> None:
    """After it once spoke: one on this machine never does."""
    for _ in range(2):
        travelled.beat()
        time.sleep(0.5)
    began = time.monotonic()
    travelled.beat()

    assert true_within(travelled.gone, GONE_WITHIN_S)
    assert time.monotonic() - began > 2.5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_end_it_in_good_order(travelled: Travelled, number: signal.Signals) -> None:
    os.kill(travelled.keeper, number)

    assert true_within(travelled.gone, GONE_WITHIN_S)


def test_memory_that_runs_out_is_taken_from_the_kernels_first(travelled: Travelled) -> None:
    """Not from a server that works on that machine, nor from what puts everything away."""
    scores = [Path(f"/proc/{pid}/oom_score_adj").read_text().strip() for pid in (travelled.server, travelled.keeper)]

    assert ["1000", Path("/proc/self/oom_score_adj").read_text().strip()] == scores


@pytest.mark.parametrize("how", ["client", signal.SIGTERM])
def test_nothing_is_left_of_what_leaves_its_group_and_its_parents(tmp_path: Path, how: signal.Signals | str) -> None:
    """An engine's code may start whatever it likes, and let go of it."""
    runtime, stub, pid = tmp_path / "runtime", tmp_path / "stub", tmp_path / "pid"
    runtime.mkdir()
    stub.mkdir()
    (stub / "torch.py").write_text(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        open({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
        "time.sleep(600)\n"
    )
    sh, client = begun(sys.executable, runtime, PYTHONPATH=str(stub))
    assert true_within(lambda: pid.exists() and pid.read_text().endswith("\n"), 30)
    stray = int(pid.read_text())
    if how == "client":
        client.close()
    else:
        sh.send_signal(signal.SIGTERM)

    assert true_within(lambda: not runs(stray) and not list(runtime.iterdir()), GONE_WITHIN_S)
    client.close()
    sh.wait(5)


def test_a_keeper_that_is_killed_leaves_no_process_and_no_folder(travelled: Travelled) -> None:
    """The script around it is still there."""
    os.kill(travelled.keeper, signal.SIGKILL)

    assert true_within(travelled.gone, GONE_WITHIN_S)


def test_what_is_left_when_all_of_it_is_killed_is_removed_by_the_next(travelled: Travelled, tmp_path: Path) -> None:
    """No process stays even then; another run of this user, and of nobody else, removes the folder."""
    (folder,) = travelled.folders
    os.killpg(travelled.sh.pid, signal.SIGKILL)

    assert true_within(lambda: not runs(travelled.keeper) and not runs(travelled.server), GONE_WITHIN_S)
    assert folder.exists()

    second = Travelled(tmp_path)
    try:
        assert true_within(lambda: folder not in second.folders, GONE_WITHIN_S)
        assert 1 == len(second.folders)
    finally:
        second.end()


@pytest.mark.parametrize(("at", "silent"), [("-c", False), ("-m", False), ("-m", True)])
def test_nothing_is_left_of_a_python_that_hangs_and_heeds_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, silent: bool
) -> None:
    """The client was killed, or its line froze: nobody is there to end what it began."""
    monkeypatch.setattr(ship, "SILENCE_S", 1.5)
    runtime, pid = tmp_path / "runtime", tmp_path / "pid"
    runtime.mkdir()
    sh, client = begun(hanging(tmp_path, at), runtime)
    assert true_within(lambda: pid.exists() and pid.read_text().endswith("\n"), 30)
    python = int(pid.read_text())
    client.write(b".")
    client.flush()
    if not silent:
        client.close()

    assert true_within(lambda: not list(runtime.iterdir()) and not runs(python), GONE_WITHIN_S)
    assert true_within(lambda: sh.poll() is not None, 1)
    client.close()


def test_when_the_script_around_it_is_killed_the_keeper_puts_away(travelled: Travelled) -> None:
    os.kill(travelled.sh.pid, signal.SIGKILL)

    assert true_within(travelled.gone, GONE_WITHIN_S)


def test_what_was_left_where_tmpdir_led_is_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = left_behind(elsewhere)
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    sh, client = begun(sys.executable, runtime, TMPDIR=str(elsewhere))

    assert true_within(lambda: not folder.exists(), 30)
    client.close()
    assert true_within(lambda: sh.poll() is not None and not list(runtime.iterdir()), GONE_WITHIN_S)


def left_behind(base: Path, name: str = NAME, held: bytes = HELD, mode: int = 0o700) -> Path:
    """A folder as a keeper that was killed leaves it."""
    folder = base / name
    folder.mkdir()
    (folder / LOCK).write_bytes(held)
    (folder / "kernel.py").write_text("")
    folder.chmod(mode)
    return folder


def test_a_folder_of_ours_without_a_keeper_is_stale(tmp_path: Path) -> None:
    folder = left_behind(tmp_path)

    assert [folder] == sweep([str(tmp_path), "/nowhere", ""], tmp_path / "mine")
    assert not folder.exists()


def test_a_folder_whose_lock_is_held_is_somebodys(tmp_path: Path) -> None:
    folder = left_behind(tmp_path)
    with (folder / LOCK).open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        assert [] == sweep([str(tmp_path)], tmp_path / "mine")
    assert folder.exists()


@pytest.mark.parametrize("name", ["recon-probe-0123456789ab", "recon-probe-0123456789ab-AbCdEfGh1", "other"])
def test_a_folder_of_another_name_is_not_touched(tmp_path: Path, name: str) -> None:
    folder = left_behind(tmp_path, name)

    assert [] == sweep([str(tmp_path)], tmp_path / "mine")
    assert folder.exists()


def test_what_others_may_enter_is_not_taken_for_ours(tmp_path: Path) -> None:
    assert not stale(left_behind(tmp_path, mode=0o755))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    real = left_behind(tmp_path, "somewhere")
    (tmp_path / NAME).symlink_to(real)

    assert [] == sweep([str(tmp_path)], tmp_path / "mine")
    assert (real / "kernel.py").exists()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = left_behind(tmp_path)
    (folder / LOCK).unlink()
    (folder / LOCK).symlink_to("/etc/hostname")

    assert not stale(folder)


@pytest.mark.parametrize("locked", [True, False])
def test_a_folder_that_no_keeper_has_reached_yet_is_left_alone_while_it_is_young(tmp_path: Path, locked: bool) -> None:
    folder = left_behind(tmp_path, held=b"")
    if not locked:
        (folder / LOCK).unlink()
    young = stale(folder)
    long_ago = time.time() - STARTING_S - 1
    os.utime(folder, (long_ago, long_ago))

    assert (False, True) == (young, stale(folder))


def test_its_own_folder_is_not_swept(tmp_path: Path) -> None:
    folder = left_behind(tmp_path)

    assert [] == sweep([str(tmp_path)], folder)

"""The payload on its journey: `python -m PACKAGE.keeper FOLDER BASE...`.

The files lie in a private folder that was made for this run. This process imports no torch and touches no GPU, so that
nothing can hold it. It starts the server, hands its lines on, and puts everything away when the work is done, when it
is asked to stop, which the script around it does where the client is gone, or when that script is gone itself. What a
keeper that was killed left behind is removed by the next one.

A folder is a stale one of ours if its name is one that we give, it belongs to us and nobody else may enter it, and
nobody holds the lock in it: a keeper does so for as long as it lives. One that no keeper has reached yet has an empty
lock; it counts as stale only when it is older than any start could take.
"""

import contextlib
import fcntl
import os
import re
import select
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from .processes import adopt, below
from .wire import LOCK, PLAN, Plan, Refused, WireError, decode_plan, digest_of, encode

NAME = re.compile(r"recon-probe-[0-9a-f]{12}-[0-9A-Za-z]{10}")
HELD = b"held\n"
STARTING_S = 600.0
"""Longest between the making of a folder and its first keeper."""
STARTS_S = 180.0
"""Longest that importing torch may take."""
STOPPED, GONE = 130, 75
"""Exit status after a signal, and after nobody was left to listen."""
_LOOK_S = 0.5
"""Between two looks at whether the script around this process is there."""
_SWEEP_S = 0.5
"""How long sweeping is waited for at the end: it may be held by a disk."""
_REAP_S = 0.7


class Stop(BaseException):
    """A signal asked for the end."""


def main() -> int:
    """Keep a run; its exit code."""
    folder, bases = Path(sys.argv[1]), sys.argv[2:]
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in signals:
        signal.signal(number, _stop)
    adopt()
    try:
        with held(folder / LOCK):
            return _kept(folder, bases)
    except Stop:
        return STOPPED
    finally:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
        remove(folder)


def _stop(_number: int, _frame: object) -> None:
    raise Stop


@contextlib.contextmanager
def held(lock: Path) -> Iterator[None]:
    """Hold the lock of a folder, and say in it that it was held."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: then nobody can take the folder for stale
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.pwrite(handle, HELD, 0)
        yield
    finally:
        os.close(handle)


def sweep(bases: list[str], mine: Path) -> list[Path]:
    """Remove the folders that earlier keepers could not; which ones those were."""
    removed = []
    for base in dict.fromkeys(each for each in bases if each.startswith("/")):
        try:
            ours = [each for each in Path(base).iterdir() if NAME.fullmatch(each.name)]
        except OSError:
            continue
        for folder in ours:
            if folder != mine and stale(folder):
                remove(folder)
                removed.append(folder)
    return removed


def stale(folder: Path) -> bool:
    """Whether a folder was left behind by a keeper of this user's."""
    try:
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            return False
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return folder.exists() and time.time() - folder.lstat().st_mtime > STARTING_S
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.pread(handle, len(HELD), 0) == HELD or time.time() - about.st_mtime > STARTING_S
    except OSError:  # somebody holds it, or nobody can
        return False
    finally:
        os.close(handle)


def remove(folder: Path) -> None:
    """Remove a folder; what a dying process still writes into it is removed in a second go."""
    for _ in range(5):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def _kept(folder: Path, bases: list[str]) -> int:
    """Run the server, and sweep meanwhile."""
    try:
        plan = decode_plan((folder / PLAN).read_text(encoding="utf-8"))
    except (WireError, OSError, UnicodeDecodeError) as error:
        return _refused(Refused("bad_plan", str(error)))
    if plan.payload and plan.payload != digest_of(Path(__file__).parent):
        return _refused(Refused("bad_plan", "the files that arrived are not those that were sent: is the disk full?"))
    read, write = os.pipe()
    keeper, script = os.getpid(), os.getppid()
    server = os.fork()
    if server == 0:
        os.close(read)
        _serve(plan, folder, write, keeper)
    os.close(write)
    with contextlib.suppress(OSError):
        os.setpgid(server, server)  # as it does itself: whoever comes first
    sweeping = threading.Thread(target=sweep, args=(bases, folder), daemon=True)
    try:
        sweeping.start()
        code = _watched(server, read, script)
        sweeping.join(_SWEEP_S)
        return code
    finally:
        _killed(server)


def _serve(plan: Plan, folder: Path, pipe: int, keeper: int) -> None:
    """The life of the server: a group of its own, so that it ends with all that it started. It never returns."""
    status = 70
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(2, 1)
        _first_to_go()
        from .server import die_with_parent  # noqa: PLC0415  what the keeper needs not, it does not import

        die_with_parent(keeper)
        from .__main__ import serve  # noqa: PLC0415  likewise

        status = serve(plan, folder, pipe)
    except BaseException as error:  # noqa: BLE001  whatever it is, this process must not go on as its parent
        with contextlib.suppress(Exception):
            print(f"{type(error).__name__}: {error}"[:2000], file=sys.stderr, flush=True)  # noqa: T201
    finally:
        os._exit(status)


def _first_to_go() -> None:
    """Have the system end this process, and what it starts, before any other where the machine's memory runs out.

    It would else choose by size, and take a server that works there.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _watched(server: int, pipe: int, script: int) -> int:
    """Hand on what the server says for as long as somebody listens; the exit code."""
    over, told = os.pipe()
    forwarding = _Forwarding(pipe, told)
    threading.Thread(target=forwarding.run, daemon=True).start()  # a dead line blocks writers
    begun = time.monotonic()
    while not select.select([over], [], [], _LOOK_S)[0]:
        if os.getppid() != script:
            return GONE
        if not forwarding.lines and time.monotonic() - begun > STARTS_S:
            return _refused(Refused("no_torch", f"{sys.executable} said nothing for {STARTS_S:.0f} s: it hangs"))
    if forwarding.broken:
        return GONE
    _, status = os.waitpid(server, 0)
    code = os.waitstatus_to_exitcode(status)
    if not forwarding.lines:
        how = f"signal {-code}" if code < 0 else f"status {code}"
        return _refused(Refused("no_torch", f"{sys.executable}: importing torch and triton ended with {how}"))
    return code if code >= 0 else 128 - code


class _Forwarding:
    """Bytes of the server, to the client."""

    def __init__(self, pipe: int, told: int) -> None:
        self._pipe, self._told = pipe, told
        self.lines = 0
        self.broken = False

    def run(self) -> None:
        """Hand on until the server ends, or nobody takes it."""
        try:
            while piece := os.read(self._pipe, 1 << 16):
                self.lines += piece.count(b"\n")
                _write(piece)
        except OSError:
            self.broken = True
        finally:
            os.close(self._told)


def _refused(line: Refused) -> int:
    with contextlib.suppress(OSError):
        _write(f"{encode(line)}\n".encode())
    return 1


def _write(piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(1, left) :]


def _killed(server: int) -> None:
    """End the server and all that it started, wherever that went; what a driver holds is not waited for."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(server, signal.SIGKILL)
    end = time.monotonic() + _REAP_S
    while (rest := below(os.getpid())) and time.monotonic() < end:  # what made itself a group of its own is ours now
        for pid in rest:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < end and not os.waitpid(server, os.WNOHANG)[0]:
            time.sleep(0.01)


if __name__ == "__main__":
    os._exit(main())  # a thread may wait for a line that is dead

"""Whoever asks a command to stop, and whenever: what was learned is saved, and nothing runs on."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from recon import pipeline
from recon.cli.stopping import SIGNALS, Stop, Stoppable, stoppable, unstoppable
from recon.errors import Interrupted
from recon.ports import Progress, Silent
from recon.runs.files import listing, load
from tests.cli.conftest import Recon, Stages
from tests.report.hand import probe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """A test that fails leaves no handler behind."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_ends_the_work_and_handlers_are_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), stoppable(Silent()):
        signal.raise_signal(number)

    assert before is signal.getsignal(number)


@pytest.mark.parametrize("word", ["start", "advance", "finish"])
def test_a_stop_that_a_library_swallowed_ends_the_work_at_the_next_word(word: str) -> None:
    stop = Stop()
    progress = Stoppable(Silent(), stop)
    with pytest.raises(KeyboardInterrupt):
        stop(signal.SIGINT, None)

    with pytest.raises(KeyboardInterrupt):
        {"start": lambda: progress.start("x", 1), "advance": progress.advance, "finish": progress.finish}[word]()


def test_under_nohup_a_closing_terminal_stops_nothing() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stoppable(Silent()) as progress:
        signal.raise_signal(signal.SIGHUP)
        progress.advance()

    assert signal.SIG_IGN is signal.getsignal(signal.SIGHUP)


def test_signals_wait_while_a_run_is_saved() -> None:
    said: list[str] = []

    def save() -> None:
        with unstoppable():
            os.kill(os.getpid(), signal.SIGTERM)
            said.append("saved")
        said.append("more")

    with pytest.raises(KeyboardInterrupt), stoppable(Silent()):
        save()

    assert ["saved"] == said


def test_signals_wait_while_a_run_is_saved_in_a_process_of_many_threads() -> None:
    said: list[str] = []
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()

    def save() -> None:
        with unstoppable():
            signal.pthread_kill(other.ident or 0, signal.SIGTERM)  # whichever thread the system gives it to
            time.sleep(0.05)
            said.append("saved")

    try:
        with pytest.raises(KeyboardInterrupt), stoppable(Silent()):
            save()
    finally:
        ended.set()
        other.join()

    assert ["saved"] == said


def test_a_child_that_inherits_the_handler_ends_without_a_word() -> None:
    code = (
        "import os, signal\nfrom recon.cli.stopping import Stop\nsignal.signal(signal.SIGTERM, Stop())\n"
        "child = os.fork()\nif not child:\n    signal.raise_signal(signal.SIGTERM)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (128 + signal.SIGTERM, "") == (ended.returncode, ended.stderr)


def many(folder: Path, count: int) -> Path:
    """A tree that takes a while to read."""
    package = folder / "vllm"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    body = "".join(f"def f{n}(a, b):\n    for c in a:\n        b[c] = a[c] + {n}\n    return b\n" for n in range(400))
    for number in range(count):
        (package / f"m{number}.py").write_text(f"# {number}\n{body}")
    return folder


def alive(group: int) -> list[str]:
    """Command lines of the processes in a group, zombies left out."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [row[2] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_scan_that_is_stopped_saves_what_it_learned_and_leaves_no_process(
    tmp_path: Path, state: Path, number: signal.Signals
) -> None:
    """Killed outright it cannot save; its workers notice and end."""
    first, second = many(tmp_path / "one", 1), many(tmp_path / "two", 400)
    command = [sys.executable, "-m", "recon", "scan", "--workers", "2", "--path", str(first), "--path", str(second)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
    ) as scan:
        deadline = time.monotonic() + 30
        while not list((tmp_path / "recon-cache" / "snapshots").glob("*"))[1:] and time.monotonic() < deadline:
            time.sleep(0.02)  # the second tree is in the store: its reading begins
        scan.send_signal(number)
        code = scan.wait(30)
    deadline = time.monotonic() + 15
    while alive(scan.pid) and time.monotonic() < deadline:
        time.sleep(0.2)

    assert [] == alive(scan.pid)
    if number is signal.SIGKILL:
        assert -number == code
        return
    (saved,) = listing(state)
    run = load(saved.path)

    assert (130, False, [str(first)]) == (code, run.complete, [each.location for each in run.installs])


def test_a_probe_that_is_stopped_may_still_say_how_far_it_came(
    recon_command: Recon, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lets the kernel at hand end, and hears of it, before it is saved."""

    def stopped(request: object, settings: object, progress: Progress) -> NoReturn:
        del request, settings
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            progress.advance(1, "the last")
            progress.finish()
        raise Interrupted(replace(probe(), complete=False))

    monkeypatch.setattr(pipeline, "probe", stopped)
    ended = recon_command("probe-kernels", "--interpret")
    (saved,) = listing(state)

    assert (130, "probe", False) == (ended.code, saved.kind, load(saved.path).complete)


def test_an_interrupted_command_is_not_taken_down_piece_by_piece() -> None:
    """What half a scan holds takes long to let go; everything was saved and ended before."""
    code = (
        "import atexit, time\nimport recon.cli.app as app\nfrom recon.__main__ import main\n"
        "def interrupted(): raise SystemExit(130)\n"
        "app.main = interrupted\natexit.register(time.sleep, 120)\nprint('said', end='')\nmain()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert (130, "said") == (ended.returncode, ended.stdout)


@pytest.mark.parametrize(
    ("handling", "code", "said"),
    [("", 130, "interrupted\n"), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", 0, "")],
    ids=["heeded", "ignored"],
)
def test_an_interrupt_while_modules_load_ends_in_one_line(handling: str, code: int, said: str) -> None:
    """Unless it is ignored, as in a job in the background."""
    loads = (
        f"import signal, sys\n{handling}\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from recon.__main__ import main\nmain()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", loads, "--version"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert (code, said) == (ended.returncode, ended.stderr)


def test_an_interrupt_before_there_is_anything_to_save_is_told(recon_command: Recon, stages: Stages) -> None:
    stages.answer = KeyboardInterrupt()
    ended = recon_command("scan")

    assert (130, "interrupted") == (ended.code, ended.err.splitlines()[-1])

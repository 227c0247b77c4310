"""Logging in where a second factor is asked for, or nobody can be asked."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.errors import (
    Auth,
    LoginShell,
    TimedOut,
)
from recon.hosts import dial
from recon.hosts.connect import Options, connect
from recon.hosts.dial import Manner, dialled
from recon.hosts.effective import route
from recon.hosts.shell import SshShell
from recon.hosts.target import parse
from tests.ssh.asking import Asking, asking
from tests.ssh.server import HERE, Yard
from tests.ssh.ways import BOTH, Way

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")


class Somebody:
    """A person who answers everything in the same way, and remembers the questions."""

    def __init__(self, answer: str) -> None:
        self.says = answer
        self.asked: list[str] = []

    def secret(self, question: str) -> str:
        self.asked.append(question)
        return self.says

    def answer(self, question: str) -> str:
        return self.secret(question)


@pytest.fixture
def two_factors(yard: Yard) -> Iterator[Asking]:
    with asking(yard.key("asking_host_key"), Path(f"{yard.client_key}.pub"), "123456") as server:
        public = " ".join(Path(f"{yard.folder}/asking_host_key.pub").read_text().split()[:2])
        yard.known_hosts.write_text(f"[{HERE}]:{server.port} {public}\n")
        yard.config(lines={"gpu2": [f"HostName {HERE}", f"Port {server.port}"]})
        yield server


def test_a_second_factor_is_asked_for_once(yard: Yard, two_factors: Asking) -> None:
    somebody = Somebody("123456")
    hops = route(parse("gpu2"), config=yard.folder / "config")
    with dialled("gpu2", hops, Manner(accept_new=False, connect_timeout_s=5, person=somebody)) as carrier:
        host = SshShell("gpu2", yard.user, "paramiko", carrier)
        told = [host.run(f"echo {number}").stdout for number in range(2)]

    assert ["0\n", "1\n"] == told
    assert [f"{yard.user}@gpu2: Second factor Look at your device. Code: "] == somebody.asked
    assert ["123456"] == two_factors.answers


def test_a_wrong_code_is_not_asked_for_again(yard: Yard, two_factors: Asking) -> None:
    somebody = Somebody("0")
    hops = route(parse("gpu2"), config=yard.folder / "config")
    manner = Manner(accept_new=False, connect_timeout_s=5, person=somebody)
    with pytest.raises(Auth, match="it wants keyboard-interactive"), dialled("gpu2", hops, manner):
        pass

    assert ["0"] == two_factors.answers


@BOTH
def test_a_second_factor_fails_at_once_where_nobody_can_be_asked(yard: Yard, two_factors: Asking, way: Way) -> None:
    started = time.monotonic()
    options = Options(transport=way, config=yard.folder / "config", batch=True)
    with pytest.raises(Auth) as caught, connect(parse("gpu2"), options) as host:
        host.run("true")

    assert "keyboard-interactive" in caught.value.message
    assert way == "openssh" or "terminal" in caught.value.hint
    assert ([], True) == (two_factors.answers, time.monotonic() - started < 5)


def test_an_account_that_runs_no_command_says_so(yard: Yard, two_factors: Asking) -> None:
    two_factors.runs = False
    hops = route(parse("gpu2"), config=yard.folder / "config")
    manner = Manner(accept_new=False, connect_timeout_s=5, person=Somebody("123456"))
    with dialled("gpu2", hops, manner) as carrier, pytest.raises(LoginShell, match="runs no command"):
        SshShell("gpu2", yard.user, "paramiko", carrier).run("true")


def test_a_login_that_takes_too_long_is_late(yard: Yard, two_factors: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dial, "AUTH_S", 1.0)
    two_factors.thinks_s = 3.0
    started = time.monotonic()
    options = Options(transport="paramiko", config=yard.folder / "config", batch=True)
    with pytest.raises(TimedOut, match="no login within 1 s"), connect(parse("gpu2"), options):
        pass

    assert time.monotonic() - started < 2.5


ASKED = """
import os, sys
from pathlib import Path
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
os.open(sys.argv[1], os.O_RDWR)  # the first terminal that the leader of a session opens becomes its own
with connect(parse("gpu2"), Options(transport=sys.argv[2], config=Path(sys.argv[3]))) as host:
    print([host.run(f"echo {number}").stdout for number in range(2)])
"""


@contextlib.contextmanager
def at_a_terminal(yard: Yard, way: Way) -> Iterator[subprocess.Popen[bytes]]:
    """Another process, with a terminal of its own, that was told the code there."""
    ours, theirs = os.openpty()
    words = [sys.executable, "-c", ASKED, os.ttyname(theirs), way, str(yard.folder / "config")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
    try:
        heard = b""
        while b"Code: " not in heard:
            heard += os.read(ours, 1000)
        os.write(ours, b"123456\n")
        yield process
    finally:
        process.kill()
        process.communicate()
        os.close(ours)
        os.close(theirs)


@BOTH
def test_a_person_at_a_terminal_is_asked_once_for_many_scripts(yard: Yard, two_factors: Asking, way: Way) -> None:
    with at_a_terminal(yard, way) as process:
        stdout, _ = process.communicate(timeout=20)

    assert "['0\\n', '1\\n']\n" == stdout.decode()
    assert ["123456"] == two_factors.answers
    assert {} == yard.clients()


def test_no_master_of_ours_outlives_a_client_that_was_killed(yard: Yard, two_factors: Asking) -> None:
    with at_a_terminal(yard, "openssh") as process:
        while not two_factors.answers:
            time.sleep(0.01)
        words = next(iter(yard.clients().values()))
        process.kill()
        process.wait()
        end, quiet = time.monotonic() + 10, 0
        while quiet < 10 and time.monotonic() < end:
            quiet = 0 if yard.clients() else quiet + 1  # one that was just being started may still appear
            time.sleep(0.05)

        shutil.rmtree(Path(words[words.index("-S") + 1]).parent, ignore_errors=True)
        assert (10, {}) == (quiet, yard.clients())

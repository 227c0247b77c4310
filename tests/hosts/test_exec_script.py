"""What is sent to a shell, and what is taken from the streams that come back."""

import contextlib
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import TimedOut, Unreachable
from recon.hosts.exchange import Exchange, LineDead, NotStarted, unusable
from recon.hosts.exec_script import COMMAND, LOST_S, Frame, nonce, wrapped
from recon.hosts.local import CUT

BEGIN, END = b"recon-begin-N\n", b"recon-end-N 3\n"


@given(st.binary(max_size=40), st.binary(max_size=60), st.binary(max_size=40), st.lists(st.integers(1, 20), min_size=1))
def test_a_frame_gives_what_stands_between_the_marks_however_it_is_cut(
    before: bytes, said: bytes, after: bytes, sizes: list[int]
) -> None:
    frame, stream, taken = Frame("N"), before + BEGIN + said + END + after, b""
    while stream:
        for size in sizes:
            taken += frame.take(stream[:size])
            stream = stream[size:]

    assert (said, "3", before) == (taken, frame.status, bytes(frame.noise))


def test_what_may_be_a_mark_is_held_back_and_given_when_it_is_none() -> None:
    frame = Frame("N")

    assert b"x" == frame.take(BEGIN + b"xrecon-end-")
    assert b"recon-end-no" == frame.take(b"no")


def test_noise_is_kept_up_to_a_cap() -> None:
    frame = Frame("N", noise_cap_bytes=10)
    for _ in range(50):
        frame.take(b"welcome ")

    assert (b"welcome we", False) == (bytes(frame.noise), frame.begun)


def test_the_command_line_means_the_same_to_every_shell() -> None:
    """No quotes, no variables, no redirection: fish, csh and sh read it alike."""
    assert set() == set(COMMAND) & set("'\"$`|<>&;()*?!\\{}[]~#\n")


def test_the_script_holds_no_mark_that_an_echo_could_give_back() -> None:
    """A login shell that repeats its input does not answer for the script."""
    mark = nonce()
    frame = Frame(mark)
    frame.take(wrapped("true", mark, 5))

    assert (False, "") == (frame.begun, frame.status)


@pytest.mark.system("bash", "dash", "busybox")
def test_a_script_is_ended_when_nobody_beats() -> None:
    """The other side is alive and its streams are open, but no beat comes: the script is ended and that is said.

    All shells at once, since each takes its time.
    """
    shells = ["dash", "busybox sh", "bash", "bash --posix"]
    mark, started = nonce(), time.monotonic()
    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(subprocess.Popen([*sh.split(), "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            for sh in shells
        ]
        for child in children:
            assert child.stdin is not None
            child.stdin.write(wrapped("echo on; sleep 600 & sleep 601", mark, 60))
            child.stdin.flush()
        heard = [(*heard_of(child, mark), time.monotonic() - started) for child in children]

    assert [(b"on\n", "lost")] * len(shells) == [(said, status) for said, status, _ in heard]
    assert [] == [after for *_, after in heard if not LOST_S <= after < LOST_S + 4]


def heard_of(child: subprocess.Popen[bytes], mark: str) -> tuple[bytes, str]:
    """What a script said, and how it ended."""
    frame, said = Frame(mark), b""
    assert child.stdout is not None
    while not frame.status:
        said += frame.take(child.stdout.read1())  # type: ignore[attr-defined]  # it is buffered
    return said, frame.status


class Tape:
    """A line that plays what it was given."""

    def __init__(self, *pieces: tuple[bytes, bytes], ends: bool = True, room: int = 1 << 20) -> None:
        self.pieces = list(pieces)
        self.ends = ends
        self.room = room
        self.heard = b""
        self.clock = 0.0

    def send(self, piece: memoryview) -> int:
        self.heard += bytes(piece[: self.room])
        return min(self.room, len(piece))

    def receive(self) -> tuple[bytes, bytes]:
        return self.pieces.pop(0) if self.pieces else (b"", b"")

    def wait(self, seconds: float) -> None:
        self.clock += seconds

    def over(self) -> bool:
        return self.ends and not self.pieces

    def status(self) -> int | None:
        return 1


def exchange(tape: Tape, cap_bytes: int = 100, timeout_s: float = 10) -> tuple[Exchange, bytearray]:
    heard = bytearray()
    return Exchange("gpu1", tape, heard.extend, cap_bytes, timeout_s, lambda: tape.clock, "N"), heard


def test_an_exchange_ends_with_both_marks_whatever_stays_open() -> None:
    """A process left behind may hold the streams open for ever."""
    tape = Tape((BEGIN + b"out", BEGIN), (END, b"err"), (b"", END), ends=False)
    talk, heard = exchange(tape)
    reply = talk.hold("true")

    assert (b"out", "err", 3) == (bytes(heard), reply.stderr, reply.status)


def test_an_exchange_beats_while_it_waits_and_not_before_the_script_is_said() -> None:
    tape = Tape(ends=False, room=100)
    talk, _ = exchange(tape, timeout_s=9)
    with pytest.raises(TimedOut, match="no sh was started"):
        talk.hold("true")

    script = wrapped("true", "N", 9)
    assert (script, b"....") == (tape.heard[: len(script)], tape.heard[len(script) :])


def test_an_exchange_is_cut_at_its_cap() -> None:
    talk, heard = exchange(Tape((BEGIN + b"abcdef", BEGIN), ends=False), cap_bytes=4)

    assert (CUT, b"abcd") == (talk.hold("true").status, bytes(heard))


def test_an_exchange_that_breaks_off_quotes_what_was_said_last() -> None:
    talk, _ = exchange(Tape((BEGIN + b"abc", BEGIN + b"one\nTimeout, server gpu1 not responding.\r\n")))
    with pytest.raises(LineDead, match="after 'Timeout, server gpu1 not responding"):
        talk.hold("true")


def test_a_host_that_heard_nothing_of_us_is_no_script_that_failed() -> None:
    talk, _ = exchange(Tape((BEGIN + b"recon-end-N lost\n", BEGIN + b"recon-end-N lost\n")))
    with pytest.raises(Unreachable, match="heard nothing of us"):
        talk.hold("true")


def test_what_a_host_says_is_printable_in_errors() -> None:
    """It is not ours: no control sequence of it reaches the terminal."""
    talk, _ = exchange(Tape((b"\x1b]0;owned\x07\x1b[2Jhello\r\n", b"")))
    with pytest.raises(NotStarted) as caught:
        talk.hold("true")

    assert "gpu1: " in str(unusable("gpu1", caught.value))
    assert str(unusable("gpu1", caught.value)).isprintable()


def test_an_end_mark_without_an_end_is_not_waited_for() -> None:
    """Nor kept: nothing that follows it is a status."""
    frame = Frame("N")
    frame.take(BEGIN + b"recon-end-N")
    for _ in range(4):
        frame.take(b"x" * 40)

    assert "x" * 64 == frame.status
    assert b"" == frame._held


@pytest.mark.parametrize("status", [b"9" * 5000, b"-1", b"1000", b"", "\u00b2".encode()])
def test_a_status_that_no_program_has_is_a_line_that_broke(status: bytes) -> None:
    end = b"recon-end-N " + status + b"\n"
    talk, _ = exchange(Tape((BEGIN + b"abc", BEGIN), (end, end)))
    with pytest.raises(LineDead, match="in the middle of a script"):
        talk.hold("true")

"""The agent's client: whatever is behind the socket, it is an answer or an error, and in time."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recon.errors import Unreachable
from recon.hosts.agent import Held, SocketAgent
from recon.hosts.wire import string

LISTED = b"\x0c"


@contextmanager
def answering(path: Path, answer: bytes | None) -> Iterator[SocketAgent]:
    """Something that answers one question with these bytes, or with nothing and stays."""
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(path))
    door.listen()
    stay = threading.Event()

    def serve() -> None:
        caller, _ = door.accept()
        with caller:
            caller.recv(1 << 16)
            if answer is None:
                stay.wait(10)
            else:
                caller.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield SocketAgent(path)
    finally:
        stay.set()
        thread.join(10)
        door.close()


def test_keys_are_listed_with_their_comments(tmp_path: Path) -> None:
    """Comments are anybody's bytes."""
    body = LISTED + (2).to_bytes(4) + string(b"one") + string(b"me@here") + string(b"two") + string(b"\xff")
    with answering(tmp_path / "agent", string(body)) as agent:
        held = agent.held()

    assert [Held(b"one", "me@here"), Held(b"two", "\\xff")] == held


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\0\0",
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        b"\0\0\0\x05\x0c\0\0",
        string(b"\x05"),
        string(LISTED),
        string(LISTED + b"\xff\xff\xff\xff"),
        string(LISTED + (1).to_bytes(4) + b"\xff\xff\xff\xffx"),
        string(LISTED + (0).to_bytes(4) + b"more"),
        b"SSH-2.0-not an agent\r\n",
    ],
)
def test_an_odd_answer_is_an_error_of_one_line(answer: bytes, tmp_path: Path) -> None:
    """It names the socket."""
    with answering(tmp_path / "agent", answer) as agent, pytest.raises(Unreachable) as caught:
        agent.held()

    assert str(tmp_path / "agent") in caught.value.message
    assert "\n" not in caught.value.message


def test_an_agent_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A locked session, a dead forwarding."""
    monkeypatch.setattr("recon.hosts.agent._LIST_S", 0.3)
    started = time.monotonic()
    with answering(tmp_path / "agent", None) as agent, pytest.raises(Unreachable, match="does not answer: timed out"):
        agent.held()

    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", ["missing", "file", "n" * 200])
def test_a_socket_that_is_none_is_an_error(name: str, tmp_path: Path) -> None:
    """Nothing there, a file there, or a name that is too long for a socket."""
    (tmp_path / "file").touch()
    with pytest.raises(Unreachable, match="does not answer"):
        SocketAgent(tmp_path / name).held()

"""An SSH server that asks for a key, then for a code, as hosts with a second factor do.

OpenSSH needs PAM for that, and this does not. It runs commands as the current user, from threads of the test itself.
"""

import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import paramiko


@dataclass(slots=True)
class Asking:
    """A listening server, and what it was told."""

    port: int
    key: paramiko.PKey
    public: str
    code: str
    wants_key: bool
    runs: bool = True
    """Whether it runs commands."""
    thinks_s: float = 0.0
    """How long it looks at a key."""
    answers: list[str] = field(default_factory=list)
    """Every answer to `Code:`, right or wrong."""


class _Guest(paramiko.ServerInterface):  # type: ignore[misc]  # paramiko has no types
    """One connection: a key first where one is wanted, then the code."""

    def __init__(self, server: Asking) -> None:
        self.server = server
        self.proved = not server.wants_key
        self.commands: dict[int, bytes] = {}
        self.started = threading.Event()

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive" if self.proved else "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        time.sleep(self.server.thinks_s)
        if key.get_base64() not in self.server.public:
            return int(paramiko.AUTH_FAILED)
        self.proved = True
        return int(paramiko.AUTH_PARTIALLY_SUCCESSFUL)

    def check_auth_interactive(self, username: str, submethods: str) -> object:
        if not self.proved:
            return int(paramiko.AUTH_FAILED)
        return paramiko.InteractiveQuery("Second factor", "Look at your device.", ("Code: ", True))

    def check_auth_interactive_response(self, responses: list[str]) -> int:
        self.server.answers += responses
        return int(paramiko.AUTH_SUCCESSFUL if responses == [self.server.code] else paramiko.AUTH_FAILED)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return int(paramiko.OPEN_SUCCEEDED if kind == "session" else paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED)

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        if not self.server.runs:
            return False
        threading.Thread(target=_serve, args=(channel, command), daemon=True).start()
        return True


def _serve(channel: paramiko.Channel, command: bytes) -> None:
    child = subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None

    def feed() -> None:
        assert child.stdin is not None
        with contextlib.suppress(OSError, EOFError), child.stdin:
            while piece := channel.recv(1 << 15):
                child.stdin.write(piece)
                child.stdin.flush()

    def complain() -> None:
        assert child.stderr is not None
        with contextlib.suppress(OSError, EOFError):
            while piece := child.stderr.read1(1 << 15):  # type: ignore[attr-defined]  # it is buffered
                channel.sendall_stderr(piece)

    threads = [threading.Thread(target=work, daemon=True) for work in (feed, complain)]
    for thread in threads:
        thread.start()
    with contextlib.suppress(OSError, EOFError), child.stdout, child.stderr:
        while piece := child.stdout.read1(1 << 15):  # type: ignore[attr-defined]  # likewise
            channel.sendall(piece)
        threads[1].join()
        channel.send_exit_status(child.wait())
        channel.close()
    child.wait()  # where the client is gone, its shell ends at the end of its input


@contextlib.contextmanager
def asking(host_key: Path, public: Path, code: str, *, wants_key: bool = True) -> Iterator[Asking]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        key = paramiko.Ed25519Key.from_private_key_file(str(host_key))
        server = Asking(listener.getsockname()[1], key, public.read_text(), code, wants_key)
        transports: list[paramiko.Transport] = []

        def serve() -> None:
            while True:
                try:
                    guest, _ = listener.accept()
                except OSError:
                    return
                transport = paramiko.Transport(guest)
                transport.add_server_key(key)
                transports.append(transport)
                with contextlib.suppress(paramiko.SSHException, EOFError, OSError):
                    transport.start_server(event=threading.Event(), server=_Guest(server))

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for transport in transports:
                transport.close()

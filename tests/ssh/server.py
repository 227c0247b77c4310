"""OpenSSH servers on loopback for tests: keys, configuration and log below one folder, and nothing left at the end.

    yard.server("gpu1", lines=["MaxSessions 1"], shell="fish")   a host; its login shell is put in by ForceCommand
    yard.config(gpu1, ...)                                       a client configuration that reaches it as `gpu1`
    yard.link(gpu1, delay_ms=50)                                 a ProxyCommand that delays, limits, cuts

Servers run as the current user, without PAM, on a free port of 127.0.0.1. Whatever a session starts carries a mark in
its environment, so that `Server.left` sees it wherever it went. No file outside of the folder is read but /etc/passwd,
and what a login shell reads by itself.
"""

import contextlib
import getpass
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = "127.0.0.1"
SEARCH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"))
LINK = Path(__file__).with_name("link.py")
STARTS_WITHIN_S = 10.0

SHELLS = {
    "bash": 'exec bash -c "$SSH_ORIGINAL_COMMAND"',
    "dash": 'exec dash -c "$SSH_ORIGINAL_COMMAND"',
    "busybox": 'exec busybox sh -c "$SSH_ORIGINAL_COMMAND"',
    "fish": 'exec fish -c "$SSH_ORIGINAL_COMMAND"',
    "tcsh": 'exec tcsh -c "$SSH_ORIGINAL_COMMAND"',
    "rbash": 'exec bash -r -c "$SSH_ORIGINAL_COMMAND"',
    "nologin": "echo This account is currently not available.; exit 1",
}
"""What stands for a login shell: it is handed the client's command line, as the shell of the account would be."""


@dataclass(slots=True)
class Server:
    """One running sshd."""

    name: str
    port: int
    folder: Path
    host_key: Path
    """Private half; the public one is beside it with `.pub`."""
    mark: str
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        """What sshd said so far."""
        return (self.folder / "log").read_text(errors="replace")

    @property
    def connections(self) -> int:
        """How many connections sshd took, at LogLevel VERBOSE."""
        return self.log.count("Connection from ")

    @property
    def sessions(self) -> int:
        """How many times a command was started, at LogLevel VERBOSE."""
        return self.log.count("Starting session: ")

    def known(self, name: str = "", *, marker: str = "", key: Path | None = None) -> str:
        """A line of known_hosts that trusts this server's key, or another one."""
        public = Path(f"{key or self.host_key}.pub").read_text().split()[:2]
        return " ".join([*([marker] if marker else []), name or f"[{HERE}]:{self.port}", *public])

    def left(self) -> dict[int, str]:
        """Command lines, by process, of all that sessions started and that still runs."""
        return dict(marked(self.mark))

    def left_after(self, seconds: float) -> dict[int, str]:
        """What is still there once nothing is, or after so many seconds."""
        end = time.monotonic() + seconds
        while (left := self.left()) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def freeze(self) -> None:
        """Stop the sshd processes that serve connections: peers that are there and never answer."""
        for pid in below(self.process.pid) - set(self.left()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        for pid in below(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def hang_up(self) -> None:
        """Kill the sshd processes that serve connections; the server goes on listening."""
        for pid in below(self.process.pid) - set(self.left()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the server and all that it started."""
        for pid in [*below(self.process.pid), *self.left()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@dataclass(slots=True)
class Yard:
    """Servers of one test, and the client's side of them."""

    folder: Path
    servers: list[Server] = field(default_factory=list)

    @property
    def user(self) -> str:
        """Who logs in: whoever runs the tests."""
        return getpass.getuser()

    @property
    def client_key(self) -> Path:
        """An ed25519 key that every server of the yard lets in."""
        return self.key("client")

    @property
    def known_hosts(self) -> Path:
        """The file of known hosts that `config` points to."""
        return self.folder / "known_hosts"

    def key(self, name: str, *, kind: str = "ed25519", passphrase: str = "") -> Path:
        """A private key of that name, made when first asked for."""
        path = self.folder / name
        if not path.exists():
            keygen("-q", "-t", kind, "-N", passphrase, "-C", name, "-f", str(path))
        return path

    def certificate(
        self,
        key: Path,
        authority: Path,
        *,
        principals: str,
        host: bool = False,
        validity: str = "",
        options: Sequence[str] = (),
    ) -> Path:
        """A certificate of a key, signed by an authority's; lies beside the key as `NAME-cert.pub`."""
        words = ["-q", "-s", str(authority), "-I", key.name, *(["-h"] if host else []), "-n", principals]
        words += [*(["-V", validity] if validity else []), *(word for option in options for word in ("-O", option))]
        keygen(*words, f"{key}.pub")
        return key.with_name(f"{key.name}-cert.pub")

    def server(
        self,
        name: str = "gpu1",
        *,
        lines: Iterable[str] = (),
        shell: str = "",
        environment: Mapping[str, str] | None = None,
        noise: str = "",
        host_certificate: Path | None = None,
        host_key: Path | None = None,
        authorized: Sequence[str] | None = None,
    ) -> Server:
        """Start an sshd.

        Args:
            name: Host name in configurations; also its folder.
            lines: More lines of sshd_config, before the usual ones, so that they win.
            shell: A key of SHELLS, or a ForceCommand of your own; empty for the shell of the account.
            environment: Variables of each session.
            noise: Shell code that a bash runs before the command, through BASH_ENV; it is the login shell then.
            host_certificate: Certificate of `host_key`.
            host_key: Private host key, when it must be known before.
            authorized: Lines of authorized_keys; the client's key when left out.
        """
        home = self.folder / name
        home.mkdir()
        mark = f"{os.getpid()}-{time.monotonic_ns()}"
        variables = {"RECON_TEST_MARK": mark, "SHLVL": "2", **(environment or {})}  # with SHLVL 2 no .bashrc is read
        if noise:
            (home / "noise.sh").write_text(noise)
            variables["BASH_ENV"] = str(home / "noise.sh")
        key = host_key or self.key(f"{name}_host_key")
        lets_in = [Path(f"{self.client_key}.pub").read_text()] if authorized is None else authorized
        (home / "authorized_keys").write_text("".join(line.rstrip("\n") + "\n" for line in lets_in))
        command = SHELLS.get(shell or ("bash" if noise else ""), shell)
        config = [
            *lines,
            f"HostKey {key}",
            *([f"HostCertificate {host_certificate}"] if host_certificate else []),
            f"AuthorizedKeysFile {home / 'authorized_keys'}",
            f"PidFile {home / 'pid'}",
            *([f"ForceCommand {command}"] if command else []),
            "SetEnv " + " ".join(f'{name}="{value}"' for name, value in variables.items()),
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "UsePAM no",
            "StrictModes no",
            "UseDNS no",
            "PermitRootLogin yes",
            "PrintMotd no",
            "LogLevel VERBOSE",
        ]
        process, port = start(home, config)
        server = Server(name, port, home, key, mark, process)
        self.servers.append(server)
        self.known_hosts.touch()
        with self.known_hosts.open("a") as known:
            known.write(server.known() + "\n")
        return server

    def config(self, *servers: Server, lines: Mapping[str, Sequence[str]] | None = None) -> Path:
        """Write a client configuration: a block a server; lines of yours, by host name, come first and win."""
        mine = dict(lines or {})
        blocks = [[f"Host {host}", *extra] for host, extra in mine.items()]
        blocks += [[f"Host {server.name}", f"HostName {HERE}", f"Port {server.port}"] for server in servers]
        blocks.append(
            [
                "Host *",
                f"User {self.user}",
                f"IdentityFile {self.client_key}",
                "IdentitiesOnly yes",
                "IdentityAgent none",
                f"UserKnownHostsFile {self.known_hosts}",
                "GlobalKnownHostsFile /dev/null",
            ]
        )
        path = self.folder / "config"
        path.write_text("\n".join("\n  ".join(block) for block in blocks) + "\n")
        return path

    def link(self, server: Server | None = None, **options: float | str | Path) -> str:
        """A ProxyCommand that goes through link.py; its options by keyword, such as delay_ms=50 or cut_file=PATH."""
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        where = [HERE, str(server.port)] if server else ["%h", "%p"]
        return shlex.join([sys.executable, "-S", str(LINK), *flags]) + " " + " ".join(where)

    def stop(self) -> None:
        """End every server, and every ssh that still tries to reach one: over a dead line it would for a minute."""
        for server in self.servers:
            server.stop()
        for pid in self.clients():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def clients(self) -> dict[int, list[str]]:
        """Words of the ssh processes, by process, that use the configuration."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = os.fsdecode((folder / "cmdline").read_bytes()).split("\0")
                if words[0].endswith("ssh") and str(self.folder / "config") in words:
                    found[int(folder.name)] = words
        return found


def start(home: Path, config: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start sshd on a free port and wait until it listens; where the port was taken in between, try another."""
    program = shutil.which("sshd", path=SEARCH)
    assert program, "tests that start servers are marked system('sshd')"
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, parents=True, exist_ok=True)  # privilege separation wants it
    log = home / "log"
    for _ in range(5):
        port = free_port()
        (home / "sshd_config").write_text("\n".join([f"ListenAddress {HERE}:{port}", *config]) + "\n")
        log.write_text("")
        words = [program, "-D", "-f", str(home / "sshd_config"), "-E", str(log)]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + STARTS_WITHIN_S
        while process.poll() is None and time.monotonic() < end:
            if "Server listening on" in log.read_text(errors="replace"):
                return process, port
            time.sleep(0.01)
        process.kill()
        process.wait()
        if "Address already in use" not in log.read_text(errors="replace"):
            break
    raise AssertionError(f"sshd did not start: {log.read_text(errors='replace')}")


def keygen(*words: str) -> None:
    """Run ssh-keygen."""
    subprocess.run(["ssh-keygen", *words], check=True, stdin=subprocess.DEVNULL, capture_output=True)


def free_port() -> int:
    """A port of loopback that nobody has at the moment."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])


def below(pid: int) -> set[int]:
    """Processes that descend from one."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(int((folder / "stat").read_text().rpartition(")")[2].split()[1]), []).append(
                int(folder.name)
            )
    found: set[int] = set()
    todo = [pid]
    while todo:
        new = [child for child in children.get(todo.pop(), []) if child not in found]
        found.update(new)
        todo += new
    return found


def marked(mark: str) -> Iterable[tuple[int, str]]:
    """Processes whose environment holds the mark, with their command lines; zombies have none."""
    wanted = f"RECON_TEST_MARK={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                yield int(folder.name), b" ".join(words).decode(errors="replace").strip()

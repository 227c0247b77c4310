"""Scripts on hosts, over both transports: what comes back, what is dropped, and what is never left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pytest

from recon.errors import LoginShell, TimedOut, Unreachable
from recon.hosts.connect import Options, connect
from recon.hosts.local import CUT
from recon.hosts.shell import SshShell
from recon.hosts.target import parse
from tests.ssh.server import Server, Yard

pytestmark = pytest.mark.system("sshd", "ssh", "ssh-keygen")

Way = Literal["paramiko", "openssh"]
BOTH = pytest.mark.parametrize("way", ["paramiko", "openssh"])
GONE_WITHIN_S = 10.0
MARK = "sleep 600 & sleep 601"


@contextlib.contextmanager
def shell(yard: Yard, server: Server, way: Way = "paramiko", **lines: Sequence[str]) -> Iterator[SshShell]:
    config = yard.config(*yard.servers, lines=lines)
    options = Options(transport=way, config=config, batch=True, connect_timeout_s=5)
    with connect(parse(server.name), options) as opened:
        yield opened


@BOTH
def test_a_reply_holds_both_streams_and_the_status(yard: Yard, way: Way) -> None:
    with shell(yard, yard.server(), way) as host:
        reply = host.run("echo out; echo \"it's\" '$x' >&2; exit 3")

        assert ("out\n", "it's $x\n", 3) == (reply.stdout, reply.stderr, reply.status)
        assert ("gpu1", yard.user, way) == (host.name, host.user, host.transport.partition(":")[0])


@BOTH
def test_six_megabytes_on_both_streams_do_not_block(yard: Yard, way: Way) -> None:
    """The window of a channel is 2 MiB: whoever reads one stream after the other waits for ever."""
    noise = "head -c 6000000 /dev/zero | tr '\\0' x"
    with shell(yard, yard.server(), way) as host:
        started = time.monotonic()
        reply = host.run(f"{noise} >&2; {noise}")

    assert (6_000_000, 1 << 20, 0) == (len(reply.stdout), len(reply.stderr), reply.status)
    assert time.monotonic() - started < 10


@BOTH
def test_pieces_go_to_the_sink_and_a_flood_is_cut(yard: Yard, way: Way) -> None:
    """The status is the one of a writer whose reader went away; nothing goes on writing over there."""
    server = yard.server()
    heard = bytearray()
    with shell(yard, server, way) as host:
        reply = host.stream("while :; do echo flood; done", heard.extend, timeout_s=20, cap_bytes=100_000)

        assert (100_000, CUT, "") == (len(heard), reply.status, reply.stdout)
        assert {} == server.left_after(GONE_WITHIN_S)
        assert "next\n" == host.run("echo next").stdout


@BOTH
def test_a_sink_that_raises_ends_the_script(yard: Yard, way: Way) -> None:
    server = yard.server()

    def full(piece: bytes) -> None:
        raise OSError(28, "No space left on device")

    with shell(yard, server, way) as host:
        with pytest.raises(OSError, match="No space left"):
            host.stream("echo one; sleep 600", full, timeout_s=20, cap_bytes=100)

        assert {} == server.left_after(GONE_WITHIN_S)


@BOTH
def test_a_script_of_a_megabyte_arrives_whole_while_it_already_answers(yard: Yard, way: Way) -> None:
    line = "echo " + "y" * 200
    with shell(yard, yard.server(), way) as host:
        reply = host.run("\n".join([line] * 5000) + "\nexit 7\n")

    assert (201 * 5000, 7) == (len(reply.stdout), reply.status)


def test_names_are_bytes_in_both_directions(yard: Yard, tmp_path: Path) -> None:
    """A file name that is not UTF-8, with a newline in it, goes there and comes back as it is."""
    name = b"\xff\xfe'a\nb"
    (tmp_path / os.fsdecode(name)).touch()
    with shell(yard, yard.server()) as host:
        told = host.run(f"cd {tmp_path} && ls -d [!ry]*; locale 2>/dev/null | grep LC_ALL; ls '\udcff\udcfe'\\''a\nb'")

    assert f"{os.fsdecode(name)}\nLC_ALL=C\n{os.fsdecode(name)}\n" == told.stdout


@BOTH
def test_noise_before_and_after_is_dropped(yard: Yard, way: Way) -> None:
    """A login file that prints on both streams, and a wrapper that says good-bye."""
    noise = "echo welcome; echo motd >&2; trap 'echo bye; echo bye >&2' EXIT"
    wrapper = 'bash -c "$SSH_ORIGINAL_COMMAND"; echo bye; echo bye >&2'
    with shell(yard, yard.server(noise=noise, shell=wrapper), way) as host:
        reply = host.run("printf abc; printf def >&2")

    assert ("abc", "def", 0) == (reply.stdout, reply.stderr, reply.status)
    assert "welcome" == host.noise


@BOTH
def test_a_host_that_prints_nothing_of_its_own_has_no_noise(yard: Yard, way: Way) -> None:
    with shell(yard, yard.server(), way) as host:
        host.run("echo abc; echo def >&2")

    assert "" == host.noise


@pytest.mark.parametrize(
    "login",
    [
        pytest.param("bash", marks=pytest.mark.system("bash")),
        pytest.param("dash", marks=pytest.mark.system("dash")),
        pytest.param("busybox", marks=pytest.mark.system("busybox")),
        pytest.param("fish", marks=pytest.mark.system("fish")),
        pytest.param("tcsh", marks=pytest.mark.system("tcsh")),
    ],
)
def test_any_login_shell_serves(yard: Yard, login: str) -> None:
    with shell(yard, yard.server(shell=login)) as host:
        reply = host.run('x=$(printf "%s" "it works"); echo "$x"; exit 4')

    assert ("it works\n", 4) == (reply.stdout, reply.status)


@pytest.mark.parametrize("sh", ["dash", "busybox sh", "bash"])
@pytest.mark.system("dash", "busybox", "bash")
def test_every_sh_ends_what_a_script_started(yard: Yard, sh: str) -> None:
    """/bin/sh is another program on every distribution."""
    server = yard.server(shell=f"exec {sh} -s")
    with shell(yard, server) as host:
        reply = host.run("sleep 600 & (sleep 601 &) ; echo started; exit 5")

        assert ("started\n", 5) == (reply.stdout, reply.status)
        assert {} == server.left_after(2)


@pytest.mark.system("bash")
def test_a_host_without_setsid_and_timeout_is_left_clean_too(yard: Yard, tmp_path: Path) -> None:
    server = yard.server(shell=f"export PATH={tmp_path}; exec /bin/sh -s")
    for name in ("sleep", "cat", "dd"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    with shell(yard, server) as host:
        reply = host.run("sleep 600 & echo started; exit 5")

        assert ("started\n", 5) == (reply.stdout, reply.status)
        assert {} == server.left_after(2)
        with pytest.raises(TimedOut):
            host.run("sleep 600 & sleep 601", timeout_s=0.5)
        assert {} == server.left_after(2)


@BOTH
@pytest.mark.parametrize(
    ("login", "says"),
    [
        pytest.param("rbash", "the login shell is restricted", marks=pytest.mark.system("bash")),
        ("nologin", "the account has no login shell"),
        ("echo git only; exit 128", "something else than sh answered.*status 128.*'git only'"),
        ("exec /no/such/shell", "there is no /bin/sh"),
    ],
)
def test_an_account_that_starts_no_sh_is_told_apart(yard: Yard, way: Way, login: str, says: str) -> None:
    with shell(yard, yard.server(shell=login), way) as host, pytest.raises(LoginShell, match=says) as caught:
        host.run("echo never")

    assert "login_shell" == caught.value.kind
    assert "recon collect" in caught.value.hint


@BOTH
def test_a_forced_command_that_stays_silent_is_late_and_says_why(yard: Yard, way: Way) -> None:
    says = "no sh was started, it said 'hold on'"
    with (
        shell(yard, yard.server(shell="echo hold on; exec sleep 30"), way) as host,
        pytest.raises(TimedOut, match=says),
    ):
        host.run("echo never", timeout_s=1.5)


@BOTH
def test_a_deadline_ends_the_script_and_all_that_it_started(yard: Yard, way: Way) -> None:
    server = yard.server()
    with shell(yard, server, way) as host:
        started = time.monotonic()
        with pytest.raises(TimedOut, match=r"no answer within 1\.5 s"):
            host.run(MARK, timeout_s=1.5)

        assert time.monotonic() - started < 4
        assert {} == server.left_after(GONE_WITHIN_S)
        assert "again\n" == host.run("echo again").stdout


def test_one_session_is_enough_for_many_scripts(yard: Yard) -> None:
    """MaxSessions 1: each script has a channel of its own, opened again where the last one is not closed yet."""
    server = yard.server(lines=["MaxSessions 1"])
    with shell(yard, server) as host:
        told = [host.run(f"echo {number}").stdout for number in range(8)]

    assert [f"{number}\n" for number in range(8)] == told
    assert (1, 8) == (server.connections, server.sessions)


def test_a_host_that_opens_no_session_says_so(yard: Yard) -> None:
    server = yard.server(lines=["MaxSessions 0"])
    with shell(yard, server) as host, pytest.raises(Unreachable, match="opens no session"):
        host.run("true")


def test_no_sftp_is_needed(yard: Yard) -> None:
    server = yard.server(lines=["Subsystem sftp /bin/false"])
    with shell(yard, server) as host:
        assert "fine\n" == host.run("echo fine").stdout


def test_a_peer_that_falls_silent_is_noticed_in_the_time_that_is_configured(yard: Yard) -> None:
    """Its sshd is stopped: the connection stays open, and nothing ever comes."""
    server = yard.server()
    with shell(yard, server, gpu1=["ServerAliveInterval 1", "ServerAliveCountMax 2"]) as host:
        host.run("true")
        server.freeze()
        started = time.monotonic()
        with pytest.raises(Unreachable, match="no sign of life for 2 s"):
            host.run("sleep 600", timeout_s=60)

    assert time.monotonic() - started < 5


def test_the_hop_that_falls_silent_is_named(yard: Yard) -> None:
    bastion, inner = yard.server("bastion"), yard.server("inner")
    alive = ["ServerAliveInterval 1", "ServerAliveCountMax 2"]
    with shell(yard, inner, inner=["ProxyJump bastion", *alive], bastion=alive) as host:
        bastion.freeze()
        with pytest.raises(Unreachable, match=r"^inner: jump host bastion: no sign of life"):
            host.run("sleep 600", timeout_s=60)


@BOTH
def test_a_line_that_is_cut_is_noticed(yard: Yard, way: Way, tmp_path: Path) -> None:
    """Both ends of the line are closed in the middle of a script."""
    server, cut = yard.server(), tmp_path / "cut"
    proxy = yard.link(server, cut="close", cut_file=cut)
    with shell(yard, server, way, gpu1=[f"ProxyCommand {proxy}"]) as host, pytest.raises(Unreachable, match="gpu1: "):
        host.stream(f"echo; {MARK}", lambda _: cut.touch(), timeout_s=30, cap_bytes=100)

    assert {} == server.left_after(GONE_WITHIN_S)


CLIENT = """
import json, sys
from pathlib import Path
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
way, name, config, script = json.loads(sys.argv[1])
with connect(parse(name), Options(transport=way, config=Path(config), batch=True)) as host:
    host.stream(script, lambda piece: print(piece.decode(), flush=True), timeout_s=500, cap_bytes=1000)
"""


@contextlib.contextmanager
def client(yard: Yard, server: Server, way: Way, **lines: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that runs a long script on a server, once the script runs."""
    told = json.dumps(
        [way, server.name, str(yard.config(*yard.servers, lines=lines)), "sleep 600 & sleep 0.2; echo runs; sleep 601"]
    )
    process = subprocess.Popen([sys.executable, "-c", CLIENT, told], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert b"runs\n" == process.stdout.readline()
        assert any("sleep 600" in words for words in server.left().values())
        yield process
    finally:
        process.kill()
        process.communicate()


@BOTH
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_on_the_host_when_the_client_is_stopped(yard: Yard, way: Way, how: signal.Signals) -> None:
    server = yard.server()
    with client(yard, server, way) as process:
        process.send_signal(how)
        process.wait(10)

        assert {} == server.left_after(GONE_WITHIN_S)


@BOTH
def test_nothing_is_left_on_the_host_when_the_line_goes_dead(yard: Yard, way: Way, tmp_path: Path) -> None:
    """Nobody is told anything: the host hears no more of us, and that is how it knows."""
    server, cut = yard.server(), tmp_path / "cut"
    with client(yard, server, way, gpu1=[f"ProxyCommand {yard.link(server, cut_file=cut)}"]):
        cut.touch()

        assert {} == server.left_after(GONE_WITHIN_S)


def test_a_proxy_command_is_gone_at_the_end(yard: Yard, tmp_path: Path) -> None:
    server, note = yard.server(), tmp_path / "pid"
    with shell(yard, server, gpu1=[f"ProxyCommand {yard.link(server, pid_file=note)}"]) as host:
        assert "through\n" == host.run("echo through").stdout
        assert Path(f"/proc/{note.read_text()}").exists()

    assert not Path(f"/proc/{note.read_text()}").exists()


def test_a_shell_can_be_broken_from_another_thread(yard: Yard) -> None:
    server = yard.server()
    with shell(yard, server) as host:
        threading.Timer(0.5, host.abort).start()
        started = time.monotonic()
        with pytest.raises(Unreachable):
            host.run(MARK, timeout_s=60)

    assert time.monotonic() - started < 5
    assert {} == server.left_after(GONE_WITHIN_S)

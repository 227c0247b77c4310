"""The shell on this machine: it cannot hang, cannot be flooded, cannot prompt, and leaves nothing behind."""

import os
import shutil
import time
from pathlib import Path

import pytest

from recon.errors import Unreachable
from recon.hosts.local import CUT, LocalShell, clean_environment


def ends(pid: int) -> bool:
    """Whether a process that was killed is gone soon (a zombie is gone)."""
    stat = Path(f"/proc/{pid}/stat")
    for _ in range(200):
        try:
            state = stat.read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_reply_holds_both_streams_and_the_status() -> None:
    """What a script says is what comes back."""
    reply = LocalShell().run("echo out; echo err >&2; exit 3")

    assert ("out\n", "err\n", 3) == (reply.stdout, reply.stderr, reply.status)


def test_six_megabytes_on_both_streams_do_not_block() -> None:
    """A client that reads one stream after the other would wait for ever."""
    noise = "head -c 6000000 /dev/zero | tr '\\0' x"
    started = time.monotonic()
    reply = LocalShell(stderr_cap_bytes=1000).run(f"{noise} >&2; {noise}")

    assert (6_000_000, 1000, 0) == (len(reply.stdout), len(reply.stderr), reply.status)
    assert time.monotonic() - started < 10


def test_a_long_script_arrives_whole_while_it_already_answers() -> None:
    """Script and answers are larger than any pipe."""
    line = "echo " + "y" * 200
    reply = LocalShell().run("\n".join([line] * 5000) + "\nexit 7\n")

    assert (201 * 5000, 7) == (len(reply.stdout), reply.status)


def test_a_flood_is_cut_and_says_so() -> None:
    """The status is the one of a writer whose reader went away."""
    reply = LocalShell(stdout_cap_bytes=70_000).run("while :; do echo flood; done", timeout_s=20)

    assert (70_000, CUT) == (len(reply.stdout), reply.status)


def test_a_deadline_ends_the_script_and_all_that_it_started(tmp_path: Path) -> None:
    """Neither the script nor a child of it is left running."""
    pids = tmp_path / "pids"
    script = f"sleep 60 & echo $! >{pids}; echo $$ >>{pids}; sleep 61"
    started = time.monotonic()
    with pytest.raises(Unreachable, match=r"no answer within 0\.5 s"):
        LocalShell().run(script, timeout_s=0.5)

    assert time.monotonic() - started < 5
    assert [True, True] == [ends(int(pid)) for pid in pids.read_text().split()]


def test_a_process_left_in_the_background_is_not_waited_for_and_ended(tmp_path: Path) -> None:
    """It holds the streams open, yet the script is over."""
    pid = tmp_path / "pid"
    started = time.monotonic()
    reply = LocalShell().run(f"sleep 60 & echo $! >{pid}; echo done", timeout_s=30)

    assert "done\n" == reply.stdout
    assert time.monotonic() - started < 5
    assert ends(int(pid.read_text()))


def test_a_script_that_closes_its_streams_still_has_a_deadline() -> None:
    """Silence is no sign of being done."""
    with pytest.raises(Unreachable):
        LocalShell().run("exec >/dev/null 2>&1; sleep 60", timeout_s=0.5)


def test_a_script_that_does_not_read_its_input_is_no_trouble() -> None:
    """The rest of the script has nowhere to go."""
    reply = LocalShell().run("exit 5\n" + "#" * 300_000)

    assert 5 == reply.status


def test_there_is_no_terminal_to_prompt_on() -> None:
    """A program that asks for a password through /dev/tty fails at once."""
    reply = LocalShell().run("(: </dev/tty) 2>/dev/null && echo terminal || echo none")

    assert "none\n" == reply.stdout


def test_the_environment_is_clean(tmp_path: Path) -> None:
    """Start-up files named by the environment would run code; secrets have no business there."""
    start_up = tmp_path / "env.sh"
    start_up.write_text("echo start-up file ran\n")
    inherited = {
        "ENV": str(start_up),
        "BASH_ENV": str(start_up),
        "HF_TOKEN": "hf_secret",
        "LC_ALL": "de_DE.UTF-8",
        "HOME": "/home/me",
        "PATH": os.environ["PATH"],
    }
    reply = LocalShell(environment=clean_environment(inherited)).run("export -p; alias")
    said = {line.removeprefix("export ").partition("=")[0] for line in reply.stdout.splitlines()}

    assert {"HOME", "LC_ALL", "PATH", "PWD"} >= said - {"OLDPWD", "SHLVL", "_"}
    assert "LC_ALL='C'" in reply.stdout or 'LC_ALL="C"' in reply.stdout
    assert "start-up file ran" not in reply.stdout + reply.stderr


def test_bytes_that_are_no_utf8_come_back_whole() -> None:
    """A file may be called anything."""
    reply = LocalShell().run("printf 'a\\377b'")

    assert b"a\xffb" == os.fsencode(reply.stdout)


def test_a_missing_sh_is_said() -> None:
    """It is a machine that cannot be asked."""
    with pytest.raises(Unreachable, match="no-such-sh did not start"):
        LocalShell(program=("/no-such-sh",)).run("echo")


@pytest.mark.parametrize("program", [("dash", "-s"), ("bash", "--posix", "-s"), ("busybox", "ash", "-s")])
def test_other_shells_answer_alike(program: tuple[str, ...]) -> None:
    """The script is POSIX sh, whoever reads it."""
    if shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    reply = LocalShell(program=program).run("echo $((1 + 1)); false")

    assert ("2\n", 1) == (reply.stdout, reply.status)


def test_a_stream_comes_in_pieces_and_is_not_kept() -> None:
    """The sink gets every byte, NUL and bytes that are not UTF-8 among them, while the script is still running."""
    pieces: list[tuple[float, bytes]] = []
    started = time.monotonic()
    reply = LocalShell().stream(
        r"printf 'a\000\377'; sleep 0.5; head -c 300000 /dev/zero; exit 4",
        lambda piece: pieces.append((time.monotonic() - started, piece)),
        timeout_s=20,
        cap_bytes=1_000_000,
    )

    assert ("", 4) == (reply.stdout, reply.status)
    assert b"a\0\xff" + bytes(300_000) == b"".join(piece for _, piece in pieces)
    assert pieces[0][0] < 0.4


def test_a_stream_is_cut_at_its_cap() -> None:
    """What goes beyond never reaches the sink."""
    heard = bytearray()
    reply = LocalShell().stream("while :; do echo flood; done", heard.extend, timeout_s=20, cap_bytes=70_000)

    assert (70_000, CUT) == (len(heard), reply.status)


def test_a_sink_that_refuses_ends_the_script(tmp_path: Path) -> None:
    """Its error arrives here, and nothing runs on."""

    def refuse(_: bytes) -> None:
        raise ValueError("no more")

    script = f"echo $$ > {tmp_path}/pid; echo x; sleep 60"
    with pytest.raises(ValueError, match="no more"):
        LocalShell().stream(script, refuse, timeout_s=20, cap_bytes=100)

    assert ends(int((tmp_path / "pid").read_text()))


def test_a_stream_that_stalls_is_late() -> None:
    """The deadline is for the whole script."""
    with pytest.raises(Unreachable, match="no answer within"):
        LocalShell().stream("echo x; sleep 60", lambda _: None, timeout_s=0.5, cap_bytes=100)

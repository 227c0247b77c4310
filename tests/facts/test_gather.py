"""Several facts in one script: none can take another with it, and no noise is taken for an answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import Unreachable
from recon.facts.fact import Fact, FactUnreadable, quote
from recon.facts.gather import gather, script_of, split
from recon.facts.gpus import GPUS
from recon.facts.machine import MACHINE
from recon.facts.pythons import pythons
from recon.hosts.local import LocalShell
from recon.ports import Reply
from recon.records.unknown import Unknown


def text(name: str, command: str) -> Fact[Reply]:
    """A fact that keeps its reply as it is."""
    return Fact(name, command, lambda reply: reply)


@dataclass
class FakeShell:
    """A machine that says what it was told to, and remembers what it was asked."""

    answer: Reply | Unreachable
    name: str = "gpu07"
    asked: str = ""

    def run(self, script: str, *, timeout_s: float = 30.0) -> Reply:
        """Say it."""
        self.asked = script
        if isinstance(self.answer, Unreachable):
            raise self.answer
        return self.answer

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        """Say it in one piece."""
        reply = self.run(script, timeout_s=timeout_s)
        sink(reply.stdout.encode())
        return replace(reply, stdout="")


def test_each_fact_gets_its_own_streams_and_status() -> None:
    """One script, three replies."""
    first = text("first", "echo one; echo oops >&2; exit 3")
    second = text("second", "printf 'no line break'")
    values, unknowns = gather(LocalShell(), [first, second, MACHINE])

    assert Reply("one\n", "oops\n", 3) == values.of(first)
    assert Reply("no line break", "", 0) == values.of(second)
    assert () == unknowns


def test_a_fact_that_fails_takes_no_other_with_it() -> None:
    """Syntax errors, an exit, a changed folder, a read of the script itself: all stay inside."""
    bad = [text("syntax", "if then fi ((("), text("exit", "exit 9"), text("moved", "cd /; X=1")]
    greedy = text("greedy", "cat")
    last = text("last", 'echo "${X:-unset}"; pwd')
    values, unknowns = gather(LocalShell(), [*bad, greedy, last])
    here = LocalShell().run("pwd").stdout

    assert Reply("", "", 0) == values.of(greedy)
    assert Reply(f"unset\n{here}", "", 0) == values.of(last)
    assert () == unknowns


def test_a_fact_cannot_read_from_the_connection() -> None:
    """Over some connections the script's standard input stays open: a greedy command would wait there."""
    shell = LocalShell(program=("sh", "-c", "{ cat; echo leaked; } | sh -s"))
    greedy = text("greedy", "cat")
    values, _ = gather(shell, [greedy])

    assert Reply("", "", 0) == values.of(greedy)


def test_a_reply_that_cannot_be_read_becomes_an_unknown() -> None:
    """The others are learned all the same."""

    def refuse(_: Reply) -> object:
        raise FactUnreadable("that is no answer")

    values, unknowns = gather(LocalShell("gpu07"), [Fact("odd", "echo", refuse), MACHINE])

    assert (Unknown("odd", "gpu07", "that is no answer"),) == unknowns
    assert values.of(MACHINE) is not None


def test_a_machine_that_does_not_answer_leaves_only_unknowns() -> None:
    """Each fact says why."""
    values, unknowns = gather(FakeShell(Unreachable("gpu07: no answer within 60 s")), [MACHINE, GPUS])

    assert (None, None) == (values.of(MACHINE), values.of(GPUS))
    assert [("machine", "gpu07: no answer within 60 s"), ("gpus", "gpu07: no answer within 60 s")] == [
        (unknown.what, unknown.why) for unknown in unknowns
    ]


def test_a_script_that_dies_half_way_keeps_what_came_before() -> None:
    """The second fact kills the sh that would have closed its frame."""
    first, second = text("first", "echo one"), text("second", "kill -9 $$")
    values, unknowns = gather(LocalShell(), [first, second])

    assert Reply("one\n", "", 0) == values.of(first)
    assert ["second"] == [unknown.what for unknown in unknowns]
    assert "status 137" in unknowns[0].why


def test_a_script_that_arrives_in_part_does_nothing() -> None:
    """A connection may break in the middle of sending it."""
    script = script_of([text("first", "echo ran"), text("second", "echo ran")], "nonce")
    reply = LocalShell().run(script[: len(script) * 2 // 3])

    assert "ran" not in reply.stdout


@given(st.text(), st.text(), st.text(alphabet="\n 0e1d"), st.integers(0, 255))
def test_noise_around_and_in_answers_is_no_frame(noise: str, said: str, inner: str, status: int) -> None:
    """Whatever is printed, what stands between the frames of a nonce nobody knew is the answer."""
    nonce = "6f1c2b"
    body = (said + inner).replace(nonce, "")
    noise = noise.replace(nonce, "")
    stdout = f"{noise}\n{nonce} 0\n{body}\n{nonce} 0 {status}\n{noise}"

    assert {0: Reply(body, "", status)} == split(Reply(stdout, noise, 0), nonce)


def test_nonces_are_not_used_twice() -> None:
    """An earlier reply must not be able to hold the frames of a later one."""
    scripts = []
    for _ in range(2):
        shell = FakeShell(Reply("", "", 0))
        gather(shell, [MACHINE])
        scripts.append(shell.asked)

    assert scripts[0] != scripts[1]


def test_a_machine_without_nvidia_smi_has_no_gpus() -> None:
    """That is an answer, not a failure."""
    shell = LocalShell(environment={"PATH": "/nowhere", "LC_ALL": "C"}, program=("/bin/sh", "-s"))
    values, unknowns = gather(shell, [GPUS])

    assert ((), ()) == (values.of(GPUS), unknowns)


@pytest.mark.parametrize(
    "row",
    [
        f"{'9' * 5000}, GPU-1, x, 9.0, 1, 5",
        "\u00b2, GPU-1, x, 9.0, 1, 5",
        f"0, GPU-1, {'x' * 200_000}, 9.0, 1, 5",
    ],
)
def test_fields_of_absurd_length_are_no_gpu_and_cost_no_other_fact(row: str) -> None:
    """No number and no column is that long."""
    told = f"printf '%s\\n' {quote(row)}"
    values, unknowns = gather(LocalShell("gpu07"), [replace(GPUS, command=told), MACHINE])

    assert ["gpus"] == [each.what for each in unknowns]
    assert values.of(MACHINE) is not None


def test_memory_without_measure_is_none() -> None:
    (gpu,) = GPUS.parse(Reply(f"0, GPU-1, x, 9.0, {'9' * 5000}, 5", "", 0))

    assert 0 == gpu.memory_bytes


@pytest.mark.parametrize("fault", [ValueError("x"), IndexError("x"), KeyError("x"), OverflowError("x")])
def test_what_a_parser_did_not_foresee_is_an_unknown_of_its_fact(fault: Exception) -> None:
    """A stranger's answer never takes the host with it."""

    def stumble(_: Reply) -> object:
        raise fault

    values, unknowns = gather(LocalShell("gpu07"), [Fact("odd", "echo", stumble), MACHINE])

    assert [("odd", f"the answer was not understood ({type(fault).__name__})")] == [
        (each.what, each.why) for each in unknowns
    ]
    assert values.of(MACHINE) is not None


def test_frames_with_numbers_of_absurd_length_are_noise() -> None:
    nines = "9" * 5000
    stdout = f"\nN 0\none\nN 0 0\n\nN {nines}\nx\nN {nines} 0\n\nN 1\nx\nN 1 {nines}\n"

    assert {0: Reply("one", "", 0)} == split(Reply(stdout, "", 0), "N")


def test_a_site_without_a_folder_above_it_is_no_python_of_any_version() -> None:
    """What a hostile host may list; honest paths are whole."""
    found = pythons().parse(Reply("prefix\tvenv\t/v\t/v\nsite\tlib\tlib\nsite\t\t\n", "", 0))

    assert [""] == [each.version for each in found.environments]

"""`recon mcp`: a real server, asked by the package's own client."""

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recon.runs.files import listing, save
from tests.cli.conftest import Recon
from tests.kept.trees import ENGINE, keep
from tests.report.hand import EVIL, hostile

HIDDEN = "engine/\u202eyp.live/accept.py"
QUESTIONS: dict[str, tuple[tuple[str, dict[str, Any]], tuple[str, ...]]] = {
    "runs": (("list", {}), ("runs", "list", "--json")),
    "verdicts": (("verdicts", {}), ("show", "--json")),
    "verdicts of one": (("verdicts", {"install": EVIL}), ("show", "--json", "--install", EVIL)),
    "evidence": (("evidence", {"capability": "accept.tree.greedy"}), ("show", "--json", "accept.tree.greedy")),
    "evidence with a hostile name": (
        ("evidence", {"capability": f"accept.{EVIL}"}),
        ("show", "--json", f"accept.{EVIL}"),
    ),
    "no such capability": (("evidence", {"capability": "--help"}), ("show", "--json", "--", "--help")),
    "find": (("find", {"pattern": "verify", "limit": 2}), ("find", "--json", "verify", "--limit", "2")),
    "find nothing": (("find", {"pattern": EVIL}), ("find", "--json", EVIL)),
    "no such kind": (
        ("find", {"pattern": "verify", "kind": "nonsense"}),
        ("find", "--json", "verify", "--kind", "nonsense"),
    ),
    "paths": (
        ("paths", {"start": "ModelRunner.sample", "end": "helper"}),
        ("paths", "--json", "ModelRunner.sample", "helper"),
    ),
    "several": (("paths", {"end": "verify"}), ("paths", "--json", "--to", "verify")),
    "no such run": (("verdicts", {"run": "\x1b[31m\u202enur"}), ("show", "--json", "--run", "\x1b[31m\u202enur")),
}

NAMING: dict[str, dict[str, Any]] = {
    "verdicts": {},
    "evidence": {"capability": "accept.tree.greedy"},
    "find": {"pattern": "verify"},
    "paths": {"end": "verify"},
}

needs_mcp = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="the extra mcp is not installed")


@pytest.fixture
def asked(state: Path, tmp_path: Path) -> Path:
    """A run in which all that a tree can name is hostile, and what was kept of its first tree; the run's file."""
    run = hostile()
    first = replace(run.installs[0], source_digest="one")
    keep(tmp_path / "recon-cache", "one", {**ENGINE, HIDDEN: "def verify_hidden(out):\n    pass\n"})
    return save(replace(run, installs=(first, *run.installs[1:])), state)


async def ask(questions: list[tuple[str, dict[str, Any]]]) -> tuple[list[Any], list[Any]]:
    """The tools of a server of its own process, and its answers, one after another."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=sys.executable, args=["-m", "recon", "mcp"], env=dict(os.environ))
    with Path(os.devnull).open("w") as errors:  # noqa: ASYNC230  # that of the first test is closed when the next one asks
        async with Client(stdio_client(server, errlog=errors)) as client:
            tools = (await client.list_tools()).tools
            return list(tools), [await client.call_tool(name, arguments) for name, arguments in questions]


@needs_mcp
def test_each_tool_answers_as_its_command_does(asked: Path, recon_command: Recon) -> None:
    """To hostile names too, and where there is no answer."""
    expected = {name: json.loads(recon_command(*command).out) for name, (_, command) in QUESTIONS.items()}
    elsewhere = [("verdicts", {"run": run}) for run in (str(asked), "a\0b")]
    tools, answers = asyncio.run(ask([*(question for question, _ in QUESTIONS.values()), *elsewhere]))
    given = {name: json.loads(answer.content[0].text) for name, answer in zip(QUESTIONS, answers, strict=False)}

    assert expected == given
    assert {"no such capability", "no such kind", "no such run", "several"} == {
        name for name, answer in zip(QUESTIONS, answers, strict=False) if answer.is_error
    }
    assert ["a run is named here, not its path"] * 2 == [
        json.loads(answer.content[0].text)["error"]["message"] for answer in answers[len(QUESTIONS) :]
    ]
    assert {"list", "verdicts", "evidence", "find", "paths"} == {tool.name for tool in tools}
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert all(answer.content[0].text.isascii() for answer in answers)
    assert [asked] == [each.path for each in listing(asked.parent.parent)]


@needs_mcp
def test_a_file_beside_the_server_is_no_run(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent names runs: a tree that it works in may hold files that look like one."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("run.json", asked.name):
        Path(name).write_bytes(json.dumps({"schema_version": 1}).encode())
    questions = [(tool, {**words, "run": "run.json"}) for tool, words in NAMING.items()]
    _, answers = asyncio.run(ask([*questions, ("verdicts", {"run": asked.name})]))

    assert ["no run file 'run.json'"] * len(questions) == [
        json.loads(answer.content[0].text)["error"]["message"] for answer in answers[:-1]
    ]
    assert not answers[-1].is_error


@needs_mcp
def test_an_answer_without_end_is_refused_with_what_to_do(asked: Path, tmp_path: Path) -> None:
    names = "".join(f"def verify_{number:05}_{'x' * 200}(out):\n    pass\n\n\n" for number in range(3000))
    keep(tmp_path / "recon-cache", "one", {**ENGINE, "engine/many.py": names})
    questions: list[tuple[str, dict[str, Any]]] = [
        ("find", {"pattern": "*", "limit": 10**9}),
        ("find", {"pattern": "verify_00001"}),
    ]
    _, (many, few) = asyncio.run(ask(questions))
    error = json.loads(many.content[0].text)["error"]

    assert (True, "usage") == (many.is_error, error["kind"])
    assert "ask of one install, for fewer rows" in error["hint"]
    assert not few.is_error


@needs_mcp
def test_an_interrupt_ends_the_server_while_it_waits() -> None:
    """Though its input stays open."""
    first = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with subprocess.Popen(
        [sys.executable, "-m", "recon", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(f"not JSON\n{json.dumps(first)}\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.send_signal(signal.SIGINT)

        assert (1, 130, "interrupted\n") == (answer["id"], server.wait(timeout=60), server.stderr.read())


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path) -> None:
    """As on a machine where recon was installed without the extra."""
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')")
    way = os.pathsep.join((str(tmp_path), *sys.path))
    done = subprocess.run(
        [sys.executable, "-m", "recon", "mcp"],
        env={**os.environ, "PYTHONPATH": way},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert [
        "error: the package mcp, or a part of it, is not installed: No module named 'mcp'",
        "hint: pip install 'recon-llm[mcp]'",
    ] == done.stderr.splitlines()

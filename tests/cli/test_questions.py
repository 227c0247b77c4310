"""`recon find` and `recon paths`: questions on what a scan kept."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recon.records.unknown import PACKAGE, Unknown, denied
from recon.records.verdict import Standing
from recon.runs.files import listing, load, save
from tests.cli.conftest import Ended, Recon
from tests.kept.trees import keep
from tests.report.hand import evidence, proof, scan, verdict

OTHER = {"engine/other.py": "def verify(out):\n    inner(out)\n\n\ndef inner(out):\n    pass\n"}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The cache folder that commands use."""
    return tmp_path / "recon-cache"


@pytest.fixture
def asked(state: Path, cache: Path) -> Path:
    """A run with two installs, and what was kept of both; the file of the first."""
    first = replace(scan().installs[0], id="one-1.0-aaaaaa", source_digest="one", host="localhost", location="a b")
    run = replace(
        scan(), command=("scan", "-o", "html=x"), installs=(first, replace(first, id="two-2.0", source_digest="two"))
    )
    save(run, state)
    keep(cache, "two", OTHER)
    return keep(cache, "one")


pytestmark = pytest.mark.usefixtures("asked")


def test_names_are_found_in_all_installs(recon_command: Recon) -> None:
    ended = recon_command("find", "verify", "--kind", "function")

    assert (0, "") == (ended.code, ended.err)
    assert [
        ["one-1.0-aaaaaa", "function", "engine/deep/accept.py:1", "verify", ""],
        ["one-1.0-aaaaaa", "function", "engine/spec/accept.py:22", "verify", ""],
        ["one-1.0-aaaaaa", "function", "engine/spec/accept.py:30", "Chain.verify", ""],
        ["one-1.0-aaaaaa", "function", "engine/spec/accept.py:35", "Later.verify_later", ""],
        ["two-2.0", "function", "engine/other.py:1", "verify", ""],
    ] == [line.split("\t") for line in ended.out.splitlines()]


def test_what_is_left_out_is_counted(recon_command: Recon) -> None:
    ended = recon_command("find", "verify", "--kind", "function", "--limit", "1", "--install", "one")
    (found,) = json.loads(recon_command("find", "verify", "--limit", "1", "--install", "one", "--json").out)

    assert (1, "3 more in one-1.0-aaaaaa; --limit shows them\n") == (len(ended.out.splitlines()), ended.err)
    assert ("one-1.0-aaaaaa", 5, 1) == (found["install"], found["found"], len(found["rows"]))
    assert {"kind", "name", "path", "line", "symbol", "what"} == set(found["rows"][0])


def test_nothing_found_is_an_answer(recon_command: Recon) -> None:
    ended = recon_command("find", "zzzz")

    assert (0, "", "nothing is called so in one-1.0-aaaaaa, two-2.0\n") == (ended.code, ended.out, ended.err)
    assert 2 == recon_command("find", "").code


@pytest.mark.parametrize("pattern", ["VERIFY_tree", "*tree_greedy", "sgl_kernel.*"])
def test_what_another_distribution_defines_is_found_where_it_is_called(
    recon_command: Recon, state: Path, pattern: str
) -> None:
    """As far as it keeps a verdict open."""
    name = "sgl_kernel.verify_tree_greedy"
    call = evidence("engine/spec/accept.py", 24, note=f"calls {name}, which another distribution defines")
    held = replace(
        verdict("accept.tree.greedy", Standing.UNKNOWN),
        nearest=(call,),
        searched=proof(unread=(Unknown(PACKAGE, name, "it was not scanned"),)),
    )
    run = load(listing(state)[0].path)
    save(replace(run, installs=(replace(run.installs[0], verdicts=(held, held)),)), state)
    rows = [line.split("\t") for line in recon_command("find", pattern, "--kind", "op").out.splitlines()]

    assert [["op", "engine/spec/accept.py:24", name, "called here, defined in another distribution"]] == [
        row[1:] for row in rows
    ]
    assert "" == recon_command("find", pattern, "--kind", "kernel").out


def test_a_path_is_shown_hop_by_hop(recon_command: Recon) -> None:
    ended = recon_command("paths", "ModelRunner.execute_model", "accept_kernel")

    assert (0, "") == (ended.code, ended.err)
    assert [
        ["1", "engine/runner.py:6", "ModelRunner.execute_model", "7", "method", "certain"],
        ["1", "engine/runner.py:9", "ModelRunner.sample", "10", "call", "certain"],
        ["1", "engine/spec/accept.py:22", "verify", "23", "launch", "certain"],
        ["1", "engine/spec/accept.py:13", "accept_kernel", "0", "", "certain"],
    ] == [line.split("\t")[1:] for line in ended.out.splitlines()]


def test_a_person_gets_a_heading_and_words(recon_command: Recon) -> None:
    out = recon_command("--color", "always", "paths", "ModelRunner.sample", "accept_kernel").out

    assert [
        "one-1.0-aaaaaa: from ModelRunner.sample to accept_kernel",
        "path 1, 2 calls",
        "  ModelRunner.sample  engine/runner.py:9        line 10 calls, certain",
        "  verify              engine/spec/accept.py:22  line 23 launches, certain",
        "  accept_kernel       engine/spec/accept.py:13",
    ] == out.splitlines()


def test_paths_in_json_have_the_hops_of_a_run_file(recon_command: Recon) -> None:
    (answer,) = json.loads(recon_command("paths", "OtherRunner.execute_model", "accept_kernel", "--json").out)
    hops = answer["paths"][0]["hops"]

    assert ["OtherRunner.execute_model", "Chain.verify", "Later.verify_later", "verify", "accept_kernel"] == [
        hop["symbol"] for hop in hops
    ]
    assert ["certain", "guess", "certain", "certain", "certain"] == [hop["tier"] for hop in hops]
    assert {"path", "symbol", "line", "dispatch", "tier", "call_line"} == set(hops[0])


def test_an_end_alone_is_reached_from_the_engines_steps(recon_command: Recon) -> None:
    answers = json.loads(recon_command("paths", "--to", "accept_kernel", "--limit", "9", "--json").out)

    assert ["ModelRunner.sample", "OtherRunner.execute_model"] == [
        path["hops"][0]["symbol"] for path in answers[0]["paths"]
    ]


def test_a_beginning_alone_shows_what_it_reaches(recon_command: Recon) -> None:
    alone = recon_command("paths", "ModelRunner.execute_model")
    named = recon_command("paths", "--from", "ModelRunner.execute_model", "--limit", "2")

    assert ["ModelRunner.sample", "verify", "accept_kernel", "helper"] == [
        line.split("\t")[2] for line in alone.out.splitlines()
    ]
    assert alone.out.splitlines()[:2] == named.out.splitlines()


def test_no_path_is_an_answer_with_what_was_searched(recon_command: Recon) -> None:
    ended = recon_command("paths", "lonely", "accept_kernel")
    (answer,) = json.loads(recon_command("paths", "lonely", "accept_kernel", "--json").out)

    assert (0, "") == (ended.code, ended.out)
    assert "no path from lonely to accept_kernel: searched 21 definitions and " in ended.err
    assert "0 are reached from the one end, 6 reach the other" in ended.err
    assert ([], 21, 0, 6) == (
        answer["paths"],
        answer["searched"]["definitions"],
        answer["searched"]["reached"],
        answer["searched"]["reaching"],
    )
    assert answer["searched"]["edges"] == sum(answer["searched"][tier] for tier in ("certain", "likely", "guess"))


def test_a_place_leads_to_itself_without_a_call(recon_command: Recon) -> None:
    out = recon_command("paths", "lonely", "spec/accept.py:40").out

    assert [["1", "engine/spec/accept.py:39", "lonely", "0", "", "certain"]] == [
        line.split("\t")[1:] for line in out.splitlines()
    ]


def test_several_meanings_are_shown_and_none_is_chosen(recon_command: Recon) -> None:
    ended = recon_command("paths", "verify", "accept_kernel", "--install", "one")
    said = json.loads(recon_command("paths", "verify", "accept_kernel", "--install", "one", "--json").out)

    assert 2 == ended.code
    assert "error: 'verify' may mean 3 definitions; name one by its place, as path.py:line\n" == ended.err
    assert ["engine/deep/accept.py:1", "engine/spec/accept.py:22", "engine/spec/accept.py:30"] == [
        line.split("\t")[2] for line in ended.out.splitlines()
    ]
    assert ("ambiguous", 3) == (said["error"]["kind"], len(said["error"]["candidates"]))


def test_the_tree_that_knows_both_places_answers(recon_command: Recon) -> None:
    """`inner` lies in the second only."""
    out = recon_command("paths", "verify", "inner").out

    assert ["two-2.0", "two-2.0"] == [line.split("\t")[0] for line in out.splitlines()]


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (("lonley",), "no definition 'lonley' in one-1.0-aaaaaa, two-2.0", "Near it are: lonely."),
        (("zzzzzz",), "no definition 'zzzzzz'", "Nothing here has it in its name either"),
        (("inner", "lonely"), "'inner' and 'lonely' lie in different trees", "A path stays in one tree."),
        ((), "name a place", "For example: recon paths --to"),
        (("lonely", "--from", "inner"), "FROM is named twice: lonely and inner", ""),
        (("lonely", "--install", "three"), "no install 'three' in this run", "Installs: one-1.0-aaaaaa, two-2.0."),
        (("lonely", "--run", "nonsense"), "no run file 'nonsense'", ""),
    ],
)
def test_what_does_not_exist_is_said(recon_command: Recon, words: tuple[str, ...], error: str, hint: str) -> None:
    ended = recon_command("paths", *words)

    assert (2, "") == (ended.code, ended.out)
    assert f"error: {error}" in ended.err
    assert hint in ended.err


def again(ended: Ended) -> bool:
    """Whether it is said what to do, in a line of its own where it ends the command."""
    return "is kept here" in ended.err and "scan again: recon scan --path 'a b'" in ended.err


def test_a_tree_that_is_not_kept_any_more_is_to_be_scanned_again(recon_command: Recon, asked: Path) -> None:
    asked.unlink()
    alone = recon_command("find", "verify", "--install", "one")
    both = recon_command("find", "verify")

    assert (2, "", True) == (alone.code, alone.out, again(alone))
    assert (3, True, "two-2.0\tfunction\tengine/other.py:1\tverify\t\n") == (both.code, again(both), both.out)


def test_what_to_scan_again_is_a_hint_for_machines_too(recon_command: Recon, asked: Path) -> None:
    asked.unlink()
    error = json.loads(recon_command("find", "verify", "--install", "one", "--json").out)["error"]

    assert ("no graph of one-1.0-aaaaaa is kept here", "scan again: recon scan --path 'a b'") == (
        error["message"],
        error["hint"],
    )


@pytest.mark.parametrize(
    ("host", "location", "kind", "target"),
    [
        ("gpu-7", "/srv/engine", "wheel", "--host gpu-7"),
        ("localhost", "/srv/it's", "editable", "--path '/srv/it'\"'\"'s'"),
        ("releases", "my_engine-1.2.post1-py3-none-any.whl", "release", "--release my-engine==1.2.post1"),
        ("releases", "my_engine-1.2.tar.gz", "release", "--release my-engine==1.2"),
    ],
)
def test_a_tree_is_scanned_again_from_where_it_came(
    recon_command: Recon, state: Path, host: str, location: str, kind: str, target: str
) -> None:
    first = scan().installs[0]
    origin = replace(first.provenance, kind=kind)
    lost = replace(first, id="gone", source_digest="gone", host=host, location=location, provenance=origin)
    hosts = (replace(scan().hosts[0], name=host, transport="paramiko" if host == "gpu-7" else ""),)
    path = save(replace(scan(), hosts=hosts, installs=(lost,)), state)

    assert f"hint: scan again: recon scan {target}\n" in recon_command("find", "x", "--run", str(path)).err


def test_a_word_longer_than_any_name_is_refused(recon_command: Recon) -> None:
    for command in ("find", "paths"):
        ended = recon_command(command, "a" * 50_000)

        assert 2 == ended.code
        assert "error: a word of 50,000 characters is longer than any name" in ended.err


def test_a_place_that_no_file_has_is_told(recon_command: Recon) -> None:
    none = recon_command("paths", "--to", "none.py:99", "--install", "two")
    behind = recon_command("paths", "--to", "other.py:99", "--install", "two")

    assert "error: no file none.py in two-2.0" in none.err
    assert "hint: engine/other.py has 6 lines." in behind.err


def test_damage_that_a_question_meets_is_a_loss_too(recon_command: Recon, asked: Path) -> None:
    """The head of the file is whole, what lies behind is not."""
    whole = asked.read_bytes()
    asked.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    ended = recon_command("paths", "lonely", "verify", "--install", "one")

    assert (2, "") == (ended.code, ended.out)
    assert "error: the graph that is kept of one-1.0-aaaaaa is damaged" in ended.err
    assert "hint: scan again: recon scan --path 'a b'" in ended.err


def test_a_question_imports_nothing_that_a_scan_needs() -> None:
    """It is to be answered at once."""
    command = [sys.executable, "-X", "importtime", "-m", "recon", "find", "verify"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ)).stderr
    loaded = {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}

    assert {"recon.kept.kept", "sqlite3"} <= loaded
    assert set() == loaded & {"libcst", "tree_sitter", "jinja2", "rich", "recon.pipeline", "recon.index", "networkx"}


@pytest.fixture
def closed(state: Path) -> Path:
    """A run whose only install has a folder that could not be read."""
    run = load(listing(state)[0].path)
    gap = Unknown("folder", "engine/closed/sample", denied("alice"))
    held = replace(verdict("accept.tree.greedy", Standing.UNKNOWN), searched=proof(unread=(gap,)))
    return save(replace(run, installs=(replace(run.installs[0], verdicts=(held, held)),)), state)


@pytest.mark.parametrize("word", ["closed/sample/walk.py:7", "engine/closed/sample/x/walk.py", "sample/a.py::walk"])
def test_a_place_that_the_scan_could_not_read_is_not_called_missing(
    recon_command: Recon, closed: Path, word: str
) -> None:
    """What would have to be done is: its right, and a new scan."""
    ended = recon_command("paths", "--to", word, "--run", str(closed))

    assert (3, "") == (ended.code, ended.out)
    assert "error: engine/closed/sample was not readable in that scan" in ended.err
    assert "its owner alice or root can scan it" in ended.err
    assert "Then scan again: recon scan --path 'a b'" in ended.err


def test_what_was_not_read_is_told_beside_what_is_not_found(recon_command: Recon, closed: Path) -> None:
    place = recon_command("paths", "--to", "none.py:1", "--run", str(closed))
    name = recon_command("paths", "--to", "zzzzzz", "--run", str(closed))

    assert [2, 2] == [place.code, name.code]
    for each in (place, name):
        assert "Not read in that scan: one-1.0-aaaaaa:engine/closed/sample." in each.err


def test_find_says_what_was_not_searched(recon_command: Recon, closed: Path) -> None:
    """In one note, off the way of what is found."""
    ended = recon_command("find", "verify", "--run", str(closed))

    assert 0 == ended.code
    assert ended.err == (
        "not read in that scan: one-1.0-aaaaaa:engine/closed/sample; what is called so there is not shown\n"
    )

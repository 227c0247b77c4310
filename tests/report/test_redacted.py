"""A run that is passed on names neither hosts nor users."""

from dataclasses import replace
from pathlib import Path

import pytest

from recon.records.host import PythonEnv
from recon.records.run import Run
from recon.records.unknown import Unknown, denied
from recon.report import html
from recon.report.format import formats
from recon.report.packed import taken_out
from recon.report.redacted import redacted
from recon.report.view import Source, compose
from recon.runs.files import load, save
from tests.report.hand import HOST, scan
from tests.report.views import NOW

TOLD = ("alice", "gpu07", "corp.example", "3c0ffee0c0ffee", "GPU-5f1c", "bob")


def private() -> Run:
    """A scan of a host whose names stand in many places."""
    run = scan()
    environment = PythonEnv("/home/bob/env", "venv", "3.12", ("/home/bob/env/lib",))
    host = replace(
        HOST, name="alice@gpu07.corp.example:2222", environments=(environment,), notes=("gpu07 speaks at logins",)
    )
    return replace(
        run,
        hosts=(host,),
        command=("recon", "scan", "--host", "alice@gpu07.corp.example:2222"),
        installs=tuple(replace(each, host=host.name, location="/home/bob/env/vllm") for each in run.installs),
    )


def test_no_name_of_a_host_or_a_user_is_left(tmp_path: Path) -> None:
    saved = save(private(), tmp_path)
    run, sources, rename = redacted(private(), [Source("scan", saved.name, private())])
    page = html.render(compose(run, sources, NOW))
    text = page + taken_out(page).decode() + rename(saved.name)

    assert [] == [name for name in TOLD if name in text]
    assert "/home/someone/env" in page
    assert "host-1" in page


def test_answers_and_their_places_stay_as_they_are(tmp_path: Path) -> None:
    """Even where a host is called as an engine's folder; and installs still belong to their host."""
    vllm = replace(private(), hosts=(replace(HOST, name="spec_decode"),))
    vllm = replace(vllm, installs=tuple(replace(each, host="spec_decode") for each in vllm.installs))
    run, sources, _ = redacted(vllm, [Source("scan", "scan.json", vllm)])
    path = tmp_path / "run.json"
    path.write_bytes(taken_out(html.render(compose(run, sources, NOW))))

    assert [verdict.evidence for each in vllm.installs for verdict in each.verdicts] == [
        verdict.evidence for each in load(path).installs for verdict in each.verdicts
    ]
    assert {"host-1"} == {each.host for each in run.installs} == {each.name for each in run.hosts}


def test_names_that_tell_nothing_stay() -> None:
    run, _, rename = redacted(scan(), [])

    assert "localhost" == run.hosts[0].name
    assert "machine-1" == run.hosts[0].id
    assert ("/root/x", "/home/someone/x") == (rename("/root/x"), rename("/home/me/x"))


def told_everywhere(name: str) -> Run:
    """A scan of a host of that name, which stands wherever names stand; two more hosts were down."""
    run = replace(private(), hosts=(replace(HOST, name=name, notes=(f"{name.upper()} speaks at logins",)),))
    down = "carl@down99.corp.example"
    return replace(
        run,
        command=("recon", "scan", "--host", name, f"--host={down}", "--path", "/scratch/bob/vllm"),
        installs=tuple(
            replace(
                each,
                host=name,
                location="/mnt/home/bob/vllm",
                provenance=replace(each.provenance, origin="https://git.corp.example/vllm", note="by /data/bob/x"),
            )
            for each in run.installs
        ),
        unknowns=(
            Unknown("unreachable", down, "down99 (10.9.8.7) does not answer; asked by dora@jump01.corp.example"),
            Unknown("unreachable", "gpu", "no way to 2001:db8::77 by [2001:db8::78]:22, said 127.0.0.1"),
            Unknown("folder", f"/{MAC}/emil/x", denied("fritz")),
        ),
    )


MAC = "Users"
SAID = ("down99", "carl", "10.9.8.7", "dora", "jump01", "corp.example", "2001:db8", "bob", "emil", "fritz")


@pytest.mark.parametrize(
    "name", ["alice@gpu07.corp.example:2222", "gpu07", "me@[fe80::12]:22", "10.1.2.3", "tree", "vllm"]
)
def test_names_are_gone_from_every_format(name: str) -> None:
    """Of hosts that were down, of neighbours, owners and users too, in capitals too, and as addresses."""
    told = told_everywhere(name)
    run, sources, _ = redacted(told, [Source("scan", "scan.json", told)])
    view = compose(run, sources, NOW)
    pages = {kind: each.render(view) for kind, each in formats().items()}
    text = "\n".join((*pages.values(), taken_out(pages["html"]).decode())).lower()
    mine = {each for each in ("alice", "gpu07", "fe80", "10.1.2.3") if each in name}

    assert [] == [each for each in (*SAID, *mine) if each in text]
    assert "127.0.0.1" in text
    assert {"host-1"} == {each.host for each in run.installs} == {each.name for each in run.hosts}


@pytest.mark.parametrize("name", ["tree", "accept", "present", "vllm", "rejection_sampler", "a"])
def test_a_host_that_is_called_as_a_word_changes_no_answer(name: str) -> None:
    """Ids, capabilities, reasons and excerpts say what they said."""
    plain = scan()
    told = replace(
        plain, hosts=(replace(HOST, name=name),), installs=tuple(replace(each, host=name) for each in plain.installs)
    )
    run, _, _ = redacted(told, [])

    assert [each.id for each in told.capabilities] == [each.id for each in run.capabilities]
    for before, after in zip(told.installs, run.installs, strict=True):
        assert before.id == after.id
        assert [each.path for each in before.excerpts] == [each.path for each in after.excerpts]
        assert [each.capability for each in before.verdicts] == [each.capability for each in after.verdicts]


def test_a_run_that_says_nothing_is_renamed_too() -> None:
    run, _, _ = redacted(replace(scan(), hosts=(), command=(), installs=(), capabilities=()), [])

    assert () == run.command


def test_what_names_nobody_stays() -> None:
    """Versions, times, products and public places are neither logins nor addresses."""
    told = "torch 2.9.1 at 22:27:03, Linux 5.15.167.4-microsoft, git@github.com, https://github.com/x, a.py:10:5"
    run, _, rename = redacted(replace(scan(), hosts=(replace(HOST, name="gpu07"),)), [])

    assert told == rename(told)
    assert scan().installs[0].verdicts == run.installs[0].verdicts


def test_each_host_of_a_fleet_keeps_its_own_name() -> None:
    """Names of which one begins another, with and without their domain, in one text."""
    named = [f"user{number}@node{number}.cluster.example" for number in range(1, 301)]
    run = replace(
        scan(),
        hosts=tuple(replace(HOST, id=f"{name}-id", name=name, gpus=()) for name in named),
        unknowns=(Unknown("load", "all", " ".join(f"node{n}, node{n}.cluster.example;" for n in range(1, 301))),),
    )
    made, _, rename = redacted(run, [])

    assert [f"host-{number}" for number in range(1, 301)] == [each.name for each in made.hosts]
    assert " ".join(f"host-{n}, host-{n};" for n in range(1, 301)) == made.unknowns[0].why
    assert "host-12/x_host-1, node1x, xnode1" == rename("node12/x_NODE1, node1x, xnode1")
    assert "host-7; someone@host-7" == rename("user7@node7.cluster.example; other@node7")

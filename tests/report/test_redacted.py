"""A run that is passed on names neither hosts nor users."""

from dataclasses import replace
from pathlib import Path

from recon.records.host import PythonEnv
from recon.records.run import Run
from recon.report import html
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

"""`recon report`: which runs are joined, and what is written where."""

import json
import lzma
import os
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from recon.records.host import Host
from recon.records.unknown import REST, Unknown
from recon.runs.files import MAX_BYTES, save
from tests.cli.conftest import Recon
from tests.report.hand import DEVICE, H200, HOST, probe, scan
from tests.report.test_redacted import TOLD, private


def test_the_newest_scan_and_the_probe_of_its_machine_are_joined(
    recon_command: Recon, saved: tuple[Path, Path], state: Path
) -> None:
    other = replace(HOST, id="other", gpus=(replace(H200, uuid="GPU-other"),))
    save(replace(probe(host=other), started_at="2026-12-24T00:00:00Z"), state)
    ended = recon_command("report", "--json")
    run = json.loads(ended.out)

    assert 0 == ended.code
    assert (3, 5) == (len(run["installs"]), len(run["measurements"]))
    assert 1 == len(run["estimates"][0]["ratios"])
    assert f"scan: {saved[0].name}, " in ended.err
    assert f"probe: {saved[1].name}, " in ended.err


@pytest.mark.parametrize("kind", ["probe", "estimate"])
@pytest.mark.parametrize("content", ["{", "", '{"schema_version": 99}', '{"schema_version": 1, "hosts": 7}'])
@pytest.mark.parametrize("stamp", ["20250101T000000Z", "20310101T000000Z"])
def test_a_damaged_file_beside_good_ones_is_named_and_takes_nothing_from_them(
    kind: str, content: str, stamp: str, recon_command: Recon, saved: tuple[Path, Path], state: Path
) -> None:
    """Only one that may be newer than what is shown has a part: behind a good one nobody looks."""
    name = f"{stamp}-gpu07-{kind}-abcdef.json"
    (state / "runs" / name).write_text(content)
    ended = recon_command("report", "--json")
    run = json.loads(ended.out)
    asked = kind == "estimate" or stamp > "2027"

    assert (3, 5) == (len(run["installs"]), len(run["measurements"]))
    assert (3 if asked else 0) == ended.code
    assert asked == (f"warning: {name} cannot be read" in ended.err)
    assert asked == (f"{kind} of {stamp}" in [each["where"] for each in run["unknowns"] if each["what"] == "run file"])


def test_an_old_damaged_probe_does_not_take_the_scan_away(recon_command: Recon, state: Path) -> None:
    """Though there is no other probe: what was scanned is still known."""
    save(scan(), state)
    (state / "runs" / "20250101T000000Z-gpu07-probe-abcdef.json").write_text("{")
    ended = recon_command("report", "--redact-hosts", "-o", f"markdown={state / 'out.md'}")
    page = (state / "out.md").read_text()

    assert 3 == ended.code
    assert "probe of 20250101T000000Z" in page
    assert "gpu07" not in page


def test_a_probe_of_the_same_gpu_is_of_the_same_machine(recon_command: Recon, state: Path) -> None:
    """Though the machine has another id: a container has its own."""
    save(scan(), state)
    save(probe(host=replace(HOST, id="container")), state)

    assert 1 == len(json.loads(recon_command("report", "--json").out)["hosts"])


def test_without_a_probe_of_the_machine_the_scan_stands_alone_and_that_is_said(
    recon_command: Recon, state: Path
) -> None:
    save(scan(), state)
    save(probe(host=Host("other", "gpu12", "", (), ())), state)
    ended = recon_command("report", "--json")

    assert [] == json.loads(ended.out)["measurements"]
    assert "probe: none of the same machine is saved" in ended.err


def test_a_probe_that_is_named_is_taken_and_another_gpu_decides_nothing(recon_command: Recon, state: Path) -> None:
    save(scan(), state)
    b200 = replace(H200, name="NVIDIA B200", uuid="GPU-b")
    host = Host("other", "gpu12", "", (b200,), ())
    path = save(probe(replace(DEVICE, name=b200.name, uuid=b200.uuid), host), state)
    ended = recon_command("report", "--probe", path.name)

    assert "measurement\tNVIDIA B200: another GPU model than this host's\t" in ended.out
    assert (
        "times taken on nvidia b200 are shown apart"
        in str(
            json.loads(recon_command("report", "--probe", str(path), "--json").out)["estimates"][0]["because"]
        ).lower()
    )


def test_a_probe_alone_is_reported(recon_command: Recon, state: Path) -> None:
    save(probe(), state)
    ended = recon_command("report")

    assert 0 == ended.code
    assert ended.out.startswith("decision\t\tcannot tell\tCannot tell whether a tree would pay")


@pytest.mark.parametrize("scanned", [True, False])
def test_a_newer_probe_without_times_is_named_and_not_taken(recon_command: Recon, state: Path, scanned: bool) -> None:
    """One that only built kernels, or checked them on the CPU, says nothing of what they cost."""
    if scanned:
        save(scan(), state)
    timed = save(probe(), state)
    built = tuple(each for each in probe().measurements if each.mode == "compile")
    newer = save(replace(probe(), measurements=built, started_at="2026-12-01T00:00:00Z"), state)
    ended = recon_command("report")

    assert "measurement\tNVIDIA H200\tlinear_verify\t" in ended.out
    assert f"probe: {timed.name}, " in ended.err
    assert f"not taken, since it holds no times: probe: {newer.name}, " in ended.err
    assert "built by the compiler" in ended.err
    assert "NVIDIA H200" not in recon_command("report", "--probe", newer.name).out


def test_a_probe_that_is_not_whole_says_what_it_lacks(recon_command: Recon, state: Path) -> None:
    save(replace(probe(), complete=False, unknowns=(Unknown(REST, "gpu07", "it was stopped"),)), state)

    assert "this probe is not whole: 5 measurements; it was stopped\n" in recon_command("report").err


def test_what_was_built_is_a_row(recon_command: Recon, state: Path) -> None:
    save(probe(), state)
    rows = [line for line in recon_command("report").out.splitlines() if line.startswith("build\t")]
    said = ["Compiled, not run", "tree_verify", "sm_120", "255", "104 KiB of 99.0 KiB", "1.32 KiB", "does not fit"]

    assert [said] == [[cell for at, cell in enumerate(row.split("\t")) if at not in {0, 3}] for row in rows]


def test_the_page_lies_below_reports_and_its_path_is_printed(
    recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = recon_command("report", "--html")

    assert f"reports/{saved[0].stem}.html\n" == ended.out
    assert "tree_verify against linear_verify" in (tmp_path / ended.out.strip()).read_text()


def test_a_named_file_needs_no_reports_folder(recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    ended = recon_command("report", "-o", f"html={page}", "--scan", str(saved[0]), "--probe", str(saved[1]))

    assert (0, f"{page}\n") == (ended.code, ended.out)
    assert page.exists()


def test_a_page_gives_its_run_back(recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path) -> None:
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    recon_command("report", "-o", f"html={page}", "-o", f"json={data}")
    ended = recon_command("report", "--extract", str(page))
    of_another = recon_command("report", "--extract", str(data))

    assert (0, data.read_text()) == (ended.code, ended.out)
    assert (3, "") == (of_another.code, of_another.out)
    assert f"error: {data} is no page of recon: it holds no run\n" in of_another.err
    assert 2 == recon_command("report", "--extract", str(tmp_path / "no.html")).code


def packed_in_a_page(content: bytes) -> str:
    """A page as ours that holds something else."""
    held = b64encode(lzma.compress(content)).decode()
    return f'<!doctype html><script type="text/plain" id="run">{held}</script>'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a run file"),
        (b"[]", "is not a run file"),
        (b'{"schema_version": 1}', "was written by another version of recon, or changed"),
        (b'{"schema_version": 99}', "has schema version 99"),
        (b"\xff", "is no page of recon"),
        (b"\0" * (MAX_BYTES + 1), "is larger than"),
    ],
)
def test_a_page_that_holds_no_run_is_told(recon_command: Recon, tmp_path: Path, content: bytes, said: str) -> None:
    """However small it is packed."""
    page = tmp_path / "page.html"
    page.write_text(packed_in_a_page(content))
    ended = recon_command("report", "--extract", str(page))

    assert (3, "") == (ended.code, ended.out)
    assert said in ended.err


def test_a_page_that_was_cut_is_told(recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    whole = lzma.compress(saved[0].read_bytes())
    page.write_text(f'<script type="text/plain" id="run">{b64encode(whole[:-40]).decode()}</script>')

    assert (3, "") == ((ended := recon_command("report", "--extract", str(page))).code, ended.out)


def test_what_is_no_file_is_no_page(recon_command: Recon, tmp_path: Path) -> None:
    """And is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        assert 3 == recon_command("report", "--extract", str(path)).code


@pytest.mark.parametrize(
    "words",
    [
        ("--redact-hosts",),
        ("--html",),
        ("-o", "json=x"),
        ("--require", "pos.tree"),
        ("--fail-on", "absent"),
        ("--issue",),
        ("--scan", "x"),
        ("--show", "absent"),
        ("--about", "pos.*"),
    ],
)
def test_what_does_nothing_beside_a_page_is_refused(
    recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Whoever asked for other names, or for a policy, must not believe to have got them."""
    page = tmp_path / "r.html"
    recon_command("report", "-o", f"html={page}")
    ended = recon_command("report", "--extract", str(page), *words)

    assert (2, "") == (ended.code, ended.out)
    assert "does nothing with --extract" in ended.err


@pytest.mark.parametrize(("option", "said"), [("--estimate", "no estimate"), ("--probe", "no probe")])
def test_a_run_of_another_kind_is_not_taken(
    recon_command: Recon, saved: tuple[Path, Path], option: str, said: str
) -> None:
    """It would change nothing of the page, and nobody would know."""
    ended = recon_command("report", option, saved[0].name)

    assert (2, "") == (ended.code, ended.out)
    assert f"{saved[0].name} is a scan" in ended.err
    assert said in ended.err


def test_a_policy_of_times_alone_is_not_judged(recon_command: Recon, state: Path) -> None:
    """No engine was judged: that is incomplete, and the capability exists all the same."""
    save(replace(probe(), capabilities=()), state)
    ended = recon_command("report", "--require", "accept.tree.greedy")

    assert 3 == ended.code
    assert "policy not judged: no engine is in this run" in ended.err
    assert 2 == recon_command("report", "--require", "accept.tree.gredy").code


def test_hosts_are_renamed_in_every_format_and_in_the_name_of_the_page(
    recon_command: Recon, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved = save(private(), state)
    ended = recon_command("report", "--html", "--redact-hosts", "-o", "json=r.json", "-o", "text=r.txt")
    page = next((tmp_path / "reports").iterdir())
    text = (tmp_path / "r.json").read_text() + (tmp_path / "r.txt").read_text() + page.name

    assert "gpu07" in saved.name
    assert 0 == ended.code
    assert [] == [name for name in TOLD if name in text]


def test_nothing_saved_is_a_usage_error(recon_command: Recon) -> None:
    assert 2 == recon_command("report").code


def test_a_run_file_that_is_broken_is_incomplete(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    ended = recon_command("report", "--scan", str(tmp_path / "x.json"))

    assert 3 == ended.code
    assert "is not a run file" in ended.err


def test_a_folder_that_cannot_be_written_is_said(
    recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").write_text("in the way")
    ended = recon_command("report", "--html")

    assert 3 == ended.code
    assert "hint: Name a file: -o html=PATH" in ended.err


def test_without_runs_a_scan_comes_first(recon_command: Recon) -> None:
    ended = recon_command("report")

    assert (2, "error: no scan is saved\nhint: Run `recon scan` first.\n") == (ended.code, ended.err)


@pytest.mark.parametrize("words", [("report", "--scan"), ("report", "-o"), ("runs", "show"), ("report", "--probe")])
def test_the_home_of_nobody_is_said(recon_command: Recon, saved: tuple[Path, Path], words: tuple[str, ...]) -> None:
    path = "~nobody-is-called-so/x"

    assert 2 == recon_command(*words, f"html={path}" if words[-1] == "-o" else path).code

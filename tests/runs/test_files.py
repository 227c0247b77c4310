"""Saved runs: whole or not at all, private, and read back with suspicion."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from recon.errors import NotFound, Unreadable
from recon.records.host import Host
from recon.records.run import SCHEMA_VERSION
from recon.records.unknown import Unknown
from recon.runs import files
from tests.report.hand import HOST, hostile, probe, scan


def test_a_saved_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    run = hostile()

    assert run == files.load(files.save(run, tmp_path))


@pytest.mark.parametrize("number", [10**30, -(10**30), 10**400])
def test_numbers_without_end_are_in_no_run(tmp_path: Path, number: int) -> None:
    run = json.loads(files.encode(scan()))
    run["installs"][0]["verdicts"][0]["searched"]["functions"] = number
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))

    with pytest.raises(Unreadable, match="functions"):
        files.load(path)


def test_endless_texts_are_cut_and_read_again(tmp_path: Path) -> None:
    """Wherever they stand: a command line, what a program said, a case, an install."""
    endless, most = "x" * 100_000, 1 << 16
    run = replace(
        probe(),
        command=("recon", endless),
        unknowns=(Unknown(endless, endless, endless),),
        installs=tuple(replace(each, location=endless) for each in scan().installs),
        measurements=tuple(replace(each, case={endless: endless}) for each in probe().measurements),
    )
    read = files.load(files.save(run, tmp_path))

    assert ("recon", f"{'x' * (most - 6)} [cut]") == read.command
    assert {most} == {len(text) for each in read.unknowns for text in (each.what, each.where, each.why)}
    assert {most} == {len(each.location) for each in read.installs}
    assert [{most: most}] * len(run.measurements) == [
        {len(name): len(str(value)) for name, value in each.case.items()} for each in read.measurements
    ]
    assert replace(probe(), started_at="") == files.load(files.save(replace(probe(), started_at=""), tmp_path))


def test_a_saved_run_is_its_owners_alone_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = files.save(scan(), tmp_path)

    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode)
    assert [path] == list(path.parent.iterdir())


def test_the_name_says_when_where_and_what(tmp_path: Path) -> None:
    path = files.save(probe(), tmp_path)

    assert path.name.startswith("20261130T112000Z-localhost-probe-")
    assert len("20261130T112000Z-localhost-probe-123456.json") == len(path.name)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/root", "a b\n", "", "数" * 300, "..", "-rf"])
def test_a_hostile_host_name_stays_in_the_folder_and_is_listed(tmp_path: Path, name: str) -> None:
    path = files.save(replace(scan(), hosts=(replace(HOST, name=name),)), tmp_path)

    assert files.folder(tmp_path) == path.parent
    assert [path] == [saved.path for saved in files.listing(tmp_path)]


def test_a_moment_that_is_no_moment_does_not_leave_the_folder(tmp_path: Path) -> None:
    path = files.save(replace(scan(), started_at="../../../x"), tmp_path)

    assert files.folder(tmp_path) == path.parent


def test_bytes_that_are_no_text_are_written_out(tmp_path: Path) -> None:
    host = Host("id", os.fsdecode(b"ho\xffst"), "", (), ())

    loaded = files.load(files.save(replace(scan(), hosts=(host,)), tmp_path))

    assert "ho\\xffst" == loaded.hosts[0].name


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")

    with pytest.raises(Unreadable, match="cannot save the run") as caught:
        files.save(scan(), tmp_path / "state")

    assert "RECON_STATE_DIR" in caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"{}",
        b'{"schema_version": "1"}',
        b'{"schema_version": 1}',
        b"\xff\xfe",
        b'{"schema_version": 1, "hosts": [' + b"[" * 100_000,
    ],
)
def test_what_is_no_run_file_is_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)

    with pytest.raises(Unreadable):
        files.load(path)


def test_every_half_of_a_file_is_unreadable(tmp_path: Path) -> None:
    whole = files.encode(probe())
    path = tmp_path / "x.json"
    for end in range(0, len(whole) - 2, 997):
        path.write_bytes(whole[:end])

        with pytest.raises(Unreadable):
            files.load(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = files.save(scan(), tmp_path)
    monkeypatch.setattr(files, "MAX_BYTES", 100)

    with pytest.raises(Unreadable, match="larger than 100 bytes"):
        files.load(path)


def test_a_named_pipe_does_not_make_us_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")

    with pytest.raises(Unreadable, match="is a named pipe, not a run file"):
        files.load(tmp_path / "pipe.json")


def test_a_device_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="/dev/null is a device, not a run file"):
        files.load(files.resolve("/dev/null", tmp_path))
    with pytest.raises(Unreadable, match="is a folder, not a run file"):
        files.load(files.resolve(str(tmp_path), tmp_path))


def test_a_file_that_the_first_recon_wrote_is_read() -> None:
    run = files.load(Path(__file__).parent / "old" / "first.json")

    assert "vllm" == run.installs[0].engine.value
    assert ["absent"] * 3 == [verdict.standing.value for verdict in run.installs[0].verdicts]
    assert ("", None) == (run.hosts[0].transport, run.estimates[0].runs)


def test_what_older_records_did_not_have_is_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(files.encode(scan()))
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(_without(whole, {"message", "through", "transport", "runs"})))

    gates = [gate for each in files.load(path).installs for verdict in each.verdicts for gate in verdict.gates]

    assert {""} == {gate.message for gate in gates}


def test_a_whole_file_with_other_fields_is_no_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(_without(json.loads(files.encode(scan())), {"reach"})))

    with pytest.raises(Unreadable, match=r"written by another version of recon, or changed: .*`reach`"):
        files.load(path)


def test_texts_without_end_and_impossible_lines_are_refused(tmp_path: Path) -> None:
    whole = files.encode(scan()).decode()
    path = tmp_path / "bad.json"
    for good, bad, why in (
        ('"line": 695', '"line": -5', r"a line -5 at `\$\.installs\[\d\]\.verdicts.*\.line`"),
        ('"line": 695', '"line": 0', "a line 0 at"),
        ('"localhost"', f'"{"x" * 70_000}"', "a text of 70,000 characters at"),
    ):
        assert good in whole
        path.write_text(whole.replace(good, bad))

        with pytest.raises(Unreadable, match=why):
            files.load(path)


def _without(value: object, names: set[str]) -> object:
    match value:
        case dict():
            return {key: _without(item, names) for key, item in value.items() if key not in names}
        case list():
            return [_without(item, names) for item in value]
    return value


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        files.load(tmp_path / "none.json")
    with pytest.raises(Unreadable):
        files.load(tmp_path)


def test_a_file_of_a_newer_recon_says_so(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_text(f'{{"schema_version": {SCHEMA_VERSION + 1}}}')

    with pytest.raises(Unreadable, match="schema version") as caught:
        files.load(path)

    assert "upgrade" in caught.value.hint


def test_a_file_of_an_older_version_is_brought_up_to_date(tmp_path: Path) -> None:
    """By a step for each version on the way."""
    run = scan()
    path = tmp_path / "old.json"
    old = files.encode(run).replace(b'"schema_version": 1', b'"schema_version": 0').replace(b'"hosts"', b'"machines"')
    path.write_bytes(old)

    def step(content: dict[str, object]) -> dict[str, object]:
        return {("hosts" if key == "machines" else key): value for key, value in content.items()}

    assert run == files.load(path, {0: step})


def test_a_version_without_a_step_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text('{"schema_version": -1}')

    with pytest.raises(Unreadable, match="schema version -1"):
        files.load(path)


def test_a_field_that_a_later_recon_added_does_not_stand_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "more.json"
    path.write_bytes(files.encode(scan()).replace(b"{", b'{"something_new": [1, 2],', 1))

    assert scan() == files.load(path)


def test_the_newest_run_of_a_kind_is_found(tmp_path: Path) -> None:
    files.save(replace(scan(), started_at="2026-11-29T00:00:00Z"), tmp_path)
    newest = files.save(scan(), tmp_path)
    files.save(probe(), tmp_path)

    assert newest == files.newest(tmp_path, "scan")
    assert None is files.newest(tmp_path / "nowhere", "scan")


def test_a_run_stopped_before_it_learned_anything_hides_no_good_one(tmp_path: Path) -> None:
    good = files.save(scan(), tmp_path)
    files.save(replace(scan(), started_at="2026-12-01T00:00:00Z", installs=(), complete=False), tmp_path)

    assert good == files.newest(tmp_path, "scan")


def test_a_run_that_learned_nothing_does_not_stand_in_the_way(tmp_path: Path) -> None:
    """Though it is whole: every host that was named was down."""
    good = files.save(scan(), tmp_path)
    down = Unknown("unreachable", "gpu07", "gpu07: no route")
    empty = replace(scan(), started_at="2031-01-01T00:00:00Z", installs=(), hosts=(), unknowns=(down,))
    saved = files.save(empty, tmp_path)

    assert good == files.newest(tmp_path, "scan")
    assert [saved, good] == [each.path for each in files.listing(tmp_path)]


def test_the_newest_run_of_a_machine_is_found_by_its_id_or_a_gpu(tmp_path: Path) -> None:
    mine = files.save(probe(), tmp_path)
    other = replace(HOST, id="other", gpus=(replace(HOST.gpus[0], uuid="GPU-other"),))
    theirs = files.save(replace(probe(host=other), started_at="2026-12-01T00:00:00Z"), tmp_path)

    assert mine == files.newest(tmp_path, "probe", HOST.id)
    assert mine == files.newest(tmp_path, "probe", "unknown", frozenset({HOST.gpus[0].uuid}))
    assert theirs == files.newest(tmp_path, "probe", "other")
    assert None is files.newest(tmp_path, "probe", "nobody")


def test_a_newest_file_that_cannot_be_read_lets_no_older_one_answer(tmp_path: Path) -> None:
    good = files.save(probe(), tmp_path)
    name = "20270101T000000Z-localhost-probe-abcdef.json"
    (good.parent / name).write_text("{")
    with pytest.raises(Unreadable, match=f"the newest probe cannot be read: .*{name}") as caught:
        files.newest(tmp_path, "probe", HOST.id, option="--probe")

    assert caught.value.hint.endswith(f"with --probe, or remove this one: recon runs rm {name}")
    assert [files.UNREADABLE, ""] == [files.gist(each.path).flaw for each in files.listing(tmp_path)]


def test_an_older_file_that_cannot_be_read_does_not_matter(tmp_path: Path) -> None:
    good = files.save(probe(), tmp_path)
    (good.parent / "20200101T000000Z-localhost-probe-abcdef.json").write_text("{")

    assert good == files.newest(tmp_path, "probe", HOST.id)


def test_other_files_are_not_listed(tmp_path: Path) -> None:
    saved = files.save(scan(), tmp_path)
    (saved.parent / "notes.txt").write_text("")
    (saved.parent / "20270101T000000Z-a-scan-abcdef.json").symlink_to(saved)

    assert [saved] == [each.path for each in files.listing(tmp_path)]


def test_a_run_is_named_by_its_path_its_name_or_a_part_of_it(tmp_path: Path) -> None:
    path = files.save(scan(), tmp_path)
    files.save(probe(), tmp_path)

    assert path == files.resolve(str(path), tmp_path)
    assert path == files.resolve(path.name, tmp_path)
    assert path == files.resolve("-scan-", tmp_path)


def test_a_name_that_fits_several_runs_or_none_is_refused_with_advice(tmp_path: Path) -> None:
    path = files.save(scan(), tmp_path)
    files.save(probe(), tmp_path)

    with pytest.raises(NotFound, match="2 saved runs match"):
        files.resolve("localhost", tmp_path)
    with pytest.raises(NotFound) as caught:
        files.resolve(path.name.replace("localhost", "localhots"), tmp_path)

    assert f"Did you mean {path.name}?" == caught.value.hint


def test_removing_twice_is_noticed(tmp_path: Path) -> None:
    path = files.save(scan(), tmp_path)
    files.remove(path)

    with pytest.raises(NotFound):
        files.remove(path)


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(path, b"new")

    assert ["x"] == [each.name for each in tmp_path.iterdir()]
    assert "old" == path.read_text()

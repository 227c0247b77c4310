"""`-o FORMAT=PATH`: what lies at the path is written, and never replaced by something else."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.conftest import Recon

pytestmark = pytest.mark.usefixtures("saved")


def test_through_a_link_its_target_is_written(recon_command: Recon, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "old.json").write_text("old")
    (there / "old.json").chmod(0o600)
    for name, target in (("link", "old.json"), ("loose", "new.json")):
        (tmp_path / name).symlink_to(f"there/{target}")

        assert 0 == recon_command("report", "-o", f"json={tmp_path / name}").code
        assert (tmp_path / name).is_symlink()
        assert (there / target).read_text().startswith("{")

    assert 0o600 == stat.S_IMODE((there / "old.json").stat().st_mode)
    assert ["new.json", "old.json"] == sorted(each.name for each in there.iterdir())


def test_links_in_a_circle_are_told(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    assert 3 == recon_command("report", "-o", f"json={tmp_path / 'a'}").code
    assert (tmp_path / "a").is_symlink()


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (("report", "-o", "json="), b"{"),
        (("gap", "--feature", "ddtree", "-o", "tsv="), b"gap\t"),
        (("callgraph", ".", "-o", "edges="), b"source\t"),
    ],
)
def test_a_pipe_is_written_into_and_stays_one(
    recon_command: Recon, tmp_path: Path, words: tuple[str, ...], start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def f(): f()\n")
    monkeypatch.chdir(tmp_path / "code")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        came = reader.submit(pipe.read_bytes)
        ended = recon_command(*words[:-1], f"{words[-1]}{pipe}")

        assert (0, True) == (ended.code, pipe.is_fifo())
        assert came.result(10).startswith(start)


def test_a_device_is_written_into_and_stays_one(recon_command: Recon, tmp_path: Path) -> None:
    device = tmp_path / "nowhere"
    try:
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")

    assert 0 == recon_command("report", "-o", f"json={device}").code
    assert device.is_char_device()


def test_a_dash_is_standard_output_and_nothing_else_goes_there(
    recon_command: Recon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (("report", "-o", "json=-"), ("report", "--html", "-o", "json=-")):
        assert "complete" in json.loads(recon_command(*words).out)
    for other in (("--json",), ("-o", "json=-")):
        assert 2 == recon_command("report", *other, "-o", "text=-").code

    assert recon_command("gap", "--feature", "ddtree", "-o", "markdown=-").out.startswith("# DDTree")
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("report", "-o", "json=a", "-o", "html=./a"),
        ("report", "-o", "json=a", "-o", "csv=link"),
        ("gap", "--feature", "ddtree", "-o", "tsv=a", "-o", "markdown=a"),
        ("callgraph", ".", "-o", "edges=a", "-o", "pycg=a"),
        ("report", "--scan", "run.json", "-o", "html=run.json"),
        ("report", "--scan", "run.json", "-o", "json=same"),
        ("gap", "--feature", "ddtree", "--run", "run.json", "-o", "tsv=run.json"),
        ("scan", "--rejudge", "run.json", "-o", "json=run.json"),
        ("scan", "--bundle", "run.json", "-o", "html=run.json"),
        ("scan", "--path", "run.json", "-o", "html=run.json"),
    ],
)
def test_nothing_is_written_twice_or_over_what_is_read(
    recon_command: Recon,
    saved: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    """Whatever the paths are called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "run.json").write_bytes(saved[0].read_bytes())
    (tmp_path / "same").symlink_to("run.json")
    ended = recon_command(*words)

    assert (2, False) == (ended.code, (tmp_path / "a").exists())
    assert "can be written only once" in ended.err or "is what is read" in ended.err
    assert saved[0].read_bytes() == (tmp_path / "run.json").read_bytes()


def test_a_saved_run_is_never_written_over(recon_command: Recon, saved: tuple[Path, Path]) -> None:
    before = saved[1].read_bytes()
    ended = recon_command("report", "-o", f"html={saved[1]}")

    assert (2, before) == (ended.code, saved[1].read_bytes())
    assert "lies where runs are kept" in ended.err


def test_devices_take_all_that_comes(recon_command: Recon) -> None:
    assert 0 == recon_command("report", "-o", f"json={os.devnull}", "-o", f"html={os.devnull}").code


def test_a_page_of_its_own_name_is_written_once(
    recon_command: Recon, saved: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").mkdir()
    page = f"reports/{saved[0].stem}.html"

    assert 2 == recon_command("report", "--html", "-o", f"json={page}").code
    assert not (tmp_path / page).exists()


def test_a_dash_in_a_folder_is_a_file(recon_command: Recon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert "" != recon_command("report", "-o", "json=./-").out
    assert (tmp_path / "-").read_text().startswith("{")


LONG = "x" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("report", "-o", f"json={LONG}"),
        ("report", "-o", f"json={LONG}/a"),
        ("report", "--extract", LONG),
        ("report", "--scan", LONG),
        ("show", "--run", LONG),
        ("diff", LONG, LONG),
        ("scan", LONG),
        ("scan", "--path", LONG),
        ("scan", "--bundle", LONG),
        ("scan", "--rejudge", LONG),
        ("scan", "--host", "a", "--ssh-config", LONG),
        ("gap", "--feature", f"{LONG}.toml"),
        ("gap", "--feature", "ddtree", "--path", LONG),
        ("callgraph", LONG),
        ("estimate", "--trace", LONG),
        ("estimate", "--family", "dflash", "--linear-tau", "6", "--model", LONG),
        ("trace", "check", LONG),
        ("new", "detector", "my.thing", "--into", LONG),
        ("probe-kernels", "--model", LONG),
        ("probe-kernels", "--environment", LONG),
        ("probe-kernels", "--model", "~nobody-at-all/config.json"),
        ("--config", LONG, "config", "show"),
    ],
)
def test_a_name_that_nothing_can_have_is_told(
    recon_command: Recon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Longer than a file system takes."""
    monkeypatch.chdir(tmp_path)
    ended = recon_command(*words)

    assert ended.code in {2, 3}
    assert ended.err.startswith("error: ")

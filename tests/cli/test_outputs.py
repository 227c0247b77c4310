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

"""Plug-ins: found by their entry point, and unable to take recon with them."""

import sys
from pathlib import Path

import pytest

from recon.plugins import Plugin, plugins
from recon.records.unknown import Unknown
from recon.report.format import formats


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that offers a format, a broken one, one under a name of ours, and something else."""
    info = tmp_path / "acme_recon-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-recon\nVersion: 1.0\n")
    points = ("count = acme_recon:FORMAT", "json = acme_recon:JSON", "other = acme_recon:OTHER", "bad = acme_broken:X")
    (info / "entry_points.txt").write_text("[recon.formats]\n" + "\n".join(points) + "\n")
    (tmp_path / "acme_recon.py").write_text(
        "from recon.report.format import Format\n"
        "FORMAT = Format('count', 'text/plain', lambda view: str(len(view.findings)))\n"
        "JSON = Format('json', 'text/plain', lambda view: 'not the JSON')\n"
        "OTHER = 7\n"
    )
    (tmp_path / "acme_broken.py").write_text("raise RuntimeError('it is Tuesday')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("RECON_PLUGINS", "on")
    for name in ("acme_recon", "acme_broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("installed")
def test_a_plug_in_is_found_with_its_distribution() -> None:
    found = {each.name: each for each in plugins("recon.formats") if isinstance(each, Plugin)}

    assert {"count", "json", "other"} == set(found)
    assert "acme-recon" == found["count"].distribution


@pytest.mark.usefixtures("installed")
def test_a_broken_plug_in_is_an_unknown_that_names_its_distribution() -> None:
    broken = [each for each in plugins("recon.formats") if isinstance(each, Unknown)]

    assert [Unknown("plug-in bad", "acme_broken:X of acme-recon", "RuntimeError: it is Tuesday")] == broken


@pytest.mark.usefixtures("installed")
def test_plug_ins_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECON_PLUGINS", "off")

    assert () == plugins("recon.formats")


@pytest.mark.usefixtures("installed")
def test_a_format_of_a_plug_in_is_added_and_takes_no_name_of_ours() -> None:
    found = formats()

    assert "text/plain" == found["count"].media_type
    assert "application/json" == found["json"].media_type
    assert "other" not in found

"""Package indexes are those of the user's pip, with and without pip, and are never shown."""

import os
import sys
from pathlib import Path

import pytest

from recon.errors import Unreachable
from recon.sources import pip_config
from recon.sources.pip_config import (
    PackageIndexes,
    configuration_mark,
    package_indexes,
    parse_config_list,
    read_files,
)

SECRET = "http://me:hunter2@127.0.0.1:9/simple"


def environment(folder: Path, text: str, **more: str) -> dict[str, str]:
    """Variables under which pip reads one file of ours, and no other user's file."""
    (folder / "pip.conf").write_text(text)
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CONFIG_DIRS": str(folder / "etc"),
        "PIP_CONFIG_FILE": str(folder / "pip.conf"),
        **more,
    }


def test_pip_itself_is_asked(tmp_path: Path) -> None:
    variables = environment(
        tmp_path,
        "[global]\nindex-url = http://127.0.0.1:9/a\ncert = /file\n"
        "[install]\nextra-index-url =\n  http://127.0.0.1:9/b\n  file:///c\n",
        PIP_CERT="/variable",
        PIP_TIMEOUT="7",
        PIP_TRUSTED_HOST="127.0.0.1 other:8080",
        PIP_FIND_LINKS="/wheels",
    )

    found = package_indexes(variables)

    assert ("http://127.0.0.1:9/a", "http://127.0.0.1:9/b", "file:///c") == found.urls
    assert "/wheels" in found.find_links
    assert ("/variable", 7.0, ("127.0.0.1", "other:8080")) == (found.cert, found.timeout_s, found.trusted_hosts)


def test_where_no_index_is_named_pips_own_is_used(tmp_path: Path) -> None:
    """Which one that is, pip's help says; here it is only seen that it is one of the web."""
    found = package_indexes(environment(tmp_path, "[global]\nextra-index-url = file:///more\n"))

    assert found.urls[0].startswith("https://")
    assert "file:///more" in found.urls


def test_no_index_leaves_the_folders(tmp_path: Path) -> None:
    found = package_indexes(environment(tmp_path, "[global]\nno-index = true\nfind-links = /wheels\n"))

    assert () == found.urls
    assert "/wheels" in found.find_links


def test_without_pip_its_files_and_variables_are_read(tmp_path: Path) -> None:
    (tmp_path / "config" / "pip").mkdir(parents=True)
    (tmp_path / "config" / "pip" / "pip.conf").write_text(
        "[global]\nindex_url = http://user/a\ncert = /user\n[list]\nx = y\n"
    )
    (tmp_path / "etc" / "pip").mkdir(parents=True)
    (tmp_path / "etc" / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = http://site/a\nproxy = http://site:3128\n"
    )
    variables = environment(tmp_path, "[install]\ntimeout = 5\n", PIP_CERT="/variable", PIP_INDEX_URL="")

    options = read_files(variables)

    assert ("http://user/a", "/variable", "http://site:3128", "5") == (
        options["index-url"],
        options["cert"],
        options["proxy"],
        options["timeout"],
    )
    assert "x" not in options


def test_with_and_without_pip_the_answer_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = environment(
        tmp_path,
        f"[global]\nindex-url = {SECRET}\nextra-index-url = http://127.0.0.1:9/x\n[install]\nfind-links = /a\n  /b\n",
        PIP_PROXY="http://127.0.0.1:3128",
    )
    asked = package_indexes(variables)
    monkeypatch.setattr(pip_config, "find_spec", lambda name: None)

    assert asked == package_indexes(variables)


def test_without_pip_and_without_configuration_there_is_nothing_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pip_config, "_files", lambda environ: iter(()))
    monkeypatch.setattr(pip_config, "find_spec", lambda name: None)

    with pytest.raises(Unreachable, match="no package index is configured"):
        package_indexes({"HOME": str(tmp_path)})


def test_a_null_configuration_file_means_no_files(tmp_path: Path) -> None:
    variables = environment(tmp_path, "[global]\nindex-url = http://127.0.0.1:9/a\n", PIP_CONFIG_FILE=os.devnull)

    assert {"config-file": os.devnull} == read_files(variables)


def test_files_that_make_no_sense_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_bytes(b"\xff\xfe[[[")

    variables = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}

    assert {"config-file"} == read_files(variables).keys() - read_files({"HOME": str(tmp_path)}).keys()


def test_a_file_called_pip_in_the_current_folder_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.py").write_text("import pathlib; pathlib.Path('ran').write_text('')")
    monkeypatch.chdir(tmp_path)

    package_indexes(environment(tmp_path, "[global]\nindex-url = http://127.0.0.1:9/a\n"))

    assert not (tmp_path / "ran").exists()


def test_a_pip_that_fails_is_replaced_by_its_files(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)

    found = package_indexes(environment(tmp_path, "[global]\nindex-url = http://127.0.0.1:9/a\n"), python=str(broken))

    assert ("http://127.0.0.1:9/a",) == found.urls


def test_lines_that_are_no_options_are_passed_over() -> None:
    text = "WARNING: something\nglobal.cert='/a'\nlist.format='json'\nglobal.broken='x\n:env:.no-index='1'\n"

    assert {"cert": "/a", "no-index": "1"} == parse_config_list(text)


def test_addresses_are_not_shown() -> None:
    indexes = PackageIndexes((SECRET,), (SECRET,), proxy=SECRET)

    assert "hunter2" not in repr(indexes)
    assert "hunter2" not in indexes.digest


def test_the_mark_changes_with_the_indexes_and_with_nothing_else(tmp_path: Path) -> None:
    one = environment(tmp_path, "[global]\nindex-url = http://127.0.0.1:9/a\n")

    assert configuration_mark(one) == configuration_mark({**one, "PIP_TIMEOUT": "3", "PIP_CERT": "/x"})
    assert configuration_mark(one) != configuration_mark({**one, "PIP_EXTRA_INDEX_URL": "http://127.0.0.1:9/b"})


@pytest.mark.parametrize("value", ["", "soon", "-3", "1e9", "nan"])
def test_a_time_limit_that_makes_no_sense_is_replaced(tmp_path: Path, value: str) -> None:
    variables = environment(tmp_path, "[global]\nindex-url = http://127.0.0.1:9/a\n", PIP_TIMEOUT=value)

    assert 30.0 == package_indexes(variables, python=f"{sys.executable}-missing").timeout_s

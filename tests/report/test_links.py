"""Addresses for an editor."""

from dataclasses import replace
from urllib.parse import unquote

import pytest

from recon.records.install import Engine
from recon.report.links import vscode
from tests.report.hand import EVIL, HOST, scan

VLLM = next(each for each in scan().installs if each.engine is Engine.VLLM)
HERE = replace(VLLM, location="/opt/a b/site-packages/")
FAR = replace(HOST, name="me@gpu-07.lab", transport="paramiko")


def test_a_place_of_this_machine_is_a_file() -> None:
    assert "vscode://file/opt/a%20b/site-packages/vllm/x.py:7" == vscode(HERE, HOST, "vllm/x.py", 7)


def test_a_place_of_a_host_is_opened_over_ssh() -> None:
    assert "vscode://vscode-remote/ssh-remote+me@gpu-07.lab/opt/a%20b/site-packages/vllm/x.py:7" == vscode(
        HERE, FAR, "vllm/x.py", 7
    )


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "gpu:2222", f"gpu{EVIL}", "gpu 7", "", "releases"])
def test_a_host_that_was_not_reached_or_means_something_else_gets_no_link(name: str) -> None:
    transport = "" if name == "releases" else "paramiko"

    assert "" == vscode(HERE, replace(FAR, name=name, transport=transport), "vllm/x.py", 7)


def test_no_place_is_guessed() -> None:
    """Of a release, of a package whose paths are counted from elsewhere, of a way out of the tree."""
    guessed = [
        vscode(replace(HERE, location="vllm-0.20.1.whl"), HOST, "vllm/x.py", 7),
        vscode(replace(HERE, engine=Engine.OTHER), HOST, "vllm/x.py", 7),
        vscode(HERE, HOST, "../../etc/x.py", 7),
    ]

    assert ["", "", ""] == guessed


def test_hostile_names_stay_inside_the_address() -> None:
    address = vscode(HERE, HOST, f"vllm/{EVIL}\udcff.py", 7)

    assert address.isascii()
    assert address.isprintable()
    assert set(" ;\\<>?#\"'").isdisjoint(address)
    assert EVIL in unquote(address)

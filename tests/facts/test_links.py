"""Links that users lay in folders of their own: nothing of others is read through them, those of installers are."""

import os
import shutil
from pathlib import Path

import pytest

from recon.facts.disk import is_own, site_on_disk
from recon.facts.fact import PLAIN, quote
from recon.facts.gather import gather
from recon.facts.installs import linked_packages
from recon.facts.sites import Link, Sites, sites
from recon.hosts.local import LocalShell
from recon.ports import Reply
from tests.facts.trees import Venv, make_dist, make_package, make_venv

SHELLS = [("dash", "-s"), ("bash", "--posix", "-s"), ("busybox", "ash", "-s")]


@pytest.fixture
def env(tmp_path: Path) -> Venv:
    """An empty virtual environment."""
    return make_venv(tmp_path / "env")


def plant_links(env: Venv, tmp_path: Path) -> None:
    """What a user may lay into a folder of his own, for root to read to him; every word of it begins with Qz."""
    others = {
        "key": "-----BEGIN KEY-----\nQzKey\n-----END KEY-----\n",
        "shadow": "QzShadow\n",
        "settings": "Name: QzName\nVersion: QzVersion\nversion = '7.7.7+Qz'\nhome = /Qz\n",
        "module.txt": "MAPPING = {'sglang': '/QzModule'}\n",
        "url": '{"url": "file:///QzUrl", "dir_info": {"editable": true}}',
        "tops": "QzTop\n",
    }
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    (env.site / "QzTop").mkdir()
    make_package(env.site, "vllm")
    info, late = make_dist(env.site, "vllm", "1.0"), "__editable___sglang_1_0_finder"
    (info / "METADATA").unlink()
    (env.site / f"{late}.pth").write_text(f"import {late}\n")
    for link, name in {
        env.site / "evil.pth": "key",
        env.site / "evil.egg-link": "key",
        env.site / f"{late}.py": "module.txt",
        env.site / "vllm" / "_version.py": "settings",
        env.site / "sglang-2.egg-info": "settings",
        info / "METADATA": "settings",
        info / "INSTALLER": "shadow",
        info / "direct_url.json": "url",
        info / "top_level.txt": "tops",
    }.items():
        link.symlink_to(tmp_path / name)
    (env.site / "plain.pth").write_text("password=QzLine\n  QzLine2\n")
    (env.site / "plain.egg-link").write_text("token QzToken\n")
    make_dist(env.site, "lmdeploy", "1.0", INSTALLER="root:$6$QzHash:19000::\n")


@pytest.mark.parametrize("program", [*SHELLS, ()], ids=lambda program: next(iter(program), "here"))
def test_nothing_of_others_is_read_through_links(program: tuple[str, ...], env: Venv, tmp_path: Path) -> None:
    """Nor what stands in a file for paths and names is taken for some: no path, no name, no word of it is told."""
    if program and shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    plant_links(env, tmp_path)
    asked = sites([str(env.site)])
    said = LocalShell(program=program).run(asked.command).stdout if program else repr(site_on_disk(env.site))
    site = asked.parse(Reply(said, "", 0)).sites[0] if program else site_on_disk(env.site)

    assert ("Qz" in said, "Qz" in repr(site)) == (False, False)
    assert [(f"{env.site}/vllm", "")] == [(one.path, one.version) for one in site.packages]
    assert [""] * 3 == [one.installer for one in site.dists]
    assert () == linked_packages(Sites((site,), ()))


@pytest.mark.parametrize("program", [*SHELLS, ()], ids=lambda program: next(iter(program), "here"))
def test_links_that_installers_make_are_followed(program: tuple[str, ...], env: Venv, tmp_path: Path) -> None:
    """uv's lead to files of the same name in its cache, others to a neighbour."""
    if program and shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    cache, src = tmp_path / "cache", make_package(tmp_path / "src", "sglang").parent
    make_package(env.site, "vllm")
    cached = make_dist(cache, "vllm", "1.0", INSTALLER="uv\n", top_level="vllm\n")
    (cache / "src.pth").write_bytes(b"\xef\xbb\xbf" + os.fsencode(src) + b" \r\nQz\n")
    info = env.site / cached.name
    info.mkdir()
    for name in ("METADATA", "INSTALLER"):
        (info / name).symlink_to(cached / name)
    (env.site / "src.pth").symlink_to(cache / "src.pth")
    (env.site / "vllm" / "_version.py").symlink_to("version_of.txt")
    (env.site / "vllm" / "version_of.txt").write_text("__version__ = '1.0'\n")
    asked = sites([str(env.site)])
    values, _ = gather(LocalShell(program=program or ("sh", "-s")), [asked])
    site = site_on_disk(env.site) if not program else (values.of(asked) or Sites((), ())).sites[0]

    assert [("vllm", "1.0", "uv")] == [(one.name, one.version, one.installer) for one in site.dists]
    assert ["1.0"] == [one.version for one in site.packages]
    assert (Link("src.pth", str(src)),) == site.links


@pytest.mark.parametrize("program", [*SHELLS, ()], ids=lambda program: next(iter(program), "here"))
def test_what_the_kernel_makes_up_is_not_read(program: tuple[str, ...], tmp_path: Path) -> None:
    """It may wait for ever, as /proc/kmsg does, or change by being read; shared memory holds files like others."""
    if not Path("/proc/version").exists():
        pytest.skip("there is no /proc here")
    if program and shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    (tmp_path / "INSTALLER").symlink_to("/proc/sys/kernel/ostype")
    (tmp_path / "version").symlink_to("/proc/version")
    (tmp_path / "own").write_text("x")
    asked = [(tmp_path / "INSTALLER", tmp_path), (tmp_path / "version", tmp_path), (Path("/proc/version"), "/proc")]
    asked += [(tmp_path / "own", tmp_path), (tmp_path / "own", Path("/elsewhere"))]
    words = [f"plain {quote(str(file))} {quote(str(folder))} && echo yes || echo no" for file, folder in asked]
    said = LocalShell(program=program or ("sh", "-s")).run("\n".join([PLAIN, *words])).stdout.split()
    told = said if program else ["yes" if is_own(file, str(folder)) else "no" for file, folder in asked]

    assert ["no", "no", "no", "yes", "yes"] == told

"""Installs in environments: found without starting Python, and in the order in which Python would import them."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.facts.disk import package_on_disk, site_on_disk
from recon.facts.gather import gather
from recon.facts.installs import discover, linked_packages
from recon.facts.pythons import pythons
from recon.facts.sites import Sites, packages, sites
from recon.facts.texts import direct_url_in
from recon.hosts.local import LocalShell
from recon.records.host import PythonEnv
from recon.records.install import Engine, Found
from tests.facts.trees import (
    Venv,
    editable,
    make_dist,
    make_package,
    make_venv,
    redirect_first,
    redirect_late,
)

SHELLS = [("dash", "-s"), ("bash", "--posix", "-s"), ("busybox", "ash", "-s")]


@pytest.fixture
def env(tmp_path: Path) -> Venv:
    """An empty virtual environment."""
    return make_venv(tmp_path / "env")


def found_in(env: Venv, **variables: str) -> tuple[Found, ...]:
    """What is found in one environment, through the shell."""
    shell = LocalShell(environment={"PATH": os.environ["PATH"], "LC_ALL": "C", **variables})
    found, unknowns = discover(shell, [PythonEnv(str(env.prefix), "venv", "", (str(env.site),))])

    assert () == unknowns
    return found


def folder_of(found: Found) -> str:
    """The package folder of an install."""
    return f"{found.root}/{found.packages[0]}"


def wheel_over_path(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm", "0.20.1")
    make_dist(env.site, "vllm", "0.20.1")
    make_package(src, "vllm", "0.21.0")
    (env.site / "z.pth").write_text(f"# a comment\n\n{src}\n")


def two_paths_by_file_name(env: Venv, src: Path) -> None:
    for name in ("b", "a"):
        make_package(src / name, "vllm")
        (env.site / f"{name}.pth").write_text(f"{src / name}\n")


def editable_by_path(env: Venv, src: Path) -> None:
    make_package(src / "python", "vllm", "0.21.0")
    make_dist(env.site, "vllm", "0.21.0", direct_url=editable(src))
    (env.site / "__editable__.vllm-0.21.0.pth").write_text(f"{src / 'python'}\n")


def editable_by_late_redirect(env: Venv, src: Path) -> None:
    redirect_late(env.site, "vllm", make_package(src, "vllm"))


def late_redirect_below_a_wheel(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm")
    redirect_late(env.site, "vllm", make_package(src, "vllm"))


def late_redirect_below_a_folder_without_init(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm", regular=False)
    redirect_late(env.site, "vllm", make_package(src, "vllm"))


def first_redirect_above_a_wheel(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm")
    redirect_first(env.site, "vllm", make_package(src, "vllm"))


def first_redirect_of_newer_name(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm")
    redirect_first(env.site, "vllm", make_package(src, "vllm"), "_editable_skbc_vllm")


def path_above_a_folder_without_init(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm", regular=False)
    make_package(src, "vllm")
    (env.site / "src.pth").write_text(f"{src}\n")


def relative_path(env: Venv, src: Path) -> None:
    make_package(env.site / "nested", "vllm")
    (env.site / "nested.pth").write_text("nested\n")


def path_that_is_gone(env: Venv, src: Path) -> None:
    make_package(src, "vllm")
    (env.site / "a.pth").write_text("/nowhere/at/all\n")
    (env.site / "b.pth").write_text(f"{src}")


def linked_folder(env: Venv, src: Path) -> None:
    (env.site / "vllm").symlink_to(make_package(src, "vllm"))


def hidden_path(env: Venv, src: Path) -> None:
    make_package(env.site, "vllm")
    make_package(src, "vllm")
    (env.site / "not-a-pth.txt").write_text(f"{src}\n")


LAYOUTS = [
    wheel_over_path,
    two_paths_by_file_name,
    editable_by_path,
    editable_by_late_redirect,
    late_redirect_below_a_wheel,
    late_redirect_below_a_folder_without_init,
    first_redirect_above_a_wheel,
    first_redirect_of_newer_name,
    path_above_a_folder_without_init,
    relative_path,
    path_that_is_gone,
    linked_folder,
    hidden_path,
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_the_tree_that_python_imports_comes_first(
    layout: Callable[[Venv, Path], None], env: Venv, tmp_path: Path
) -> None:
    """Python of that environment is the judge. What it would not import is marked as shadowed."""
    layout(env, tmp_path / "src")
    imported = os.path.realpath(env.origin("vllm"))
    found = found_in(env)
    first = [one for one in found if "shadowed by" not in one.provenance.note]
    rest = [one for one in found if "shadowed by" in one.provenance.note]

    # A folder without __init__ can win an import, but is no tree of an engine.
    expected = [imported] if (Path(imported) / "__init__.py").exists() else []
    assert expected == [os.path.realpath(folder_of(one)) for one in first]
    assert all(f"shadowed by {imported}" in one.provenance.note for one in rest)
    assert found


def test_python_path_comes_before_the_environment(env: Venv, tmp_path: Path) -> None:
    """It is noted, and the install of the environment is marked."""
    make_package(env.site, "vllm", "0.20.1")
    src = make_package(tmp_path / "src", "vllm", "0.21.0").parent
    found = found_in(env, PYTHONPATH=str(src))

    assert str(src / "vllm") == env.origin("vllm", {"PYTHONPATH": str(src)})
    assert [("0.21.0", "", str(src)), ("0.20.1", str(env.prefix), str(env.site))] == [
        (one.version, one.provenance.environment, one.root) for one in found
    ]
    assert "on PYTHONPATH" in found[0].provenance.note
    assert f"shadowed by {src}/vllm" == found[1].provenance.note


def test_a_wheel_is_found_with_all_that_its_metadata_says(env: Venv) -> None:
    """Version, installer, archive, every folder that it brought."""
    make_package(env.site, "sgl_kernel", "0.3.21")
    make_package(env.site, "deep_gemm")
    files = ("sgl_kernel/__init__.py", "deep_gemm/__init__.py", "include/x.h", "../../bin/x", "x.dist-info/RECORD")
    record = "".join(f"{file},,\n" for file in files)
    digest = "0f" * 32
    archive = f'{{"hashes": {{"sha256": "{digest}"}}}}'
    url = f'{{"url": "https://me:secret@wheels.example/k.whl?sig=1", "archive_info": {archive}}}'
    info = make_dist(env.site, "sgl-kernel", "0.3.21", RECORD=record, INSTALLER="uv\n", direct_url=url)
    (found,) = found_in(env)

    assert (Engine.SGL_KERNEL, "0.3.21", ("sgl_kernel", "deep_gemm")) == (found.engine, found.version, found.packages)
    assert str(info) == found.dist_info
    assert ("wheel", "uv", "https://wheels.example/k.whl", digest) == (
        found.provenance.kind,
        found.provenance.installer,
        found.provenance.origin,
        found.provenance.sha256,
    )


def test_credentials_do_not_leave_the_machine(env: Venv) -> None:
    """What the script prints is searched, in every spelling that JSON allows; the parser's own care comes on top."""
    spellings = [
        "https://me:hunter2@h/x.whl",
        "https:\\/\\/me:hunter2@h\\/x.whl",
        "https:\\u002f\\u002Fme:hunter2\\u0040h/x.whl",
        "https://h/x.whl?token=hunter2",
        "https://h/x.whl#token=hunter2",
        "https\\u003a//me:hun@hunter2@h/x.whl",
    ]
    for number, url in enumerate(spellings):
        make_dist(env.site, "vllm", f"0.{number}", direct_url=f'{{\n  "url": "{url}",\n "archive_info": {{}}}}')
    reply = LocalShell().run(sites([str(env.site)]).command)

    assert len(spellings) == reply.stdout.count("url\t")
    assert "hunter2" not in reply.stdout + reply.stderr


ODD = st.text(st.sampled_from("aZ9/@#?:\\\"'%&+ .é[]{}$`*|<>!=\xff") | st.characters(exclude_categories=["Cs", "Cc"]))
URL = st.builds(
    "{}{}{}".format,
    st.sampled_from(["https://", "git+ssh://", "file:///", "file://", "", "http:/"]),
    st.builds("me:KEPT{}KEPT@".format, ODD) | st.just(""),
    st.builds("host/{}".format, ODD),
)


@settings(max_examples=8, deadline=None)
@given(st.lists(URL, min_size=40, max_size=40), st.booleans())
def test_the_machine_tells_of_a_url_what_is_made_of_it_here(urls: list[str], ascii_only: bool) -> None:
    """The same, whatever characters stand in it; and no password is in what the machine prints."""
    with tempfile.TemporaryDirectory() as folder:
        texts = [json.dumps({"url": url, "archive_info": {}}, ensure_ascii=ascii_only) for url in urls]
        for number, text in enumerate(texts):
            make_dist(Path(folder), "vllm", f"{number:03}", direct_url=text)
        reply = LocalShell().run(sites([folder]).command)
    told = [line.partition("\t")[2] for line in reply.stdout.splitlines() if line.startswith("url\t")]

    assert [direct_url_in(text) for text in texts] == [direct_url_in(text) for text in told]
    assert [] == [
        line for line, url in zip(told, urls, strict=True) if "KEPT" in line and not url.startswith("file:///")
    ]


def test_a_url_that_was_cut_off_is_not_told(env: Venv) -> None:
    """Of a long file only the first part is read, and that may end within a password."""
    make_dist(env.site, "vllm", "1", direct_url='{"url": "https://me:' + "hunter2" * 2000 + '@host/x"}')
    reply = LocalShell().run(sites([str(env.site)]).command)

    assert "url\t" in reply.stdout
    assert "hunter2" not in reply.stdout


def test_bytes_that_are_no_text_hide_no_credential(env: Venv) -> None:
    """In a locale of UTF-8 a pattern would stop at them."""
    info = make_dist(env.site, "vllm", "1")
    (info / "direct_url.json").write_bytes(b'{"url": "https://me:hunter2\xe4hunter2@host/x"}')
    reply = LocalShell(environment={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}).run(
        sites([str(env.site)]).command
    )

    assert "https://host/x" in reply.stdout
    assert "hunter2" not in reply.stdout


def test_of_two_distributions_in_one_folder_the_files_tell_whose_they_are(env: Venv) -> None:
    """sglang-kernel was installed over sgl-kernel, and both left metadata."""
    make_package(env.site, "sgl_kernel", "0.4.10")
    make_dist(env.site, "sgl-kernel", "0.3.21")
    make_dist(env.site, "sglang-kernel", "0.4.10")
    (found,) = found_in(env)

    assert (Engine.SGLANG_KERNEL, "0.4.10") == (found.engine, found.version)
    assert "also claimed by sgl_kernel 0.3.21" == found.provenance.note


def test_an_editable_whose_metadata_is_stale_says_so(env: Venv, tmp_path: Path) -> None:
    """The version string lies; the files are named beside it."""
    make_package(tmp_path / "src", "sglang", "0.5.6.post2")
    make_dist(env.site, "sglang", "0.3.1.dev217", direct_url=editable(tmp_path / "src"))
    (env.site / "sglang.pth").write_text(f"{tmp_path / 'src'}\n")
    (found,) = found_in(env)

    assert ("editable", "0.3.1.dev217") == (found.provenance.kind, found.version)
    assert "metadata says 0.3.1.dev217, the files say 0.5.6.post2" in found.provenance.note


def test_an_egg_link_leads_to_its_checkout(env: Venv, tmp_path: Path) -> None:
    """As old setuptools develops."""
    make_package(tmp_path / "src", "lmdeploy", "0.6")
    (env.site / "lmdeploy.egg-link").write_text(f"{tmp_path / 'src'}\n.")
    (found,) = found_in(env)

    assert (Engine.LMDEPLOY, "0.6", "editable", str(tmp_path / "src")) == (
        found.engine,
        found.version,
        found.provenance.kind,
        found.root,
    )


def test_an_editable_of_an_unknown_kind_is_found_by_where_it_was_installed_from(env: Venv, tmp_path: Path) -> None:
    """The link is one that recon cannot read; direct_url.json still tells."""
    make_package(tmp_path / "src" / "python", "sglang", "0.5")
    make_dist(env.site, "sglang", "0.5", direct_url=editable(tmp_path / "src"))
    (env.site / "odd.pth").write_text("import odd_loader\n")
    (found,) = found_in(env)

    assert (str(tmp_path / "src" / "python"), "through direct_url.json") == (found.root, found.provenance.note)


def test_metadata_without_a_package_is_an_unknown(env: Venv) -> None:
    """A broken install is neither silently skipped nor reported as one."""
    make_dist(env.site, "vllm", "0.20.1", direct_url=editable(Path("/gone/vllm")))
    found, unknowns = discover(LocalShell(), [PythonEnv(str(env.prefix), "venv", "", (str(env.site),))])

    assert () == found
    assert ["there is metadata of vllm 0.20.1, and no package vllm where it leads"] == [one.why for one in unknowns]


def test_files_that_are_links_into_a_cache_lead_to_the_cache(env: Venv, tmp_path: Path) -> None:
    """uv can install by symbolic links; readers that follow no links must be sent to the files."""
    cache = make_package(tmp_path / "cache" / "a1b2", "vllm", "0.20.1")
    (env.site / "vllm").mkdir()
    for file in cache.iterdir():
        (env.site / "vllm" / file.name).symlink_to(file)
    (found,) = found_in(env)

    assert (str(cache.parent), "0.20.1") == (found.root, found.version)


def test_other_distributions_with_a_similar_name_are_not_taken_for_engines(env: Venv) -> None:
    """vllm_flash_attn is not vllm."""
    make_package(env.site, "vllm_flash_attn")
    make_dist(env.site, "vllm-flash-attn", "2.6")
    make_dist(env.site, "sglang-router", "0.1")

    assert () == found_in(env)


def test_nothing_is_run_and_nothing_is_written(env: Venv, tmp_path: Path) -> None:
    """Lines and modules that Python would execute are text to recon; no file comes into being."""
    trap = tmp_path / "sprung"
    code = f"open({str(trap)!r}, 'w')"
    (env.site / "trap.pth").write_text(f"import os; {code}\n")
    (env.site / "__editable___vllm_1_finder.py").write_text(f"{code}\nMAPPING = {{'vllm': {code}}}\n")
    (env.site / "__editable__.vllm.pth").write_text("import __editable___vllm_1_finder\n")
    (env.site / "$(touch sprung)").mkdir()
    (make_package(env.site, "vllm") / "version.py").write_text(f"__version__ = {code}\n")
    make_package(tmp_path / "`touch sprung`", "sglang")
    (env.site / "names.pth").write_text(f"{tmp_path}/`touch sprung`\n$(touch {trap})\n'; touch {trap}; '\n")
    before = sorted(tmp_path.rglob("*"))
    found = found_in(env)

    assert [Engine.VLLM, Engine.SGLANG] == [one.engine for one in found]
    assert before == sorted(tmp_path.rglob("*"))


def test_names_and_values_that_no_report_can_hold_are_left_out_or_mended(env: Venv, tmp_path: Path) -> None:
    """Bytes that are no UTF-8 would break the JSON of a run, control characters a terminal."""
    odd = os.fsencode(tmp_path) + b"/\xff"
    make_package(Path(os.fsdecode(odd)), "sglang")
    (env.site / "odd.pth").write_bytes(odd + b"\n")
    (make_package(env.site, "vllm") / "_version.py").write_bytes(b"__version__ = '1.\x1b[31m'\n")
    info = make_dist(env.site, "vllm", "1.0")
    (info / "METADATA").write_bytes(b"Name: vllm\nVersion: 1.0\x1b[2J\xff\xc2\x9b\xe2\x80\xae\n")
    (info / "INSTALLER").write_bytes(b"pip\x1b[2J\xff\n")
    (found,) = found_in(env)
    (direct,) = site_on_disk(env.site).dists

    assert ("1.0\ufffd[2J\ufffd\ufffd\ufffd", "") == (found.version, found.provenance.installer)
    assert (direct.version, direct.installer) == (found.version, found.provenance.installer)


def test_pipes_and_devices_are_not_opened(env: Venv) -> None:
    """A reader would wait for ever."""
    make_package(env.site, "vllm")
    os.mkfifo(env.site / "vllm" / "_version.py")
    os.mkfifo(env.site / "a.pth")
    os.mkfifo(make_dist(env.site, "vllm", "1.0") / "INSTALLER")
    (found,) = found_in(env)

    assert "1.0" == found.version
    assert [found.version] == [dist.version for dist in site_on_disk(env.site).dists]


@pytest.mark.parametrize("program", SHELLS, ids=lambda program: program[0])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_every_shell_and_the_direct_reader_see_the_same(
    layout: Callable[[Venv, Path], None], program: tuple[str, ...], env: Venv, tmp_path: Path
) -> None:
    """Two ways to the same records: each is the other's oracle."""
    if shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    layout(env, tmp_path / "src")
    make_dist(env.site, "flashinfer-python", "0.7", RECORD="flashinfer/a.py,,\n", INSTALLER="pip\n")
    make_package(env.site, "flashinfer", "0.7")
    asked = sites([str(env.site)])
    values, _ = gather(LocalShell(program=program), [asked])
    direct = site_on_disk(env.site)
    look = packages(linked_packages(Sites((direct,), ())))
    linked, _ = gather(LocalShell(program=program), [look])
    listed = values.of(asked)

    assert listed is not None
    assert (direct.links, direct.packages) == (listed.sites[0].links, listed.sites[0].packages)
    assert [(one.folder, one.name, one.version, one.installer, one.tops) for one in direct.dists] == [
        (one.folder, one.name, one.version, one.installer, one.tops) for one in listed.sites[0].dists
    ]
    assert [direct_url_in(one.direct_url) for one in direct.dists] == [
        direct_url_in(one.direct_url) for one in listed.sites[0].dists
    ]
    paths = linked_packages(Sites((direct,), ()))
    assert [package for path in paths if (package := package_on_disk(Path(path)))] == list(linked.of(look) or ())


def test_the_users_folder_shadows_an_interpreter_but_not_a_sealed_venv(tmp_path: Path) -> None:
    """~/.local comes before the site-packages of a conda environment, and not at all in a venv."""
    user = tmp_path / "home/.local/lib/python3.12/site-packages"
    conda = tmp_path / "conda/lib/python3.12/site-packages"
    venv = tmp_path / "venv/lib/python3.12/site-packages"
    for site, version in ((user, "1.0"), (conda, "2.0"), (venv, "3.0")):
        make_package(site, "vllm", version)
    (tmp_path / "conda" / "conda-meta").mkdir()
    (tmp_path / "venv" / "pyvenv.cfg").write_text(
        f"home = {tmp_path}/conda/bin\ninclude-system-site-packages = false\n"
    )
    shell = LocalShell(environment={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(tmp_path / "home")})
    ask = pythons([str(tmp_path / "conda"), str(tmp_path / "venv")])
    values, _ = gather(shell, [ask])
    listed = values.of(ask)

    assert listed is not None
    ours = [one for one in listed.environments if one.prefix.startswith(str(tmp_path))]
    found, _ = discover(shell, ours)
    notes = {one.version: (one.provenance.environment, one.provenance.note) for one in found}
    assert {
        "1.0": (str(tmp_path / "home/.local"), ""),
        "2.0": (str(tmp_path / "conda"), f"shadowed by {user}/vllm"),
        "3.0": (str(tmp_path / "venv"), ""),
    } == notes

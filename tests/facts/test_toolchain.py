"""What a machine can build kernels with, looked for in small environments by every sh."""

import shutil
from pathlib import Path

import pytest

from recon.facts.fact import Fact
from recon.facts.gather import gather
from recon.facts.toolchain import PROGRAMS, TOOLCHAIN, KernelEnv, kernel_envs
from recon.hosts.local import LocalShell
from recon.records.host import PythonEnv

SHELLS = [("dash", "-s"), ("bash", "--posix", "-s"), ("busybox", "ash", "-s")]


def environment(tmp_path: Path, name: str, *dists: str, home: str = "") -> PythonEnv:
    """A virtual environment of Python 3.12 with the metadata of some distributions."""
    prefix = tmp_path / name
    site = prefix / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    for dist in dists:
        (site / f"{dist}.dist-info").mkdir()
    if home:
        (prefix / "pyvenv.cfg").write_text(f"home = {home}/bin\nversion = 3.12.1\n")
    return PythonEnv(str(prefix), "venv", "3.12", (str(site),))


@pytest.mark.parametrize("program", SHELLS, ids=lambda program: program[0])
def test_versions_and_headers_are_found(program: tuple[str, ...], tmp_path: Path) -> None:
    """Of torch, of Triton under each of its names, and of the headers of the Python below an environment."""
    if shutil.which(program[0]) is None:
        pytest.skip("programs of the system are missing here")
    base = tmp_path / "a base"
    (base / "include" / "python3.12").mkdir(parents=True)
    (base / "include" / "python3.12" / "Python.h").touch()
    asked = [
        environment(tmp_path, "both", "torch-2.9.0+cu129", "triton-3.5.0", "torchvision-0.24.0", home=str(base)),
        environment(tmp_path, "it's rocm", "torch-2.6.0", "pytorch_triton_rocm-3.2.0"),
        environment(tmp_path, "neither", "tritonclient-2.0", "torchaudio-2.9.0"),
        environment(tmp_path, "alone", "triton-3.1.0"),
    ]
    fact: Fact[tuple[KernelEnv, ...]] = kernel_envs(asked)
    values, unknowns = gather(LocalShell(program=program), [fact])

    assert () == unknowns
    assert values.of(fact) == (
        KernelEnv(str(tmp_path / "both"), "3.12", "2.9.0+cu129", "3.5.0", str(base / "include" / "python3.12")),
        KernelEnv(str(tmp_path / "it's rocm"), "3.12", "2.6.0", "3.2.0", ""),
        KernelEnv(str(tmp_path / "alone"), "3.12", "", "3.1.0", ""),
    )


def test_the_first_folder_of_the_import_path_speaks(tmp_path: Path) -> None:
    """Where two have the same distribution, Python takes the first."""
    near, far = (
        environment(tmp_path, "near", "torch-2.9.0"),
        environment(tmp_path, "far", "torch-2.5.0", "triton-3.1.0"),
    )
    both = PythonEnv(near.prefix, "venv", "3.12", (*near.site_packages, *far.site_packages))
    fact = kernel_envs([both])
    values, _ = gather(LocalShell(), [fact])

    assert (KernelEnv(near.prefix, "3.12", "2.9.0", "3.1.0", ""),) == values.of(fact)


@pytest.mark.parametrize("program", SHELLS, ids=lambda program: program[0])
def test_programs_are_found_on_the_path_and_nowhere_else(program: tuple[str, ...], tmp_path: Path) -> None:
    """A folder of ours is the whole path; gcc comes before clang."""
    found = shutil.which(program[0])
    if found is None:
        pytest.skip("programs of the system are missing here")
    for name in ("clang", "gcc", "tar"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    shell = LocalShell(program=(found, *program[1:]), environment={"PATH": str(tmp_path), "LC_ALL": "C"})
    values, unknowns = gather(shell, [TOOLCHAIN])
    tools = values.of(TOOLCHAIN)

    assert () == unknowns
    assert tools
    assert {name: str(tmp_path / name) for name in PROGRAMS if name in {"clang", "gcc", "tar"}} == tools.programs
    assert str(tmp_path / "gcc") == tools.compiler

"""`recon doctor`: each line says whether something is there, and what to do about what is not."""

import json
import re
import shutil
from pathlib import Path

import pytest

from recon.cli.checks import Check, machine, ssh_here, way_to
from recon.hosts.effective import configuration, effective
from recon.hosts.local import LocalShell, clean_environment
from recon.hosts.target import parse
from tests.cli.conftest import Recon

GPU_ROW = "0, GPU-7f3a, NVIDIA RTX PRO 6000, 12.0, 97887, 580.65.06"


def program(folder: Path, name: str, body: str = "") -> None:
    """A program of a test's own."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def environment(tmp_path: Path, *dists: str, headers: bool = True) -> Path:
    """A virtual environment with some distributions."""
    prefix = tmp_path / "venv"
    site = prefix / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text(f"home = {prefix}/bin\nversion = 3.12.1\n")
    for dist in dists:
        (site / f"{dist}.dist-info").mkdir()
    if headers:
        (prefix / "include" / "python3.12").mkdir(parents=True)
        (prefix / "include" / "python3.12" / "Python.h").touch()
    return prefix


def looked_at(tmp_path: Path, prefix: Path | None = None) -> dict[str, Check]:
    """What is said of a machine with the programs in `bin`, before those of the system, by what was looked at."""
    here = clean_environment({"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "HOME": str(tmp_path)})
    shell = LocalShell("gpu07", environment=here | ({"VIRTUAL_ENV": str(prefix)} if prefix else {}))
    found = [check for check in machine(shell, "gpu07") if check.what != "Python" or str(tmp_path) in check.detail]
    return {check.what: check for check in found}


def test_a_machine_for_probes_is_ok(tmp_path: Path) -> None:
    """A GPU, a compiler, an environment in the range."""
    program(tmp_path / "bin", "nvidia-smi", f"echo '{GPU_ROW}'")
    program(tmp_path / "bin", "gcc")
    said = looked_at(tmp_path, environment(tmp_path, "torch-2.9.0+cu129", "triton-3.5.0"))

    assert ["ok"] * 3 == [said[what].standing for what in ("GPU", "C compiler", "Python")]
    assert "0: NVIDIA RTX PRO 6000, sm 12.0, 95.6 GiB, driver 580.65.06" == said["GPU"].detail
    assert f"{tmp_path}/bin/gcc" == said["C compiler"].detail
    assert f"{tmp_path}/venv: Python 3.12, torch 2.9.0+cu129, triton 3.5.0" == said["Python"].detail
    assert {"gpu07"} == {check.where for check in said.values()}


@pytest.mark.parametrize(
    ("dists", "headers", "hint"),
    [
        (("torch-2.9.0", "triton-3.2.0"), True, "triton 3.2.0 is older than 3.3.1, the first for sm_120"),
        (("torch-2.3.0", "triton-3.5.0"), True, "torch 2.3.0 is older than 2.4"),
        (("torch-2.9.0",), True, "there is no triton"),
        (("torch-2.9.0", "triton-3.5.0"), False, "Python.h of 3.12 is missing"),
    ],
)
def test_an_environment_that_cannot_run_probes_says_why(
    dists: tuple[str, ...], headers: bool, hint: str, tmp_path: Path
) -> None:
    """With the GPU's architecture in mind."""
    program(tmp_path / "bin", "nvidia-smi", f"echo '{GPU_ROW}'")
    check = looked_at(tmp_path, environment(tmp_path, *dists, headers=headers))["Python"]

    assert "warn" == check.standing
    assert hint in check.hint


def test_a_sick_driver_and_no_gpu_are_warnings(tmp_path: Path) -> None:
    """One is not the other; a host without a GPU is good for scans."""
    program(
        tmp_path / "bin", "nvidia-smi", "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18"
    )
    sick = looked_at(tmp_path)
    program(tmp_path / "bin", "nvidia-smi", "echo No devices were found; exit 6")
    none = looked_at(tmp_path)

    assert ("warn", True) == (sick["gpus"].standing, "version mismatch" in sick["gpus"].detail)
    assert ("warn", True) == (none["GPU"].standing, "probe-kernels" in none["GPU"].hint)


def test_an_agent_that_is_gone_and_none_at_all_are_warnings(tmp_path: Path) -> None:
    """Keys in files still serve."""
    gone = [check for check in ssh_here(tmp_path / "gone") if check.what == "agent"]
    none = [check for check in ssh_here(None) if check.what == "agent"]

    assert ["warn"] == [check.standing for check in gone]
    assert str(tmp_path / "gone") in gone[0].detail
    assert [("warn", "no agent in SSH_AUTH_SOCK")] == [(check.standing, check.detail) for check in none]


def test_the_way_to_a_host_without_an_ssh_program_says_what_is_missing(tmp_path: Path) -> None:
    """Neither its configuration nor a key of it is known."""
    hop = effective(parse("no-such-host"), program="/no-such-ssh")
    said = {check.what: check for check in way_to("no-such-host", [hop])}

    assert "there is no ssh program, so ~/.ssh/config was not read" == said["configuration"].detail
    assert ("missing", "no key of no-such-host is known") == (said["known host"].standing, said["known host"].detail)


def test_what_is_missing_here_sets_the_exit_code(recon_command: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON and as rows: the same checks."""
    checks = [Check("here", "ssh", "ok", "/usr/bin/ssh"), Check("here", "GPU", "missing", "none", "Scans need none.")]
    monkeypatch.setattr("recon.cli.doctor._here", lambda config, alone: iter(checks))
    rows, told = recon_command("doctor"), recon_command("doctor", "--json")
    monkeypatch.setattr("recon.cli.doctor._here", lambda config, alone: iter(checks[:1]))
    good = recon_command("doctor")

    assert (3, 3, 0) == (rows.code, told.code, good.code)
    assert "ok\there\tssh\t/usr/bin/ssh\t\nmissing\there\tGPU\tnone\tScans need none.\n" == rows.out
    assert {"where": "here", "what": "GPU", "standing": "missing", "detail": "none", "hint": "Scans need none."} == (
        json.loads(told.out)["checks"][1]
    )


def test_a_screen_puts_the_hint_below(recon_command: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a host says of itself does not leave its cell."""
    checks = [Check("gpu07", "machine", "warn", "evil\x1b[2J\nname", "Do this.")]
    monkeypatch.setattr("recon.cli.doctor._here", lambda config, alone: iter(checks))
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = recon_command("doctor").out

    assert "\x1b[2J" not in shown
    assert ["Do this."] == [
        line.split("m")[-2].removesuffix("\x1b[0") for line in shown.splitlines() if "Do this" in line
    ]


def test_a_name_that_is_no_host_is_a_usage_error(recon_command: Recon) -> None:
    """Before anything is looked at."""
    ended = recon_command("doctor", "--host", "-oProxyCommand=x")

    assert (2, "") == (ended.code, ended.out)
    assert "is no name of a host" in ended.err


ALL = re.findall(
    r"\w+",
    "sh cat head tail tr sed awk grep find sort uniq cut readlink stat od dd"
    " tar gzip sha256sum setsid timeout nice ionice uname id date env sleep true",
)


def with_programs(folder: Path, *lacking: str, afar: bool = True) -> list[Check]:
    """What is said of the programs of a machine that has those of this one, but for a few."""
    folder.mkdir()
    for name in set(ALL) - set(lacking):
        real = shutil.which(name)
        assert real is not None
        (folder / name).symlink_to(real)
    shell = LocalShell("gpu07", environment={"PATH": str(folder), "HOME": str(folder)})
    return [each for each in machine(shell, "gpu07", afar=afar) if each.what == "programs"]


@pytest.mark.parametrize(
    ("lacking", "standing", "detail", "hint"),
    [
        (("find",), "missing", "no find", "install them there"),
        (("od", "dd"), "missing", "no od, dd", "install them there"),
        (("tar",), "warn", "no tar", "one file at a time"),
        (("sha256sum",), "warn", "no sha256sum", "lists all files"),
        (("timeout", "setsid"), "warn", "no timeout, setsid", "less gentle"),
    ],
)
def test_a_program_that_scans_need_is_named_where_it_is_missing(
    lacking: tuple[str, ...], standing: str, detail: str, hint: str, tmp_path: Path
) -> None:
    """What something else can do is a warning."""
    said = with_programs(tmp_path / "bin", *lacking)

    assert (standing, detail) == (said[0].standing, said[0].detail)
    assert hint in said[0].hint


def test_a_machine_with_all_programs_lacks_none(tmp_path: Path) -> None:
    assert [("ok", "all that scans use")] == [
        (each.standing, each.detail) for each in with_programs(tmp_path / "bin", "stat")
    ]


@pytest.mark.parametrize("afar", [True, False])
def test_a_find_and_a_stat_of_bsd_serve_this_machine_and_no_host(tmp_path: Path, afar: bool) -> None:
    """Files of this machine are read without them."""
    program(tmp_path / "old", "find", f'case $* in *-printf*) exit 1;; esac\nexec {shutil.which("find")} "$@"')
    program(tmp_path / "old", "stat", "exit 1")
    shell = LocalShell("mac", environment={"PATH": f"{tmp_path}/old:/usr/bin:/bin", "HOME": str(tmp_path)})
    said = [each for each in machine(shell, "mac", afar=afar) if each.standing == "missing"]

    assert ["no find -printf and no stat -c"] * afar == [each.detail for each in said]


def test_this_machine_without_a_gpu_is_good_and_without_sh_is_not(
    recon_command: Recon, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    good = recon_command("doctor", "--json")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    bad = recon_command("doctor", "--json")
    missing = [each for each in json.loads(bad.out)["checks"] if each["standing"] == "missing"]

    assert (0, 3) == (good.code, bad.code)
    assert ["sh: unreachable"] == [each["what"] for each in missing]
    assert "sh did not start" in missing[0]["detail"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ssh-config", "/nowhere"), "--ssh-config is about hosts"),
        (("--batch",), "--batch is about hosts"),
        (("--transport", "auto"), "--transport is about hosts"),
        (("--host", "gpu07", "--ssh-config", "/nowhere"), "there is no file /nowhere"),
    ],
)
def test_options_that_would_do_nothing_are_refused(recon_command: Recon, words: tuple[str, ...], said: str) -> None:
    """In one line, before anything is looked at."""
    ended = recon_command("doctor", *words)

    assert (2, "") == (ended.code, ended.out)
    assert f"error: {said}" in ended.err


def test_the_configuration_that_ssh_reads_is_named(tmp_path: Path) -> None:
    """Or that it is not there; one that was named is no matter of HOME."""
    file = tmp_path / "config"
    absent, *_ = [check for check in ssh_here(None, file, str(tmp_path)) if check.what == "config"]
    file.write_text("")
    said = [check for check in ssh_here(None, file, str(tmp_path)) if check.what == "config"]

    assert ("ok", f"{file} (absent)") == (absent.standing, absent.detail)
    assert [("ok", f"{file} (read)")] == [(check.standing, check.detail) for check in said]


def test_a_home_that_is_not_the_accounts_is_a_warning(tmp_path: Path) -> None:
    """People look for their configuration there, and ssh does not."""
    home = configuration(None).parent.parent
    odd = [check for check in ssh_here(None, None, str(tmp_path)) if check.what == "config"]
    usual = [check for check in ssh_here(None, None, str(home)) if check.what == "config"]

    assert [("warn", f"HOME is {tmp_path}, and ssh reads what lies in the home of the account: {home}")] == [
        (check.standing, check.detail) for check in odd[1:]
    ]
    assert f"--ssh-config {tmp_path}/.ssh/config" in odd[1].hint
    assert [str(home / ".ssh" / "config")] == [check.detail.partition(" (")[0] for check in usual]

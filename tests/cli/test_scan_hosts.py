"""`recon scan --host`: what it passes on, and what it prints instead of asking."""

import json

import pytest

from recon.pipeline import ScanTargets, Settings
from tests.cli.conftest import Recon, Stages


def test_hosts_are_passed_on_as_typed(recon_command: Recon, stages: Stages) -> None:
    recon_command("scan", "--host", "me@gpu07:22", "--host", "gpu08", "--host-timeout", "40", "--max-load", "0.9")
    targets, settings = stages.asked[0]
    assert isinstance(settings, Settings)
    assert settings.access is not None

    assert ScanTargets((), (), local=False, hosts=("me@gpu07:22", "gpu08")) == targets
    assert (40.0, 0.9) == (settings.access.budget_s, settings.access.max_load)


def test_a_word_that_is_no_host_is_refused_before_any_is_reached(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("scan", "--host", "gpu07", "--host", "-oProxyCommand=x")

    assert (2, []) == (ended.code, stages.asked)


def test_a_configuration_that_is_not_there_is_named(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("scan", "--host", "gpu07", "--ssh-config", "/nowhere/config")

    assert (2, []) == (ended.code, stages.asked)
    assert "/nowhere/config" in ended.err


def test_the_plan_is_printed_instead_of_run(recon_command: Recon, stages: Stages) -> None:
    ended = recon_command("scan", "--host", "gpu07", "--plan")
    plan = json.loads(recon_command("scan", "--host", "gpu07", "--plan", "--json").out)

    assert (0, []) == (ended.code, stages.asked)
    assert "Nothing was run yet" in ended.out
    assert plan["digest"] in ended.out
    assert all(step["script"].rstrip("\n") in ended.out for step in plan["steps"])


@pytest.mark.parametrize("words", [["scan"], ["scan", "--plan"], ["scan", "--json"], ["doctor"]])
def test_a_password_in_an_address_is_refused_and_not_repeated(
    recon_command: Recon, stages: Stages, words: list[str]
) -> None:
    ended = recon_command(*words, "--host", "ssh://root:hunter2@gpu07")

    assert (2, []) == (ended.code, stages.asked)
    assert "no password in an address" in ended.out + ended.err
    assert "hunter2" not in ended.out + ended.err


def test_a_plan_of_nobody_is_a_usage_error(recon_command: Recon, stages: Stages) -> None:
    assert 2 == recon_command("scan", "--plan").code


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--plan --host a --path /x", "--path is no host"),
        ("--plan --host a /x", "PATH is no host"),
        ("--plan --host a --release vllm", "--release is no host"),
        ("--plan --host a --bundle b", "--bundle is no host"),
        ("--plan --host a --rejudge b", "--rejudge is no host"),
        ("--plan --host a -o json=x", "--output has nothing to write"),
        ("--plan --host a --require x", "--require has nothing to judge"),
        ("--plan --host a --ssh-config /nowhere", "there is no file /nowhere"),
        ("--accept-new", "--accept-new is about hosts"),
        ("--path /x --transport auto", "--transport is about hosts"),
        ("--ssh-config /nowhere", "--ssh-config is about hosts"),
        ("--batch --bundle b", "--batch is about hosts"),
        ("--host-timeout 300 /x", "--host-timeout is about hosts"),
        ("--max-load 0.9", "--max-load is about hosts"),
        ("--no-source --release vllm", "--no-source is about hosts and bundles"),
    ],
)
def test_options_that_would_do_nothing_are_refused(recon_command: Recon, stages: Stages, words: str, said: str) -> None:
    """In one line, whatever their value, and nothing is scanned."""
    ended = recon_command("scan", *words.split())

    assert (2, "", []) == (ended.code, ended.out, stages.asked)
    assert [f"error: {said}", "hint"] == [ended.err[: len(said) + 7], ended.err.splitlines()[1][:4]]


def test_options_that_do_something_are_not_refused(recon_command: Recon, stages: Stages) -> None:
    recon_command("scan", "--bundle", "b", "--no-source")
    recon_command("scan", "--host", "gpu07", "--batch", "--no-source", "--accept-new")

    assert 2 == len(stages.asked)


@pytest.mark.parametrize("named", ["envs/serve", "~/env", "/a\nb"])
def test_an_environment_of_a_host_is_a_whole_path(recon_command: Recon, named: str) -> None:
    ended = recon_command("scan", "--host", "gpu07", "--plan", "--environment", named)

    assert (2, True) == (ended.code, "is no whole path" in ended.err)


def test_an_environment_without_a_host_would_do_nothing(recon_command: Recon) -> None:
    ended = recon_command("scan", "--environment", "/srv/env")

    assert (2, True) == (ended.code, "--environment is about hosts" in ended.err)

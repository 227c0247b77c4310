"""Configuration: which of several words on one key stands, what is refused, and whose file is never read."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from typer.main import get_command

from recon.cli.app import app
from recon.cli.keys import KEYS
from recon.pipeline import Settings
from recon.records.install import Provenance
from recon.records.run import Run
from recon.records.verdict import OwnWord, Standing
from recon.runs.files import listing, load
from tests.cli.conftest import Recon, Stages
from tests.report.hand import scan

WORD = """
[[verdicts]]
capability = "accept.tree.greedy"
engine = "vllm"
standing = "present"
reason = "Our fork adds it in a file of its own."
"""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file, not written yet."""
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("RECON_CONFIG_DIR", str(folder))
    return folder / "recon.toml"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's file, not written yet, in the current folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / "recon.toml"


def whole() -> Run:
    """A scan that left nothing unread."""
    run = scan()
    return replace(run, unknowns=(), searched=tuple(replace(each, unread=0) for each in run.searched))


def origins(recon_command: Recon, *before: str) -> dict[str, tuple[object, str]]:
    """By key, its value and where it comes from."""
    shown = json.loads(recon_command(*before, "config", "show", "--json").out)
    return {each["key"]: (each["value"], each["origin"]) for each in shown["settings"]}


def test_each_layer_stands_above_the_one_below(
    recon_command: Recon, user: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [origins(recon_command)["policy.require"]]
    user.write_text('[policy]\nrequire = ["pos.tree"]\n')
    found.append(origins(recon_command)["policy.require"])
    project.write_text('[policy]\nrequire = ["state.tree"]\n')
    found.append(origins(recon_command)["policy.require"])
    monkeypatch.setenv("RECON_POLICY_REQUIRE", "kv.path_compact attn.*")
    found.append(origins(recon_command)["policy.require"])

    assert [
        ([], "default"),
        (["pos.tree"], str(user)),
        (["state.tree"], str(project)),
        (["kv.path_compact", "attn.*"], "RECON_POLICY_REQUIRE"),
    ] == found


def test_rows_for_a_pipe_and_columns_for_a_person(recon_command: Recon, user: Path) -> None:
    user.write_text("[scan]\nworkers = 3\n")
    rows = recon_command("config", "show", "--origin").out.splitlines()
    screen = recon_command("--color", "always", "config", "show").out.splitlines()

    assert f"scan.workers\t3\t{user}" in rows
    assert ["scan.workers", "3"] in [line.split() for line in screen]
    assert len(rows) == len(screen)


def test_an_option_stands_above_all(recon_command: Recon, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user.write_text('color = "always"\n')
    monkeypatch.setenv("RECON_COLOR", "auto")

    assert ("auto", "RECON_COLOR") == origins(recon_command)["color"]
    assert ("never", "option --color") == origins(recon_command, "--color", "never")["color"]


def test_an_empty_variable_demands_nothing(
    recon_command: Recon, stages: Stages, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_text('[policy]\nrequire = ["accept.tree.greedy"]\n')
    stages.answer = whole()
    codes = [recon_command("scan").code]
    monkeypatch.setenv("RECON_POLICY_REQUIRE", "")
    codes.append(recon_command("scan").code)

    assert [1, 0] == codes


def test_what_is_typed_replaces_what_is_configured(recon_command: Recon, stages: Stages, project: Path) -> None:
    project.write_text('[policy]\nrequire = ["accept.tree.greedy"]\n')
    stages.answer = whole()
    configured, typed = recon_command("scan"), recon_command("scan", "--require", "accept.linear.greedy")

    assert (1, 0) == (configured.code, typed.code)
    assert f"accept.tree.greedy is absent (require in {project}: accept.tree.greedy): No function" in configured.err


def test_options_of_commands_default_to_what_is_configured(recon_command: Recon, stages: Stages, user: Path) -> None:
    user.write_text("[scan]\nworkers = 3\n")
    recon_command("scan")
    recon_command("scan", "--workers", "2")
    told = [each for _, each in stages.asked if isinstance(each, Settings)]

    assert [3, 2] == [each.workers for each in told]


def test_what_is_configured_about_hosts_is_no_idle_option(recon_command: Recon, stages: Stages, user: Path) -> None:
    user.write_text('[hosts]\ntransport = "openssh"\nhost-timeout = 60\n')

    assert recon_command("scan").code != 2


def test_every_key_of_a_command_is_a_parameter_of_it() -> None:
    """A key that is no parameter would be set in vain."""
    commands = get_command(app).commands  # type: ignore[attr-defined]  # it is a group
    missing = [
        (key.name, command)
        for key in KEYS
        for command in key.commands
        if key.parameter not in {each.name for each in commands[command].params}
    ]

    assert [] == missing


def test_folders_may_stand_in_the_users_file(
    recon_command: Recon, stages: Stages, user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECON_STATE_DIR")
    user.write_text(f'state-dir = "{tmp_path / "kept"}"\n')
    recon_command("scan")

    assert 1 == len(listing(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('colour = "never"', "there is no key 'colour'", "Did you mean color?"),
        ("[policy]\nrequired = []", "there is no key 'policy.required'", "Did you mean policy.require?"),
        ('[polcy]\nrequire = ["x"]', "there is no key 'polcy.require'", "Did you mean policy.require?"),
        ('color = "blue"', "color is 'blue'", "It is one of auto, always, never."),
        ('[scan]\nworkers = "3"', "which is no whole number", ""),
        ("[scan]\nworkers = true", "which is no whole number", ""),
        ("[scan]\nworkers = -1", "scan.workers is -1", "It is 0 or more."),
        ("[scan]\nmax-load = nan", "scan.max-load is nan", "It is 0 or more."),
        ('[policy]\nrequire = "accept.tree.greedy"', "which is no list of texts", ""),
        ('cache-dir = "here"', "cache-dir is 'here'", "It is a whole path"),
        ("color = ", "is no TOML", ""),
        ('verdicts = "x"', "verdicts is no list of tables", "[[verdicts]]"),
        ('[[verdicts]]\ncapability = "pos.tree"\nstanding = "present"', "has no reason", "Each needs"),
        (WORD.replace("present", "yes"), "'yes' is no standing", "There are present"),
        (WORD.replace("engine", "engin"), "there is no key 'engin'", "Did you mean engine?"),
        (WORD.replace("Our fork adds it in a file of its own.", " "), "reason is ' '", ""),
        (WORD.replace("Our fork adds it in a file of its own.", "x" * 5000), "reason has 5,000 characters", "At most"),
    ],
)
def test_what_is_no_configuration_is_refused_with_a_hint(
    recon_command: Recon, user: Path, text: str, said: str, hint: str
) -> None:
    user.write_text(text)
    ended = recon_command("config", "show")

    assert (2, "") == (ended.code, ended.out)
    assert f"error: {user}" in ended.err
    assert said in ended.err
    assert hint in ended.err


@pytest.mark.parametrize("text", ['state-dir = "/x"', '[hosts]\ntransport = "openssh"', "[scan]\nworkers = 1"])
def test_a_project_moves_no_folder_and_reaches_no_host(
    recon_command: Recon, user: Path, project: Path, text: str
) -> None:
    project.write_text(text)
    ended = recon_command("config", "show")

    assert 2 == ended.code
    assert "cannot be set by a project" in ended.err


def test_a_file_that_is_none_is_not_waited_for(recon_command: Recon, user: Path, project: Path) -> None:
    os.mkfifo(project)
    ended = recon_command("config", "show")

    assert 3 == ended.code
    assert "is no regular file" in ended.err


def test_links_in_a_circle_are_told(recon_command: Recon, stages: Stages, user: Path, project: Path) -> None:
    """Where trees are judged, too; where the link lies in one, it is passed over as any other file is."""
    project.symlink_to(project.name)
    for words in (("config", "show"), ("scan", "--release", "vllm==1")):
        ended = recon_command(*words)

        assert (3, f"error: cannot read {project}: ") == (
            ended.code,
            ended.err[: len(f"error: cannot read {project}: ")],
        )
    assert "is not read" in recon_command("scan", "--path", str(project.parent)).err


def test_a_file_without_end_is_not_read(recon_command: Recon, user: Path, project: Path) -> None:
    project.symlink_to("/dev/zero")

    assert 3 == recon_command("config", "show").code


@pytest.mark.parametrize("named", [".", "..", "link"])
def test_a_file_in_a_tree_that_is_scanned_is_never_read(
    recon_command: Recon, stages: Stages, project: Path, named: str
) -> None:
    """Not even where it is no TOML: whoever wrote the tree wrote it."""
    (project.parent / "link").symlink_to(project.parent)
    project.write_text("][")
    stages.answer = whole()
    ended = recon_command("scan", named)

    assert 0 == ended.code
    assert f"{project} lies in a tree that is judged, and is not read; --config names it anyway" in ended.err


def test_a_file_that_leads_into_a_scanned_tree_is_never_read(
    recon_command: Recon, stages: Stages, project: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "recon.toml").write_text("][")
    project.symlink_to(tree / "recon.toml")
    stages.answer = whole()

    assert 0 == recon_command("scan", str(tree)).code


@pytest.mark.parametrize(("kind", "above"), [("editable", 0), ("checkout", 0), ("folder", 0), ("wheel", 1)])
def test_a_file_in_a_tree_that_was_found_is_never_followed(
    recon_command: Recon, stages: Stages, project: Path, monkeypatch: pytest.MonkeyPatch, kind: str, above: int
) -> None:
    """Without words the engines of this machine are scanned: it turns out only then where they lie."""
    folder = project.parent / "vllm"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "recon.toml").write_text('[policy]\nrequire = ["accept.tree.greedy"]\n' + WORD)
    origin = Provenance(kind, "/opt/ml-env", "pip", "", "", "")
    others, first, _ = whole().installs
    location = folder.parent if above else folder
    found = replace(first, location=str(location), provenance=origin)
    codes = []
    for install in (first, found):
        stages.answer = replace(whole(), installs=(install, others))
        codes.append(recon_command("scan", "--fail-on", "absent:accept.tree.greedy").code)
        codes.append(recon_command("report", "--fail-on", "absent:accept.tree.greedy").code)

    assert [0, 0, 1, 1] == codes


def test_a_file_that_is_named_is_read_wherever_it_lies(recon_command: Recon, stages: Stages, project: Path) -> None:
    project.write_text('[policy]\nrequire = ["accept.tree.greedy"]\n')
    stages.answer = whole()

    assert [0, 1] == [recon_command(*before, "scan", ".").code for before in ((), ("--config", "recon.toml"))]
    assert 2 == recon_command("--config", "nothing.toml", "scan", ".").code


def test_the_users_own_word_is_kept_and_shown_with_its_reason(
    recon_command: Recon, stages: Stages, project: Path, state: Path
) -> None:
    project.write_text(WORD)
    stages.answer = whole()
    ended = recon_command("scan", "--require", "accept.tree.greedy")
    (saved,) = listing(state)
    (verdict,) = [
        each
        for install in load(saved.path).installs
        if install.engine.value == "vllm"
        for each in install.verdicts
        if each.capability == "accept.tree.greedy"
    ]
    (row,) = [each for each in ended.out.splitlines() if each.startswith("verdict\tvllm") and "\taccept.tree." in each]
    reason = "Our fork adds it in a file of its own."

    assert 0 == ended.code
    assert (Standing.ABSENT, OwnWord(Standing.PRESENT, reason, str(project))) == (verdict.standing, verdict.own_word)
    assert "\tno; you say yes\t" in row
    assert row.endswith(f"\tYou say yes: {reason} ({project})")
    assert "--require accept.tree.greedy is met by your word" in ended.err
    assert f"You say yes: {reason} ({project})" in recon_command("show", "accept.tree.greedy", "--install", "vllm").out
    assert "on 1 you have your own word" in recon_command("--color", "always", "runs", "show", saved.path.name).out


def test_a_word_about_nothing_is_said_to_be(recon_command: Recon, stages: Stages, project: Path) -> None:
    project.write_text(WORD + 'source = "another"\n')
    stages.answer = whole()
    ended = recon_command("scan", "--require", "accept.tree.greedy")

    assert 1 == ended.code
    assert f"your word on accept.tree.greedy in {project} is about nothing in this run" in ended.err

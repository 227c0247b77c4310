"""Policies: what their words mean, which verdicts fall short of them, and what a user's own word excuses."""

from dataclasses import replace

import pytest

from recon.errors import NotFound, Usage
from recon.records.install import Install
from recon.records.run import Run
from recon.records.verdict import OwnWord, Standing, Verdict
from recon.verdicts.policies import FAIL_ON, REQUIRE, Rule, failures_of, held_by_word, refuse_unknown, rule_of
from tests.report.hand import TITLES, scan


def label(install: Install) -> str:
    return f"{install.engine.value} {install.version}"


def failing(rule: Rule, run: Run | None = None) -> list[tuple[str, str]]:
    """Engine and capability of each failure."""
    run = run or scan()
    engines = {each.id: each.engine.value for each in run.installs}
    return [(engines[each.install], each.capability) for each in failures_of(run, [rule], label)]


def with_word(capability: str, standing: Standing, engine: str = "vllm") -> Run:
    """The scan by hand in which a user has a word of their own on one verdict of one engine."""

    def said(verdict: Verdict) -> Verdict:
        own = OwnWord(standing, "Our fork adds it.", "recon.toml")
        return replace(verdict, own_word=own) if verdict.capability == capability else verdict

    return replace(
        scan(),
        installs=tuple(
            replace(each, verdicts=tuple(map(said, each.verdicts))) if each.engine.value == engine else each
            for each in scan().installs
        ),
    )


def test_what_is_required_must_be_present_in_each_engine() -> None:
    assert [("vllm", "accept.tree.greedy")] == failing(rule_of(REQUIRE, "accept.tree.greedy"))
    assert [] == failing(rule_of(REQUIRE, "accept.linear.greedy"))


def test_a_pattern_is_about_all_that_it_matches() -> None:
    assert {
        ("vllm", "accept.tree.greedy"),
        ("vllm", "attn.tree.verify"),
        ("vllm", "pos.tree"),
        ("vllm", "state.tree"),
        ("sglang", "state.tree"),
    } == set(failing(rule_of(REQUIRE, "*.tree,*.tree.*")))


def test_standings_before_the_colon_are_those_that_will_do() -> None:
    assert [("vllm", "attn.tree.verify")] == failing(rule_of(REQUIRE, "attn.tree.verify"))
    assert [] == failing(rule_of(REQUIRE, "present,partial:attn.tree.verify"))


def test_a_reach_before_the_colon_is_the_least_that_will_do() -> None:
    assert [] == failing(rule_of(REQUIRE, "wired:drafter.dflash"))
    assert [("sglang", "drafter.dflash")] == failing(rule_of(REQUIRE, "enabled:drafter.dflash"))


def test_fail_on_names_standings_and_perhaps_capabilities() -> None:
    everywhere = failing(rule_of(FAIL_ON, "absent,unknown"))

    assert ("vllm", "state.tree") in everywhere
    assert ("vllm", "accept.tree.greedy") in everywhere
    assert [("vllm", "accept.tree.greedy")] == failing(rule_of(FAIL_ON, "absent:accept.*"))


def test_a_kernel_package_is_asked_nothing() -> None:
    """It answers through the engine that calls it."""
    rule = rule_of(REQUIRE, "*")
    companions = {each.id for each in scan().installs if each.engine.is_companion}

    assert companions
    assert set() == companions & {each.install for each in failures_of(scan(), [rule], label)}


def test_what_was_not_judged_is_not_present() -> None:
    bare = replace(scan(), installs=tuple(replace(each, verdicts=()) for each in scan().installs))
    failures = failures_of(bare, [rule_of(REQUIRE, "pos.tree"), rule_of(FAIL_ON, "absent")], label)

    assert 2 == len(failures)
    assert {None} == {each.standing for each in failures}
    assert "vllm 0.20.1: pos.tree was not judged (--require pos.tree)" == failures[0].message


def test_a_failure_tells_the_reason_and_the_place() -> None:
    (failure,) = failures_of(scan(), [rule_of(FAIL_ON, "absent:accept.tree.*")], label)

    assert (FAIL_ON, "--fail-on absent:accept.tree.*", Standing.ABSENT) == (
        failure.rule,
        failure.demand,
        failure.standing,
    )
    assert failure.message == (
        "vllm 0.20.1: accept.tree.greedy is absent (--fail-on absent:accept.tree.*): No function walks a tree of "
        "drafts. [nearest vllm/v1/sample/rejection_sampler.py:695]"
    )


def test_policies_go_by_the_users_own_word_and_say_so() -> None:
    rule = rule_of(REQUIRE, "accept.tree.greedy")
    run = with_word("accept.tree.greedy", Standing.PRESENT)
    (excused,) = held_by_word(run, [rule], label)

    assert [] == failing(rule, run)
    assert excused == (
        "vllm 0.20.1: accept.tree.greedy is present by your word, and absent by what was seen; --require "
        "accept.tree.greedy is met by your word (recon.toml): Our fork adds it."
    )


def test_the_users_own_word_may_make_a_policy_fail() -> None:
    rule = rule_of(FAIL_ON, "absent:accept.linear.greedy")
    run = with_word("accept.linear.greedy", Standing.ABSENT)
    (failure,) = failures_of(run, [rule], label)

    assert "is absent by your word, and present by what was seen" in failure.message
    assert () == held_by_word(run, [rule], label)


@pytest.mark.parametrize(
    ("kind", "words", "hint"),
    [
        (FAIL_ON, "no:accept.*", "Did you mean absent?"),
        (FAIL_ON, "absnt", "Did you mean absent?"),
        (FAIL_ON, "accept.tree.greedy", "--fail-on absent:accept.tree.*"),
        (FAIL_ON, "wired:accept.*", "They are present"),
        (FAIL_ON, "absent:", "For example"),
        (FAIL_ON, "", "For example"),
        (REQUIRE, ",", "For example"),
        (REQUIRE, "present,wired:accept.*", "They are present"),
    ],
)
def test_words_that_are_no_demand_are_refused_with_a_hint(kind: str, words: str, hint: str) -> None:
    with pytest.raises(Usage) as refused:
        rule_of(kind, words)

    assert hint in refused.value.hint


def test_a_demand_about_nothing_is_refused() -> None:
    """It would hold for ever."""
    with pytest.raises(NotFound) as refused:
        refuse_unknown([rule_of(FAIL_ON, "absent:accept.tree.gredy")], TITLES)

    assert "Did you mean accept.tree.greedy?" == refused.value.hint

"""Verdicts of two runs: what changed, what is the same tree, and which files had a part."""

from dataclasses import replace

import pytest

from recon.records.install import Install
from recon.records.verdict import OwnWord, Reach, Standing
from recon.verdicts.changes import installs_changed, paired
from tests.report.hand import evidence, scan, verdict

VLLM = scan().installs[1]
SAMPLER = "vllm/v1/sample/rejection_sampler.py"


def with_verdict(install: Install, capability: str, **fields: object) -> Install:
    return replace(
        install,
        verdicts=tuple(
            replace(each, **fields) if each.capability == capability else each  # type: ignore[arg-type]
            for each in install.verdicts
        ),
    )


def nothing(_: Install) -> None:
    return None


def test_an_equal_tree_did_not_change() -> None:
    changes = installs_changed(scan().installs, scan().installs, nothing)

    assert [()] * 3 == [each.verdicts for each in changes]
    assert [1, 8, 8] == [each.unchanged for each in changes]
    assert [((), "")] * 3 == [(each.files, each.files_why) for each in changes]


def test_another_standing_and_another_reach_are_changes() -> None:
    place = evidence(SAMPLER, 9, symbol="walk")
    after = with_verdict(VLLM, "accept.tree.greedy", standing=Standing.PRESENT, evidence=(place,))
    after = with_verdict(after, "drafter.dflash", reach=Reach.WIRED)
    (change,) = installs_changed([VLLM], [after], nothing)

    assert ["accept.tree.greedy", "drafter.dflash"] == [each.capability for each in change.verdicts]
    assert (Standing.ABSENT, Standing.PRESENT) == (change.verdicts[0].before, change.verdicts[0].after)
    assert ((), (f"{SAMPLER}:9 walk",)) == (change.verdicts[0].gone, change.verdicts[0].come)
    assert (Reach.ENABLED, Reach.WIRED) == (change.verdicts[1].reach_before, change.verdicts[1].reach_after)
    assert 6 == change.unchanged


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, OwnWord(Standing.PRESENT, "our patch walks", "recon.toml")),
        (OwnWord(Standing.PRESENT, "our patch walks", "recon.toml"), None),
        (OwnWord(Standing.PRESENT, "our patch walks", "recon.toml"), OwnWord(Standing.PARTIAL, "only greedily", "x")),
        (OwnWord(Standing.PRESENT, "our patch walks", "recon.toml"), OwnWord(Standing.PRESENT, "it was merged", "x")),
    ],
)
def test_the_users_own_word_alone_is_a_change_and_not_one_of_the_verdict(
    before: OwnWord | None, after: OwnWord | None
) -> None:
    runs = [with_verdict(VLLM, "accept.tree.greedy", own_word=each) for each in (before, after)]
    (change,) = installs_changed(runs[:1], runs[1:], nothing)
    (verdict,) = change.verdicts

    assert (before, after) == (verdict.own_word_before, verdict.own_word_after)
    assert (Standing.ABSENT, Standing.ABSENT) == (verdict.before, verdict.after)
    assert (False, True) == (verdict.is_other_verdict, verdict.is_other_word)
    assert 7 == change.unchanged


def test_a_word_that_is_said_in_another_file_is_the_same_word() -> None:
    words = [OwnWord(Standing.PRESENT, "our patch walks", each) for each in ("recon.toml", "/elsewhere/recon.toml")]
    runs = [with_verdict(VLLM, "accept.tree.greedy", own_word=each) for each in words]

    assert () == installs_changed(runs[:1], runs[1:], nothing)[0].verdicts


def test_a_place_that_moved_by_lines_is_the_same_place_and_another_symbol_is_not() -> None:
    moved = replace(VLLM.verdicts[0].evidence[0], line=700)
    renamed = replace(moved, symbol="other")

    assert (
        ()
        == installs_changed([VLLM], [with_verdict(VLLM, "accept.linear.greedy", evidence=(moved,))], nothing)[
            0
        ].verdicts
    )
    (change,) = installs_changed([VLLM], [with_verdict(VLLM, "accept.linear.greedy", evidence=(renamed,))], nothing)
    assert (f"{SAMPLER}:640 rejection_greedy_sample_kernel",) == change.verdicts[0].gone
    assert (f"{SAMPLER}:700 other",) == change.verdicts[0].come


def test_a_place_that_is_no_more_among_the_best_is_still_there() -> None:
    (place,) = VLLM.verdicts[0].evidence
    better = evidence("vllm/better.py", 1)
    after = with_verdict(VLLM, "accept.linear.greedy", evidence=(better,), nearest=(place,))
    (change,) = installs_changed([VLLM], [after], nothing)

    assert ((), ("vllm/better.py:1 verify",)) == (change.verdicts[0].gone, change.verdicts[0].come)


def test_what_one_run_did_not_judge_is_not_called_absent() -> None:
    after = replace(VLLM, verdicts=(*VLLM.verdicts[1:], verdict("new.one", Standing.ABSENT)))
    (change,) = installs_changed([VLLM], [after], nothing)

    assert {("accept.linear.greedy", Standing.PRESENT, None), ("new.one", None, Standing.ABSENT)} == {
        (each.capability, each.before, each.after) for each in change.verdicts
    }


def test_two_releases_of_an_engine_are_compared() -> None:
    newer = replace(VLLM, id="vllm-0.33.0-aa", version="0.33.0", location="vllm-0.33.0.whl", host="releases")

    assert [(VLLM, newer)] == paired([VLLM], [newer])


def test_of_several_trees_those_at_one_place_belong_together_and_the_others_to_none() -> None:
    here, there = replace(VLLM, id="here"), replace(VLLM, id="there", location="/src/vllm")
    later = replace(there, id="later", version="0.33.0")
    lone = replace(VLLM, id="lone", host="gpu08")
    changes = installs_changed([here, there], [lone, later], nothing)

    assert [(there, later), (here, lone)] == sorted(paired([here, there], [lone, later]), key=lambda pair: pair[1].id)
    assert {("here", "lone"), ("there", "later")} == {(each.before, each.after) for each in changes}
    assert [("here", ""), ("there", ""), ("", "lone")] == [
        (each.before, each.after) for each in installs_changed([here, there], [lone], nothing)
    ]


def test_files_that_verdicts_rest_on_or_lead_through_are_compared() -> None:
    """And no others: a file that no verdict knows may change."""
    after = replace(VLLM, source_digest="other")
    same = {SAMPLER: "1", "vllm/v1/engine/core.py": "1", "vllm/v1/attention/backends/tree_attn.py": "1", "x.py": "1"}
    files = {"3f2a91": same, "other": {SAMPLER: "2", "x.py": "2", "vllm/v1/engine/core.py": "1"}}
    (change,) = installs_changed([VLLM], [after], lambda install: files[install.source_digest])

    assert [("vllm/v1/attention/backends/tree_attn.py", "removed"), (SAMPLER, "changed")] == [
        (each.path, each.change) for each in change.files
    ]
    assert "accept.linear.greedy" in change.files[1].capabilities


def test_files_that_are_not_known_any_more_are_not_called_equal() -> None:
    after = replace(VLLM, source_digest="other", id="later")
    (change,) = installs_changed([VLLM], [after], nothing)

    assert () == change.files
    assert f"what the files of {VLLM.id} and later held is not in the cache any more" == change.files_why

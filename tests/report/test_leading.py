"""What is told first: of which install, and what holds for the others."""

from dataclasses import replace

import pytest

from recon.records.estimate import Decision, Estimate
from recon.records.verdict import Standing
from recon.report.leading import leading, ordered
from tests.report.hand import scan

INSTALLS, HOSTS = scan().installs, scan().hosts
VLLM, SGLANG = INSTALLS[1], INSTALLS[2]
TIMES = "Keep the chain at batch 8: 16 drafts in a tree (heap) give 0.93x."


def of(subject: str, runs: Standing, sentence: str, decision: Decision = Decision.LOSE) -> Estimate:
    return Estimate(subject, decision, sentence, (), (), (), runs)


THEIRS = of(VLLM.id, Standing.ABSENT, f"{TIMES} vllm 0.20.1 cannot run one without a patch.")
OURS = of(SGLANG.id, Standing.PARTIAL, f"{TIMES} sglang 0.5.23 can run one in part.")


def test_the_install_that_can_run_a_tree_leads_and_others_stay_as_found() -> None:
    third = replace(THEIRS, subject="third")

    assert (OURS, THEIRS, third) == ordered((THEIRS, third, OURS))
    assert (THEIRS, third) == ordered((THEIRS, third))


def test_what_holds_for_all_is_said_once_and_then_which_of_them_can_run_a_tree() -> None:
    told = leading((OURS, THEIRS), INSTALLS, HOSTS)
    assert told

    assert f"{TIMES} sglang 0.5.23 can run one in part. vllm 0.20.1 cannot run one without a patch." == told.lead
    assert () == told.others


def test_the_first_sentence_names_its_install_and_what_differs_is_told_by_its_decision_and_in_full_below() -> None:
    other = "A tree would pay at batch 8: 16 drafts give 1.20x."
    theirs = replace(THEIRS, decision=Decision.WIN, sentence=f"{other} Whether vllm 0.20.1 can run one is open.")
    told = leading((OURS, theirs), INSTALLS, HOSTS)
    assert told

    assert (
        f"sglang 0.5.23: {TIMES} It can run one in part. vllm 0.20.1: a tree pays. Whether it can run one is open."
        == told.lead
    )
    assert (f"vllm 0.20.1: {other} Whether it can run one is open.",) == told.others


def test_without_times_both_are_told_as_they_are() -> None:
    pair = (
        of(SGLANG.id, Standing.PARTIAL, "sglang 0.5.23 can run a draft tree in part; whether it pays is open."),
        of(VLLM.id, Standing.UNKNOWN, "Cannot tell whether vllm 0.20.1 can run a draft tree: it is open."),
    )
    told = leading(pair, INSTALLS, HOSTS)
    assert told

    assert (f"{pair[0].sentence} {pair[1].sentence}", ()) == (told.lead, told.others)


def test_a_single_install_keeps_its_sentence() -> None:
    told = leading((OURS,), INSTALLS, HOSTS)
    assert told

    assert (OURS.sentence, ()) == (told.lead, told.others)
    assert None is leading((), INSTALLS, HOSTS)


@pytest.mark.parametrize("count", [2, 5])
def test_installs_that_are_called_alike_are_told_apart_by_their_hosts(count: int) -> None:
    """And of many, the first line says how many there are."""
    installs = [replace(VLLM, id=f"v{number}", host=f"gpu{number:02}") for number in range(count)]
    estimates = [
        replace(THEIRS, subject=each.id, sentence=THEIRS.sentence.replace("0.93", f"0.9{number}"))
        for number, each in enumerate(installs)
    ]
    told = leading(estimates, installs, HOSTS)
    assert told

    assert told.lead.startswith("vllm 0.20.1 on gpu00: Keep the chain")
    if count == 2:
        assert told.lead.endswith("vllm 0.20.1 on gpu01: keep linear. It cannot run one without a patch.")
    else:
        assert told.lead.endswith(" 4 other installs below.")
        assert [f"vllm 0.20.1 on gpu{number:02}: Keep" for number in range(1, 5)] == [each[:26] for each in told.others]

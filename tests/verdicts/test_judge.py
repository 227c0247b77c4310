"""From findings to a standing, by written rule."""

from dataclasses import replace

import pytest

from recon.records.evidence import Evidence, Grade
from recon.records.findings import Findings, Outside
from recon.records.unknown import PACKAGE, Unknown
from recon.records.verdict import Gate, Member, Reach, Searched, Standing, Verdict
from recon.verdicts.judge import MOST_PLACES, judge

EVERYTHING = Searched(40, 900, 70, 12, 3, ("a walk", "a chain"), ())
LIBRARY = Unknown("library", "e/_C.abi3.so", "it was not asked for")
PARTLY = Unknown("CUDA source, partly", "12 files", "the CUDA grammar fails in parts of them")


def place(symbol: str = "walk", grade: Grade = Grade.SHAPED) -> Evidence:
    """A place of evidence."""
    return Evidence("e/a.py", symbol, 7, grade, ("runner V1",), "a pointer chase compares tokens")


def judged(findings: Findings, *unread: Unknown, capability: str = "accept.tree.greedy") -> Verdict:
    """The verdict on a capability in a tree of which something may be unread."""
    return judge(capability, "Greedy acceptance", findings, replace(EVERYTHING, unread=unread))


def test_shaped_evidence_makes_present() -> None:
    """With the first place as its reason, and everything that was said carried along."""
    gates, members = (Gate("topk > 1", "e/b.py", 3),), (Member("V1", Standing.PRESENT, None, "", (), ()),)
    verdict = judged(Findings((place(),), gates=gates, members=members, reach=Reach.WIRED))

    assert (Standing.PRESENT, Reach.WIRED) == (verdict.standing, verdict.reach)
    assert "A pointer chase compares tokens: walk." == verdict.reason
    assert ((place(),), gates, members) == (verdict.evidence, verdict.gates, verdict.members)
    assert ("accept.tree.greedy", EVERYTHING) == (verdict.capability, verdict.searched)


def test_what_was_not_read_takes_nothing_from_what_was_seen() -> None:
    """A library could hold more, never less."""
    assert Standing.PRESENT is judged(Findings((place(),)), LIBRARY).standing


def test_a_detector_may_word_its_own_reason() -> None:
    """It knows best what decided."""
    assert "Because." == judged(Findings((place(),), reason="Because.")).reason
    assert "Because." == judged(Findings(reason="Because.")).reason


def test_a_missing_part_makes_partial() -> None:
    """And is the reason."""
    verdict = judged(Findings((place(),), lacks="No residual is taken.", reach=Reach.DEFINED))

    assert (Standing.PARTIAL, "No residual is taken.", Reach.DEFINED) == (
        verdict.standing,
        verdict.reason,
        verdict.reach,
    )


def test_a_missing_part_could_lie_in_what_was_not_read() -> None:
    """A part is no more absent than a whole while something is unread; what is read in part holds the rest."""
    found = Findings((place(),), lacks="No residual is taken.")

    assert (
        "No residual is taken. But e/_C.abi3.so could hold what is missing: it was not asked for."
        == judged(found, LIBRARY, PARTLY).reason
    )
    assert "No residual is taken." == judged(found, PARTLY).reason


def test_a_missing_part_of_nothing_is_absence() -> None:
    """Partial asks for evidence of the rest."""
    assert Standing.ABSENT is judged(Findings(lacks="No residual is taken.")).standing


@pytest.mark.parametrize("capability", ["accept.tree.greedy", "attn.mask_hook", "graph.verify", "drafters.x", "metric"])
@pytest.mark.parametrize("grade", [Grade.DECLARED, Grade.NAMED])
def test_a_name_or_a_declaration_alone_makes_nothing_present(capability: str, grade: Grade) -> None:
    """It becomes what came nearest."""
    verdict = judged(Findings((place(grade=grade),)), capability=capability)

    assert Standing.ABSENT is verdict.standing
    assert ((), (place(grade=grade),)) == (verdict.evidence, verdict.nearest)


@pytest.mark.parametrize("capability", ["drafter.eagle", "metrics.acceptance"])
def test_a_declaration_suffices_for_what_is_a_matter_of_configuration(capability: str) -> None:
    """A drafter is present when it can be selected; a metric when it is exported. A name still is not enough."""
    assert Standing.PRESENT is judged(Findings((place(grade=Grade.DECLARED),)), capability=capability).standing
    assert Standing.ABSENT is judged(Findings((place(grade=Grade.NAMED),)), capability=capability).standing


def test_weaker_evidence_stands_behind_what_proves() -> None:
    """The best come first, five at most; the rest is not lost."""
    weak = place("door", Grade.DECLARED)
    strong = tuple(place(f"walk{n}") for n in range(MOST_PLACES))
    few = judged(Findings((weak, strong[0]), nearest=(place("near"),)))
    many = judged(Findings((weak, *strong), nearest=(place("near"),)))

    assert ((strong[0], weak), (place("near"),)) == (few.evidence, few.nearest)
    assert (strong, (weak, place("near"))) == (many.evidence, many.nearest)


def test_absence_says_what_was_searched_and_what_came_nearest() -> None:
    """An absence without numbers is an opinion."""
    verdict = judged(Findings(nearest=(place("chain"),)))

    assert (Standing.ABSENT, None) == (verdict.standing, verdict.reach)
    assert (
        "No code of this form (greedy acceptance) among 900 functions, 70 of them kernels, and 3 compiled libraries; "
        "the nearest is chain: a pointer chase compares tokens." == verdict.reason
    )
    assert (place("chain"),) == verdict.nearest


def test_absence_without_a_near_miss_ends_with_the_numbers() -> None:
    """Nothing came near."""
    assert judged(Findings()).reason.endswith("3 compiled libraries.")


def test_nothing_is_absent_while_something_is_unread() -> None:
    """The first of it is named, the rest counted."""
    verdict = judged(Findings(nearest=(place("chain"),)), LIBRARY, Unknown("source", "e/x.py", "it is not text"))

    assert (Standing.UNKNOWN, None) == (verdict.standing, verdict.reach)
    assert (
        "Nothing of this form (greedy acceptance) was seen, but e/_C.abi3.so and 1 more could hold it: "
        "it was not asked for." == verdict.reason
    )
    assert (place("chain"),) == verdict.nearest


def test_a_detector_cannot_word_away_what_is_unread() -> None:
    """Its own reason is for an absence, and this is none."""
    assert "e/_C.abi3.so could hold it" in judged(Findings(reason="Nowhere."), LIBRARY).reason


def test_sources_read_in_part_hide_nothing() -> None:
    """Their functions were examined as far as the grammar reads; the search record still lists them."""
    verdict = judged(Findings(), PARTLY)

    assert Standing.ABSENT is verdict.standing
    assert (PARTLY,) == verdict.searched.unread


def test_an_import_that_was_not_scanned_makes_unknown() -> None:
    """Only where nothing else speaks; the search record keeps what it was."""
    verdict = judged(Findings(external=Outside(("k.verify", "k.walk"), (place(),))), PARTLY)

    assert Standing.UNKNOWN is verdict.standing
    assert (place(),) == verdict.evidence
    assert "k.verify and 1 more could hold it: it was not scanned." in verdict.reason
    assert (
        Unknown(PACKAGE, "k.verify", "it was not scanned"),
        Unknown(PACKAGE, "k.walk", "it was not scanned"),
        PARTLY,
    ) == verdict.searched.unread
    assert Standing.PRESENT is judged(Findings((place(),), external=Outside(("k.verify",), (place(),)))).standing


def test_what_only_one_question_could_not_read_makes_only_its_answer_unknown() -> None:
    """A detector knows of it, the index does not."""
    verdict = judged(Findings(unread=(Unknown("operator", "torch.ops.k.walk", "its registration was not read"),)))

    assert Standing.UNKNOWN is verdict.standing
    assert "torch.ops.k.walk could hold it: its registration was not read." in verdict.reason

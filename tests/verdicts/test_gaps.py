"""From verdicts to gaps: answers, order, places, ways around."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from recon.records.evidence import Evidence, Grade
from recon.records.feature import Feature, Need, Part, Pointer, Purpose, Work
from recon.records.gap import Gap, Step
from recon.records.install import Edits, Engine, Install, Provenance
from recon.records.path import CallPath, Hop, Tier
from recon.records.unknown import PARTLY, Unknown
from recon.records.verdict import Gate, Member, Reach, Searched, Standing, Verdict
from recon.verdicts.gaps import gap_of, gaps_of, in_order

GATE = Gate("topk == 1", "e/args.py", 12)


def need(name: str, *after: str, hooks: Iterable[Pointer] = (), **fields: object) -> Need:
    """A need that one capability of the same name meets."""
    made = Need(name, name, (f"c.{name}",), Purpose.REQUIRED, False, Work.KERNEL, after, tuple(hooks))  # noqa: FBT003
    return replace(made, **fields)  # type: ignore[arg-type]  # fields of Need, as the tests say


def feature(*needs: Need) -> Feature:
    """A feature of these needs."""
    return Feature("f", "F", "What it is.", "A paper", needs, "recon")


def place(symbol: str, line: int = 7, scope: tuple[str, ...] = ("runner V1",), path: str = "e/a.py") -> Evidence:
    """A place of evidence."""
    return Evidence(path, symbol, line, Grade.SHAPED, scope, f"{symbol} does it")


def verdict(
    capability: str,
    standing: Standing = Standing.PRESENT,
    evidence: Iterable[Evidence] = (),
    nearest: Iterable[Evidence] = (),
    libraries: int = 0,
    unread: tuple[Unknown, ...] = (),
) -> Verdict:
    """A verdict on one capability."""
    searched = Searched(1, 1, 1, 1, libraries, (), unread)
    reach = Reach.WIRED if evidence else None
    return Verdict(
        capability, standing, reach, f"{capability} said so.", tuple(evidence), tuple(nearest), searched, (), ()
    )


def install(*verdicts: Verdict, name: str = "vllm-1", paths: tuple[CallPath, ...] = ()) -> Install:
    """An engine with these verdicts."""
    provenance = Provenance("folder", "", "", "", "", "")
    return Install(name, "here", Engine.VLLM, "1", "/e", "d", provenance, (), Edits(0, (), (), ()), verdicts, paths, ())


def only(gap: Gap) -> Step:
    """The one step of a gap."""
    (step,) = gap.steps
    return step


P, A, H, U = Standing.PRESENT, Standing.ABSENT, Standing.PARTIAL, Standing.UNKNOWN


@pytest.mark.parametrize(
    ("core", "other", "hybrid", "expected"),
    [
        (P, P, P, P),
        (P, P, A, P),  # what only hybrid models need does not decide
        (P, A, P, H),
        (H, A, P, H),
        (A, P, P, A),
        (U, A, P, A),  # whatever the core turns out to be, it is not whole
        (P, U, P, U),
        (H, U, P, U),
        (P, H, P, H),
        (H, P, P, H),
    ],
)
def test_whether_the_feature_is_there(core: Standing, other: Standing, hybrid: Standing, expected: Standing) -> None:
    """Every required need for a yes; the core for a partly."""
    asked = feature(need("core", core=True), need("other"), need("hybrid", purpose=Purpose.HYBRID))
    found = install(verdict("c.core", core), verdict("c.other", other), verdict("c.hybrid", hybrid))

    assert expected is gap_of(asked, found).standing


def test_any_of_several_capabilities_meets_a_need() -> None:
    """And the best of them answers."""
    asked = feature(need("drafter", capabilities=("d.one", "d.two", "d.three")))
    found = install(verdict("d.one", A), verdict("d.two", P, [place("two")]), verdict("d.three", H, [place("three")]))
    (answer,) = gap_of(asked, found).answers

    assert ("d.two", P, place("two"), False) == (answer.capability, answer.standing, answer.place, answer.is_near)


def test_of_two_that_are_there_the_connected_one_answers() -> None:
    """Code that nothing reaches is no answer while other code is reached."""
    asked = feature(need("n", capabilities=("d.one", "d.two")))
    defined = replace(verdict("d.one", P, [place("one")]), reach=Reach.DEFINED)
    (answer,) = gap_of(asked, install(defined, verdict("d.two", P, [place("two")]))).answers

    assert "d.two" == answer.capability


@pytest.mark.parametrize(
    ("reason", "brief"),
    [("No code of this form (a) among 9 functions.", "near: near does it."), ("Its wrapper is left alone.", None)],
)
def test_what_was_searched_in_vain_is_told_in_few_words_by_what_stands_there(reason: str, brief: str | None) -> None:
    """A reason of the detector's own says more than that."""
    one = replace(verdict("c.a", A, nearest=[place("near")]), reason=reason)

    (answer,) = gap_of(feature(need("a")), install(one), [install(one)]).answers

    assert (reason, brief or reason) == (answer.why, answer.brief)


def test_what_was_never_judged_is_unknown_and_no_step() -> None:
    """A run of an older recon, or a capability that nobody looks for."""
    gap = gap_of(feature(need("walk", core=True)), install())

    assert (U, ()) == (gap.standing, gap.steps)
    assert ["This run holds no verdict on c.walk."] == [each.why for each in gap.unsure]


def test_steps_stand_in_the_order_in_which_they_build_on_one_another() -> None:
    """And name those that come directly before them, met needs being passed over."""
    asked = feature(need("walk", "mask", "tree"), need("mask", "tree"), need("kv", "walk"), need("tree"))
    gap = gap_of(asked, install(verdict("c.tree", A), verdict("c.mask", P), verdict("c.walk", A), verdict("c.kv", A)))

    assert [("tree", 1, ()), ("walk", 2, (1,)), ("kv", 3, (2,))] == [(s.need, s.number, s.after) for s in gap.steps]


def test_a_step_names_no_step_that_another_of_its_own_names() -> None:
    """A reader follows the numbers."""
    asked = feature(need("a"), need("b", "a"), need("c", "a", "b"))
    gap = gap_of(asked, install(*(verdict(f"c.{name}", A) for name in "abc")))

    assert [(), (1,), (2,)] == [step.after for step in gap.steps]


def test_needs_without_an_order_keep_that_of_the_file() -> None:
    """A list in a file is read from the top."""
    assert ["b", "a", "c"] == [each.id for each in in_order((need("b"), need("a"), need("c", "b")))]


def test_places_are_those_that_the_pointers_name_reached_ones_first() -> None:
    """Each place once, with what was seen, what to do, and where that stands."""
    hooks = (
        Pointer("c.chain", Part.EVIDENCE, "Replace this."),
        Pointer("c.walk", Part.NEAREST, "Or build it here."),
        Pointer("c.nobody", Part.NEAREST, "Never."),
    )
    chain = verdict("c.chain", P, [place("cpu", 9, ()), place("kernel", 8)], [place("no")])
    walk = verdict("c.walk", A, (), [place("kernel", 8), place("other", 3)])
    step = only(gap_of(feature(need("walk", hooks=hooks)), install(chain, walk)))

    assert [("kernel", 8), ("cpu", 9), ("other", 3)] == [(hook.symbol, hook.line) for hook in step.hooks]
    assert ["c.chain.evidence", "c.chain.evidence", "c.walk.nearest"] == [hook.source for hook in step.hooks]
    assert ("kernel does it", "Replace this.") == (step.hooks[0].saw, step.hooks[0].task)


def test_one_part_of_a_verdict_does_not_crowd_out_the_next() -> None:
    """Three places of a pointer, five in all."""
    hooks = (Pointer("c.a", Part.EVIDENCE, "A."), Pointer("c.b", Part.EVIDENCE, "B."))
    many = [place(f"s{number}") for number in range(9)]
    found = install(verdict("c.a", P, many), verdict("c.b", P, many[3:]), verdict("c.n", A))
    step = only(gap_of(feature(need("n", hooks=hooks)), found))

    assert ["s0", "s1", "s2", "s3", "s4"] == [hook.symbol for hook in step.hooks]


def test_the_path_to_a_place_is_the_shortest_of_its_own_capability() -> None:
    """Cut where the place is reached."""

    def hop(symbol: str) -> Hop:
        return Hop("e/a.py", symbol, 1, "call", Tier.CERTAIN)

    paths = (
        CallPath("c.other", (hop("kernel"),)),
        CallPath("c.chain", tuple(map(hop, ("step", "run", "far", "kernel")))),
        CallPath("c.chain", tuple(map(hop, ("step", "run", "kernel", "deeper")))),
    )
    hooks = (Pointer("c.chain", Part.EVIDENCE, "Here."),)
    found = install(verdict("c.chain", P, [place("kernel"), place("lost")]), verdict("c.n", A), paths=paths)
    step = only(gap_of(feature(need("n", hooks=hooks)), found))

    assert [["step", "run", "kernel"], []] == [[each.symbol for each in hook.route] for hook in step.hooks]


def test_a_step_carries_the_gates_that_forbid_it() -> None:
    """Whoever patches has to lift them."""
    found = install(replace(verdict("c.n", H, [place("half")]), gates=(GATE,)))

    assert (GATE,) == only(gap_of(feature(need("n")), found)).gates


def test_a_step_without_a_place_is_said_to_be_without_one() -> None:
    """Silence would look like nothing to do."""
    gap = gap_of(feature(need("n")), install(verdict("c.n", A)))

    assert [Unknown("n", "", "No place to build it in was recognised.")] == list(gap.unsure)


def test_other_installs_that_have_what_is_missing_are_named() -> None:
    """Not those that are no better, and nothing for what is here."""
    asked = feature(need("walk"), need("tree"))
    here = install(verdict("c.walk", H), verdict("c.tree", P))
    better = install(verdict("c.walk", P, [place("walk")]), verdict("c.tree", P), name="sglang-2")
    alike = install(verdict("c.walk", H), verdict("c.tree", H), name="vllm-3")
    (gap, *_) = gaps_of([asked], [here], [here, better, alike])

    assert [("walk", "sglang-2", "", "walk")] == [
        (each.need, each.install, each.member, each.place.symbol if each.place else "") for each in gap.elsewhere
    ]


def test_a_member_that_has_what_the_whole_has_partly_is_named() -> None:
    """And those that lack it stand with the answer."""
    members = (
        Member("TREE_ATTN", P, Reach.WIRED, "It has it.", (place("tree"),), ()),
        Member("FLASH_ATTN", A, None, "It has not.", (), ()),
    )
    gap = gap_of(feature(need("mask")), install(replace(verdict("c.mask", H, [place("half")]), members=members)))

    assert [("vllm-1", "TREE_ATTN", P, "It has it.")] == [
        (each.install, each.member, each.standing, each.reason) for each in gap.elsewhere
    ]
    assert ("FLASH_ATTN",) == gap.answers[0].lacking


def test_what_is_not_known_is_said() -> None:
    """Undecided needs, code that nothing reaches, files unread, libraries read by name."""
    unread = Unknown("library", "e/_C.so", "it was not asked for")
    partly = Unknown(PARTLY, "3 files", "the grammar fails in parts of them")
    loose = replace(verdict("c.loose", P, [place("loose")]), reach=Reach.DEFINED)
    found = install(verdict("c.open", U, unread=(unread, partly)), loose, verdict("c.gone", A, libraries=9))
    gap = gap_of(feature(need("open"), need("loose"), need("gone")), found)

    assert [
        ("open", "", "c.open said so."),
        ("loose", "e/a.py:7", "It is in the tree; no call path to it was seen."),
        ("gone", "", "No place to build it in was recognised."),
        ("library", "e/_C.so", "it was not asked for"),
        ("compiled code", "", "9 compiled libraries were read by the names in them only, not by their code."),
    ] == [(each.what, each.where, each.why) for each in gap.unsure]


def test_needs_that_are_met_one_by_one_are_not_said_to_be_met_together() -> None:
    """Two of them may exclude each other."""
    gap = gap_of(feature(need("a"), need("b")), install(verdict("c.a"), verdict("c.b")))

    assert P is gap.standing
    assert ["all at once"] == [each.what for each in gap.unsure]


def test_needs_are_counted_by_standing() -> None:
    """For the line that is read first."""
    asked = feature(need("a"), need("b"), need("c"))

    assert {P: 1, A: 2} == gap_of(asked, install(verdict("c.a"), verdict("c.b", A), verdict("c.c", A))).counts

"""Gaps as they are written: the answer first, true places, nothing that a tree says is obeyed."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from recon.features.shelf import shelf
from recon.records.feature import Feature
from recon.records.gap import GapReport
from recon.records.path import CallPath, Hop, Tier
from recon.records.run import Run
from recon.records.verdict import Gate, Standing
from recon.report.gap_files import WRITERS, gap_markdown, gap_rows
from recon.report.gap_screen import gap_screen
from recon.report.gap_words import GapView, sentence_of, view_of_gaps
from recon.verdicts.gaps import gaps_of
from tests.report.hand import EVIL, evidence, hostile, scan, verdict

FEATURES = shelf(Path("nowhere")).features


def gapped(run: Run, *features: Feature, name: str = "scan.json") -> GapView:
    """A run against features."""
    engines = [each for each in run.installs if not each.engine.is_companion]
    gaps = gaps_of(features, engines, run.installs)
    return view_of_gaps(GapReport(1, "0.1.0", name, run.started_at, features, gaps), run)


def ddtree() -> GapView:
    """The scan made by hand against DDTree, one place with a route and a step with a gate."""
    run = scan()
    vllm = run.installs[1]
    near = vllm.verdicts[1].nearest[0]
    hops = (
        Hop("vllm/engine.py", "EngineCore.step", 3, "method", Tier.CERTAIN),
        Hop("vllm/run.py", "Runner.sample", 9, "launch", Tier.LIKELY),
        Hop(near.path, near.symbol, near.line, "", Tier.CERTAIN),
    )
    gated = replace(vllm.verdicts[1], gates=(Gate("the tree is a chain", "vllm/config.py", 44),))
    verdicts = (vllm.verdicts[0], gated, *vllm.verdicts[2:])
    changed = replace(vllm, verdicts=verdicts, paths=(CallPath("accept.tree.greedy", hops),))
    return gapped(replace(run, installs=(run.installs[0], changed, run.installs[2])), FEATURES["ddtree"])


def evil() -> GapView:
    """Attacks in every text of a tree, and of a feature."""
    known = FEATURES["ddtree"]
    needs = tuple(replace(need, title=EVIL) for need in known.needs)
    run = hostile()
    judged = tuple(
        verdict(name, Standing.ABSENT, None, nearest=(evidence(f"{EVIL}a|`` b.py", 9, note=EVIL),))
        for name in dict.fromkeys(need.capabilities[0] for need in needs)
    )
    run = replace(run, installs=(*(replace(each, verdicts=(*each.verdicts, *judged)) for each in run.installs),))
    return gapped(run, replace(known, id="evil", title=EVIL, what=EVIL, paper=EVIL, needs=needs), known)


def test_the_answer_is_the_first_thing_that_is_read() -> None:
    first, second, *_ = gap_screen(ddtree(), 120).splitlines()

    assert "vllm 0.20.1  3c0ffee0c0ffee: /opt/ml-env/lib/python3.12/site-packages/vllm" == first
    assert "DDTree: no, 1 of 8 needs is there, 1 partly, 4 missing, 2 cannot tell. No option turns it on." == second


def test_every_need_has_its_answer_place_and_reason() -> None:
    shown = gap_screen(ddtree(), 100)

    assert re.search(r"^drafter \(block diffusion\) +yes +vllm/v1/spec_decode/dflash.py:20$", shown, re.MULTILINE)
    assert re.search(r"^walk the tree +no +nearest vllm/v1/sample/rejection_sampler.py:695$", shown, re.MULTILINE)
    assert "No function walks a tree of drafts." in shown
    assert re.search(r"^No: none of its form in [\d,]+ files?, ", shown, re.MULTILINE)
    assert re.search(r"^state per node \(hybrid models\) +cannot tell", shown, re.MULTILINE)


def test_the_patch_names_places_routes_and_gates_in_its_order() -> None:
    shown = " ".join(gap_screen(ddtree(), 100).split())
    steps = re.findall(r" (\d) ([KPC]) ([\w ]+):", shown)

    assert ["tree from draft scores", "mask per request", "positions by depth", "walk the tree"] == [
        title for _, _, title in steps[:4]
    ]
    assert ["1", "2", "3", "4", "5"] == [number for number, *_ in steps]
    assert "walk the tree: kernel, after 2 and 3" in shown
    assert "vllm/v1/sample/rejection_sampler.py:640 rejection_greedy_sample_kernel [runner V1, method dflash]" in shown
    assert "from the step by EngineCore.step > Runner.sample (likely)" in shown
    assert "The engine refuses or overrides this where the tree is a chain (vllm/config.py:44)." in shown


def test_what_is_there_under_a_condition_says_so() -> None:
    """Under its answer, as there is no step that could."""
    run = scan()
    drafter = replace(run.installs[1].verdicts[3], gates=(Gate("use_v2", "vllm/config.py", 9),))
    vllm = replace(run.installs[1], verdicts=(*run.installs[1].verdicts[:3], drafter))
    view = gapped(replace(run, installs=(vllm,)), FEATURES["ddtree"])

    assert "not where use_v2 (vllm/config.py:9)" in " ".join(gap_screen(view, 100).split())
    assert "Not where use\\_v2 (vllm/config.py:9)." in gap_markdown(view)


def test_a_long_way_is_told_by_its_end_on_the_screen() -> None:
    """Its beginning is the same for every place."""
    view = ddtree()
    hop = Hop("vllm/engine.py", "EngineCore.step", 3, "method", Tier.CERTAIN)
    run = replace(scan(), installs=tuple(view.installs.values()))
    path = run.installs[1].paths[0]
    far = replace(path, hops=(hop, hop, hop, *path.hops))
    installs = (run.installs[0], replace(run.installs[1], paths=(far,)), run.installs[2])
    view = gapped(replace(run, installs=installs), FEATURES["ddtree"])
    said = "from the step by … > EngineCore.step > EngineCore.step > EngineCore.step > Runner.sample (likely)"

    assert said in " ".join(gap_screen(view, 120).split())


def test_ways_around_and_doubts_stand_at_the_end() -> None:
    shown = gap_screen(ddtree(), 100)
    outside = "  walk the tree: sglang 0.5.23, yes  sglang/kernels/ops/speculative/spec_tree.py:480\n"

    assert outside in shown
    assert shown.index("Patch, in order") < shown.index("Without a patch") < shown.index("Not sure")
    assert "  could not be decided: state per node, graph with N+1 tokens\n" in shown
    assert "  symbols (vllm/_C.abi3.so): the library was not asked for" in shown
    assert "flashinfer" not in shown.split("Without a patch")[1].split("Not sure")[0]


@pytest.mark.parametrize(
    ("standings", "sentence"),
    [
        ((Standing.PRESENT,) * 8, "yes, all 8 needs are there, each by itself."),
        ((Standing.PRESENT,) * 6 + (Standing.ABSENT,) * 2, "yes, 6 of 8 needs are there, each by itself, 2 missing."),
    ],
)
def test_a_feature_that_is_there_needs_no_option(standings: tuple[Standing, ...], sentence: str) -> None:
    """The last two are for hybrid models and for speed."""
    run = scan()
    known = FEATURES["ddtree"]
    verdicts = tuple(
        replace(run.installs[1].verdicts[0], capability=need.capabilities[0], standing=standing)
        for need, standing in zip(known.needs, standings, strict=True)
    )
    view = gapped(replace(run, installs=(replace(run.installs[1], verdicts=verdicts),)), known)

    assert sentence == sentence_of(view.report.gaps[0])


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("make", [ddtree, evil])
def test_no_line_is_wider_than_the_screen(make: Callable[[], GapView], width: int) -> None:
    assert [] == [line for line in gap_screen(make(), width).splitlines() if cell_len(line) > width]


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_that_a_tree_says_is_obeyed(name: str) -> None:
    written = WRITERS[name](evil())

    assert [] == [mark for mark in ("\x1b", "\u202e", "\x00", "\r", "\u2066") if mark in written]


def test_markdown_stays_text() -> None:
    """No tag, link or column comes out of a name; the table keeps its columns."""
    written = gap_markdown(evil())
    prose = re.sub(r"(`+).*?\1", "", written)
    rows = [line for line in written.splitlines() if line.startswith("|")]

    assert not re.search(r"(?<!\\)<", prose)
    assert {5} == {len(re.findall(r"(?<!\\)\|", line)) for line in rows}


def test_markdown_is_a_plan_with_whole_paths() -> None:
    written = gap_markdown(ddtree())

    assert written.startswith("# DDTree in vllm 0.20.1\n")
    assert "| walk the tree | no | nearest `vllm/v1/sample/rejection_sampler.py:695` |" in written
    assert "4. **walk the tree: kernel, after 2 and 3**\n" in written
    assert "    - `vllm/v1/sample/rejection_sampler.py:640` in `rejection_greedy_sample_kernel`" in written
    assert "From the step: EngineCore.step \\> Runner.sample (likely) \\> verify" in written
    assert "From the run `scan.json`, started 2026-11-30T10:15:00Z" in written


def test_rows_say_what_they_are() -> None:
    """One for each fact, for a pipe."""
    rows = [line.split("\t") for line in gap_rows(ddtree()).splitlines()]
    vllm = [row for row in rows if row[1] == "vllm 0.20.1"]
    kinds = [row[0] for row in vllm]

    assert ("gap", "no") == (vllm[0][0], vllm[0][3])
    assert {"gap", "need", "step", "hook", "gate", "elsewhere", "unsure"} == set(kinds)
    assert (8, 5) == (kinds.count("need"), kinds.count("step"))
    assert [["4", "vllm/v1/sample/rejection_sampler.py:640", "rejection_greedy_sample_kernel"]] == [
        row[3:6] for row in vllm if row[0] == "hook" and row[-2] == "accept.linear.greedy.evidence"
    ]

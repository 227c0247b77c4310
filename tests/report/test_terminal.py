"""The screen: fits, never cuts a line number, obeys nothing that a tree says."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from recon.report import terminal, tsv
from recon.report.detail import detail
from recon.report.view import View
from tests.report.hand import measurement, probe, scan
from tests.report.views import both_view, hostile_view, scan_view, view_of


@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 160])
@pytest.mark.parametrize("make", [scan_view, both_view, hostile_view])
def test_no_line_is_wider_than_the_screen(make: object, width: int) -> None:
    assert callable(make)
    lines = terminal.screen(make(), width).splitlines()

    assert [] == [line for line in lines if cell_len(line) > width]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_place_is_shortened_in_its_middle_and_keeps_its_line(width: int) -> None:
    shown = terminal.screen(scan_view(), width)

    assert 8 == len(re.findall(r"spec_tree\.py:480$", shown, re.MULTILINE))
    assert re.search(r"sampler\.py:640$", shown, re.MULTILINE)
    assert 4 == len(re.findall(r"sampler\.py:695$", shown, re.MULTILINE))


def test_a_narrow_screen_drops_the_places_and_keeps_what_was_searched() -> None:
    shown = " ".join(terminal.screen(scan_view(), 79).split())

    assert ".py:" not in shown.replace("vllm/broken.py:", "")
    assert "Each no: searched 1,723 files, 40,012 functions, 312 kernels, 9 libraries" in shown


def test_every_no_shows_what_was_searched_and_the_nearest_miss() -> None:
    shown = terminal.screen(scan_view(), 100)

    assert re.search(r"Greedy acceptance over a tree +○ no +412 read; nearest\n +\S+:695\n", shown)
    assert re.search(r"KV of the accepted path kept +○ no +31 read; nothing came near", shown)
    assert "Each no: searched 1,723 files, 40,012 functions, 312 kernels, 9 libraries" in shown


def test_searches_that_differ_are_told_one_by_one() -> None:
    run = scan()
    vllm = run.installs[1]
    changed = replace(vllm.verdicts[1], searched=replace(vllm.verdicts[1].searched, files=3))
    made = replace(run, installs=(replace(vllm, verdicts=(vllm.verdicts[0], changed, *vllm.verdicts[2:])),))
    shown = " ".join(terminal.screen(view_of(made), 100).split())

    assert "accept.tree.greedy: Searched 3 files," in shown
    assert "pos.tree: Searched 1,723 files," in shown


def test_the_decision_stands_first() -> None:
    told = " ".join(terminal.screen(scan_view()).splitlines()[:2])

    assert told.startswith("sglang 0.5.23 can run a draft tree; whether one would pay cannot be told: ")
    assert told.endswith(" vllm 0.20.1 cannot run a draft tree without a patch: nothing in it accepts one.")


def test_colour_is_there_only_when_asked_for() -> None:
    assert "\x1b" not in terminal.screen(both_view())
    assert "\x1b[3" in terminal.screen(both_view(), color=True)


def test_a_colourless_environment_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who prints has decided already."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    assert "\x1b[3" in terminal.screen(both_view(), color=True)


def hostile_texts() -> list[str]:
    view: View = hostile_view()
    return [
        terminal.screen(view),
        tsv.render(view),
        detail(view.findings, 100),
        detail(view.findings),
    ]


def test_no_text_of_a_tree_or_a_host_acts_on_the_terminal() -> None:
    for text in hostile_texts():
        acting = set(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)) - {"\t"}

        assert set() == acting
        assert "\\x1b[31mred" in text.replace("\n", "")


def test_colour_codes_are_ours_alone() -> None:
    shown = terminal.screen(hostile_view(), color=True)

    assert set(re.findall(r"\x1b[^m]*m", shown)) <= {
        f"\x1b[{code}m" for code in ("0", "1", "2", "31", "32", "33", "35", "1;33", "1;35")
    }
    assert set() == set(re.findall(r"\x1b(?!\[)", shown))


def test_rows_for_a_pipe_have_full_places_and_one_record_a_line() -> None:
    rows = [row.split("\t") for row in tsv.render(hostile_view()).splitlines()]

    assert {"decision": 5, "verdict": 10, "measurement": 11, "unknown": 4} == {row[0]: len(row) for row in rows}
    assert any(row[6] == "vllm/v1/sample/rejection_sampler.py:640" for row in rows if row[0] == "verdict")


def test_the_detail_of_a_capability_tells_all_that_it_rests_on() -> None:
    findings = [each for each in scan_view().findings if each.capability == "accept.linear.greedy"][:1]
    shown = detail(findings)

    for words in (
        "● Greedy acceptance along a chain: yes, connected",
        "Assuming runner V1, method dflash.",
        "vllm/v1/sample/rejection_sampler.py:640  rejection_greedy_sample_kernel",
        ">   640              draft = tl.load(draft_ptr + start + pos)",
        "How the engine's step gets there, through runner V1\n   1 EngineCore.step  vllm/v1/engine/core.py:",
        "GPUModelRunner._sample  vllm/v1/worker/gpu_model_runner.py:1450\n       calls the method, likely",
        "through runner V2 by environment to rejection_greedy_sample_kernel, 2 hops",
        "sampling_metadata.all_greedy (vllm/v1/sample/rejection_sampler.py:120)",
        "Searched 1,723 files, 40,012 functions, 312 kernels, 9 libraries; 12 of the functions read in full.",
        "looked for a walk that compares each child with the target's token",
    ):
        assert words in shown


def test_the_detail_names_members_and_what_was_not_read() -> None:
    shown = detail(scan_view().findings)

    assert "○ FLASH_ATTN: no. No mask argument." in shown
    assert "not read: symbols: vllm/_C.abi3.so: the library was not asked for" in shown


def test_an_interrupted_run_says_so() -> None:
    assert "This run was interrupted" in terminal.screen(view_of(replace(scan(), complete=False)))


def probed() -> View:
    """Probes with axes of their own, kernels with long names, and one kernel that was not timed."""
    axes: dict[str, int | float | str] = {"vocab": 151936, "dtype": "bf16", "accepted": 3}
    cases = [{"batch": batch, "nodes": nodes, **axes} for batch in (1, 64) for nodes in (8, 64)]
    kernels = ("tree_greedy.fused", "tree_greedy.argmax_walk", "linear_greedy.argmax_cumprod")
    floors = [
        measurement("nop.triton", "floor", 0.5),
        measurement("copy.triton", "floor", 252.0, case={"bytes": 1 << 29}),
    ]
    floors[0] = replace(floors[0], case={})
    timed = [measurement(kernel, "subject", 97.5, case=case) for case in cases for kernel in kernels]
    return view_of(replace(probe(), measurements=(*floors, *timed), estimates=()))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_kernels_are_named_whole_below_a_line_that_says_their_case(width: int) -> None:
    """A case is said once, and what never differs once for all."""
    lines = terminal.screen(probed(), width).splitlines()
    heading = lines.index("batch 64, nodes 8:")

    assert ["tree_greedy.fused", "tree_greedy.argmax_walk", "linear_greedy.argmax_cumprod"] == [
        line.split()[0] for line in lines[heading + 1 : heading + 4]
    ]
    assert 1 == " ".join(lines).count("vocab 151936, dtype bf16, accepted 3")
    assert 1 == sum(line.startswith("Kernel  ") for line in lines)
    assert 4 == sum(bool(re.fullmatch(r"batch \d+, nodes \d+:", line)) for line in lines)


def test_a_screen_that_is_not_wide_leaves_out_what_the_page_has() -> None:
    wide, narrow = (terminal.screen(probed(), width) for width in (100, 60))

    assert "95 % interval" in wide.partition("Kernel  ")[2]
    assert "95 % interval" not in narrow.partition("Kernel  ")[2]
    assert "97.5 µs" in narrow


def test_a_kernel_that_disagrees_says_so_beside_the_others() -> None:
    run = replace(
        probe(), measurements=(measurement("a.b", "subject", 1.0), measurement("a.c", "subject", 1.0, mismatches=2))
    )
    shown = " ".join(terminal.screen(view_of(replace(run, estimates=())), 100).split())

    assert "disagrees in 2 of 12 cases" in shown
    assert "agrees in 12 cases" in shown

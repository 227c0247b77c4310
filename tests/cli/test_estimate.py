"""`recon estimate`: tokens per pass of a tree, or why none are told."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from recon.estimates.decision import decide
from recon.probes.models import PRESETS, model_of
from recon.runs.files import save
from tests.cli.conftest import Recon
from tests.estimates.probed import records
from tests.report.hand import DEVICE, probe, scan


def test_the_tree_of_a_known_family_is_told_with_its_interval(recon_command: Recon) -> None:
    """Published for this chain, at a budget of 64: 9.75 tokens per pass."""
    ended = recon_command(
        "estimate", "--json", "--family", "dflash", "--linear-tau", "7.79", "--block", "16", "--budget", "64"
    )
    told = json.loads(ended.out)

    assert (0, "") == (ended.code, ended.err)
    assert ("cannot_tell", None) == (told["decision"], told["withheld"])
    assert ("family_law", "heap", 64) == tuple(told["tree"][name] for name in ("basis", "builder", "nodes"))
    assert told["tree"]["low"] < 9.75 < told["tree"]["high"]
    assert 9.75 == pytest.approx(told["tree"]["tau"], rel=0.04)


def test_the_best_budget_is_that_of_the_published_tables(recon_command: Recon) -> None:
    ended = recon_command("estimate", "--json", "--family", "DFlash", "--linear-tau", "6.57")

    assert 9.54 == pytest.approx(json.loads(ended.out)["tree"]["tau"], rel=0.05)


def test_a_person_is_told_what_it_rests_on_and_that_times_are_missing(recon_command: Recon) -> None:
    ended = recon_command("estimate", "--family", "dflash", "--linear-tau", "6.57", "--budget", "16")

    assert ended.out.startswith(
        "A tree of 16 drafts (heap) would commit 7.36 tokens per pass (6.79 to 7.94): 1.12x (1.03 to 1.21) the chain's"
        " 6.57."
    )
    assert "DDTree, arXiv 2604.12989" in ended.out
    assert "cannot be told from acceptance alone" in ended.out


def test_sentences_are_set_by_the_width_of_the_screen(recon_command: Recon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    words = (*WEIGHED, "--gpu", "H200")
    piped, shown = recon_command(*words).out, recon_command("--color", "always", *words).out

    assert piped.split() == shown.split()
    assert max(map(len, piped.splitlines())) > 90 >= max(map(len, shown.splitlines()))


def test_an_unknown_family_gets_no_number(recon_command: Recon) -> None:
    ended = recon_command("estimate", "--json", "--family", "mtp", "--linear-tau", "2.4", "--block", "4")
    told = json.loads(ended.out)

    assert 3 == ended.code
    assert ("cannot_tell", None, False) == (told["decision"], told["tree"], told["withheld"]["mend"])
    assert "No figures are published" in told["withheld"]["reason"]


def test_a_drafter_that_is_hardly_ever_accepted_is_to_be_mended_first(recon_command: Recon) -> None:
    """Whatever a tree might add."""
    words = ("estimate", "--family", "dflash", "--linear-tau", "1.17", "--budget", "64")
    ended, as_json = recon_command(*words), recon_command(*words, "--json")

    assert [3, 3] == [ended.code, as_json.code]
    assert "fix_the_drafter_first" == json.loads(as_json.out)["decision"]
    assert ended.out.startswith("Fix the drafter first: 1.17 tokens per pass")


@pytest.mark.parametrize(
    "words",
    [
        ("--linear-tau", "0.5"),
        ("--linear-tau", "17"),
        ("--linear-tau", "nan"),
        ("--linear-tau", "x"),
        ("--linear-tau", "6", "--budget", "0"),
        ("--linear-tau", "6", "--budget", "-4"),
        ("--linear-tau", "6", "--budget", "most"),
        ("--linear-tau", "6", "--budget", "9" * 50),
        ("--linear-tau", "6", "--block", "0"),
    ],
)
def test_what_makes_no_sense_is_usage(recon_command: Recon, words: tuple[str, ...]) -> None:
    assert 2 == recon_command("estimate", "--family", "dflash", *words).code


# Times


@pytest.fixture
def timed(state: Path) -> Path:
    """A probe of an H200 in the shapes of Qwen3.6-27B, saved."""
    return save(replace(probe(), measurements=tuple(records(model_of("Qwen3.6-27B")))), state)


WEIGHED = ("estimate", "--family", "dflash", "--linear-tau", "5", "--model", "Qwen3.6-27B", "--context", "32k")


def test_with_a_model_the_decision_comes_first(recon_command: Recon, timed: Path) -> None:
    ended = recon_command(*WEIGHED, "--batch", "1,4")

    assert (0, True) == (
        ended.code,
        ended.out.startswith("A tree would pay at batch 1: 63 drafts in a tree (heap) give 1."),
    )
    assert f"probe: {timed.name}, " in ended.err
    assert "Batch 4, kernels as engines have them: " in ended.out


def test_the_decision_and_all_it_rests_on_are_json(recon_command: Recon, timed: Path) -> None:
    told = json.loads(recon_command(*WEIGHED, "--json").out)
    (made,) = told["estimates"]
    (bundled, engine) = made["outlooks"]

    assert ("win", told["sentence"]) == (told["decision"], made["sentence"])
    assert ["bundled", "engine"] == [bundled["kernels"], engine["kernels"]]
    assert {"value", "low", "high", "ground", "source"} == set(bundled["ratio"])
    assert bundled["nodes"] == told["tree"]["nodes"]
    assert 144 << 20 == made["memory"]["state_bytes"]


def test_the_scan_tells_whether_an_engine_could_run_it(recon_command: Recon, timed: Path, state: Path) -> None:
    save(scan(), state)
    first, second, *_ = recon_command(*WEIGHED).out.splitlines()

    assert first.startswith("sglang 0.5.23: Cannot tell at batch 1: ")
    assert "with kernels as engines have them" in first
    assert first.endswith(" vllm 0.20.1: a tree pays. It cannot run one without a patch.")
    assert second.startswith("vllm 0.20.1: A tree would pay at batch 1: ")


def test_without_any_run_the_data_sheet_of_the_named_card_bounds(recon_command: Recon) -> None:
    ended = recon_command(*WEIGHED, "--gpu", "RTX 5090")

    assert (0, 1) == (ended.code, len(ended.err.splitlines()))
    assert ended.err.startswith("saved ")
    assert ended.out.startswith("Cannot tell at batch 1 without measuring: ")


def test_no_chain_is_kept_for_what_layers_with_a_window_do_not_read(recon_command: Recon, tmp_path: Path) -> None:
    """All 36 layers over half a million tokens would forbid a tree of 256; 35 of them see 128."""
    config = json.loads((PRESETS / "Qwen3-8B.json").read_text())
    kinds = ["sliding_attention"] * 35 + ["full_attention"]
    begins = {}
    for name, more in (("whole", {}), ("windowed", {"layer_types": kinds, "sliding_window": 128})):
        (tmp_path / f"{name}.json").write_text(json.dumps({**config, **more}))
        words = ("--model", str(tmp_path / f"{name}.json"), "--context", "512k", "--draft-ms", "1", "--budget", "256")
        ended = recon_command("estimate", "--family", "dflash", "--linear-tau", "6", "--gpu", "H200", *words)
        begins[name] = ended.out[: ended.out.index(" at batch 1")]

    assert {"whole": "Keep the chain", "windowed": "Cannot tell"} == begins


def test_without_run_and_card_no_number_is_given(recon_command: Recon) -> None:
    ended = recon_command(*WEIGHED)

    assert 3 == ended.code
    assert ended.out.startswith(
        "Cannot tell at batch 1: no time was measured that counts, and no card was named (--gpu)."
    )


def test_times_of_another_card_than_the_named_one_are_left_out(recon_command: Recon, timed: Path) -> None:
    told = json.loads(recon_command(*WEIGHED, "--gpu", "RTX 5090", "--json").out)

    assert ["floor", "floor_kept"] == [each["kernels"] for each in told["estimates"][0]["outlooks"]]


def test_that_a_named_probe_of_another_card_is_left_out_is_said(recon_command: Recon, timed: Path) -> None:
    ended = recon_command(*WEIGHED, "--gpu", "RTX 5090", "--probe", timed.name)

    assert f"Times taken on {DEVICE.name} are not used: --gpu names RTX 5090." in ended.out


def test_of_two_cards_that_are_named_the_one_that_is_weighed_is_told(
    recon_command: Recon, timed: Path, state: Path
) -> None:
    device = replace(DEVICE, name="NVIDIA B200", uuid="GPU-b")
    other = save(replace(probe(device), measurements=tuple(records(model_of("Qwen3.6-27B"), device=device))), state)
    ended = recon_command(*WEIGHED, "--probe", timed.name, "--probe", other.name)

    assert 0 == ended.code
    assert f"Times were taken on {DEVICE.name} (" in ended.out
    assert "those taken on NVIDIA B200 (" in ended.out


@pytest.mark.parametrize("odd", [{"nodes": "x"}, {"nodes": 1.5}, {"batch": -1}, {"m": "8"}, {"context": ""}])
def test_cases_that_no_probe_wrote_are_no_fault_of_recon(
    recon_command: Recon, state: Path, odd: dict[str, int | float | str]
) -> None:
    changed = [
        replace(each, case=each.case | odd) if odd.keys() <= each.case.keys() else each
        for each in records(model_of("Qwen3.6-27B"))
    ]
    save(replace(probe(), measurements=tuple(changed)), state)
    ended = recon_command(*WEIGHED)

    assert 0 == ended.code
    assert "no number, since " in ended.out


def test_measurements_of_which_none_can_be_used_are_said_to_be_of_no_use(recon_command: Recon, state: Path) -> None:
    """Times below 0, of no GPU."""
    broken = [
        replace(each, device=None, spread=replace(each.spread, low_us=-1.0)) if each.spread else each
        for each in records(model_of("Qwen3.6-27B"))
    ]
    save(replace(probe(), measurements=tuple(broken)), state)
    ended = recon_command(*WEIGHED)

    assert 3 == ended.code
    assert f"None of {len(broken)} measurements is used: " in ended.out


def test_two_cards_without_data_sheets_are_not_taken_for_one(recon_command: Recon, state: Path) -> None:
    device = replace(DEVICE, name="NVIDIA Card X")
    save(replace(probe(device), measurements=tuple(records(model_of("Qwen3.6-27B"), device=device))), state)
    ended, same = (recon_command(*WEIGHED, "--gpu", name) for name in ("Card Y", "NVIDIA Card X"))

    assert (3, 0) == (ended.code, same.code)
    assert "no data sheet of 'Card Y' is here" in ended.out


def test_rounds_that_a_person_timed_are_weighed_without_a_model(recon_command: Recon) -> None:
    """Published: 0.61 times the chain's speed, on an A6000."""
    words = ("--linear-tau", "3.2", "--block", "8", "--tree-tau", "3.282", "--budget", "32")
    ended = recon_command("estimate", *words, "--linear-ms", "43.35", "--tree-ms", "72.53")

    assert 0 == ended.code
    assert ended.out.startswith("Keep the chain at batch 1: 32 drafts in a tree (as told) give 0.61x")
    assert "the tree wins from 5.35 tokens per pass on" in ended.out


def test_against_a_given_round_of_one_chain_no_better_chain_is_claimed_to_be_beaten(recon_command: Recon) -> None:
    words = ("--linear-tau", "6", "--budget", "64", "--linear-ms", "10", "--tree-ms", "11")
    ended = recon_command("estimate", "--family", "dflash", *words)
    first = ended.out.splitlines()[0]

    assert "the tokens per second of the chain (15 drafts)" in first
    assert first.endswith("; shorter chains were not weighed.")
    assert "Not known: What rounds of shorter chains take" in ended.out


def test_a_drafter_of_token_after_token_may_go_deeper_in_a_tree_than_its_chain(recon_command: Recon) -> None:
    words = ("--linear-tau", "3", "--block", "4", "--tree-tau", "4.5", "--budget", "32", "--linear-ms", "10")
    ended = [
        recon_command("estimate", "--family", family, *words, "--tree-ms", "11").code for family in ("eagle3", "dflash")
    ]

    assert [0, 2] == ended


@pytest.mark.parametrize(("budget", "builder"), [("1", "heap"), ("8", "spine+siblings"), ("4", "eagle(4,1)")])
def test_a_tree_that_is_a_chain_beats_no_chain(recon_command: Recon, tmp_path: Path, budget: str, builder: str) -> None:
    counts = {"v": 1, "source": "by hand", "L": 15, "rounds": 1000, "reached": [900] * 15, "tau": 14.5, "cut": False}
    (tmp_path / "counts").write_text(json.dumps(counts))
    words = ("--metrics", str(tmp_path / "counts"), "--tree-tau", "2", "--budget", budget, "--builder", builder)
    ended = recon_command("estimate", *words, "--linear-ms", "10", "--tree-ms", "1")

    assert 3 == ended.code
    assert "is a chain." in ended.out.splitlines()[0]


def test_a_broken_drafter_is_to_be_mended_first_also_where_nothing_is_known_of_times(recon_command: Recon) -> None:
    words = ("estimate", "--family", "dflash", "--linear-tau", "1.17", "--model", "Qwen3-8B")
    told = json.loads(recon_command(*words, "--json").out)

    assert "fix_the_drafter_first" == told["decision"]
    assert recon_command(*words).out.startswith("Fix the drafter first")


def test_a_broken_drafter_is_to_be_mended_first_also_where_times_are_known(recon_command: Recon, timed: Path) -> None:
    ended = recon_command("estimate", "--family", "dflash", "--linear-tau", "1.17", "--model", "Qwen3.6-27B", "--json")
    told = json.loads(ended.out)

    assert (3, "fix_the_drafter_first", None) == (ended.code, told["decision"], told["tree"])
    assert told["sentence"].startswith("Fix the drafter first: ")


@pytest.mark.parametrize(
    "words",
    [
        ("--batch", "0"),
        ("--batch", "1,,2"),
        ("--batch", "x"),
        ("--batch", ",".join(map(str, range(1, 18)))),
        ("--context", "8m"),
        ("--draft-ms", "-1"),
        ("--draft-ms", "nan"),
        ("--draft-ms", "5..2"),
        ("--draft-ms", "1e99"),
        ("--host-ms", "x"),
        ("--tree-ms", "5"),
        ("--linear-ms", "20", "--batch", "1,2"),
        ("--tp", "5"),
        ("--model", "no-such-model"),
        ("--probe", "no-such-run"),
        ("--scan", "no-such-run"),
        ("--tree-tau", "3"),
        ("--tree-tau", "40", "--budget", "16"),
        ("--tree-tau", "16.5", "--budget", "64"),
        ("--tree-tau", "3", "--budget", "64", "--builder", "eagle(2,2)"),
        *(
            ("--budget", "64", "--linear-ms", linear, "--tree-ms", tree)
            for linear, tree in (("0", "12"), ("12", "0"), ("0..5", "12"), ("12", "0..5"), ("1e-320", "12"))
        ),
    ],
)
def test_what_makes_no_sense_about_times_is_usage(recon_command: Recon, words: tuple[str, ...]) -> None:
    assert 2 == recon_command(*WEIGHED, *words).code


def test_of_several_contexts_one_is_asked_for(recon_command: Recon) -> None:
    ended = recon_command(*WEIGHED, "--context", "8k,32k")

    assert 2 == ended.code
    assert "hint: One at a time, for example: --context 8, " in ended.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--batch", "1000000000"), "--batch '1000000000' is no number from 1 to 9999999"),
        (("--context", "0"), "--context '0' is no number from 1 to 9999999"),
        (("--draft-ms", "99999999"), "--draft-ms '99999999' is no time from 0 to 60000 milliseconds"),
    ],
)
def test_a_number_that_is_too_large_or_small_is_told_its_range(
    recon_command: Recon, words: tuple[str, ...], why: str
) -> None:
    ended = recon_command(*WEIGHED, *words)

    assert 2 == ended.code
    assert why in ended.err


@pytest.mark.parametrize("words", [("--batch", "4"), ("--draft-ms", "3"), ("--probe", "x"), ("--gpu", "H200")])
def test_options_about_times_that_would_do_nothing_are_refused(recon_command: Recon, words: tuple[str, ...]) -> None:
    ended = recon_command("estimate", "--family", "dflash", "--linear-tau", "5", *words)

    assert 2 == ended.code
    assert "hint: Add --model NAME, or --tree-ms MS." in ended.err


# The report


def test_the_report_begins_with_the_newest_estimate(recon_command: Recon, timed: Path, state: Path) -> None:
    save(scan(), state)
    told = json.loads(recon_command(*WEIGHED, "--json").out)
    first, second = (each["sentence"] for each in told["estimates"])
    ended = recon_command("report")
    decisions = [line.split("\t")[1:] for line in ended.out.splitlines() if line.startswith("decision\t")]

    assert [
        ["sglang 0.5.23", "cannot tell", first, "partly"],
        ["vllm 0.20.1", "a tree pays", second, "no"],
    ] == decisions
    assert (told["decision"], told["sentence"]) == ("cannot_tell", first)
    assert "estimate: " in ended.err


@pytest.mark.parametrize(
    ("tau", "begins"), [("1.17", "Fix the drafter first: "), ("15", "Cannot tell at batch 1: The law of DFlash")]
)
def test_the_report_does_not_begin_with_what_a_later_estimate_took_back(
    recon_command: Recon, timed: Path, state: Path, tmp_path: Path, tau: str, begins: str
) -> None:
    save(scan(), state)
    recon_command(*WEIGHED)
    later = [tau if word == "5" else word for word in WEIGHED]
    ended = recon_command(*later)
    decision = next(line for line in recon_command("report").out.splitlines() if line.startswith("decision\t"))
    page = recon_command("report", "-o", f"html={tmp_path / 'r.html'}")

    assert (3, True) == (ended.code, ended.out.startswith(begins))
    assert decision.split("\t")[3].startswith(begins)
    assert (0, True) == (page.code, f'<h2 id="lead">{begins}' in (tmp_path / "r.html").read_text())


def test_the_page_begins_with_it_and_shows_what_it_rests_on(
    recon_command: Recon, timed: Path, state: Path, tmp_path: Path
) -> None:
    save(scan(), state)
    first = recon_command(*WEIGHED).out.splitlines()[0]
    recon_command("report", "-o", f"html={tmp_path / 'r.html'}")
    page = (tmp_path / "r.html").read_text()

    assert f'<h2 id="lead">{first}</h2>' in unescape(page)
    assert "kernels as engines have them" in page
    assert "To accept a tree: " in page
    assert ">Batch 1</th>" in page
    assert re.search(
        r'class="v yes">1\.\d+x a tree pays</span><small>1\.\d+ to 1\.\d+</small><small>tree of 63, ', page
    )


def test_an_estimate_of_another_tree_does_not_enter_a_report(recon_command: Recon, timed: Path, state: Path) -> None:
    """It was made before the engine was installed anew."""
    save(scan(), state)
    recon_command(*WEIGHED)
    made = scan()
    other = tuple(replace(each, id=f"{each.id}-new") for each in made.installs)
    save(
        replace(made, installs=other, estimates=decide(other, made.hosts, ()), started_at="2027-01-01T00:00:00Z"), state
    )

    assert "A tree would pay" not in recon_command("report").out


def test_a_probe_alone_is_reported_with_its_estimate(recon_command: Recon, timed: Path) -> None:
    first = recon_command(*WEIGHED).out.splitlines()[0]

    assert first in recon_command("report").out


def test_a_saved_estimate_is_listed_and_read_again(recon_command: Recon, timed: Path, state: Path) -> None:
    told = json.loads(recon_command(*WEIGHED, "--json").out)
    (path,) = (path for path in (state / "runs").iterdir() if "-estimate-" in path.name)

    assert "estimate" in recon_command("runs", "list").out
    assert told["estimates"] == json.loads(path.read_text())["estimates"]

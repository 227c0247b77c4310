"""`recon estimate` from files: traces, counts, and rates by rank."""

import json
import random
from pathlib import Path

import pytest

from tests.cli.conftest import Recon
from tests.estimates.published import ROWS
from tests.estimates.test_sources import counters
from tests.estimates.traces import text, trace_of


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Twelve requests of a drafter that does well."""
    rng = random.Random(3)
    texts = [text(rng, 30, block=4, width=9, mood=0.8) for _ in range(12)]
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(trace_of(texts, block=4, width=9)))
    return str(path)


@pytest.fixture
def metrics(tmp_path: Path) -> str:
    """Counters of a chain of three drafts."""
    counters = {"num_drafts": 1000, "num_draft_tokens": 3000, "num_accepted_tokens": 1600}
    lines = [f"vllm:spec_decode_{name}_total {value}" for name, value in counters.items()]
    lines += [
        f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="{position}"}} {value}'
        for position, value in enumerate((800, 500, 300))
    ]
    path = tmp_path / "metrics.txt"
    path.write_text("\n".join(lines))
    return str(path)


def test_a_trace_is_replayed(recon_command: Recon, trace: str) -> None:
    told = json.loads(recon_command("estimate", "--json", "--trace", trace, "--budget", "16").out)

    assert ("replay", "heap", 16) == tuple(told["tree"][name] for name in ("basis", "builder", "nodes"))
    assert [1, 2, 3, 4] == [chain["nodes"] for chain in told["linear"]["lengths"]]
    assert told["gain"]["low"] < told["gain"]["ratio"] == told["tree"]["tau"] / told["linear"]["tau"]
    assert [8, 16] == [tree["nodes"] for tree in told["curve"]][:2]


def test_which_budget_of_a_trace_is_best_takes_times(recon_command: Recon, trace: str) -> None:
    ended, as_json = recon_command("estimate", "--trace", trace), recon_command("estimate", "--trace", trace, "--json")

    assert [0, 0] == [ended.code, as_json.code]
    assert ended.out.startswith("Which budget suits best takes the times of rounds")
    assert "\n  chain of    4 " in ended.out
    assert "\n  tree  of   16 " in ended.out
    assert json.loads(as_json.out)["tree"] is None


@pytest.mark.parametrize(
    ("builder", "name"),
    [
        ("heap", "heap"),
        ("spine+siblings", "spine+siblings"),
        ("eagle(4,3)", "eagle(steps=4, topk=3)"),
        ("eagle(steps=4, topk=3)", "eagle(steps=4, topk=3)"),
        ("sequoia", "sequoia(6)"),
    ],
)
def test_a_builder_is_an_input(recon_command: Recon, trace: str, builder: str, name: str) -> None:
    ended = recon_command("estimate", "--json", "--trace", trace, "--budget", "6", "--builder", builder)

    assert name == json.loads(ended.out)["tree"]["builder"]


@pytest.mark.parametrize(("paths", "code"), [("[[0], [0, 0]]", 3), ("[[0], [1]]", 0)])
def test_a_static_tree_that_is_a_chain_is_not_weighed_against_chains(
    recon_command: Recon, trace: str, tmp_path: Path, paths: str, code: int
) -> None:
    (tmp_path / "tree.txt").write_text(paths)
    words = ("--builder", f"static({tmp_path / 'tree.txt'})", "--budget", "2", "--linear-ms", "10", "--tree-ms", "1")
    ended = recon_command("estimate", "--trace", trace, *words)

    assert code == ended.code
    assert (code == 3) == ("a tree of 2 drafts (chain) is a chain" in ended.out)


def test_what_a_small_builder_makes_is_told_at_its_largest(recon_command: Recon, trace: str) -> None:
    """And no round of a larger tree is weighed against it."""
    told = json.loads(recon_command("estimate", "--json", "--trace", trace, "--builder", "eagle(2,2)").out)
    ended = recon_command("estimate", "--trace", trace, "--builder", "eagle(2,2)", "--budget", "64", *TIMED)

    assert [6] == [tree["nodes"] for tree in told["curve"]]
    assert 3 == ended.code
    assert "eagle(steps=2, topk=2) makes trees of up to 6 drafts, not of 64." in ended.out


def test_a_static_tree_is_read_from_a_file(recon_command: Recon, trace: str, tmp_path: Path) -> None:
    (tmp_path / "tree.txt").write_text("[(0,), (1,), (0, 0)]")
    ended = recon_command("estimate", "--json", "--trace", trace, "--builder", f"static({tmp_path / 'tree.txt'})")
    tree = json.loads(ended.out)["tree"]

    assert ("static(tree.txt)", 3) == (tree["builder"], tree["nodes"])


@pytest.mark.parametrize(("builder", "tau"), [((), 3.856), (("--builder", "sequoia"), 3.850)])
def test_published_rates_by_rank_make_static_trees(
    recon_command: Recon, tmp_path: Path, builder: tuple[str, ...], tau: float
) -> None:
    """The likeliest paths bring a little more than Sequoia's tree: it skips no rank, and rates do not always fall."""
    (tmp_path / "rates.json").write_text(
        json.dumps([row.value for row in ROWS if row.metric.startswith("rate_of_rank_")])
    )
    words = ("estimate", "--json", "--ranks", str(tmp_path / "rates.json"), "--block", "9", "--budget", "64", *builder)
    told = json.loads(recon_command(*words).out)

    assert ("static_table", 64, 8) == (told["tree"]["basis"], told["tree"]["nodes"], len(told["linear"]["lengths"]))
    assert tau == pytest.approx(told["tree"]["tau"], abs=0.001)
    assert told["gain"]["low"] is None


def test_a_tree_that_is_built_anew_gets_no_number_from_rates(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "rates.json").write_text("[0.6, 0.2]")
    ended = recon_command("estimate", "--ranks", str(tmp_path / "rates.json"), "--builder", "heap", "--budget", "4")

    assert 3 == ended.code
    assert "a table of averages knows nothing" in ended.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("7", "neither a list of rates"),
        ('{"v": 2, "spine": [[0.5]]}', "neither a list of rates"),
        ("[]", "not all of one length"),
        ("[0.5, true]", "no number from 0 to 1"),
        ("[0.5, NaN]", "no number from 0 to 1"),
        ("[0.9, 0.2]", "add up to more than 1"),
        ('{"v": 1, "spine": [[0.5], [0.5, 0.1]]}', "not all of one length"),
        ('{"v": 1, "spine": [[0.5]], "off": [[0.5], [0.1]]}', "for other depths or ranks"),
        ('{"v": 1, "spine": 3}', "no rows of rates"),
        (json.dumps({"v": 1, "spine": [[0.5]] * 65}), "no rows of rates"),
    ],
)
def test_rates_that_are_none_are_refused(recon_command: Recon, tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "rates.json").write_text(text)
    ended = recon_command("estimate", "--ranks", str(tmp_path / "rates.json"))

    assert 3 == ended.code
    assert why in ended.err


def test_counts_of_a_server_tell_of_its_chains(recon_command: Recon, metrics: str) -> None:
    """Three drafts are no block of DFlash, so nothing is said of trees."""
    ended = recon_command("estimate", "--json", "--metrics", metrics, "--family", "mtp")
    told = json.loads(ended.out)

    assert 3 == ended.code
    assert [1.8, 2.3, 2.6] == [chain["tau"] for chain in told["linear"]["lengths"]]
    assert "No figures are published" in told["withheld"]["reason"]


def test_counts_of_a_known_family_are_drawn_from(recon_command: Recon, metrics: str) -> None:
    told = json.loads(
        recon_command("estimate", "--json", "--metrics", metrics, "--family", "dflash", "--budget", "16").out
    )

    assert "dynamic_model" == told["tree"]["basis"]
    assert 2.6 < told["tree"]["tau"] < 4


GIVEN = ("--family", "dflash", "--budget", "64", "--linear-ms", "10", "--tree-ms", "1")


@pytest.mark.parametrize("reached", [(), (3, 3, 3, 2, 2, 2)])
def test_three_rounds_of_a_server_claim_nothing_whatever_the_times(
    recon_command: Recon, tmp_path: Path, reached: tuple[int, ...]
) -> None:
    lines = ["vllm:spec_decode_num_drafts 3", "vllm:spec_decode_num_draft_tokens 45"]
    lines.append(f"vllm:spec_decode_num_accepted_tokens {sum(reached)}")
    told = [*reached, *[0] * (15 - len(reached))]
    lines += [
        f'vllm:spec_decode_num_accepted_tokens_per_pos{{position="{place}"}} {each}' for place, each in enumerate(told)
    ]
    (tmp_path / "metrics.txt").write_text("\n".join(lines))
    ended = recon_command("estimate", "--metrics", str(tmp_path / "metrics.txt"), *GIVEN)

    assert 3 == ended.code
    assert ended.out.startswith("Cannot tell at batch 1: 3 rounds of chains: too few to tell anything from.")


def test_a_trace_of_few_requests_claims_nothing_whatever_the_times(recon_command: Recon, trace: str) -> None:
    lines = Path(trace).read_text().splitlines()
    Path(trace).write_text("\n".join(lines[: 1 + 30 * 9]))
    times = ("--linear-ms", "10", "--tree-ms", "1")
    ended = recon_command("estimate", "--trace", trace, "--budget", "8", *times)

    assert ended.out.startswith("Cannot tell at batch 1: ")
    assert "no interval of the tokens per pass of the tree is known" in ended.out


def test_a_gauge_does_not_say_how_long_chains_are(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "metrics.txt").write_text("sglang:spec_accept_length 6.57")
    words = ("estimate", "--metrics", str(tmp_path / "metrics.txt"), "--family", "dflash", "--json")
    without, with_it = recon_command(*words), recon_command(*words, "--block", "16")

    assert 2 == without.code
    assert "does not say how long its chains are" in without.err
    assert 9.54 == pytest.approx(json.loads(with_it.out)["tree"]["tau"], rel=0.05)
    assert "last moment only" in json.loads(with_it.out)["notes"][0]


def test_a_gauge_of_a_moment_claims_less_than_a_mean_that_was_told(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "metrics.txt").write_text("sglang:spec_accept_length 6")
    gauge = recon_command("estimate", "--metrics", str(tmp_path / "metrics.txt"), "--block", "16", *TIMED)
    told = recon_command("estimate", "--linear-tau", "6", *TIMED)

    assert told.out.startswith("A tree pays at batch 1: 64 drafts in a tree (heap) give 1.18x")
    assert gauge.out.startswith("Cannot tell at batch 1: 64 drafts in a tree (heap) give 1.18x")


TIMED = ("--family", "dflash", "--budget", "64", "--linear-ms", "10", "--tree-ms", "11")


def test_chains_of_different_lengths_are_of_no_law(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "metrics.txt").write_text("\n".join(counters(drafts=30)))
    ended = recon_command("estimate", "--metrics", str(tmp_path / "metrics.txt"), "--family", "dflash")

    assert 3 == ended.code
    assert "drafted chains of different lengths" in ended.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "Nothing is given"),
        (("--trace", "TRACE", "--linear-tau", "3"), "--linear-tau and --trace tell of the same thing"),
        (("--trace", "TRACE", "--block", "5"), "says itself"),
        (("--trace", "TRACE", "--builder", "oak"), "'oak' is no builder of trees"),
        (("--trace", "TRACE", "--builder", "eagle(0,3)"), "is no builder of trees"),
        (("--trace", "TRACE", "--builder", "sequoia"), "one budget"),
        (("--trace", "TRACE", "--builder", "static(no-such-file)"), "There is no file"),
        (("--trace", "no-such-file"), "There is no file"),
        (("--trace", "."), "is a folder"),
        (("--metrics", "METRICS", "--block", "3"), "chains of 3 drafts, and --block of 2"),
        (("--metrics", "GAUGE", "--block", "8"), "9.5 tokens per pass, which blocks of 8 do not give"),
        (("--linear-tau", "6", "--budget", "5000"), "larger than any"),
    ],
)
def test_what_does_not_go_together_is_usage(
    recon_command: Recon, trace: str, metrics: str, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    gauge = tmp_path / "gauge.txt"
    gauge.write_text("sglang:spec_accept_length 9.5\n")
    named = {"TRACE": trace, "METRICS": metrics, "GAUGE": str(gauge)}
    ended = recon_command("estimate", *(named.get(word, word) for word in words))

    assert 2 == ended.code
    assert why in ended.err


@pytest.mark.parametrize(("option", "other"), [("--trace", "METRICS"), ("--metrics", "TRACE")])
def test_a_file_that_is_the_other_thing_says_so(
    recon_command: Recon, trace: str, metrics: str, option: str, other: str
) -> None:
    ended = recon_command("estimate", option, {"TRACE": trace, "METRICS": metrics}[other])

    assert 3 == ended.code
    assert "recon estimate --" in ended.err


def test_a_line_of_a_trace_that_is_none_is_named(recon_command: Recon, trace: str) -> None:
    lines = Path(trace).read_text().splitlines()
    Path(trace).write_text("\n".join([*lines[:7], "{", *lines[7:]]))
    ended = recon_command("estimate", "--trace", trace)

    assert 3 == ended.code
    assert "Line 8 of the trace is no JSON" in ended.err


def test_a_trace_of_one_endless_line_is_refused_without_reading_it_whole(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("{" + " " * (9 << 20))
    ended = recon_command("estimate", "--trace", str(tmp_path / "long"))

    assert 3 == ended.code
    assert "Line 1 of the trace is longer than" in ended.err

"""`recon trace`: what files are, whether they are in order, and what they tell."""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Recon
from tests.estimates.test_sources import counters, sglang
from tests.estimates.traces import text, trace_of


def written(path: Path, count: int = 12, width: int = 9) -> str:
    """A trace of so many requests."""
    rng = random.Random(3)
    texts = [text(rng, 30, block=4, width=width, mood=0.8) for _ in range(count)]
    path.write_text("\n".join(trace_of(texts, block=4, width=width)))
    return str(path)


def test_formats_are_told_with_what_each_says_and_does_not_say(recon_command: Recon) -> None:
    ended, as_json = recon_command("trace", "formats"), recon_command("trace", "formats", "--json")
    told = json.loads(as_json.out)

    assert ["trace", "responses", "exposition", "counts", "table"] == [each["kind"] for each in told]
    assert all(each["tells"] in ended.out and each["silent"] in ended.out for each in told)


def test_what_is_said_of_formats_is_set_by_the_width_of_the_screen_and_examples_stay(
    recon_command: Recon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    piped = recon_command("trace", "formats").out
    shown = recon_command("--color", "always", "trace", "formats").out
    long = [line for line in shown.splitlines() if len(line) > 80]

    assert piped.split() == shown.split()
    assert [line for line in piped.splitlines() if len(line) > 80 and re.match(r" +(\[|{|\w+:\w)", line)] == long


def test_a_trace_that_is_in_order_says_what_can_be_told_from_it(recon_command: Recon, tmp_path: Path) -> None:
    ended = recon_command("trace", "check", written(tmp_path / "trace"))

    assert 0 == ended.code
    assert "A trace: 360 positions of 12 requests, 4 drafts a round, 9 tokens kept, temperature 0." in ended.out
    assert "\n  chains of 1 to 4 drafts\n  best-first trees of up to" in ended.out
    assert ended.out.endswith("  intervals\n")


def test_what_a_small_trace_cannot_tell_is_said(recon_command: Recon, tmp_path: Path) -> None:
    """Three requests, and two tokens of a position."""
    told = json.loads(recon_command("trace", "check", "--json", written(tmp_path / "trace", 3, 2)).out)

    assert "no best-first tree of 16 drafts: more than 2 tokens of a position are wanted" == told["supports"][1]
    assert "no intervals: fewer than 10 requests" == told["supports"][2]


def test_a_trace_of_rows_that_follow_one_another_tells_of_no_trees(recon_command: Recon, tmp_path: Path) -> None:
    path = Path(written(tmp_path / "trace"))
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(head) | {"conditional": True}), *lines]))

    assert "no trees: each row was made for the best tokens" in recon_command("trace", "check", str(path)).out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda lines: [*lines[:5], lines[5].replace('"rank": [', '"rank": [99, '), *lines[6:]], "Line 6 of the trace"),
        (lambda lines: [*lines[:5], *lines[6:]], "Position 104 of request 0 is missing"),
        (lambda lines: lines[:1], "a header and no positions"),
        (lambda lines: [*lines, lines[5]], "Position 104 of request 0 is in the trace twice"),
        (lambda lines: [lines[0].replace('"v": 1', '"v": 1, "stride": 2'), *lines[1:]], "at a distance of 2"),
        (lambda lines: [*lines[:5], re.sub(r'"rank": .*?\]', '"rank": [0]', lines[5]), *lines[6:]], "has 1 ranks"),
        (lambda lines: lines[1:], "Line 1 of the trace is a position, and no header"),
    ],
)
@pytest.mark.parametrize("words", [("trace", "check"), ("trace", "convert"), ("estimate", "--trace")])
def test_what_is_wrong_with_a_trace_is_named(
    recon_command: Recon, tmp_path: Path, change: object, why: str, words: tuple[str, ...]
) -> None:
    path = Path(written(tmp_path / "trace"))
    path.write_text("\n".join(change(path.read_text().splitlines())))  # type: ignore[operator]
    ended = recon_command(*words, str(path))

    assert (3, "") == (ended.code, ended.out)
    assert why in ended.err


@pytest.mark.parametrize(
    ("coded", "why"),
    [
        (lambda text: gzip.compress(text.encode()), "is compressed"),
        (lambda text: text.encode("utf-16"), "is text in UTF-16"),
        (lambda text: text.encode("utf-16-be"), "is text in UTF-16"),
    ],
)
@pytest.mark.parametrize("words", [("trace", "check"), ("estimate", "--trace"), ("estimate", "--metrics")])
def test_a_file_that_is_packed_or_coded_otherwise_says_so(
    recon_command: Recon, tmp_path: Path, coded: object, why: str, words: tuple[str, ...]
) -> None:
    path = Path(written(tmp_path / "trace"))
    path.write_bytes(coded(path.read_text()))  # type: ignore[operator]
    ended = recon_command(*words, str(path))

    assert (3, "") == (ended.code, ended.out)
    assert why in ended.err


def test_a_mark_of_byte_order_does_not_stand_in_the_way(recon_command: Recon, tmp_path: Path) -> None:
    trace = Path(written(tmp_path / "trace"))
    trace.write_text(trace.read_text(), encoding="utf-8-sig")
    (tmp_path / "metrics").write_text("\n".join(counters()), encoding="utf-8-sig")
    ended = [recon_command("trace", "check", str(path)) for path in (trace, tmp_path / "metrics")]

    assert [(0, True), (0, True)] == [
        (each.code, each.out.startswith(begin)) for each, begin in zip(ended, ("A trace", "Counts"), strict=True)
    ]


COUNTS = {"v": 1, "source": "by hand", "L": 3, "rounds": 100, "reached": [50, 30, 20], "tau": 2.0, "cut": False}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps(COUNTS) + "\n\nand more", "text behind their line"),
        (json.dumps({**COUNTS, "reached": [], "tau": 9.0}), "no tau from 1 to 4"),
        (json.dumps({**COUNTS, "reached": [], "rounds": 10**400}), "no number as tau or rounds"),
        (json.dumps({**COUNTS, "reached": [], "rounds": -1}), "no number as tau or rounds"),
    ],
)
def test_counts_that_cannot_be_are_refused(recon_command: Recon, tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "counts").write_text(text)
    ended = recon_command("trace", "check", str(tmp_path / "counts"))

    assert 3 == ended.code
    assert why in ended.err
    assert len(ended.err) < 300


def test_metrics_say_what_can_be_told_from_them(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "metrics.txt").write_text("\n".join(counters()))
    ended = recon_command("trace", "check", str(tmp_path / "metrics.txt"))

    assert "Counts (counters of vLLM): 100 rounds, 2.60 tokens per pass.\n" in ended.out
    assert "Accepted at least 1, 2, ... drafts: 0.800 0.500 0.300\n" in ended.out
    assert ended.out.endswith(
        "  intervals as if rounds were independent, the narrowest: fewer than 10 requests told apart\n"
    )


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["sglang:spec_accept_length 3.25"], "one mean: no other length; trees by the law"),
        (list(counters(drafts=30)), "one mean, of chains of different lengths"),
        ([json.dumps(sglang([1, 0, 3]))] * 10, "\n  intervals\n"),
    ],
)
def test_a_source_that_tells_less_says_so(recon_command: Recon, tmp_path: Path, lines: list[str], says: str) -> None:
    (tmp_path / "file").write_text("\n".join(lines))

    assert says in recon_command("trace", "check", str(tmp_path / "file")).out


def test_what_is_converted_gives_the_same_estimate(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "responses.jsonl").write_text("\n".join([json.dumps(sglang([10, 20, 30, 40]))] * 12))
    converted = recon_command("trace", "convert", str(tmp_path / "responses.jsonl"))
    (tmp_path / "counts.json").write_text(converted.out)
    first, again = (
        recon_command(
            "estimate", "--json", "--family", "dflash", "--budget", "16", "--metrics", str(tmp_path / name)
        ).out
        for name in ("responses.jsonl", "counts.json")
    )

    assert 1 == converted.out.count("\n")
    assert "text" not in json.loads(converted.out)
    assert first == again
    assert json.loads(first)["tree"]["basis"] == "dynamic_model"


@pytest.mark.parametrize(("words", "code"), [(("check", "no-such-file"), 2), (("convert", "no-such-file"), 2)])
def test_a_file_that_is_not_there_is_usage(recon_command: Recon, words: tuple[str, ...], code: int) -> None:
    assert code == recon_command("trace", *words).code


@pytest.mark.parametrize("content", ["", "\n", "hello\n", "{}", "\x00\xff\xfe"])
def test_a_file_of_nothing_known_is_refused_in_a_line(recon_command: Recon, tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content, encoding="latin-1")
    for command in ("check", "convert"):
        ended = recon_command("trace", command, str(tmp_path / "file"))

        assert 3 == ended.code
        assert ended.err.startswith("error: ")


def test_metrics_before_a_load_are_left_out_of_those_after_it(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "before").write_text("\n".join(counters()))
    (tmp_path / "after").write_text("\n".join([*counters(), *counters((70, 60, 50), engine=1)]))
    (tmp_path / "responses").write_text(json.dumps(sglang([1, 2])))
    ended = recon_command("trace", "convert", str(tmp_path / "after"), "--since", str(tmp_path / "before"))
    other = recon_command("trace", "convert", str(tmp_path / "after"), "--since", str(tmp_path / "responses"))

    assert [70, 60, 50] == json.loads(ended.out)["reached"]
    assert 2 == other.code


def test_a_trace_is_converted_into_a_table_of_its_ranks(recon_command: Recon, tmp_path: Path) -> None:
    converted = recon_command("trace", "convert", written(tmp_path / "trace"))
    (tmp_path / "table.json").write_text(converted.out)
    checked = recon_command("trace", "check", str(tmp_path / "table.json"))
    told = json.loads(recon_command("estimate", "--json", "--ranks", str(tmp_path / "table.json"), "--budget", "8").out)

    assert checked.out.startswith("A table of ranks: 4 depths, 9 ranks.\n")
    assert ("static_table", "best static(8)") == (told["tree"]["basis"], told["tree"]["builder"])
    assert 1 < told["linear"]["tau"] < told["tree"]["tau"] < 5


def test_rows_that_follow_one_another_give_no_table(recon_command: Recon, tmp_path: Path) -> None:
    path = Path(written(tmp_path / "trace"))
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(head) | {"conditional": True}), *lines]))

    assert 3 == recon_command("trace", "convert", str(path)).code


@pytest.mark.parametrize("option", ["--metrics", "--trace"])
def test_a_table_is_neither_counts_nor_a_trace(recon_command: Recon, tmp_path: Path, option: str) -> None:
    (tmp_path / "table.json").write_text('{"v": 1, "spine": [[0.5]], "off": null}')
    ended = recon_command("estimate", option, str(tmp_path / "table.json"))

    assert 3 == ended.code
    assert "--ranks" in ended.err


# The hook


def test_the_hook_is_found_as_a_plugin_by_whoever_has_its_folder_on_the_path(
    recon_command: Recon, tmp_path: Path
) -> None:
    """Both engines ask for their group of entry points, and load what they find."""
    ended = recon_command("trace", "hook", str(tmp_path / "new" / "hook"))
    ask = (
        "from importlib.metadata import entry_points as points;"
        "print([point.load().__name__ for group in ('vllm.general_plugins', 'sglang.srt.plugins')"
        " for point in points(group=group) if point.dist.name == 'recon-trace-hook'])"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "new" / "hook")}
    done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)

    assert 3 == len(ended.out.splitlines())
    assert "['plug_in', 'plug_in']\n" == done.stdout


def test_the_hook_overwrites_nothing(recon_command: Recon, tmp_path: Path) -> None:
    (tmp_path / "recon_trace_hook.py").write_text("mine")
    ended = recon_command("trace", "hook", str(tmp_path))

    assert 2 == ended.code
    assert "is there already" in ended.err
    assert ["recon_trace_hook.py"] == [path.name for path in tmp_path.iterdir()]

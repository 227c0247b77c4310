"""What functions were seen to do, beside their verdicts, in every format."""

from dataclasses import replace
from datetime import UTC, datetime

from recon.records.behaviour import Behaviour, Claim, ShownRule
from recon.report import html, terminal, tsv
from recon.report.behaviours import seen
from recon.report.view import View, compose
from recon.runs.files import encode
from tests.report import hand

RULE = ShownRule("tree greedy", {"fast": "True", "extra": "None"}, {"x": "draft"}, "count in 0", 16, 0)
LOSSY = ShownRule("chain stochastic with draft probabilities", {}, {"x": "draft"}, "count in 0", 14, 120)


def behaviour(symbol: str, *claims: Claim, rules: tuple[ShownRule, ...] = (RULE,), why: str = "") -> Behaviour:
    return Behaviour("i", "e/a.py", symbol, 7, (), "cut", "interpret", rules, claims, ("e/a.py:f",), ("x is y",), why)


AGREES = behaviour("walk", Claim("accept.tree.greedy", "present", "agrees", "it follows the rule"))
DENIES = behaviour(
    "other", Claim("accept.tree.greedy", "present", "contradicts", "the only rule seen is another one"), rules=(LOSSY,)
)
MUTE = behaviour(
    "mute", Claim("accept.block", "present", "cannot_tell", ""), rules=(), why="it could not be cut: too big"
)


def view() -> View:
    run = replace(hand.scan(), behaviours=(AGREES, MUTE, DENIES))
    return compose(run, [], datetime(2030, 1, 1, tzinfo=UTC))


def test_what_contradicts_a_verdict_comes_first() -> None:
    assert ["other", "walk", "mute"] == [row.symbol for row in seen((AGREES, MUTE, DENIES))]


def test_a_row_says_rule_setting_verdict_and_how() -> None:
    denies, agrees, mute = seen((AGREES, MUTE, DENIES))

    assert "tree greedy (fast True)" == agrees.rules
    assert "accept.tree.greedy: agrees" == agrees.verdicts
    assert "16 crafted requests" in agrees.how
    assert "1 thing replaced" in agrees.how
    assert "120 draws" in denies.how
    assert "the only rule seen is another one" in denies.how
    assert "it could not be cut: too big" == mute.how


def test_rows_of_a_pipe_show_them_with_full_places() -> None:
    rows = [row.split("\t") for row in tsv.render(view()).splitlines()]
    ours = [row[1:] for row in rows if row[0] == "behaviour"]

    assert ["e/a.py:7 other", "e/a.py:7 walk", "e/a.py:7 mute"] == [row[1] for row in ours]
    assert {"i"} == {row[0] for row in ours}
    assert "accept.tree.greedy: contradicts" == ours[0][3]
    assert ["tree greedy (fast True)", "none"] == [ours[1][2], ours[2][2]]
    assert {5} == {len(row) for row in ours}


def test_what_was_not_captured_is_told_so_wherever_its_time_stands() -> None:
    run = hand.probe()
    first = next(each for each in run.measurements if each.spread)
    shown = compose(replace(run, measurements=(replace(first, captured=False),)), [], datetime(2030, 1, 1, tzinfo=UTC))
    (row,) = (row.split("\t") for row in tsv.render(shown).splitlines() if row.startswith("measurement"))

    assert "queued" == row[-1]
    assert ", queued" in terminal.screen(shown)
    assert ", queued" in html.render(shown)


def test_terminal_page_and_json_show_them() -> None:
    shown = view()

    assert "What acceptance functions were seen to do" in terminal.screen(shown)
    assert 'id="behaviour"' in html.render(shown)
    assert b'"behaviours"' in encode(shown.run)


def test_a_run_without_them_has_no_such_section() -> None:
    shown = compose(hand.scan(), [], datetime(2030, 1, 1, tzinfo=UTC))

    assert "seen to do" not in terminal.screen(shown)
    assert 'id="behaviour"' not in html.render(shown)

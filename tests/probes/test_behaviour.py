"""What a child says of a function becomes a record, and is set against the verdicts that rest on the function."""

import json
from typing import Any

import pytest

from recon.errors import Unreachable
from recon.kernels.wire import Plan
from recon.probes.behaviour import behaved, behaviour_of, behaviours_of, claim, plan_behaviours, read
from recon.probes.run import ProbeResult
from recon.records.behaviour import ShownRule
from recon.records.cut import CutFunction
from recon.records.unknown import REST


def function(symbol: str = "f", text: str = "def f(): pass", *capabilities: str) -> CutFunction:
    return CutFunction(
        "i", "p/a.py", symbol, 3, "p.a", text, (), ("p/a.py:f",), capabilities, ("p/a.py:f",), ("x is y",)
    )


def shown(rule: str, **more: Any) -> dict[str, Any]:
    return {
        "rule": rule,
        "why": "",
        "switches": {},
        "reading": {"x": "draft"},
        "outputs": "o",
        "sure": 14,
        "soft": 0,
    } | more


def rules(*names: str) -> list[ShownRule]:
    return [ShownRule(name, {}, {}, "", 14, 0) for name in names]


@pytest.mark.parametrize(
    ("capability", "standing", "seen", "agreement"),
    [
        ("accept.linear.greedy", "present", ("chain greedy",), "agrees"),
        ("accept.linear.stochastic", "present", ("chain stochastic without draft probabilities",), "agrees"),
        ("accept.tree.greedy", "present", ("chain greedy",), "contradicts"),
        ("accept.tree.greedy", "absent", ("tree greedy",), "contradicts"),
        ("accept.linear.greedy", "partial", ("chain stochastic with draft probabilities",), "agrees"),
        ("accept.linear.greedy", "present", ("chain stochastic with draft probabilities",), "contradicts"),
        ("accept.tree.greedy", "partial", ("chain stochastic with draft probabilities",), "contradicts"),
        ("accept.block", "present", ("chain stochastic with draft probabilities", "chain greedy"), "cannot_tell"),
        ("accept.synthetic", "present", ("chain greedy",), "cannot_tell"),
        ("accept.typical", "partial", ("chain greedy",), "cannot_tell"),
        ("accept.linear.greedy", "present", (), "cannot_tell"),
    ],
)
def test_a_verdict_is_confirmed_contradicted_or_left_open(
    capability: str, standing: str, seen: tuple[str, ...], agreement: str
) -> None:
    assert agreement == claim(capability, standing, rules(*seen), "it could not be called").agreement


def test_a_contradiction_says_which_rule_was_seen() -> None:
    assert "chain greedy" in claim("accept.tree.greedy", "present", rules("chain greedy"), "").reason


def test_an_answer_becomes_a_record() -> None:
    answer = {"how": "cut", "shown": [shown("chain greedy"), shown("", why="nothing fits")], "why": ""}
    made = behaviour_of(function("f", "x", "accept.linear.greedy"), {"accept.linear.greedy": "present"}, "gpu", answer)

    assert ["chain greedy"] == [rule.rule for rule in made.rules]
    assert ["agrees"] == [each.agreement for each in made.claims]
    assert ("cut", "", ("x is y",)) == (made.how, made.why, made.replaced)


def test_answers_that_follow_no_rule_leave_the_verdict_open_with_the_reason() -> None:
    answer = {"how": "cut", "shown": [shown("", why="it strays")], "why": ""}
    made = behaviour_of(function("f", "x", "accept.block"), {"accept.block": "present"}, "gpu", answer)

    assert ((), "it strays", "cannot_tell") == (made.rules, made.why, made.claims[0].agreement)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "{",
        "null",
        "[" * 200_000,
        '{"shown": 7}',
        '{"shown": [3, {"rule": {}, "switches": 5, "sure": "many"}], "how": []}',
    ],
)
def test_whatever_a_child_says_a_record_comes_of_it(said: str) -> None:
    made = behaviour_of(function("f", "x", "accept.block"), {}, "interpret", read(said))

    assert made.how == ""
    assert ["cannot_tell"] == [each.agreement for each in made.claims if not made.rules]


def test_what_could_not_be_cut_is_not_sent_and_is_told() -> None:
    some = (function("g", "", "accept.block"), function("f", "def f(): pass", "accept.linear.greedy"))
    plan = plan_behaviours(some, "interpret", seconds=5.0)
    answer = json.dumps({"how": "cut", "shown": [shown("chain greedy")], "why": ""})

    first, second = behaviours_of(some, {("i", "accept.linear.greedy"): "present"}, "interpret", {0: answer}, {})

    assert [("behaviour", "engine.p/a.py:f", 0)] == [(each.role, each.variant, each.subject) for each in plan.entries]
    assert ["f"] == [json.loads(text)["function"] for text in plan.subjects]
    assert "could not be cut" in first.why
    assert "agrees" == second.claims[0].agreement


def test_a_child_that_died_is_the_answer() -> None:
    (made,) = behaviours_of((function(),), {}, "gpu", {}, {0: "its process ended by SIGSEGV"})

    assert "its process ended by SIGSEGV" == made.why


def test_what_was_learned_stays_where_the_process_that_was_to_go_on_cannot_be_had() -> None:
    said = json.dumps({"how": "cut", "shown": [shown("chain greedy")], "why": "", "go_on": 3})
    carried = iter([ProbeResult((), (), (), answers={0: said})])

    def carry(_plan: Plan) -> ProbeResult:
        for each in carried:
            return each
        raise Unreachable("gpu07: no answer", "Try again.")

    result = behaved((function(),), "interpret", carry)

    assert ({0: said}, False) == (result.answers, result.complete)
    assert [(REST, "gpu07: no answer. Try again.")] == [(each.what, each.why) for each in result.unknowns]

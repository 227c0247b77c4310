"""The laws of acceptance, by hand and against the one promise that they share: what is emitted is the target's."""

import itertools

import pytest

from recon.kernels.behaviour.cases import soft_chains, soft_trees, sure_chains, sure_trees
from recon.kernels.behaviour.fitting import judged
from recon.kernels.behaviour.laws import LAWS, Law, Outcome, Situation, block, forced, greedy, with_draft, without_draft

P0, P1, P2 = (0.2, 0.5, 0.3), (0.6, 0.1, 0.3), (0.1, 0.1, 0.8)
Q0, Q1 = (0.5, 0.25, 0.25), (0.3, 0.3, 0.4)


def chain(first: int, second: int) -> Situation:
    return Situation("by hand", (9, first, second), (-1, 0, 1), (P0, P1, P2), (Q0, Q1), (0.75, 0.5))


def pathwise(law: Law) -> dict[int, float]:
    """Chances of the accepted lengths."""
    found: dict[int, float] = {}
    for (path, _), chance in law.items():
        found[len(path) - 1] = found.get(len(path) - 1, 0.0) + chance
    return found


@pytest.mark.parametrize("situation", [*soft_chains(), *soft_trees()], ids=lambda each: each.name)
def test_every_law_is_a_distribution(situation: Situation) -> None:
    laws = [law(situation) for name, law in LAWS.items() if situation.is_chain or name not in {"block", "forced"}]

    assert all(1.0 == pytest.approx(sum(law.values())) for law in laws)


def test_greedy_goes_to_the_child_that_the_target_chose() -> None:
    assert {((0, 1, 2), 2): 1.0} == greedy(chain(1, 0))
    assert {((0,), 1): 1.0} == greedy(chain(0, 0))


def test_a_draft_is_accepted_with_the_ratio_and_the_residual_is_drawn_from_after_that() -> None:
    law = with_draft(chain(0, 1))

    # min(1, 0.2/0.5), then min(1, 0.1/0.3); after a mismatch at once max(p - q, 0) is (0, 0.25, 0.05)
    assert {0: pytest.approx(0.6), 1: pytest.approx(0.4 * 2 / 3), 2: pytest.approx(0.4 / 3)} == pathwise(law)
    assert pytest.approx(0.6 * 0.25 / 0.3) == law[(0,), 1]
    assert ((0,), 0) not in law


def test_without_draft_probabilities_a_draft_is_accepted_with_the_targets_own() -> None:
    law = without_draft(chain(0, 1))

    assert {0: pytest.approx(0.8), 1: pytest.approx(0.2 * 0.9), 2: pytest.approx(0.2 * 0.1)} == pathwise(law)


def test_block_verification_looks_at_the_whole_prefix() -> None:
    # products: min(1, 0.2/0.5) = 0.4, then min(1, 0.4 * 0.6/0.3) = 0.8
    law = pathwise(block(chain(0, 0)))
    mass = sum(max(0.4 * p - q, 0.0) for p, q in zip(P1, Q1, strict=True))

    assert pytest.approx(0.8) == law[2]
    assert pytest.approx(0.2 * mass / (mass + 0.6)) == law.get(1, 0.0)


def test_a_forced_length_asks_no_tokens() -> None:
    assert {((0,), None): 0.25, ((0, 1), None): 0.375, ((0, 1, 2), None): 0.375} == forced(chain(2, 2))


@pytest.mark.parametrize("rule", ["with draft probabilities", "block"])
def test_over_drafts_from_the_draft_the_first_token_is_the_targets(rule: str) -> None:
    emitted = [0.0, 0.0, 0.0]
    for first, second in itertools.product(range(3), repeat=2):
        for (path, token), chance in LAWS[rule](chain(first, second)).items():
            assert token is not None
            emitted[first if len(path) > 1 else token] += Q0[first] * Q1[second] * chance

    assert P0 == pytest.approx(emitted)


@pytest.mark.parametrize("situation", [*sure_chains(3), *sure_trees(3)], ids=lambda each: each.name)
def test_where_target_and_draft_are_sure_all_rules_say_the_same(situation: Situation) -> None:
    ((outcome, _),) = greedy(situation).items()
    rules = ["without draft probabilities", *(["with draft probabilities", "block"] if situation.is_chain else [])]

    assert all(LAWS[rule](situation)[outcome] > 0.999 for rule in rules)


@pytest.mark.parametrize("rule", ["with draft probabilities", "without draft probabilities", "block", "greedy"])
def test_answers_that_follow_a_law_are_recognised_and_no_other_rule_is(rule: str) -> None:
    situations = soft_chains()
    said: list[dict[Outcome | None, int]] = [
        {outcome: round(120 * chance) for outcome, chance in LAWS[rule](each).items()} for each in situations
    ]

    assert (rule, "") == judged(said, situations)


def test_answers_between_two_rules_are_those_of_none() -> None:
    situations = soft_chains()
    laws = [(with_draft(each), without_draft(each)) for each in situations]
    said: list[dict[Outcome | None, int]] = [
        {outcome: round(200 * (one.get(outcome, 0.0) + other.get(outcome, 0.0))) for outcome in {*one, *other}}
        for one, other in laws
    ]

    rule, why = judged(said, situations)

    assert rule == ""
    assert "comes nearest" in why

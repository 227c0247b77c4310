"""Floors bound: no tree wins by them, and some lose whatever their kernels."""

import re
from dataclasses import replace

import pytest

from recon.estimates.acceptance import ByLaw
from recon.estimates.cards import CARDS, card_of
from recon.estimates.counts import Counts
from recon.estimates.floors import bounded, floor_round
from recon.estimates.rounds import Setting
from recon.estimates.weighing import NONE, Case, RoundOf, Sides, sides
from recon.probes.models import model_of
from recon.records.cost import Ground, Quantity
from recon.records.estimate import Decision, Outlook
from recon.records.model import Model
from tests.estimates.accepted import Table, alone

HYBRID, DENSE = model_of("Qwen3.6-27B"), model_of("Qwen3-8B")
CARD = next(card for card in CARDS if card.words == "RTX 5090")
MIB = 1 << 20


def setting(model: Model = HYBRID, batch: int = 1, context: int = 8192) -> Setting:
    return Setting(model, 1, "bf16", "bf16", "fp32", sampled=False, batch=batch, context=context)


def parts(made: Setting, drafts: int = 15, *, kept: bool = False) -> dict[str, float]:
    return {part.name: part.us.value for part in floor_round(made, CARD, drafts, "tree", kept=kept).parts}


def test_few_tokens_take_what_reading_takes() -> None:
    """8.2e9 parameters but for the embedding, 2 bytes each, 1.792 TB/s."""
    weights = sum(each.outputs * each.inputs * (1 if each.name == "lm_head" else 36) for each in DENSE.weights())

    assert weights * 2 / 1.792e6 == pytest.approx(parts(setting(DENSE))["weights"])


def test_many_tokens_take_what_multiplying_takes() -> None:
    few, many = (parts(setting(DENSE, batch), 63)["weights"] for batch in (32, 64))

    assert 2.0 == pytest.approx(many / few)


def test_a_state_for_each_node_is_written_for_each_node() -> None:
    """144 MiB each, 16 tokens, and the one before them is read."""
    one, each = (parts(setting(), kept=kept)["recurrent state"] for kept in (False, True))

    assert (2 * 144 * MIB / 1.792e6, 17 * 144 * MIB / 1.792e6) == pytest.approx((one, each))


def test_layers_with_a_window_read_and_multiply_no_more_than_it() -> None:
    """35 of 36 layers see 128 of half a million tokens; a draft sees fewer of those before it."""
    windowed = replace(DENSE, windowed_layers=35, window=128)
    whole, few = (parts(setting(model, context=1 << 19))["attention"] for model in (DENSE, windowed))
    token = 2 * 8 * 128 * 2

    assert whole / 36 == pytest.approx(few, rel=0.01)
    assert (36 * (8192 + 16) * token / 1.792e6) == pytest.approx(parts(setting(DENSE))["attention"])
    assert (8192 + 16 + 35 * (127 + 16)) * token / 1.792e6 == pytest.approx(parts(setting(windowed))["attention"])


def look(
    tau: float = 5.0, batch: int = 1, *, kept: bool = False, chain_us: float = 0.0, common: float = 15_000.0
) -> Outlook:
    def floor(shape: str) -> RoundOf:
        return lambda drafts: floor_round(setting(batch=batch), CARD, drafts, shape, kept=kept)

    known = sides(
        ByLaw(Counts("as told", 15, 0, (), tau), "dflash", 16),
        [16, 32, 64],
        floor("chain"),
        floor("tree"),
    )
    assert isinstance(known, Sides)
    swept = Quantity(common / 2, 0.0, common, Ground.ASSUMED, "the draft")
    return bounded(known, Case("floor", batch, 8192, swept, NONE), chain_us)


def test_no_tree_wins_by_a_bound() -> None:
    assert {Decision.CANNOT_TELL, Decision.LOSE} >= {
        look(tau, batch, kept=kept).decision for tau in (2.5, 8.0) for batch in (1, 16, 64) for kept in (False, True)
    }


def test_where_it_is_open_a_free_tree_and_one_at_its_floor_are_told() -> None:
    outlook = look()
    assert outlook.ratio is not None

    assert "a tree that took no longer than the chain would give 1.3" in outlook.why
    assert outlook.ratio.value < outlook.ratio.high
    assert 0.0 == outlook.ratio.low


def test_how_much_longer_a_round_may_take_is_known_no_better_than_the_tokens() -> None:
    """4 % of the family's law."""
    found = re.search(r"at most ([\d.]+) times the chain's \(([\d.]+) to ([\d.]+)\)", look().why)
    assert found is not None
    value, low, high = map(float, found.groups())

    assert (0.92, 1.08) == pytest.approx((low / value, high / value), abs=0.01)


def test_no_tree_loses_by_a_bound_on_tokens_of_which_no_interval_is_known() -> None:
    """Times that would forbid it are not enough: a trace of few requests says nothing of how far it gets."""
    decisions = []
    for sigma in (0.0, None):
        known = sides(
            Table(alone(15, 5.0), {64: 5.0}, sigma),
            [64],
            lambda drafts: floor_round(setting(batch=32), CARD, drafts, "chain", kept=True),
            lambda drafts: floor_round(setting(batch=32), CARD, drafts, "tree", kept=True),
        )
        assert isinstance(known, Sides)
        decisions.append(bounded(known, Case("floor", 32, 8192, NONE, NONE), 1_000.0).decision)

    assert [Decision.LOSE, Decision.CANNOT_TELL] == decisions


def test_many_requests_with_a_state_for_each_node_lose_where_the_chains_round_is_known() -> None:
    outlook = look(batch=32, kept=True, chain_us=60_000.0)

    assert (Decision.LOSE, "") == (outlook.decision, outlook.holds)


def test_a_bound_without_the_chains_round_says_what_it_assumes() -> None:
    assert "chains of up to 2 times their floor and up to 15 ms of the draft" == look(batch=32).holds


def test_the_longer_the_chains_round_the_looser_the_bound() -> None:
    tight, loose = (look(batch=16, chain_us=us).ratio for us in (40_000.0, 400_000.0))
    assert tight is not None
    assert loose is not None

    assert tight.high < loose.high


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA H100 80GB HBM3", "H100 80GB HBM3"),
        ("h100", "H100 80GB HBM3"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell"),
        ("rtx pro 6000", "RTX PRO 6000 Blackwell"),
        ("NVIDIA RTX A6000", "RTX A6000"),
        ("5090", "RTX 5090"),
    ],
)
def test_cards_are_known_as_drivers_and_people_call_them(name: str, words: str) -> None:
    card = card_of(name)

    assert words == (card and card.words)


@pytest.mark.parametrize("name", ["", "T4", "rtx", "NVIDIA GeForce RTX 3060"])
def test_other_cards_are_not_guessed(name: str) -> None:
    assert card_of(name) is None


def test_fp8_halves_what_is_read_but_for_the_head() -> None:
    whole, half = (parts(replace(setting(DENSE), weights=kind))["weights"] for kind in ("bf16", "fp8"))
    head = 151_936 * 4096 * 2 / 1.792e6

    assert (whole - head) / 2 + head == pytest.approx(half)

"""An estimate as a whole: both columns, floors where nothing was measured, and one sentence that claims no more."""

from dataclasses import replace

import pytest

from recon.estimates.acceptance import ByLaw
from recon.estimates.counts import Counts
from recon.estimates.kinship import related
from recon.estimates.prospect import Asked, estimates
from recon.estimates.supplied import Supplied
from recon.estimates.times import Times
from recon.probes.models import model_of
from recon.records.cost import Ground, Quantity
from recon.records.estimate import Decision, Estimate, Outlook
from recon.records.host import Host
from recon.records.install import Install
from recon.records.measurement import Agreement, DeviceState
from recon.records.verdict import Standing
from tests.estimates.probed import records
from tests.report.hand import DEVICE, HOST, scan

HYBRID = model_of("Qwen3.6-27B")
TIMES = Times(records(HYBRID))
NOTHING = Times(())
VLLM, SGLANG = (each for each in scan().installs if not each.engine.is_companion)


def law(tau: float = 5.0) -> ByLaw:
    return ByLaw(Counts("as told", 15, 0, (), tau), "dflash", 16)


def given(ms: float) -> Quantity:
    return Quantity(ms * 1000, ms * 1000, ms * 1000, Ground.GIVEN, "as given")


def estimate(times: Times = TIMES, tau: float = 5.0, installs: tuple[Install, ...] = (), **asked: object) -> Estimate:
    options: dict[str, object] = {"context": 32_768, **asked}
    return estimates(law(tau), Asked(HYBRID, **options), times, installs)[0]  # type: ignore[arg-type]


def columns(made: Estimate, kernels: str) -> list[Outlook]:
    return [each for each in made.outlooks if each.kernels == kernels]


def test_both_columns_are_told_at_every_batch() -> None:
    made = estimate(batches=(1, 4))

    assert [(1, "bundled"), (1, "engine"), (4, "bundled"), (4, "engine")] == [
        (each.batch, each.kernels) for each in made.outlooks
    ]


def test_the_engines_slower_kernels_give_less() -> None:
    ours, theirs = (columns(estimate(budget=63), kernels)[0].ratio for kernels in ("bundled", "engine"))
    assert ours is not None
    assert theirs is not None

    assert theirs.value < ours.value


def test_every_number_of_an_outlook_has_an_interval_and_a_source() -> None:
    (outlook,) = columns(estimate(), "bundled")
    parts = [part.us for made in (outlook.tree_round, outlook.chain_round) if made for part in made.parts]
    numbers = [outlook.ratio, outlook.tree_tau, outlook.chain_tau, outlook.common_us, *parts]

    assert all(each is not None and each.low <= each.value <= each.high and each.source for each in numbers)


# No sentence without a draft's time that holds for all of them


def test_without_a_drafts_time_the_sentence_says_for_which_it_holds() -> None:
    made = estimate()

    assert Decision.WIN == made.decision
    assert made.sentence.startswith("A tree would pay at batch 1: 63 drafts in a tree (heap) give 1.")
    assert "for 0 to 15 ms of the draft, the host and what is not measured" in made.sentence
    assert any("--draft-ms" in line for line in made.missing)


def test_with_a_drafts_time_it_holds_as_it_stands() -> None:
    made = estimate(common=given(4))

    assert ("", Decision.WIN) == (columns(made, "bundled")[0].holds, made.decision)
    assert "for 0 to" not in made.sentence
    assert not any("--draft-ms" in line for line in made.missing)


def test_a_whole_round_of_the_chain_tells_what_was_not_measured() -> None:
    """14.3 ms of it are measured; the rest of 20 is common to both."""
    (outlook,) = columns(estimate(chain_us=given(20)), "bundled")
    assert outlook.common_us is not None
    assert outlook.chain_round is not None

    assert 20_000 == pytest.approx(outlook.common_us.value + outlook.chain_round.us.value)


def test_a_round_that_is_shorter_than_its_measured_parts_is_said_to_be() -> None:
    made = estimate(chain_us=given(12))
    (outlook,) = columns(made, "bundled")
    assert outlook.common_us is not None

    assert 0 == outlook.common_us.value
    assert any("nothing: the measured parts of a chain's round take longer" in line for line in made.because)


@pytest.mark.parametrize("ms", [0.02, 5])
def test_a_round_far_below_its_measured_parts_decides_nothing(ms: float) -> None:
    """It was told in seconds, or is of another batch."""
    made = estimate(chain_us=given(ms))

    assert (Decision.CANNOT_TELL, None) == (made.decision, columns(made, "bundled")[0].ratio)
    assert "as given takes far less than its measured parts, 14.6 ms" in made.sentence


def test_parts_that_are_not_the_engines_are_named_in_its_column() -> None:
    lines = [line for line in estimate().because if "none of its own was timed" in line]

    assert 1 == len(lines)
    assert "acceptance of the chain, acceptance of the tree" in lines[0]
    assert "attention" not in lines[0]


# Nothing measured


def test_without_measurements_the_data_sheet_bounds() -> None:
    made = estimate(NOTHING, gpu="NVIDIA GeForce RTX 5090")

    assert ["floor", "floor_kept"] == [each.kernels for each in made.outlooks]
    assert Decision.CANNOT_TELL == made.decision
    assert made.sentence.startswith("Cannot tell at batch 1 without measuring: a tree that took no longer")


def test_a_given_round_below_the_data_sheets_floor_bounds_nothing() -> None:
    """27B in bf16 cannot be read in 5 ms at 1.8 TB/s."""
    made = estimate(NOTHING, gpu="RTX 5090", chain_us=given(5))

    assert (Decision.CANNOT_TELL, [None, None]) == (made.decision, [each.ratio for each in made.outlooks])
    assert "as given takes less than the 29" in made.sentence


def test_where_a_model_was_timed_in_other_shapes_the_reason_stands_beside_the_bounds() -> None:
    made = estimate(Times(records(model_of("Qwen3-8B"))))

    assert ["bundled", "engine", "floor", "floor_kept"] == [each.kernels for each in made.outlooks]
    assert made.outlooks[0].why.startswith("weights: qkv")


@pytest.mark.parametrize(("gpu", "why"), [("", "no card was named"), ("T4", "no data sheet of 'T4' is here")])
def test_without_measurements_and_card_there_is_no_number(gpu: str, why: str) -> None:
    made = estimate(NOTHING, gpu=gpu)

    assert (Decision.CANNOT_TELL, None) == (made.decision, made.outlooks[0].ratio)
    assert why in made.sentence


# Acceptance


@pytest.mark.parametrize("times", [TIMES, NOTHING])
def test_a_drafter_that_is_hardly_ever_accepted_is_to_be_mended_first(times: Times) -> None:
    made = estimate(times, tau=1.17, gpu="H200")

    assert Decision.FIX_THE_DRAFTER_FIRST == made.decision
    assert made.sentence.startswith("Fix the drafter first: ")
    assert all(each.ratio is None and not each.nodes for each in made.outlooks)
    assert ((), 1) == (made.because, len(made.missing))


def test_a_tree_that_a_person_tells_of_is_weighed_but_not_for_a_broken_drafter() -> None:
    whole = Asked(None, budget=32, chain_us=given(43.35), tree_us=given(72.53))
    made, broken = (
        estimates(Supplied(ByLaw(Counts("as told", 7, 0, (), tau), "", 8), 32, 3.282, "as told"), whole, NOTHING, ())[0]
        for tau in (3.2, 1.05)
    )

    assert made.sentence.startswith("Keep the chain at batch 1: 32 drafts in a tree (as told) give 0.61x")
    assert Decision.FIX_THE_DRAFTER_FIRST == broken.decision


# Which engine


def test_an_engine_that_cannot_run_a_tree_is_named_in_the_sentence() -> None:
    made = estimate(installs=(VLLM,))

    assert made.sentence.endswith("vllm 0.20.1 cannot run one without a patch.")
    assert (VLLM.id, Standing.ABSENT) == (made.subject, made.runs)


def test_for_an_engine_that_can_its_own_kernels_decide() -> None:
    made = estimate(installs=(SGLANG,))

    assert "with kernels as engines have them" in made.sentence
    assert columns(made, "engine")[0].decision == made.decision


def test_a_hybrid_needs_states_of_siblings_besides() -> None:
    """SGLang's are there in part; a model without recurrent layers does not ask for them."""
    dense = model_of("Qwen3-8B")
    hybrid, plain = (
        estimates(law(), Asked(model, context=32_768), Times(records(model)), (SGLANG,))[0] for model in (HYBRID, dense)
    )

    assert (Standing.PARTIAL, Standing.PRESENT) == (hybrid.runs, plain.runs)
    assert hybrid.sentence.endswith("sglang 0.5.23 can run one in part.")
    assert plain.sentence.endswith("sglang 0.5.23 can run one.")


def test_kernel_packages_get_no_estimate() -> None:
    made = estimates(law(), Asked(HYBRID, context=32_768), TIMES, scan().installs)

    assert [VLLM.id, SGLANG.id] == [each.subject for each in made]


def test_a_turn_between_batches_is_in_the_sentence() -> None:
    """Weights step up behind 128 tokens: 16 requests pay for what one gets free."""
    made = estimate(batches=(1, 16), common=given(2))

    assert "The sign turns between batch 1 and 16." in made.sentence
    assert (1, 16) == made.turns


def test_memory_is_told_with_what_it_costs() -> None:
    made = estimate()

    assert made.memory is not None
    assert made.memory.sequences_tree < made.memory.sequences_chain
    assert any(line.startswith("Sequences of 32,768 tokens that fit: ") for line in made.because)


def test_what_would_turn_it_is_told() -> None:
    lines = [line for line in estimate().because if line.endswith("would turn it.") or "would turn it; now" in line]

    assert 2 == len(lines)


# Whose times count


OWN = records(HYBRID)[:1]
SIBLING = records(HYBRID, device=replace(DEVICE, uuid="GPU-other"))[:1]
OTHER_DRIVER = records(HYBRID, device=replace(DEVICE, uuid="GPU-other", driver="999.1"))[:1]
NO_STATE = DeviceState(*[""] * 9)
OTHER_CARD = records(HYBRID, device=replace(DEVICE, uuid="GPU-b", name="NVIDIA B200"))[:1]


def test_times_of_the_hosts_own_gpu_count() -> None:
    counted, note = related([*OTHER_CARD, *OWN], HOST)

    assert (OWN, "Times were taken on this host's own NVIDIA H200 (driver 570.124.06).") == (counted, note)


def test_those_of_a_sibling_count_and_are_named_as_such() -> None:
    counted, note = related(SIBLING, HOST)

    assert SIBLING == counted
    assert note.startswith("Times are those of another NVIDIA H200 (driver 570.124.06)")


def test_another_driver_counts_only_where_the_user_names_it() -> None:
    refused, taken = related(OTHER_DRIVER, HOST), related(OTHER_DRIVER, HOST, named=True)

    assert ([], OTHER_DRIVER) == (refused[0], taken[0])
    assert "this host's driver is 570.124.06" in taken[1]


def test_another_card_never_counts() -> None:
    counted, note = related(OTHER_CARD, HOST, named=True)

    assert [] == counted
    assert note.endswith("are not used: this host has NVIDIA H200.")


def test_where_no_host_is_meant_any_card_counts() -> None:
    assert OTHER_CARD == related(OTHER_CARD, None)[0] == related(OTHER_CARD, Host("r", "releases", "", (), ()))[0]


@pytest.mark.parametrize("host", [None, HOST])
def test_of_two_cards_the_one_whose_times_are_used_is_named(host: Host | None) -> None:
    """Whichever comes last."""
    others = [replace(each, device=replace(DEVICE, uuid=DEVICE.uuid, name="NVIDIA B200")) for each in OTHER_CARD]
    counted, note = related([*OWN, *others], host)

    assert (OWN, "NVIDIA H200") == (counted, Times([*OWN, *others]).gpu)
    assert note.startswith(f"Times were taken on {'this host' if host else 'NVIDIA H200 (driver'}")
    assert note.endswith("those taken on NVIDIA B200 (driver 570.124.06) are not used (--gpu names the card).")


def test_a_card_of_which_no_time_can_be_used_does_not_keep_another_out() -> None:
    wrong = [replace(each, agreement=Agreement(1, 1, "off")) for each in OTHER_CARD]

    assert OWN == related([*wrong, *OWN], None)[0]


def test_all_drivers_and_power_limits_of_times_are_told() -> None:
    limited = [replace(each, before=replace(NO_STATE, power_limit_w="300.00")) for each in OWN]
    _, note = related([*limited, *OTHER_DRIVER], None)

    assert "Times were taken on NVIDIA H200 (drivers 570.124.06 and 999.1, power limit 300.00 W)." == note


def test_of_siblings_only_those_under_the_same_driver_count_unless_named() -> None:
    assert SIBLING == related([*OTHER_DRIVER, *SIBLING], HOST)[0]
    assert "though this host's driver is 570.124.06" in related([*OTHER_DRIVER, *SIBLING], HOST, named=True)[1]


def test_an_unknown_family_gets_no_number_whatever_the_times() -> None:
    acceptance = ByLaw(Counts("as told", 3, 0, (), 2.4), "mtp", 4)
    made = estimates(acceptance, Asked(HYBRID, context=32_768), TIMES, ())[0]

    assert Decision.CANNOT_TELL == made.decision
    assert made.sentence.startswith("Cannot tell at batch 1: No figures are published")


@pytest.mark.parametrize("tau", [2.2, 3.5, 5.0, 7.9])
@pytest.mark.parametrize("times", [TIMES, NOTHING])
def test_no_sentence_is_unconditional_without_a_drafts_time(times: Times, tau: float) -> None:
    """Whatever is decided, it says for which drafts; and a number that is not decided says what it lacks."""
    made = estimate(times, tau, batches=(1, 4, 16), gpu="H200")
    decided = [each for each in made.outlooks if each.decision is not Decision.CANNOT_TELL]

    assert all(" ms of the draft, the host and what is not measured" in each.holds for each in decided)
    assert "0 to 15 ms of the draft" in made.sentence or made.sentence.startswith("Cannot tell")
    assert all(each.why for each in made.outlooks if each.decision is Decision.CANNOT_TELL)

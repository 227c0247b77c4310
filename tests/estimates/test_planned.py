"""What a full probe of a model times is what a round of that model asks for: names and axes are the same."""

import pytest

from recon.estimates.rounds import Kernels, Setting, round_of
from recon.estimates.times import Missing, Times
from recon.kernels.wire import Entry
from recon.probes.models import model_of, presets
from recon.probes.plan import FULL, plan_gpu
from recon.records.cost import Ground, Round
from tests.estimates.probed import timed
from tests.report.hand import DEVICE


def planned(name: str) -> Times:
    """Every case of the plan, timed at a microsecond for each of its rows."""
    entries = plan_gpu(FULL, model=model_of(name), library="auto").entries
    return Times(timed(f"{each.kernel}.{each.variant}", _us(each), DEVICE, **each.axes) for each in entries)  # type: ignore[arg-type]


def _us(entry: Entry) -> float:
    axes = entry.axes
    return float(max(int(axes.get(name, 1)) for name in ("m", "tokens", "nodes"))) * float(int(axes.get("batch", 1)))


def setting(name: str, batch: int, context: int, weights: str = "bf16") -> Setting:
    return Setting(model_of(name), 1, weights, "bf16", "fp32", sampled=False, batch=batch, context=context)


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("kernels", list(Kernels))
@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_a_round_is_put_together_from_what_a_full_probe_times(name: str, kernels: Kernels, shape: str) -> None:
    made = round_of(planned(name), setting(name, 1, 32_768), 63, shape, kernels)

    assert isinstance(made, Round), made


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("drafts", [7, 15, 31])
def test_smaller_ones_lie_within_what_is_timed(name: str, drafts: int) -> None:
    made = [
        round_of(planned(name), setting(name, 1, 8_192), drafts, shape, Kernels.BUNDLED) for shape in ("chain", "tree")
    ]

    assert [] == [each for each in made if isinstance(each, Missing)]


def test_the_largest_tree_of_a_hybrid_is_that_of_its_recurrent_kernels() -> None:
    """Their ancestors are one word of 64 bits."""
    made = round_of(planned("Qwen3.6-27B"), setting("Qwen3.6-27B", 1, 32_768), 64, "tree", Kernels.BUNDLED)

    assert isinstance(made, Missing)
    assert made.why.startswith("recurrent state: ")


def test_weights_in_fp8_are_timed_too() -> None:
    made = round_of(planned("Qwen3-8B"), setting("Qwen3-8B", 1, 32_768, "fp8"), 63, "tree", Kernels.BUNDLED)

    assert isinstance(made, Round), made


def test_parts_that_were_timed_at_just_this_case_are_measured() -> None:
    """64 tokens at one request over 32k: weights, attention, state and acceptance are all cases of the probe."""
    made = round_of(planned("Qwen3.6-27B"), setting("Qwen3.6-27B", 1, 32_768), 63, "tree", Kernels.BUNDLED)
    assert isinstance(made, Round)

    assert {"weights", "attention", "recurrent state", "acceptance", "compaction"} <= {
        part.name for part in made.parts if part.us.ground is Ground.MEASURED
    }


def test_eight_requests_lie_within_what_is_timed() -> None:
    made = round_of(planned("Qwen3.6-27B"), setting("Qwen3.6-27B", 8, 8_192), 63, "tree", Kernels.BUNDLED)

    assert isinstance(made, Round), made


def test_more_tokens_than_any_weight_was_timed_at_are_refused() -> None:
    """32 requests with 64 tokens each are 2,048, and the probe goes to 512."""
    made = round_of(planned("Qwen3.6-27B"), setting("Qwen3.6-27B", 32, 1_024), 63, "tree", Kernels.BUNDLED)

    assert isinstance(made, Missing)
    assert "was timed up to m 512, not at m 2048" in made.why

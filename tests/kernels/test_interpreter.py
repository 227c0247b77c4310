"""The Triton kernels in Triton's interpreter: they agree with their references, and wrong ones would not."""

import dataclasses
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.kernels import wire
from recon.probes.floors import COPYING
from recon.probes.linear_vs_tree import LINEAR_VS_TREE
from recon.probes.plan import PROBES, plan_interpret
from recon.probes.recurrent import awkward
from recon.probes.ship import PAYLOAD
from tests.kernels.changed import Runner
from tests.kernels.here import here

LAYER = awkward(1, 5)
KV: dict[str, int | str] = {"batch": 1, "layers": 1, "kv_heads": 1, "head_dim": 8, "dtype": "fp8"}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """Runs changed payloads without importing torch each time."""
    with Runner() as made:
        yield made


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_every_kernel_agrees_with_its_reference(every: int) -> None:
    probes = tuple(dataclasses.replace(probe, interpreted=probe.interpreted[::every]) for probe in PROBES)
    result = here(plan_interpret(seed=3, probes=probes))
    agreements = {each.kernel: each.agreement for each in result.measurements}

    assert () == result.unknowns
    assert result.complete
    assert {
        *("read.triton", "copy.triton", "linear_greedy.fused", "linear_stochastic.fused", "linear_block.fused"),
        *("tree_greedy.fused", "tree_greedy.lazy", "tree_target_only.fused", "tree_target_only.lazy"),
        *("tree_multi_round.fused", "kv_compact.rows", "kv_compact.batch_tile", "tree_best_first.expand"),
        *("tree_best_first.host_heap", "tree_topk.steps", "tree_topk.torch", "tree_topk.host", "grouped_gemm.tiles"),
        *("delta_matrix.exact", "delta_matrix.quick", "delta_step.step", "delta_commit.walk", "state_scatter.scatter"),
        *("ssd_matrix.matrix", "ssd_step.step", "ssd_commit.walk", "conv_tree.climb", "conv_commit.copy"),
    } <= set(agreements)
    assert all(each is not None and each.cases and not each.mismatches for each in agreements.values())


@pytest.mark.parametrize(
    ("kernel", "file", "right", "wrong", "axes"),
    [
        pytest.param(
            "kv_compact.rows",
            "kv_compact/kernel.py",
            "in range(0, count, ROWS)",
            "in range(0, ROWS, ROWS)",
            KV | {"nodes": 520, "accepted": 518, "moves": "forward"},
            id="rows beyond those that a program holds are forgotten",
        ),
        pytest.param(
            "kv_compact.rows",
            "kv_compact/kernel.py",
            "min(HELD_ROWS,",
            "min(2,",
            KV | {"moves": "backward", "accepted": 5},
            id="rows are moved though others are still to be read",
        ),
        pytest.param(
            "tree_best_first.expand",
            "tree_best_first/kernel.py",
            "(127 - depth) * 16777216",
            "depth * 16777216",
            {"nodes": 9, "depth": 3, "ranks": 3, "values": "ties"},
            id="of equal sums the longer prefix comes first",
        ),
        pytest.param(
            "tree_best_first.expand",
            "building.py",
            "((bits >> 31) & 0x7FFFFFFF)",
            "((bits >> 31) & 0)",
            {"nodes": 9, "depth": 3, "ranks": 3},
            id="negative sums count up",
        ),
        pytest.param(
            "tree_topk.steps",
            "tree_topk/kernel.py",
            "<= spare",
            "< spare",
            {"nodes": 9, "steps": 3, "topk": 3, "values": "ties"},
            id="of equal sums one too few is chosen",
        ),
        pytest.param(
            "delta_matrix.exact",
            "delta_matrix/kernel.py",
            "(down >> span)) == 1",
            "(down >> span)) == 2",
            LAYER | {"shape": "chain"},
            id="pairs of blocks of levels that are taken together are no pairs",
        ),
        pytest.param(
            "ssd_matrix.matrix",
            "pieces.py",
            "tl.where(piece == 3, middle[None, :], rows)",
            "tl.where(piece == 3, 0.0, rows)",
            LAYER | {"shape": "chain"},
            id="the sum of a path loses digits",
        ),
        pytest.param(
            "delta_matrix.exact",
            "pieces.py",
            "(whole[:, None] - whole[None, :]) + (part[:, None] - part[None, :])",
            "(whole + part)[:, None] - (whole + part)[None, :]",
            LAYER | {"shape": "chain", "nodes": 40, "values": "strong", "linear_value_heads": 1},
            id="what decayed long before costs later decays their digits",
        ),
        pytest.param(
            "delta_step.step",
            "delta_step/step.py",
            "axis=0) + EPSILON",
            "axis=0)",
            LAYER | {"values": "edge"},
            id="a key of zeros is divided by its length",
        ),
        pytest.param(
            "delta_step.step",
            "delta_step/kernel.py",
            "parent >= 0, states_ptr",
            "parent > 0, states_ptr",
            LAYER,
            id="children of the root follow what was before it",
        ),
        pytest.param(
            "conv_tree.climb",
            "conv_tree/kernel.py",
            "above, at - 1)",
            "above, at)",
            LAYER,
            id="the window before the root stands still",
        ),
        pytest.param(
            "tree_target_only",
            "tree_target_only/walk.py",
            "coin[:, None] < tl.cumsum(chance, axis=1)",
            "coin[:, None] < chance",
            {"batch": 32, "vocab": 7, "values": "drawn"},
            id="chances of siblings are not summed",
        ),
        pytest.param(
            "tree_multi_round",
            "tree_multi_round/walk.py",
            "less + left / spare",
            "less + left",
            {"batch": 32, "vocab": 7, "values": "drawn", "shape": "star"},
            id="a drafter that draws apart is taken for one that does not",
        ),
        pytest.param(
            "linear_stochastic",
            "linear_stochastic/kernel.py",
            "tl.min(tl.where(stands != 0, NODES, node), axis=1)",
            "tl.sum((stands != 0).to(tl.int32), axis=1)",
            {"batch": 32, "vocab": 7, "values": "drawn"},
            id="drafts behind one that was rejected are counted",
        ),
        pytest.param(
            "tree_greedy",
            "row_best.py",
            "(0x7FFFFFFF - index).to(tl.int64)",
            "index.to(tl.int64)",
            {"values": "ties"},
            id="ties go to the highest index",
        ),
        pytest.param(
            "tree_greedy",
            "row_best.py",
            "value = tl.where(value == 0.0, 0.0, value)",
            "value = value * 1.0",
            {"values": "zeros", "accepted": 0, "vocab": 33},
            id="+0.0 beats -0.0",
        ),
        pytest.param(
            "tree_greedy",
            "row_best.py",
            "tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)",
            "tl.maximum(best, value)",
            {"values": "nan"},
            id="a NaN is overlooked",
        ),
        pytest.param(
            "tree_greedy",
            "row_best.py",
            "(packed >> 32) == 0x7FFFFFFF",
            "(packed >> 32) == 0x7FFFFFFE",
            {"values": "nan", "vocab": 2500, "nodes": 3},
            id="a NaN is placed in the last block",
        ),
        pytest.param(
            "tree_greedy",
            "row_best.py",
            "order = bits ^ ((bits >> 31) & 0x7FFFFFFF)",
            "order = bits",
            {"values": "negative"},
            id="negative values count up",
        ),
        pytest.param(
            "tree_greedy",
            "row_best.py",
            "arrived == nodes * splits - 1",
            "arrived == nodes * splits - 2",
            {},
            id="the walk begins before the last slice",
        ),
        pytest.param(
            "tree_greedy",
            "tree_greedy/kernel.py",
            "tl.store(arrived_ptr + request, 0)",
            "tl.store(arrived_ptr + request, 1)",
            {},
            id="scratch is not put back",
        ),
        pytest.param(
            "tree_greedy",
            "tree_greedy/walk.py",
            "follows & (parent == child)",
            "follows & (parent >= child)",
            {"accepted": 1, "nodes": 16, "vocab": 3, "values": "ties"},
            id="the walk jumps to other branches",
        ),
        pytest.param(
            "tree_greedy",
            "tree_greedy/walk.py",
            "unused = (node > steps) & (node < nodes)",
            "unused = node > nodes",
            {},
            id="the tail is not written",
        ),
    ],
)
def test_a_kernel_broken_in_one_place_is_caught(
    runner: Runner, tmp_path: Path, kernel: str, file: str, right: str, wrong: str, axes: dict[str, int | str]
) -> None:
    payload = tmp_path / "kernels"
    shutil.copytree(PAYLOAD, payload)
    text = (payload / file).read_text(encoding="utf-8")
    assert right in text, "the line that this test breaks has changed: name the new one"
    (payload / file).write_text(text.replace(right, wrong), encoding="utf-8")
    case: wire.Axes = {"batch": 2, "nodes": 6, "vocab": 150, "dtype": "fp32", "accepted": 3, **axes}
    name, _, variant = kernel.partition(".")
    plan = dataclasses.replace(
        plan_interpret(),
        entries=(wire.Entry(0, "test", "subject", name, variant or "fused", {}),),
        checks=(wire.Check(name, case),),
    )
    (result,) = (line for line in runner.run(tmp_path, plan) if isinstance(line, wire.Result))

    assert result.agreement is not None
    assert 1 == result.agreement.mismatches, result.agreement.detail
    assert re.search(r"the reference says|written outside", result.agreement.detail)


def test_ctrl_c_leaves_what_was_finished() -> None:
    """The payload itself, not a stand-in: interrupted once it has begun, it ends in good order."""
    plan = plan_interpret(probes=(COPYING, LINEAR_VS_TREE))
    payload = subprocess.Popen(
        ["sh", "-c", "trap '' INT; exec \"$0\" -m recon.kernels", sys.executable],  # as what runs beside a shell
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=PAYLOAD.parent.parent,
    )
    assert payload.stdin
    assert payload.stdout
    with payload, payload.stdin as pipe:
        pipe.write(wire.encode_plan(plan))
        pipe.close()
        lines: list[wire.Line] = []
        for line in payload.stdout:
            lines.append(wire.decode(line))
            results = sum(isinstance(each, wire.Result) for each in lines)
            if results == 2 and isinstance(lines[-1], wire.Result):  # once: a second one may meet its very end
                payload.send_signal(signal.SIGINT)

    assert 130 == payload.returncode
    assert 2 <= sum(isinstance(each, wire.Result) for each in lines) < len(plan.entries)
    assert isinstance(lines[-1], wire.Done)
    assert lines[-1].interrupted

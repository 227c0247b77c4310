"""Verification attention: its definition against torch's, its comparison against small mistakes, kernels broken."""

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from recon.kernels import wire
from recon.kernels.card import HOPPER, LEAST_SHARED_BYTES, Card
from recon.kernels.op import Work
from recon.kernels.tree_attention.configs import SERVERS_SHARED_BYTES, configs
from recon.kernels.tree_attention.inputs import SMALL_TREE, mask_of, work_of
from recon.kernels.tree_attention.kernel import compare
from recon.kernels.tree_attention.reference import chain_mask, reference
from recon.kernels.tree_attention.spec import MOST_PROGRAMS, PAGE, bytes_of, matrix_flops_of
from recon.kernels.wire import Axes
from recon.kernels.work import INTERPRETER
from recon.probes.attention import ATTENTION, CHECKS, NARROW, WIDE, awkward, case
from recon.probes.plan import plan_interpret
from recon.probes.ship import PAYLOAD
from tests.kernels.changed import Runner

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """Runs changed payloads without importing torch each time."""
    with Runner() as made:
        yield made


def made_of(context: int, nodes: int, **other: int | str) -> Work:
    return work_of(awkward(2, context, nodes, (4, 2, 64), **other), 7, CPU)


def inputs_of(work: Work, **other: torch.Tensor) -> dict[str, torch.Tensor]:
    names = ("q", "k", "v", "table", "length", "mask")
    return {name: other.get(name, work.inputs[name]) for name in names}


def answering(work: Work, **outputs: torch.Tensor) -> Work:
    """The work, done by somebody who rounds as a kernel does."""
    return dataclasses.replace(work, outputs={name: out.bfloat16() for name, out in outputs.items()})


@pytest.mark.parametrize(("context", "nodes", "shape"), [(0, 1, "chain"), (37, 33, "random"), (16, 70, "star")])
def test_the_definition_is_what_torch_computes_with_a_mask_for_each_pair(context: int, nodes: int, shape: str) -> None:
    work = made_of(context, nodes, shape=shape, lengths="ragged")
    found = reference(**inputs_of(work))
    for request, length in enumerate(work.inputs["length"].tolist()):
        token = torch.arange(length + nodes)
        page = work.inputs["table"][request, token // PAGE].long()
        key, value = (work.inputs[name][page, token % PAGE].double().transpose(0, 1) for name in ("k", "v"))
        words = work.inputs["mask"][request]
        tree = (words[:, torch.arange(nodes) // 64] >> (torch.arange(nodes) % 64) & 1).bool()
        seen = torch.cat([torch.ones((nodes, length), dtype=torch.bool), tree], dim=1)
        query = work.inputs["q"][request].double().transpose(0, 1)
        wanted = scaled_dot_product_attention(query, key, value, attn_mask=seen, enable_gqa=True)

        torch.testing.assert_close(found[request], wanted.transpose(0, 1).float(), rtol=1e-5, atol=1e-6)


def test_a_node_sees_itself_and_its_ancestors() -> None:
    rows = [row[0] for row in mask_of(list(SMALL_TREE))]

    assert [0b1, 0b11, 0b111, 0b1011, 0b10111, 0b100111, 0b1010111, 0b10100111] == rows


def test_a_mask_may_take_several_words_and_the_sign_of_each() -> None:
    (last,) = mask_of([-1, *range(64)])[64:]

    assert [-1, 1] == last
    assert torch.equal(torch.tensor(mask_of([-1, *range(69)])), chain_mask(70, CPU))


@pytest.mark.parametrize("values", ["draft", "normal"])
def test_what_rounds_its_answers_agrees(values: str) -> None:
    work = made_of(100, 33, values=values)

    assert not compare(answering(work, tree=reference(**inputs_of(work))))


@pytest.mark.parametrize(("nodes", "shape"), [(8, "random"), (21, "random"), (12, "chain")])
def test_one_flipped_bit_of_a_mask_is_caught(nodes: int, shape: str) -> None:
    """Every bit of the triangle, one after the other, where contexts add nothing to the sums."""
    work = work_of(awkward(1, 60, nodes, (2, 1, 64), values="draft", shape=shape), 5, CPU)
    for node in range(nodes):
        for other in range(node + 1):
            mask = work.inputs["mask"].clone()
            mask[0, node, 0] ^= 1 << other
            answer = reference(**inputs_of(work, mask=mask))

            assert f"tree[0, {node}," in compare(answering(work, tree=answer))


@pytest.mark.parametrize("values", ["draft", "normal"])
def test_a_tree_taken_for_a_chain_is_caught(values: str) -> None:
    work = made_of(300, 8, values=values)
    chain = reference(**inputs_of(work, mask=chain_mask(8, CPU).expand(2, 8, 1)))

    assert "of what the reference says" in compare(answering(work, tree=chain))
    assert not compare(answering(work, chain=chain))


def test_what_was_not_written_is_caught() -> None:
    work = made_of(20, 5)
    answer = reference(**inputs_of(work))
    answer[1, 4, 3, 63] = float("nan")

    assert "tree[1, 4, 3] is off by inf" in compare(answering(work, tree=answer))


@pytest.mark.parametrize(
    ("size", "floor_us"),
    [
        (case(1, 32_768, 64, WIDE), 72.4),
        (case(1, 32_768, 8, WIDE), 28.6),
        (case(8, 8_192, 64, WIDE), 144.8),
        (case(8, 8_192, 8, WIDE), 57.5),
        (case(1, 131_072, 64, WIDE), 289.5),
        (case(1, 32_768, 64, NARROW), 48.3),
    ],
)
def test_the_least_time_is_that_of_its_bytes_or_of_its_operations(size: Axes, floor_us: float) -> None:
    """On a GPU that reads 4.70 TB/s and multiplies 712 TFLOP/s."""
    assert pytest.approx(floor_us, rel=2e-3) == max(bytes_of(size) / 4.70e6, matrix_flops_of(size) / 712e6)


@pytest.mark.parametrize(
    ("file", "right", "wrong", "variant"),
    [
        pytest.param(
            "tail.py", "((bits[:, None] >> lane) & 1) != 0", "lane >= 0", "tree", id="the mask is not looked at"
        ),
        pytest.param("tail.py", "((high << 32) | low) >>", "low >>", "tree", id="bits of the next word are lost"),
        pytest.param("tail.py", "<= node[:, None]", "< node[:, None]", "chain", id="a node does not see itself"),
        pytest.param(
            "tail.py",
            "fade = tl.math.exp2(top - zero)\n        acc",
            "fade = tl.math.exp2(mass * 0.0)\n        acc",
            "tree",
            id="parts do not fade",
        ),
        pytest.param("tail.py", "// share - first + 1", "// share - first", "tree", id="the last part is left out"),
        pytest.param(
            "split.py",
            "fade = tl.math.exp2(top - peak)",
            "fade = tl.math.exp2(mass * 0.0)",
            "tree",
            id="sums do not fade",
        ),
        pytest.param("split.py", "inside % blocks", "0", "tree", id="each stretch begins at the first block"),
    ],
)
def test_a_kernel_broken_in_one_place_is_caught(
    runner: Runner, tmp_path: Path, file: str, right: str, wrong: str, variant: str
) -> None:
    payload = tmp_path / "kernels"
    shutil.copytree(PAYLOAD, payload)
    path = payload / "tree_attention" / file
    text = path.read_text(encoding="utf-8")
    assert right in text, "the line that this test breaks has changed: name the new one"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    axes = awkward(1, 650, 36, (1, 1, 64), dtype="fp16", kv="fp16")
    plan = dataclasses.replace(
        plan_interpret(),
        entries=(wire.Entry(0, "test", "subject", "tree_attention", variant, {}),),
        checks=(wire.Check("tree_attention", axes),),
    )
    (result,) = (line for line in runner.run(tmp_path, plan) if isinstance(line, wire.Result))

    assert result.agreement is not None
    assert 1 == result.agreement.mismatches, result.agreement.detail
    assert "of what the reference says" in result.agreement.detail


def test_a_head_size_that_is_not_provided_for_is_said() -> None:
    with pytest.raises(ValueError, match="heads of 96 are not provided for"):
        configs(awkward(1, 64, 8, (2, 1, 96)), INTERPRETER)


@pytest.mark.parametrize("shared_bytes", [LEAST_SHARED_BYTES, SERVERS_SHARED_BYTES])
@pytest.mark.parametrize("size", [*CHECKS, *ATTENTION.cases])
def test_every_case_has_a_configuration_whose_tiles_hold_whole_rows(size: Axes, shared_bytes: int) -> None:
    """Rows of a program of the second launch lie in one tile, and columns are cut evenly."""
    for card in (Card(8, 1e12, shared_bytes), Card(132, 4e12, shared_bytes, HOPPER)):
        for config in configs(size, card):
            assert 0 == int(config["rows"]) % int(config["some"])
            assert 0 == int(size["head_dim"]) % int(config["wide"])
            assert 0 == int(config["block"]) % PAGE
            assert 0 < int(config["programs"]) <= MOST_PROGRAMS

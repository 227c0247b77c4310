"""Definitions of recurrent layers along trees, held against other ways to say the same, and what a comparison sees."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.kernels import delta, ssd
from recon.kernels.ancestry import MOST_NODES, ancestry, doublings_of, most_drafts
from recon.kernels.card import HOPPER, Card
from recon.kernels.conv_commit.reference import reference as window_of
from recon.kernels.conv_tree.reference import reference as convolved
from recon.kernels.nearness import near
from recon.kernels.op import Tensors, Work
from recon.kernels.wire import Axes
from recon.kernels.work import op_of
from recon.probes.recurrent import awkward

CPU = torch.device("cpu")
SHAPES = st.sampled_from(["random", "chain", "star", "padded", "forest"])
SEEDS = st.integers(0, 10_000)
few = settings(max_examples=20, deadline=None)


def path_to(parents: list[int], node: int) -> list[int]:
    """Nodes from a root down to this one."""
    return [*(path_to(parents, parents[node]) if parents[node] >= 0 else []), node]


def along(inputs: Tensors, path: list[int], names: tuple[str, ...]) -> Tensors:
    """The inputs of the first request with a chain of these nodes alone."""
    chain = {name: inputs[name][:1, path] for name in names}
    rest = {name: each for name, each in inputs.items() if name not in names}
    return rest | chain | {"parent": torch.arange(-1, len(path) - 1)[None], "state": inputs["state"][:1]}


@given(SHAPES, st.integers(1, MOST_NODES), st.integers(1, 70), SEEDS)
@few
def test_words_levels_and_paths_tell_of_the_same_tree(shape: str, nodes: int, depth: int, seed: int) -> None:
    axes: Axes = {"batch": 2, "nodes": nodes, "depth": depth, "shape": shape, "accepted": 3}
    trees = {name: each.tolist() for name, each in ancestry(axes, seed, CPU).items()}
    for request, parents in enumerate(trees["parent"]):
        paths = [path_to(parents, node) for node in range(nodes)]
        path = [node for node in trees["path"][request] if node >= 0]

        assert [sum(1 << node for node in each) for each in paths] == [
            word % 2**64 for word in trees["ancestors"][request]
        ]
        assert [len(each) - 1 for each in paths] == trees["level"][request]
        assert max(trees["level"][request]) <= most_drafts(axes) < 2 ** (doublings_of(most_drafts(axes)) + 1)
        assert paths[path[-1]] == path
        assert len(path) == trees["steps"][request]


@given(SHAPES, st.integers(1, 12), SEEDS)
@few
def test_a_node_sees_its_path_and_nothing_else(shape: str, nodes: int, seed: int) -> None:
    axes = awkward(1, nodes, shape=shape)
    for module, make, names in (
        (delta, delta.delta_inputs, ("q", "k", "v", "g", "beta")),
        (ssd, ssd.ssd_inputs, ("x", "dt", "b", "c")),
    ):
        inputs = make(axes, seed, CPU)
        ((out, states),) = module.walks(inputs)
        node = seed % nodes
        ((alone, carried),) = module.walks(along(inputs, path_to(inputs["parent"][0].tolist(), node), names))

        assert torch.allclose(alone[-1], out[node], rtol=1e-12)
        assert torch.allclose(carried[-1], states[node], rtol=1e-12)


@given(st.integers(1, 12), SEEDS)
@few
def test_steps_of_the_delta_rule_are_one_triangular_system(nodes: int, seed: int) -> None:
    inputs = delta.delta_inputs(awkward(1, nodes, linear_value_heads=1, shape="chain"), seed, CPU)
    ((out, _),) = delta.walks(inputs)
    k, q = (torch.nn.functional.normalize(inputs[name][0, :, 0].double(), eps=0.0) for name in ("k", "q"))
    total = inputs["g"][0, :, 0].double().cumsum(0)
    decay = (total[:, None] - total[None, :]).exp().tril()
    beta, state = inputs["beta"][0, :, :1].double(), inputs["state"][0, 0].double()
    system = torch.eye(nodes).double() + beta * ((k @ k.mT) * decay).tril(-1)
    update = torch.linalg.solve(system, beta * (inputs["v"][0, :, 0].double() - total.exp()[:, None] * (k @ state)))
    expected = (total.exp()[:, None] * (q @ state) + ((q @ k.mT) * decay) @ update) / k.shape[1] ** 0.5

    assert torch.allclose(expected, out[:, 0], rtol=1e-4, atol=1e-5)  # unit vectors up to what stands under the root


@given(st.integers(1, 12), SEEDS)
@few
def test_a_convolution_along_a_chain_is_the_one_of_torch(nodes: int, seed: int) -> None:
    work = op_of("conv_tree").work(awkward(1, nodes, shape="chain"), seed, CPU)
    window, x, weight = (work.inputs[name].double() for name in ("window", "x", "weight"))
    before = torch.cat([window, x], dim=1).mT  # [1, C, 3 + T]
    expected = torch.nn.functional.silu(torch.conv1d(before, weight[:, None], groups=weight.shape[0]))

    assert torch.allclose(expected.mT, convolved(work.inputs))


@given(st.integers(1, 9), st.integers(0, 9), SEEDS)
@few
def test_the_next_window_is_the_end_of_what_was_accepted(nodes: int, accepted: int, seed: int) -> None:
    inputs = op_of("conv_commit").work(awkward(1, nodes, accepted=accepted), seed, CPU).inputs
    path = [node for node in inputs["path"][0].tolist() if node >= 0]
    seen = [*inputs["window"][0], *(inputs["x"][0, node] for node in path)]

    assert torch.equal(torch.stack(seen[-3:]), window_of(inputs)[0])


def stepped(module: object, inputs: Tensors, work: Work) -> None:
    """Outputs and states of the definition itself."""
    walks = list(module.walks(inputs))  # type: ignore[attr-defined]
    work.outputs["out"].copy_(torch.stack([out for out, _ in walks]))
    if "states" in work.outputs:
        work.outputs["states"].copy_(torch.stack([states for _, states in walks]))


def convolve(_module: object, inputs: Tensors, work: Work) -> None:
    work.outputs["out"].copy_(convolved(inputs))


@pytest.mark.parametrize(
    ("kernel", "module", "done"),
    [
        ("delta_matrix", delta, stepped),
        ("delta_step", delta, stepped),
        ("ssd_matrix", ssd, stepped),
        ("ssd_step", ssd, stepped),
        ("conv_tree", None, convolve),
    ],
)
def test_one_wrong_parent_is_caught(kernel: str, module: object, done: Callable[[object, Tensors, Work], None]) -> None:
    op = op_of(kernel)
    work = op.work(awkward(3, 40, out="bf16", depth=8), 5, CPU)
    parent = work.inputs["parent"].clone()
    done(module, work.inputs, work)
    comparisons = [op.compared(variant) for variant in op.variants.values()]

    assert [""] * len(comparisons) == [compare(work) for compare in comparisons if compare]

    parent[1, 30] = (parent[1, 30] + 1) % 30
    done(module, work.inputs | {"parent": parent}, work)

    assert all(compare and "reference says" in compare(work) for compare in comparisons)


def test_nearness_is_of_rows_and_forgives_rounding() -> None:
    want = torch.randn(4, 50, generator=torch.Generator().manual_seed(1)).double()
    rounded = want.bfloat16()
    off = want.clone()
    off[2] *= 1.01
    blank = rounded.clone()
    blank[3, 7] = float("nan")

    assert "" == near("out", rounded, want, 1e-6)
    assert "" == near("out", want.float(), want, 1e-6)
    assert "out[2]" in near("out", off.float(), want, 1e-3)
    assert "" == near("out", off.float(), want, 2e-2)
    assert "out[3]" in near("out", blank, want, 1e-1)
    assert "out[0]" in near("out", rounded.float(), want, 1e-4)


def test_more_nodes_than_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="65 nodes"):
        ancestry({"batch": 1, "nodes": 65}, 0, CPU)


@pytest.mark.parametrize(
    ("kernel", "odd"), [("delta_matrix", {"linear_value_dim": 96}), ("ssd_commit", {"mamba_state": 8})]
)
def test_features_that_are_not_provided_for_are_said(kernel: str, odd: Axes) -> None:
    with pytest.raises(ValueError, match="features are not provided for"):
        op_of(kernel).work(awkward(1, 2) | odd, 0, CPU)


def test_products_too_narrow_for_hopper_are_not_asked_for_there() -> None:
    """With 64 rows groups of warps multiply, and what is made of narrow ones reads behind the end of memory."""
    hopper, other = Card(132, 4e12, capability=HOPPER), Card(132, 4e12)
    for kernel in ("delta_matrix", "ssd_matrix"):
        narrow = {"linear_value_dim": 32, "mamba_head_dim": 32}
        for variant in op_of(kernel).variants.values():
            assert variant.configs(awkward(1, 40) | narrow, other)
            assert variant.configs(awkward(1, 32) | narrow, hopper)
            with pytest.raises(ValueError, match="32 features with 40 nodes"):
                variant.configs(awkward(1, 40) | narrow, hopper)


@pytest.mark.parametrize("kernel", ["delta_matrix", "ssd_matrix"])
@pytest.mark.parametrize("capability", [HOPPER, (12, 0)])
@pytest.mark.parametrize("features", [16, 32, 64, 128])
@pytest.mark.parametrize("nodes", [1, 16, 17, 32])
def test_no_warp_is_without_a_tile_of_its_own(
    kernel: str, capability: tuple[int, int], features: int, nodes: int
) -> None:
    """A tile is 16 rows of 8 columns. Where warps shared them, chained products of 16 by 16 changed from run to run."""
    axes = awkward(1, nodes, linear_value_dim=features, mamba_head_dim=features)
    for variant in op_of(kernel).variants.values():
        for config in variant.configs(axes, Card(132, 4e12, capability=capability)):
            columns = min(int(config["block"]), features)

            assert 1 <= int(config["warps"]) <= (16 if nodes <= 16 else 32) * columns // (16 * 8)


def test_states_are_kept_for_none_the_last_or_every_node() -> None:
    for kernel in ("delta_step", "ssd_step"):
        made = {
            keep: op_of(kernel).work(awkward(2, 5, keep=keep), 0, CPU).outputs for keep in ("none", "last", "every")
        }

        assert "states" not in made["none"]
        assert [1, 5] == [made[keep]["states"].shape[1] for keep in ("last", "every")]


def test_the_same_seed_makes_the_same_inputs() -> None:
    one, same, other = (op_of("delta_matrix").work(awkward(2, 9), seed, CPU).inputs for seed in (1, 1, 2))

    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["k"], other["k"])


def test_keys_that_are_alike_would_not_survive_squarings() -> None:
    """Why the matrix form doubles blocks of levels: powers of A grow far beyond the inverse that they are to give."""
    inputs = delta.delta_inputs(awkward(1, 64, shape="chain", values="alike"), 0, CPU)
    k = torch.nn.functional.normalize(inputs["k"][0, :, 0].float())
    a = (k @ k.mT).tril(-1)
    identity = torch.eye(64)
    squared, power = identity - a, a @ a
    for _ in range(5):
        squared, power = squared + squared @ power, power @ power
    exact = torch.linalg.inv((identity + a).double())

    assert exact.abs().max() < 2
    assert (squared.double() - exact).norm() > 0.1 * exact.norm()

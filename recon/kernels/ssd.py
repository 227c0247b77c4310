"""Mamba-2's state space: its axes, inputs, and definition along a tree. What the kernels of it share on the host."""

from collections.abc import Iterator

import torch

from .ancestry import ancestry
from .delta import STRONG
from .op import Tensors
from .recurrent_builds import refuse_odd
from .trees import DTYPES
from .wire import Axes


def ssd_inputs(axes: Axes, seed: int, device: torch.device) -> Tensors:
    """Seeded inputs of one layer.

    `values` is `normal` or `strong` (at every second token on average, decay until exp underflows).

    Returns:
        The trees, and: x bf16 [B, T, H, P]; dt float32 [B, T, H], above zero; a float32 [H], below zero; b, c bf16
        [B, T, G, N]; d float32 [H]; state of the type `state` [B, H, P, N].
    """
    batch, nodes, heads, value, groups, size = sizes(axes)
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float32, device=device)

    a, x = -torch.exp(normal(heads)), normal(batch, nodes, heads, value)
    dt = torch.nn.functional.softplus(normal(batch, nodes, heads) - 2.0)
    if axes.get("values") == "strong":
        a, dt = STRONG * a, dt.where(normal(batch, nodes, heads) > 0, dt / STRONG)
    return ancestry(axes, seed, device) | {
        "x": x.bfloat16(),
        "dt": dt,
        "a": a,
        "b": normal(batch, nodes, groups, size).bfloat16(),
        "c": normal(batch, nodes, groups, size).bfloat16(),
        "d": normal(heads),
        "state": (0.5 * normal(batch, heads, value, size)).to(DTYPES[str(axes["state"])]),
    }


def sizes(axes: Axes) -> tuple[int, int, int, int, int, int]:
    """Batch, nodes, heads, features of a head, groups of heads, and size of the state of a feature.

    Raises:
        ValueError: no kernel is made for so many features.
    """
    names = ("batch", "nodes", "mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state")
    batch, nodes, heads, value, groups, size = (int(axes[name]) for name in names)
    refuse_odd(heads=value, states=size)
    return batch, nodes, heads, value, groups, size


def walks(inputs: Tensors, *, reread: bool = False) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The definition: each request's tree, walked node by node in float64.

        S = exp(dt a) S_parent + dt x b^T;  out = S c + d x

    A node without a parent follows the state that was before.

    Args:
        inputs: As `ssd_inputs` makes them.
        reread: States are kept in their own type, and children read them back so.

    Yields:
        out float64 [T, H, P] and states float64 [T, H, P, N] of a request.

    Source: Dao and Gu, Transformers are SSMs (2024), section 3, with the parent in place of the token before.
    """
    shared = inputs["x"].shape[2] // inputs["b"].shape[2]
    a, d = inputs["a"].double(), inputs["d"].double()[:, None]
    for request, tree in enumerate(inputs["parent"].tolist()):
        state = inputs["state"][request].double()
        x, dt = inputs["x"][request].double(), inputs["dt"][request].double()
        b, c = (inputs[name][request].double().repeat_interleave(shared, dim=1) for name in ("b", "c"))  # [T, H, N]
        states: list[torch.Tensor] = []
        outs = []
        for node, above in enumerate(tree):
            before = (states[above] if above >= 0 else state) * (dt[node] * a).exp()[:, None, None]
            after = before + (dt[node][:, None] * x[node])[:, :, None] * b[node][:, None]
            outs.append((after @ c[node][:, :, None])[:, :, 0] + d * x[node])
            states.append(after.to(inputs["state"].dtype).double() if reread else after)
        yield torch.stack(outs), torch.stack(states)

"""The gated delta rule: its axes, inputs, and definition along a tree. What the kernels of it share on the host."""

from collections.abc import Iterator

import torch

from .ancestry import ancestry
from .op import Tensors
from .recurrent_builds import refuse_odd
from .trees import DTYPES
from .wire import Axes

EPSILON = 1e-6
"""Under the roots that make queries and keys unit vectors."""
STRONG = 3000.0
"""Times the logarithm of a decay: a few sum to thousands, of which float32 holds three digits behind the point."""


def delta_inputs(axes: Axes, seed: int, device: torch.device) -> Tensors:
    """Seeded inputs of one layer.

    `values` is `normal`, `strong` (at every second token on average, decay until exp underflows), `alike` (all keys of
    a head nearly the same, which squarings of the matrix form would not survive) or `edge` (each beta 0 or 1, and keys
    and queries of zeros among the others).

    Returns:
        The trees, and: q, k bf16 [B, T, Hk, K]; v bf16 [B, T, Hv, V]; g float32 [B, T, Hv], logarithms of decays, none
        above zero; beta float32 [B, T, Hv] in [0, 1]; state of the type `state` [B, Hv, K, V].
    """
    batch, nodes, keys, heads, key, value = sizes(axes)
    generator = torch.Generator(device).manual_seed(seed)
    values = str(axes.get("values", "normal"))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float32, device=device)

    k = normal(batch, nodes, keys, key)
    if values == "alike":
        k = normal(batch, 1, keys, key) + 0.02 * k
    g = -torch.nn.functional.softplus(normal(batch, nodes, heads) - 2.0)
    if values == "strong":
        g = g.where(normal(batch, nodes, heads) > 0, STRONG * g)
    beta = torch.sigmoid(normal(batch, nodes, heads))
    q = normal(batch, nodes, keys, key)
    if values == "edge":
        k[:, ::2] = 0.0
        q[:, 1::3] = 0.0
    return ancestry(axes, seed, device) | {
        "q": q.bfloat16(),
        "k": k.bfloat16(),
        "v": normal(batch, nodes, heads, value).bfloat16(),
        "g": g,
        "beta": beta.round() if values == "edge" else beta,
        "state": (0.5 * normal(batch, heads, key, value)).to(DTYPES[str(axes["state"])]),
    }


def sizes(axes: Axes) -> tuple[int, int, int, int, int, int]:
    """Batch, nodes, key heads, value heads, and features of a key and of a value.

    Raises:
        ValueError: no kernel is made for so many features.
    """
    names = ("batch", "nodes", "linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim")
    batch, nodes, keys, heads, key, value = (int(axes[name]) for name in names)
    refuse_odd(keys=key, values=value)
    return batch, nodes, keys, heads, key, value


def walks(inputs: Tensors, *, reread: bool = False) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The definition: each request's tree, walked node by node in float64.

        S = exp(g) S_parent;  u = beta (v - S^T k);  S += k u^T;  out = S^T q / sqrt(K)

    with q and k made unit vectors. A node without a parent follows the state that was before.

    Args:
        inputs: As `delta_inputs` makes them.
        reread: States are kept in their own type, and children read them back so.

    Yields:
        out float64 [T, Hv, V] and states float64 [T, Hv, K, V] of a request.

    Source: Yang et al., Gated Delta Networks (2024), equation 10, with the parent in place of the token before.
    """
    parents = inputs["parent"].tolist()
    q, k = (_unit(inputs[name].double()) for name in ("q", "k"))
    shared = inputs["v"].shape[2] // k.shape[2]
    for request, tree in enumerate(parents):
        state = inputs["state"][request].double()  # [Hv, K, V]
        keys = k[request].repeat_interleave(shared, dim=1)[:, :, None]  # [T, Hv, 1, K]
        queries = q[request].repeat_interleave(shared, dim=1)[:, :, None] / k.shape[-1] ** 0.5
        v, beta = inputs["v"][request].double()[:, :, None], inputs["beta"][request].double()[:, :, None, None]
        decay = inputs["g"][request].double().exp()[:, :, None, None]
        states: list[torch.Tensor] = []
        outs = []
        for node, above in enumerate(tree):
            before = (states[above] if above >= 0 else state) * decay[node]
            update = beta[node] * (v[node] - keys[node] @ before)
            after = before + keys[node].mT * update
            outs.append((queries[node] @ after)[:, 0])
            states.append(after.to(inputs["state"].dtype).double() if reread else after)
        yield torch.stack(outs), torch.stack(states)


def _unit(x: torch.Tensor) -> torch.Tensor:
    return x / (x.square().sum(-1, keepdim=True) + EPSILON).sqrt()

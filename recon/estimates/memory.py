"""What a draft node takes of a GPU's memory, and how many sequences fit beside the weights.

A mask cannot keep siblings apart in a recurrent layer: an engine keeps a state for each node, or what it takes to
compute the state of the accepted path again.
"""

from recon.records.cost import Memory
from recon.records.model import Model

BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1}
FRACTION = 0.9
"""Of a GPU's memory that engines use, as they are set when they come."""


def state_bytes(model: Model, state: str, tp: int = 1) -> int:
    """Recurrent state of one node and sequence on one GPU: heads times keys times values, in every layer.

    Args:
        model: Its shapes.
        state: What states are held in: `fp32`, `bf16` or `fp16`.
        tp: GPUs that share the model.
    """
    delta = model.linear_value_heads // tp * model.linear_key_dim * model.linear_value_dim
    mamba = model.mamba_heads // tp * model.mamba_head_dim * model.mamba_state
    return (delta + mamba) * BYTES[state] * model.linear_layers


def window_bytes(model: Model, tp: int = 1) -> int:
    """Inputs of a causal convolution that come before a node, bf16."""
    channels = int(model.axes(tp)["channels"])
    return channels * max(model.conv_width - 1, 0) * BYTES["bf16"] * model.linear_layers


def replay_bytes(model: Model, tp: int = 1) -> int:
    """Key, value, decay and strength of a node: from them the state behind a path of nodes is computed again."""
    axes = model.axes(tp)
    keys = int(axes["linear_key_heads"]) * model.linear_key_dim
    heads = int(axes["linear_value_heads"])
    delta = (keys + heads * model.linear_value_dim) * BYTES["bf16"] + 2 * heads * BYTES["fp32"]
    mamba = (int(axes["mamba_heads"]) * model.mamba_head_dim + int(axes["mamba_groups"]) * model.mamba_state) * 2
    mamba += int(axes["mamba_heads"]) * BYTES["fp32"]
    return (delta + mamba) * model.linear_layers


def kv_bytes(model: Model, kv: str, tp: int = 1) -> int:
    """Keys and values of one token, in all layers with attention."""
    return kv_layer_bytes(model, kv, tp) * model.attention_layers


def kv_layer_bytes(model: Model, kv: str, tp: int = 1) -> int:
    """The same in one layer."""
    return 2 * int(model.axes(tp)["kv_heads"]) * model.head_dim * BYTES[kv]


def weight_bytes(model: Model, weights: str, tp: int = 1) -> int:
    """The matrices that are known, as one GPU holds them, and the embedding; bf16 stays what is not in a layer."""
    counts = layers_of(model)
    total = sum(
        each.outputs
        * each.inputs
        * max(each.experts, 1)
        * counts.get(each.name, 1)
        * BYTES["bf16" if each.name == "lm_head" else weights]
        for each in model.weights(tp)
    )
    return total if model.tied else total + model.vocab * model.hidden * BYTES["bf16"] // tp


def layers_of(model: Model) -> dict[str, int]:
    """How often each of the model's matrices is there."""
    kinds = {"qkv": model.attention_layers, "o": model.attention_layers}
    kinds |= {"linear_in": model.linear_layers, "linear_out": model.linear_layers}
    return kinds | {"gate_up": model.mlp_layers, "down": model.mlp_layers, "lm_head": 1}


def memory(
    model: Model,
    *,
    state: str,
    kv: str,
    weights: str,
    tp: int,
    context: int,
    nodes: int,
    chain: int,
    device_bytes: int,
) -> Memory:
    """What a tree of so many nodes takes for each sequence, and how many sequences it leaves room for.

    Args:
        model: Its shapes.
        state: What recurrent states are held in.
        kv: What keys and values are held in.
        weights: What weights are held in.
        tp: GPUs that share the model.
        context: Tokens of a sequence.
        nodes: Drafts of the tree.
        chain: Drafts of the chain.
        device_bytes: Memory of one GPU; 0 if unknown.
    """
    held = state_bytes(model, state, tp) + window_bytes(model, tp)
    layer, matrices = kv_layer_bytes(model, kv, tp), weight_bytes(model, weights, tp)
    room = int(FRACTION * device_bytes) - matrices

    def fitting(drafts: int, each: int) -> int:
        cached = sum(layers * seen for layers, seen in model.spans(context + drafts + 1)) * layer
        return max(0, room // (cached + held + drafts * each)) if device_bytes else 0

    return Memory(
        state_bytes=state_bytes(model, state, tp),
        window_bytes=window_bytes(model, tp),
        replay_bytes=replay_bytes(model, tp),
        kv_bytes=kv_bytes(model, kv, tp),
        weight_bytes=matrices,
        context=context,
        nodes=nodes,
        chain=chain,
        sequences_chain=fitting(chain, held),
        sequences_tree=fitting(nodes, held),
        sequences_replayed=fitting(nodes, replay_bytes(model, tp)),
        source=f"shapes of {model.name}, states {state}, caches {kv}, weights {weights}; {FRACTION:.0%} of the GPU's"
        " memory used, activations not counted",
    )

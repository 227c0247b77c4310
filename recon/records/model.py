"""Models: what kernels and estimates need to know of their shapes."""

from dataclasses import dataclass

from recon.errors import Usage


@dataclass(frozen=True, slots=True)
class Weight:
    """A matrix that hidden states are multiplied with, as one GPU holds it."""

    name: str
    """`qkv`, `o`, `linear_in`, `linear_out`, `gate_up` (or up alone, where nothing gates), `down` or `lm_head`."""
    outputs: int
    inputs: int
    experts: int = 0
    """How many of its kind a layer has, of which a token meets some; 0 where every token meets the one."""


@dataclass(frozen=True, slots=True)
class Model:
    """What kernels need to know of a model."""

    name: str
    vocab: int
    heads: int
    """Of queries, in layers with attention."""
    kv_heads: int
    head_dim: int
    attention_layers: int
    """Layers with attention, to all tokens or to a window of them."""
    windowed_layers: int
    """Of these, the layers that look at the last `window` tokens alone."""
    window: int
    """Tokens; 0 where no layer has a window."""
    linear_layers: int
    """Layers with a recurrent state; 0 where it has none."""
    linear_key_heads: int
    linear_value_heads: int
    hidden: int
    """Length of a token's state between layers; 0 where the configuration does not tell."""
    intermediate: int
    """Of a dense layer's, or of one expert's."""
    gated: bool
    """Whether queries come with gates of as many numbers."""
    linear_key_dim: int
    linear_value_dim: int
    mamba_heads: int
    """Of a layer of Mamba-2; 0 where there is none."""
    mamba_head_dim: int
    mamba_groups: int
    """Groups of heads that share what they read and write."""
    mamba_state: int
    """Size of the state of a feature."""
    conv_width: int
    """Tokens that a causal convolution sees."""
    experts: int
    """Of a layer; 0 where layers are dense."""
    active_experts: int
    """Those that a token meets."""
    mlp_layers: int
    """Layers with a feed-forward part, dense or of experts."""
    state_dtype: str
    """Of recurrent states, e.g. `fp32`; empty where the configuration does not tell."""
    tied: bool
    """Whether the head is the embedding."""
    mlp_gated: bool
    """Whether what goes up into a feed-forward part comes with gates of as many numbers."""

    def axes(self, tp: int = 1) -> dict[str, int | float | str]:
        """The axes of cases that follow from the model, as one of `tp` GPUs sees them.

        Heads are divided; key heads that do not suffice are held several times. The vocabulary is not: logits are
        gathered before they are compared, and what that takes is not measured.

        Raises:
            Usage: the heads cannot be divided so.
        """
        held = (("query", self.heads), ("linear value", self.linear_value_heads), ("Mamba", self.mamba_heads))
        for what, heads in held:
            if heads % tp:
                raise Usage(f"--tp {tp} does not divide the {heads} {what} heads of {self.name}")
        sharing = (
            ("key heads", self.kv_heads),
            ("linear key heads", self.linear_key_heads),
            ("groups of Mamba heads", self.mamba_groups),
        )
        for what, heads in sharing:
            if heads and heads % tp and tp % heads:
                raise Usage(f"--tp {tp} does not fit the {heads} {what} of {self.name}")
        linear_keys = max(1, self.linear_key_heads // tp) if self.linear_key_heads else 0
        groups = max(1, self.mamba_groups // tp) if self.mamba_groups else 0
        channels = 2 * linear_keys * self.linear_key_dim + self.linear_value_heads // tp * self.linear_value_dim
        channels += self.mamba_heads // tp * self.mamba_head_dim + 2 * groups * self.mamba_state
        return {
            "vocab": self.vocab,
            "heads": self.heads // tp,
            "kv_heads": max(1, self.kv_heads // tp),
            "head_dim": self.head_dim,
            "linear_key_heads": linear_keys,
            "linear_value_heads": self.linear_value_heads // tp,
            "linear_key_dim": self.linear_key_dim,
            "linear_value_dim": self.linear_value_dim,
            "mamba_heads": self.mamba_heads // tp,
            "mamba_head_dim": self.mamba_head_dim,
            "mamba_groups": groups,
            "mamba_state": self.mamba_state,
            "channels": channels,
            "width": self.conv_width,
            "layers": self.attention_layers,
        }

    def spans(self, context: int, behind: int = 0) -> tuple[tuple[int, int], ...]:
        """Layers with attention, and how many of `context` tokens the token so many places `behind` them looks at."""
        whole = self.attention_layers - self.windowed_layers
        found = ((whole, context), (self.windowed_layers, min(context, max(0, self.window - behind))))
        return tuple((layers, seen) for layers, seen in found if layers)

    def weights(self, tp: int = 1) -> tuple[Weight, ...]:
        """The matrices of a layer and of the head, as one of `tp` GPUs holds them; none of unknown size.

        Raises:
            Usage: they cannot be divided so.
        """
        if self.intermediate % tp:
            raise Usage(f"--tp {tp} does not divide the {self.intermediate} inner numbers of {self.name}")
        axes = self.axes(tp)
        heads, kv_heads = int(axes["heads"]), int(axes["kv_heads"])
        keys = int(axes["linear_key_heads"]) * self.linear_key_dim
        values = int(axes["linear_value_heads"]) * self.linear_value_dim
        features = int(axes["mamba_heads"]) * self.mamba_head_dim
        mamba_in = 2 * (features + int(axes["mamba_groups"]) * self.mamba_state) + int(axes["mamba_heads"])
        inner = self.intermediate // tp
        found = (
            Weight("qkv", (heads * (1 + self.gated) + 2 * kv_heads) * self.head_dim, self.hidden),
            Weight("o", self.hidden, heads * self.head_dim),
            Weight("linear_in", mamba_in if features else 2 * (keys + values), self.hidden),
            Weight("linear_out", self.hidden, features or values),
            Weight("gate_up", (1 + self.mlp_gated) * inner, self.hidden, self.experts),
            Weight("down", self.hidden, inner, self.experts),
            Weight("lm_head", -(-self.vocab // tp), self.hidden),
        )
        return tuple(each for each in found if each.outputs and each.inputs)

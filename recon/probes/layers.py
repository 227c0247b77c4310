"""Kinds of a model's layers, from its `config.json`: attention to all tokens or to a window of them, or a state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FULL = frozenset({"full_attention", "attention"})
WINDOWED = frozenset({"sliding_attention"})
RECURRENT = frozenset({"linear_attention", "mamba", "mamba2"})
LISTS = ("layer_types", "layers_block_type")
"""Where the kind of each layer stands."""
SPARSE = ("attention_chunk_size", "blocksparse_params", "index_topk", "sparse_attention_config")
"""What says that layers look at some tokens alone, in a way that is not counted here."""
EVERY = {"gemma2": 2, "gpt_oss": 2, "cohere2": 4, "gemma3": 6, "gemma3_text": 6}
"""Of models whose configuration leaves it out: each so many-th layer looks at all tokens, the others at a window.

Source: the defaults of their configurations in transformers.
"""
_LETTERS = "M*-E"
_WORD = 40
"""Characters of a kind that is refused."""


@dataclass(frozen=True, slots=True)
class Layers:
    """How many layers there are of each kind."""

    attention: int
    """To all tokens or to a window of them."""
    windowed: int
    """Of those with attention: to the last `window` tokens alone."""
    window: int
    """0 where none is windowed."""
    recurrent: int


def layers_of(config: Mapping[str, object], layers: int, *, hybrid: bool) -> Layers | str:
    """Layers by kind, or what stands in the way of counting them.

    Args:
        config: As it was read.
        layers: All of them.
        hybrid: Whether shapes of recurrent layers are told.
    """
    for name in SPARSE:
        if config.get(name):
            return f"{name} says that its attention leaves tokens out, in a way that is not counted here"
    listed = next(((name, config[name]) for name in LISTS if isinstance(config.get(name), list)), None)
    if listed is not None:
        return _of_list(config, *listed, layers, hybrid=hybrid)  # type: ignore[arg-type]
    attention, recurrent = _of_hybrid(config, layers) if hybrid else (layers, 0)
    unknown = set(str(config.get("hybrid_override_pattern") or "")) - set(_LETTERS)
    if hybrid and unknown:
        return f"hybrid_override_pattern has {min(unknown)!r}, a kind of layer that is not counted here"
    windowed = _windowed(config, attention)
    if isinstance(windowed, str):
        return windowed
    return _checked(config, Layers(attention, windowed, 0, recurrent))


def _of_list(
    config: Mapping[str, object], name: str, kinds: Sequence[object], layers: int, *, hybrid: bool
) -> Layers | str:
    """By the kind of each."""
    if len(kinds) != layers:
        return f"{name} tells the kinds of {len(kinds)} layers, and there are {layers}"
    words = [str(kind) for kind in kinds]
    unknown = next((word for word in words if word not in FULL | WINDOWED | RECURRENT), None)
    if unknown is not None:
        return f"{name} has {unknown[:_WORD]!r}, a kind of layer that is not counted here"
    recurrent = [word for word in words if word in RECURRENT]
    if recurrent and not hybrid:
        return f"{name} has {recurrent[0]!r}, and nothing says how many heads such layers have"
    windowed = sum(word in WINDOWED for word in words)
    return _checked(config, Layers(layers - len(recurrent), windowed, 0, len(recurrent)))


def _checked(config: Mapping[str, object], found: Layers) -> Layers | str:
    if not found.windowed:
        return found
    window = config.get("sliding_window")
    if type(window) is not int or window < 1:
        return "layers look at a window of tokens, and sliding_window does not say of how many"
    return Layers(found.attention, found.windowed, window, found.recurrent)


def _of_hybrid(config: Mapping[str, object], layers: int) -> tuple[int, int]:
    """Layers of a hybrid with attention, and with a recurrent state, where no list tells the kind of each.

    By the numbers of those with attention, by a pattern of letters in which others have neither, or every so many.
    """
    pattern, numbers = config.get("hybrid_override_pattern"), config.get("attn_layer_indices")
    if isinstance(numbers, list):
        full = sum(number in range(layers) for number in numbers)
        return full, layers - full
    if isinstance(pattern, str):
        return pattern.count("*"), pattern.count("M")
    interval = config.get("full_attention_interval")
    every = interval if type(interval) is int and interval > 0 else 1
    return layers // every, layers - layers // every


def _windowed(config: Mapping[str, object], attention: int) -> int | str:
    """Layers whose attention has a window, where no list tells the kind of each."""
    kind = str(config.get("model_type", ""))
    if not config.get("sliding_window") or config.get("use_sliding_window") is False:
        return 0
    if "max_window_layers" in config or kind.startswith("qwen"):  # theirs is off unless it is switched on
        first = config.get("max_window_layers", attention)
        on = config.get("use_sliding_window") is True and type(first) is int
        return max(0, attention - first) if on else 0  # type: ignore[operator]
    pattern = config.get("sliding_window_pattern", config.get("_sliding_window_pattern", EVERY.get(kind)))
    if pattern is None:
        return attention
    if isinstance(pattern, str) and pattern and set(pattern) <= set("LG"):
        return sum(pattern[layer % len(pattern)] == "L" for layer in range(attention))
    if type(pattern) is int and pattern > 0:
        return attention - attention // pattern
    return f"sliding_window_pattern is {repr(pattern)[:_WORD]}, which is not counted here"

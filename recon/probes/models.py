"""Shapes of a model, from its `config.json` or from a preset; one file in `presets/` adds one.

A preset is the part of a `config.json` that is read here.
"""

import json
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from recon.errors import NotFound, Unreadable
from recon.probes.layers import layers_of
from recon.records.model import Model

PRESETS = Path(__file__).parent / "presets"
MEANT = "A config.json as transformers writes it is meant."
CONFIG_BYTES = 8 << 20
LARGEST = 1 << 31
MOST_WORDS = 80
"""Characters of a value that is refused: it may be a list of a million."""
MOST_EXPERTS = 1 << 14
UNGATED = "relu2"
"""The activation of feed-forward parts without gates; those of all others here have them."""
WITHOUT = "Without --model, the shapes of other models are timed."
_STATES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def presets() -> tuple[str, ...]:
    """Names of the models that come along."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.json")))


def model_of(words: str) -> Model:
    """The model that the user names: a preset, with or without its organisation, a `config.json`, or its folder.

    Raises:
        NotFound: there is no such preset, and no such file.
        Unreadable: the file is no configuration of a model.
    """
    path = Path(os.path.expanduser(words))  # noqa: PTH111  # leaves the home of nobody as it is written
    if os.path.isdir(path):  # noqa: PTH112  # what nothing can be called is no folder
        path /= "config.json"
    if os.path.isfile(path):  # noqa: PTH113
        return _read(path, path.parent.name if path.name == "config.json" else path.stem)
    plain = words.rpartition("/")[2].lower()
    for name in presets():
        if name.lower() == plain:
            return _read(PRESETS / f"{name}.json", name)
    near = get_close_matches(plain, [name.lower() for name in presets()], n=1)
    meant = next((name for name in presets() if near and name.lower() == near[0]), "")
    hint = f"Did you mean {meant}? " if meant else ""
    raise NotFound(
        f"no model {words!r}", f"{hint}--model takes the path of a config.json, or one of {', '.join(presets())}."
    )


def _read(path: Path, name: str) -> Model:
    try:
        with path.open("rb") as file:
            content = file.read(CONFIG_BYTES + 1)
        config = json.loads(content) if len(content) <= CONFIG_BYTES else None
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} holds no JSON that can be read", MEANT) from error
    if isinstance(config, dict) and isinstance(config.get("text_config"), dict):
        config = config["text_config"]  # what sees and hears has its language model inside
    if not isinstance(config, dict):
        raise Unreadable(f"{path} is no configuration of a model", MEANT)
    return _model(config, name or path.stem, path)


def _model(config: Mapping[str, object], name: str, path: Path) -> Model:
    def number(key: str, otherwise: int | None = None, *others: str) -> int:
        value = next((config[name] for name in (key, *others) if config.get(name) is not None), otherwise)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
            raise Unreadable(f"{path}: {key} is {repr(value)[:MOST_WORDS]}", MEANT)
        return value

    layers, heads = number("num_hidden_layers"), number("num_attention_heads")
    if not (layers and heads and number("vocab_size")):
        raise Unreadable(f"{path} describes a model without layers, heads or words")
    if config.get("kv_lora_rank"):
        raise Unreadable(f"{path}: kv_lora_rank says that its attention is latent, which has no kernel here", WITHOUT)
    linear_heads, mamba_heads = number("linear_num_value_heads", 0), number("mamba_num_heads", 0, "mamba_n_heads")
    hybrid = bool(linear_heads or mamba_heads)
    kinds = layers_of(config, layers, hybrid=hybrid)
    if isinstance(kinds, str):
        raise Unreadable(f"{path}: {kinds}", WITHOUT)
    experts = number("num_experts", 0, "num_local_experts", "n_routed_experts")
    inner = "moe_intermediate_size", "intermediate_size"
    model = Model(
        name=name,
        vocab=number("vocab_size"),
        heads=heads,
        kv_heads=number("num_key_value_heads", heads),
        head_dim=number("head_dim", number("hidden_size", 0) // heads),
        attention_layers=kinds.attention,
        windowed_layers=kinds.windowed,
        window=kinds.window,
        linear_layers=kinds.recurrent,
        linear_key_heads=number("linear_num_key_heads", 0),
        linear_value_heads=linear_heads,
        hidden=number("hidden_size", 0),
        intermediate=number(inner[0], 0, inner[1]) if experts else number(inner[1], 0),
        gated=config.get("attn_output_gate", bool(linear_heads)) is True,  # hybrids leave it out where it is so
        linear_key_dim=number("linear_key_head_dim", 0),
        linear_value_dim=number("linear_value_head_dim", 0),
        mamba_heads=mamba_heads,
        mamba_head_dim=number("mamba_head_dim", 0, "mamba_d_head"),
        mamba_groups=number("mamba_n_groups", 0, "n_groups") if mamba_heads else 0,
        mamba_state=number("ssm_state_size", 0, "mamba_d_state", "mamba_state_dim"),
        conv_width=number("linear_conv_kernel_dim", 0, "mamba_d_conv", "conv_kernel"),
        experts=experts,
        active_experts=number("num_experts_per_tok", 0, "experts_per_token"),
        mlp_layers=_mlp_layers(config, layers),
        state_dtype=_STATES.get(str(config.get("mamba_ssm_dtype", "")), ""),
        tied=config.get("tie_word_embeddings") is True,
        mlp_gated=UNGATED not in (config.get("mlp_hidden_act"), config.get("hidden_act")),
    )
    objection = _objection(model)
    if objection:
        raise Unreadable(f"{path}: {objection}", MEANT)
    return model


def _objection(model: Model) -> str:
    """What cannot be of its numbers; empty where nothing speaks against them."""
    if not model.head_dim:
        return "it does not say how long a head is: head_dim, or hidden_size"
    if not model.kv_heads:
        return "num_key_value_heads is 0"
    for what, many, sharing, few in (
        ("query", model.heads, "key heads", model.kv_heads),
        ("linear value", model.linear_value_heads, "linear key heads", model.linear_key_heads),
        ("Mamba", model.mamba_heads, "groups", model.mamba_groups),
    ):
        if few and many % few:
            return f"{many} {what} heads cannot be shared out to {few} {sharing}"
    if model.experts > MOST_EXPERTS:
        return f"{model.experts} experts are more than {MOST_EXPERTS}"
    if model.experts and not 0 < model.active_experts <= model.experts:
        return f"a token meets {model.active_experts} of {model.experts} experts"
    return _half_told(model)


def _half_told(model: Model) -> str:
    """Sizes of recurrent layers that are left out where others are told: they would count as nothing."""
    delta = {
        "linear_num_value_heads": model.linear_value_heads,
        "linear_num_key_heads": model.linear_key_heads,
        "linear_key_head_dim": model.linear_key_dim,
        "linear_value_head_dim": model.linear_value_dim,
    }
    mamba = {
        "mamba_num_heads": model.mamba_heads,
        "mamba_head_dim": model.mamba_head_dim,
        "ssm_state_size": model.mamba_state,
    }
    for sizes in (delta, mamba):
        lacking = [name for name, size in sizes.items() if not size]
        if 0 < len(lacking) < len(sizes):
            return f"it tells sizes of recurrent layers, and leaves out {' and '.join(lacking)}"
    return ""


def _mlp_layers(config: Mapping[str, object], layers: int) -> int:
    """Layers with a feed-forward part: all, or those that a pattern of letters gives one, dense or of experts."""
    pattern = config.get("hybrid_override_pattern")
    return pattern.count("-") + pattern.count("E") if isinstance(pattern, str) else layers

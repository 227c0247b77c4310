"""Shapes of a model, from its `config.json` or from a preset; one file in `presets/` adds one.

A preset is the part of a `config.json` that is read here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from recon.errors import NotFound, Unreadable, Usage
from recon.kernels.wire import Axes

PRESETS = Path(__file__).parent / "presets"
CONFIG_BYTES = 8 << 20
LARGEST = 1 << 31


@dataclass(frozen=True, slots=True)
class Model:
    """What kernels need to know of a model."""

    name: str
    vocab: int
    heads: int
    """Of queries, in layers with full attention."""
    kv_heads: int
    head_dim: int
    attention_layers: int
    """Layers with full attention."""
    linear_layers: int
    """Layers with a recurrent state; 0 where it has none."""
    linear_key_heads: int
    linear_value_heads: int

    def axes(self, tp: int = 1) -> Axes:
        """The axes of cases that follow from the model, as one of `tp` GPUs sees them.

        Heads are divided; key heads that do not suffice are held several times. The vocabulary is not: logits are
        gathered before they are compared, and what that takes is not measured.

        Raises:
            Usage: the heads cannot be divided so.
        """
        for what, heads in (("query", self.heads), ("linear value", self.linear_value_heads)):
            if heads % tp:
                raise Usage(f"--tp {tp} does not divide the {heads} {what} heads of {self.name}")
        if self.kv_heads % tp and tp % self.kv_heads:
            raise Usage(f"--tp {tp} does not fit the {self.kv_heads} key heads of {self.name}")
        return {
            "vocab": self.vocab,
            "heads": self.heads // tp,
            "kv_heads": max(1, self.kv_heads // tp),
            "head_dim": self.head_dim,
            "linear_key_heads": max(1, self.linear_key_heads // tp) if self.linear_key_heads else 0,
            "linear_value_heads": self.linear_value_heads // tp,
        }


def presets() -> tuple[str, ...]:
    """Names of the models that come along."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.json")))


def model_of(words: str) -> Model:
    """The model that the user names: a preset, with or without its organisation, a `config.json`, or its folder.

    Raises:
        NotFound: there is no such preset, and no such file.
        Unreadable: the file is no configuration of a model.
    """
    path = Path(words).expanduser()
    if path.is_dir():
        path /= "config.json"
    if path.is_file():
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
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error
    if isinstance(config, dict) and isinstance(config.get("text_config"), dict):
        config = config["text_config"]  # what sees and hears has its language model inside
    if not isinstance(config, dict):
        raise Unreadable(f"{path} is no configuration of a model")
    return _model(config, name or path.stem, path)


def _model(config: Mapping[str, object], name: str, path: Path) -> Model:
    def number(key: str, otherwise: int | None = None) -> int:
        value = config.get(key, otherwise)
        value = otherwise if value is None else value
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST:
            raise Unreadable(f"{path}: {key} is {value!r}", "A config.json as transformers writes it is meant.")
        return value

    layers, heads = number("num_hidden_layers"), number("num_attention_heads")
    if not (layers and heads and number("vocab_size")):
        raise Unreadable(f"{path} describes a model without layers, heads or words")
    kinds = config.get("layer_types")
    interval = number("full_attention_interval", 1) or 1
    full = sum("full" in str(kind) for kind in kinds) if isinstance(kinds, list) else layers // interval
    linear_heads = number("linear_num_value_heads", 0)
    return Model(
        name=name,
        vocab=number("vocab_size"),
        heads=heads,
        kv_heads=number("num_key_value_heads", heads) or heads,
        head_dim=number("head_dim", number("hidden_size", 0) // heads),
        attention_layers=full if linear_heads else layers,
        linear_layers=layers - full if linear_heads else 0,
        linear_key_heads=number("linear_num_key_heads", 0),
        linear_value_heads=linear_heads,
    )

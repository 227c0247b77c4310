"""The words by which engines offer their drafters, and how names are taken apart to find them."""

import re
from functools import cache

_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_WORDS = {
    "eagle": "eagle(?!_3_)[12]?",
    "eagle3": "eagle_?3",
    "mtp": "mtp|next_?n|multi_token_prediction",
    "medusa": "medusa",
    "ngram": "n_?gram|prompt_?lookup|look_?ahead|pld",
    "suffix": "suffix",
    "dflash": "d_?flash[0-9]?|d_?spark|uno|block_diffusion|parallel_draft(?:er|ing)?|pard",
    "draft_model": "draft_model|draft_target|standalone|independent_draft(?:er)?",
}
"""By drafter, what stands for it in command lines, enums and configuration files, in small letters with underscores."""
DRAFTERS = tuple(_WORDS)
HEADS = frozenset({"eagle", "eagle3", "mtp"})
"""Drafters that read the target's hidden states: one class of an engine may serve several of them."""
_PATTERNS = {name: re.compile(f"_(?:{words})(?=_)") for name, words in _WORDS.items()}
_LOOK_BACK = re.compile("_(?:n_?gram|prompt_?lookup)(?=_)")
_DRAFTER = re.compile("_(?:draft(?:er)?|propos(?:er|al)|speculator)_(?:$|worker|v[0-9])")
_DRAFTING = re.compile(
    "(?!_(?:is|can|has)_).*_(?:draft|propos|specul)[a-z]*_(?!model|config|worker|backend|input|buffer|attn|kv)"
)


@cache
def apart(name: str) -> str:
    """A name in small letters, its parts between underscores: `use_Eagle3Head` is `_use_eagle3_head_`."""
    return f"_{'_'.join(part for part in _JOINT.split(name) if part)}_".lower()


@cache
def drafters_in(name: str) -> frozenset[str]:
    """The drafters that a name speaks of."""
    words = apart(name)
    found = {drafter for drafter, pattern in _PATTERNS.items() if pattern.search(words)}
    if words == "_is_draft_model_":  # asks what a model is for, not which drafter was chosen
        found.discard("draft_model")
    return frozenset(found)


def options_in(name: str) -> frozenset[str]:
    """The drafters that an option chooses by being set: how far n-grams look back is asked of nothing else."""
    return frozenset({"ngram"}) if _LOOK_BACK.search(apart(name)) else frozenset()


@cache
def speaks_of_drafting(name: str) -> bool:
    """Whether the name of a method says that it drafts, proposes or speculates."""
    return _DRAFTING.match(apart(name)) is not None


def is_drafter(name: str) -> bool:
    """Whether the name of a class says that it is what drafts."""
    return _DRAFTER.search(apart(name)) is not None

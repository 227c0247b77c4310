"""A feature's file: what it may say, and how a mistake is complained of."""

import pytest

from recon.errors import Usage
from recon.features.reading import feature_of
from recon.records.feature import Need, Part, Pointer, Purpose, Work

WALK = """
[[needs]]
id = "walk"
title = "walk the tree"
capabilities = ["accept.tree.greedy"]
core = true
work = "kernel"
hooks = [{ at = "accept.linear.greedy.evidence", task = "Replace it." }]
"""
HEAD = 'id = "mine"\ntitle = "Mine"\nwhat = "A thing."\npaper = "Us, 2026"\n'
KV = WALK.replace('"walk"', '"kv"').replace("core = true", 'after = ["walk"]\npurpose = "hybrid"')
FILE = HEAD + WALK + KV


def test_a_feature_is_what_its_file_says() -> None:
    """With the defaults where it says nothing."""
    made = feature_of(FILE.encode(), "mine.toml")
    pointer = Pointer("accept.linear.greedy", Part.EVIDENCE, "Replace it.")

    assert ("mine", "Mine", "A thing.", "Us, 2026", "mine.toml") == (
        made.id,
        made.title,
        made.what,
        made.paper,
        made.origin,
    )
    assert (
        Need(
            "walk",
            "walk the tree",
            ("accept.tree.greedy",),
            Purpose.REQUIRED,
            True,  # noqa: FBT003
            Work.KERNEL,
            (),
            (pointer,),
        )
        == made.needs[0]
    )
    assert (Purpose.HYBRID, False, ("walk",)) == (made.needs[1].purpose, made.needs[1].core, made.needs[1].after)


def test_a_text_of_several_lines_becomes_one() -> None:
    """It is printed in tables."""
    file = FILE.replace('"A thing."', '"""\nA\n   thing."""')

    assert "A thing." == feature_of(file.encode(), "mine.toml").what


@pytest.mark.parametrize(
    ("written", "instead", "complaint"),
    [
        ('id = "mine"', "id = mine", "mine.toml is not TOML: Invalid value"),
        ('id = "mine"', 'id = "My Thing"', "the feature: id = 'My Thing' may hold small letters, digits, - and _ only"),
        ('title = "Mine"', "", "mine.toml: the feature: title must be a text"),
        ('paper = "Us', 'papper = "Us', "the feature: 'papper' means nothing here; known are id, needs, paper,"),
        ('["accept.tree.greedy"]', "[]", "needs walk: capabilities must be a list of texts"),
        ('["accept.tree.greedy"]', '"accept"', "needs walk: capabilities must be a list of texts"),
        ("core = true", "core = 1", "needs walk: core must be true or false"),
        ("core = true", "", "the feature: no need is its core"),
        ('"kernel"', '"magic"', "needs walk: work must be one of kernel, plumbing, configuration"),
        ('"hybrid"', '"fun"', "needs kv: purpose must be one of required, hybrid, speed"),
        (".evidence", ".middle", "needs walk, hooks 1: at = 'accept.linear.greedy.middle' is not CAPABILITY.evidence"),
        ('"accept.linear.greedy.evidence"', '"evidence"', "is not CAPABILITY.evidence or CAPABILITY.nearest"),
        ('task = "Replace it."', 'tasks = "x"', "needs walk, hooks 1: 'tasks' means nothing here"),
        ('["walk"]', '["wolk"]', "the feature: a need comes after 'wolk', which is no need of it"),
        ('id = "kv"', 'id = "walk"', "the feature: two needs are called 'walk'"),
        ("core = true", 'core = true\nafter = ["kv"]', "the feature: its needs wait for one another: "),
    ],
)
def test_a_mistake_is_told_with_its_place(written: str, instead: str, complaint: str) -> None:
    """File, need and word."""
    assert written in FILE

    with pytest.raises(Usage) as told:
        feature_of(FILE.replace(written, instead, 1).encode(), "mine.toml")

    assert complaint in told.value.message


@pytest.mark.parametrize("content", [b"\xff\xfe", b"needs = 7\n" + HEAD.encode(), HEAD.encode(), b"a=" + b"[" * 20000])
def test_what_is_no_feature_is_refused(content: bytes) -> None:
    """Whatever it is, it stops nothing else."""
    with pytest.raises(Usage):
        feature_of(content, "x.toml")

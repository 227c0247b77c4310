"""Equal texts of a file as one object: its records hold four times as many as are different.

They come from the cache, or from the processes that read, one by one. Shared, a large tree takes a quarter less memory.
Between files they are not shared: what lies near in a file is to lie near in memory.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import force_setattr

from recon.index.records import Outline

_TEXTS = (
    ("calls", ("callee",), ("keywords", "args")),
    ("binds", ("target", "value", "annotation"), ()),
    ("imports", ("module", "name", "alias"), ()),
    ("texts", ("text", "role"), ()),
    ("branches", ("test",), ()),
    ("scopes", ("name", "returns"), ("bases", "decorators", "params")),
)
"""Of the records of an outline: the fields that are texts, and those that are rows of texts or parameters."""


def share(outlines: Iterable[Outline]) -> None:
    """Let the records of each outline hold one object for equal texts and parameters, and for equal rows of them.

    Records are frozen; that one of two equal objects stands in the place of the other changes none of them. Records
    that are places, such as call sites, stay objects of their own.
    """
    for outline in (each for whole in outlines for each in (whole, whole.strings) if each is not None):
        one = dict[object, object]().setdefault
        for kind, texts, rows in _TEXTS:
            records: Sequence[Struct] = getattr(outline, kind)
            for name in texts:
                for record, text in zip(records, map(attrgetter(name), records), strict=True):
                    if text:
                        force_setattr(record, name, one(text, text))
            for name in rows:
                for record, row in zip(records, map(attrgetter(name), records), strict=True):
                    if row:
                        shared = tuple([one(item, item) for item in row])
                        force_setattr(record, name, one(shared, shared))

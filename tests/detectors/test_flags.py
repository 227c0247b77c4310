"""Code that a flag keeps from running: of a module, never changed, above the code itself or above all its calls."""

import pytest

from recon.detectors.places import seen
from recon.detectors.testing import indexed
from recon.index.index import Index

WALK = """
def settle(ids, want, child, twin):
    cur, out = 0, []
    while True:
        nxt = child[cur]
        while nxt != -1 and ids[nxt] != want[cur]:
            nxt = twin[nxt]
        if nxt == -1:
            return out
        out.append(nxt)
        cur = nxt
"""
ENGINE = """
from torch import nn
from walk import settle
{head}

class Net(nn.Module):
    def forward(self, ids):
        return self.head(ids)


class Engine:
    def __init__(self):
        self.net = Net()

    def loop(self):
        while True:
            self.step(self.inbox.get())

    def step(self, batch):
        want = self.net(batch.ids).argmax(-1)
        {test}
            return settle(batch.ids, want, batch.child, batch.twin)
        return want
"""
OFF = "USE_TREE = False"


def engine(head: str, test: str = "if USE_TREE:", **files: str) -> Index:
    """An engine that calls a walk under a test."""
    more = {f"{name}.py": text for name, text in files.items()}
    return indexed({"walk.py": WALK, "engine.py": ENGINE.format(head=head, test=test), **more})


def reached(index: Index) -> bool:
    """Whether a runner reaches the walk."""
    (place,) = seen(index, "walk")
    return bool(place.scope)


def test_what_is_called_under_a_flag_that_never_changes_is_reached_by_nobody() -> None:
    """It is in the tree all the same, and the reason is told."""
    (place,) = seen(engine(OFF), "walk")

    assert () == place.scope
    assert place.note.endswith("but USE_TREE never changes, and all calls stand under it")


@pytest.mark.parametrize(
    ("head", "test", "files"),
    [
        ("USE_TREE = 0", "if USE_TREE:", {}),
        ("USE_CHAIN = True", "if not USE_CHAIN:", {}),
        ("from settings import USE_TREE", "if USE_TREE:", {"settings": OFF}),
    ],
)
def test_so_is_what_is_called_under_others(head: str, test: str, files: dict[str, str]) -> None:
    """Turned round, as a number, or imported."""
    assert not reached(engine(head, test, **files))


@pytest.mark.parametrize(
    ("head", "test", "files"),
    [
        (OFF, "if batch.ids:", {}),
        (OFF, "if not USE_TREE:", {}),
        ("USE_TREE = os.environ.get('TREE')", "if USE_TREE:", {}),
        (f"{OFF}\nUSE_TREE = True", "if USE_TREE:", {}),
        (f"{OFF}\ndef switch():\n    global USE_TREE\n    USE_TREE = True\n", "if USE_TREE:", {}),
        (OFF, "if USE_TREE:", {"main": "import engine\n\nengine.USE_TREE = True\n"}),
        (OFF, "if USE_TREE:", {"main": "import engine\n\nsetattr(engine, 'USE_TREE', True)\n"}),
        ("from settings import USE_TREE", "if USE_TREE:", {}),
    ],
)
def test_a_flag_that_may_change_keeps_nothing(head: str, test: str, files: dict[str, str]) -> None:
    """By the environment, by another statement, by another file, or since nobody knows it."""
    assert reached(engine(head, test, **files))


def test_a_flag_above_the_code_itself_keeps_it_from_running() -> None:
    """The function runs, this branch of it does not."""
    body = WALK.replace("    cur, out", "    if not USE_TREE:\n        return want\n    cur, out")
    index = indexed({"walk.py": OFF + body, "engine.py": ENGINE.format(head="", test="if batch:")})
    (place,) = seen(index, "walk")

    assert () == place.scope
    assert place.note.endswith("but USE_TREE never changes")

"""Models that a loader makes, and who runs them."""

import pytest

from tests.index.trees import edges

MODELS = """
from torch import nn

class Norm(nn.Module):
    def forward(self, x):
        return x

class Small(nn.Module):
    def __init__(self):
        self.norm = Norm()

    def forward(self, ids, places, more=None):
        return self.norm(ids)
"""
BOX = """
class Box:
    def __init__(self, load):
        self.thing = load()

    def go(self, ids, places):
        return {call}
"""


def run_from(call: str, around: str = BOX, models: str = MODELS) -> set[str]:
    """The models that a call in a class runs."""
    found = edges({"models.py": models, "box.py": around.format(call=call)}, "box.py:Box.go")
    return {target for target, dispatch, _ in found if dispatch == "model"}


@pytest.mark.parametrize(
    "call",
    [
        "self.thing(ids=ids, places=places)",
        "self.thing(ids, places=places, more=None, **self.rest)",
        "self.thing.forward(ids, places)",
    ],
)
def test_a_call_that_fits_the_models_runs_them(call: str) -> None:
    """By the keywords of their forward, or by its name; a layer of a model is made by name and is none."""
    assert {"models.py:Small.forward"} == run_from(call)


@pytest.mark.parametrize(
    "call",
    ["self.thing(ids, places)", "self.thing(ids=ids)", "self.thing(ids=ids, other=places)", "go(ids=1, more=2)"],
)
def test_a_call_of_anything_runs_no_model(call: str) -> None:
    """One keyword is handed to much; a keyword that no model knows is handed to something else."""
    assert set() == run_from(call)


def test_a_module_runs_its_layers_and_no_model() -> None:
    """It calls what it holds as a runner calls a model."""
    module = f"from torch import nn\n{BOX}".replace("Box", "Box(nn.Module)")

    assert set() == run_from("self.thing(ids=ids, places=places)", module)


def test_where_something_takes_weights_only_what_does_is_a_model() -> None:
    """Other modules that nobody makes by name are left alone."""
    weights = "\n    def load_weights(self, all):\n        pass\n"
    other = "\nclass Other(nn.Module):\n    def forward(self, ids):\n        return ids\n"
    call = "self.thing(ids=ids, places=places)"

    assert {"models.py:Small.forward", "models.py:Other.forward"} == run_from(call, models=f"{MODELS}{other}")
    assert {"models.py:Small.forward"} == run_from(call, models=f"{MODELS}{weights}{other}")


def test_where_classes_say_their_role_they_alone_run_models() -> None:
    """A runner is known by its name; what fits the models beside it is left alone."""
    runner = BOX.replace("Box", "Runner").replace("{call}", "self.thing_model(ids)")

    assert set() == run_from("self.thing(ids=ids, places=places)", f"{BOX}{runner}")

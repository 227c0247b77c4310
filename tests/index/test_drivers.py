"""What drives a tree whose classes do not say it."""

from recon.index.drivers import drivers
from recon.index.steps import Steps
from tests.index.trees import graph, place, ref_of

TREE = {
    "serve.py": """
from loop import Hub

class Front:
    def __init__(self):
        self.hub = Hub()

    def serve(self):
        while True:
            self.hub.turn()
""",
    "loop.py": """
from work import Box

class Hub:
    def __init__(self):
        self.box = Box()
        self.open = True

    def turn(self):
        while self.open and not self.stops():
            self.box.go(self.wait())

    def stops(self):
        return False

    def wait(self):
        while not self.stops():
            pass
""",
    "work.py": """
from torch import nn

class Judge(nn.Module):
    def forward(self, x):
        return judge(x)

class Box:
    def __init__(self):
        self.judge = Judge()

    def go(self, x):
        return self.judge(x)

def judge(x):
    return x

def tidy(queue):
    while True:
        judge(queue.pop())
""",
}


def driving(files: dict[str, str], *seen: str) -> list[str]:
    """What drives a tree in which shapes were seen in some functions."""
    made = graph(files)
    return [place(made.names, ref) for ref in drivers(made.names, made, {ref_of(made.names, one) for one in seen})]


def test_the_innermost_loop_that_runs_a_model_drives() -> None:
    """The front that serves leads there too; what waits, or tidies up without a model, drives nothing."""
    assert ["loop.py:Hub.turn"] == driving(TREE, "work.py:judge")


def test_nothing_drives_what_was_not_seen_or_runs_no_model() -> None:
    """A loop over numbers, and a library whose loop calls a kernel."""
    counted = TREE["loop.py"].replace("while self.open and not self.stops():", "while left > 0:")
    library = TREE["work.py"].replace("(nn.Module)", "")

    assert [] == driving(TREE)
    assert [] == driving({**TREE, "loop.py": counted, "serve.py": ""}, "work.py:judge")
    assert [] == driving({**TREE, "work.py": library}, "work.py:judge")


def test_words_for_roles_come_first_and_only_where_they_lead_somewhere() -> None:
    """A class may be called a runner and run something else."""
    made = graph({**TREE, "tool.py": "class Runner:\n    def start(self):\n        return 1\n"})
    judged = {ref_of(made.names, "work.py:judge")}
    found = Steps(made.names, made, judged)
    (way,) = found.ways(ref_of(made.names, "work.py:judge"))
    driver = found.driver_of(way.edges[0].source)

    assert ["tool.py:Runner.start"] == [place(made.names, ref) for ref in Steps(made.names, made).roots]
    assert ["loop.py:Hub.turn"] == [place(made.names, ref) for ref in found.roots]
    assert (None, ref_of(made.names, "loop.py:Hub")) == (way.through, driver)

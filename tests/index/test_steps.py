"""Where the engine's step begins, and on which ways it reaches a place."""

from recon.index.steps import Steps
from tests.index.trees import graph, place, ref_of

ENGINE = """
from executor import Executor

class Engine:
    def __init__(self, scheduler: "Scheduler"):
        self.executor = Executor()
        self.scheduler = scheduler
        self._warm_up()

    def _warm_up(self):
        self.executor.run(None)
        self.executor.check()

    def step(self):
        batch = self.scheduler.schedule()
        return self.executor.run(batch)

    def ping(self):
        return self.executor.check()

class Scheduler:
    def schedule(self):
        pass
"""
EXECUTOR = """
from worker import Worker

class Executor:
    def __init__(self):
        self.worker = Worker(flag=True)

    def run(self, batch):
        return self.worker.run(batch)

    def check(self):
        return self.worker.run(None)
"""
WORKER = """
class Worker:
    def __init__(self, flag):
        if flag:
            from old import ModelRunner as ModelRunnerV1
            self.runner = ModelRunnerV1()
        else:
            from new import ModelRunner as ModelRunnerV2
            self.runner = ModelRunnerV2()

    def run(self, batch):
        return self.runner.run(batch)
"""
OLD = """
from accept import accept, long_way

class ModelRunner:
    def run(self, batch):
        long_way(batch)
        return accept(batch)
"""
NEW = """
from accept import accept

class ModelRunner:
    def run(self, batch):
        return self.sample(batch)

    def sample(self, batch):
        return accept(batch)
"""
ACCEPT = """
def accept(batch):
    pass

def long_way(batch):
    return accept(batch)

def lonely(batch):
    return accept(batch)
"""
TREE = {
    "engine.py": ENGINE,
    "executor.py": EXECUTOR,
    "worker.py": WORKER,
    "old.py": OLD,
    "new.py": NEW,
    "accept.py": ACCEPT,
}


def steps(files: dict[str, str]) -> Steps:
    """The engine's step of a tree."""
    made = graph(files)
    return Steps(made.names, made)


def ways(files: dict[str, str], spelled: str) -> list[list[str]]:
    """The ways to a definition, each as the definitions on it."""
    made = graph(files)
    target = ref_of(made.names, spelled)
    return [
        [place(made.names, edge.source) for edge in way.edges] + [spelled]
        for way in Steps(made.names, made).ways(target)
    ]


def roots(files: dict[str, str]) -> list[str]:
    """The roots of a tree."""
    made = graph(files)
    return [place(made.names, ref) for ref in Steps(made.names, made).roots]


def test_the_step_drives_a_lower_row_and_does_not_only_run_at_the_start() -> None:
    """A ping drives one method of one object; the warm-up is called by the constructor alone."""
    assert ["engine.py:Engine.step"] == roots(TREE)


def test_a_method_that_sets_up_is_no_step_whoever_calls_it() -> None:
    """It drives as much as a step does, on nothing that was asked for."""
    setting_up = """
class OtherEngine(Engine):
    def initialize_all(self):
        self.executor.run(1)
        self.executor.check()
"""

    assert ["engine.py:Engine.step"] == roots(TREE | {"engine.py": ENGINE + setting_up})


def test_a_place_is_reached_through_every_runner_on_the_shortest_way() -> None:
    """Two runners of one name; the detour of the older one is left out."""
    start = ["engine.py:Engine.step", "executor.py:Executor.run", "worker.py:Worker.run"]

    assert [
        [*start, "old.py:ModelRunner.run", "accept.py:accept"],
        [*start, "new.py:ModelRunner.run", "new.py:ModelRunner.sample", "accept.py:accept"],
    ] == ways(TREE, "accept.py:accept")


def test_what_no_root_reaches_has_no_way() -> None:
    """Whatever it calls itself."""
    assert [] == ways(TREE, "accept.py:lonely")


def test_where_nothing_drives_a_lower_row_the_step_is_what_no_other_holder_calls() -> None:
    """A tree of runners only."""
    files = {"old.py": OLD, "accept.py": ACCEPT}

    assert ["old.py:ModelRunner.run"] == roots(files)
    assert [["old.py:ModelRunner.run", "accept.py:accept"]] == ways(files, "accept.py:accept")


def test_a_tree_without_holders_has_no_root() -> None:
    """Kernels alone are reached by nobody."""
    assert [] == roots({"accept.py": ACCEPT})


def test_of_two_equal_ways_the_one_past_a_landmark_is_shown() -> None:
    """It says more than the other."""
    source = """
    class Runner:
        def run(self):
            first()
            second()

    def first(): accept()
    def second(): accept()
    def accept(): pass
    """
    made = graph({"a.py": source})
    target = ref_of(made.names, "a.py:accept")
    way = Steps(made.names, made, {ref_of(made.names, "a.py:second")}).ways(target)[0]

    assert ["a.py:Runner.run", "a.py:second"] == [place(made.names, edge.source) for edge in way.edges]


def test_two_places_are_joined_by_the_shortest_chain() -> None:
    """If it is no longer than asked for."""
    made = graph(TREE)
    begin, end = ref_of(made.names, "old.py:ModelRunner.run"), ref_of(made.names, "accept.py:accept")
    found = Steps(made.names, made)

    assert 1 == len(found.between(begin, end, 4))
    assert () == found.between(end, begin, 4)
    assert () == found.between(ref_of(made.names, "engine.py:Engine.step"), end, 2)

"""Drafting by EAGLE-3 heads.

What it is
    As EAGLE, but the head takes hidden states of a low, a middle and a high layer of the target, called auxiliary
    hidden states, and is trained on its own outputs.

What counts
    declared: where a word for it (`eagle3`) is asked for, something that drafts is constructed. Words are asked for
    in the tests of branches, also through predicates and members of enums, in tables, and by decorators and calls
    that register.
    The class may be the one that serves EAGLE as well.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.
    That the target hands out several layers is not checked; the word decides.

Sources
    Li et al., EAGLE-3, 2025.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word constructs a drafter."""
    return find_drafter(index, "eagle3")


_SHARED = """
class EagleProposer:
    def propose(self, hidden):
        return self.head(hidden)


class Runner:
    def __init__(self, config):
        match config.method:
            case "eagle" | "eagle3":
                self.drafter = EagleProposer(config)
"""
_MEMBER = """
class Algo:
    def is_eagle(self):
        return self == Algo.EAGLE or self == Algo.EAGLE3


class HeadWorker:
    def forward_draft(self, batch):
        return batch


class Scheduler:
    def __init__(self, args):
        if self.algo.is_eagle():
            self.draft_worker = HeadWorker(args)
"""
_FIRST_ONLY = _SHARED.replace(' | "eagle3"', "")
_REFUSED = """
class EagleProposer:
    def propose(self, hidden):
        return self.head(hidden)


def build(config):
    if config.method == "eagle3":
        raise NotImplementedError("only the first generation")
    if config.method == "eagle":
        return EagleProposer(config)
"""

CASES = (
    Case("a pattern shared with EAGLE", {"runner.py": _SHARED}, Standing.PRESENT),
    Case("a member that a predicate names", {"scheduler.py": _MEMBER}, Standing.PRESENT),
    Case("EAGLE alone", {"runner.py": _FIRST_ONLY}, Standing.ABSENT),
    Case("a branch that raises", {"build.py": _REFUSED}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.eagle3", "Drafting by EAGLE-3 heads", __doc__, (), detect, CASES)

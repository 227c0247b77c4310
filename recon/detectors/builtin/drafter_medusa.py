"""Drafting by Medusa heads.

What it is
    Heads on the target's last hidden state, each of which predicts another of the following tokens at once. Engines
    that take the best token of each head draft a chain; the original takes several and drafts a tree.

What counts
    declared: where a word for it (`medusa`) is asked for, something that drafts is constructed. Words are asked for
    in the tests of branches, also through predicates and members of enums, in tables, and by decorators and calls
    that register.
    A model of that name that is registered counts where a drafter takes whatever no other word takes and runs it.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.

Sources
    Cai et al., Medusa, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word constructs a drafter."""
    return find_drafter(index, "medusa")


_TABLE = """
class MedusaProposer:
    def propose(self, hidden):
        return hidden


class NgramProposer:
    def propose(self, tokens):
        return tokens


PROPOSERS = {"medusa": MedusaProposer, "ngram": NgramProposer}
"""
_REGISTERED = """
def register(name):
    return lambda kind: kind


class Base:
    def get_proposals(self):
        raise NotImplementedError


@register("medusa")
class Heads(Base):
    pass
"""
_GONE = """
class NgramProposer:
    def propose(self, tokens):
        return tokens


class Runner:
    def __init__(self, config):
        # Medusa was removed; "medusa" is refused by the configuration.
        if config.method == "ngram":
            self.drafter = NgramProposer()
        self.names = {"medusa": "a kind of tree attention"}
"""

CASES = (
    Case("a table from word to class", {"table.py": _TABLE}, Standing.PRESENT),
    Case("a decorator that registers", {"heads.py": _REGISTERED}, Standing.PRESENT),
    Case("removed, with what speaks of it left", {"runner.py": _GONE}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.medusa", "Drafting by Medusa heads", __doc__, (), detect, CASES)

"""Drafting a block at once, by diffusion or in parallel.

What it is
    A drafter that fills a whole block of positions in one pass, by diffusion or by masks, where others go token by
    token. Offered as DFlash, DSpark, Uno and PARD, among others.

What counts
    declared: where a word for it (`dflash`, `dspark`, `uno`, `block_diffusion`, `parallel_draft`) is asked for,
    something that drafts is constructed. Words are asked for in the tests of branches, also through predicates and
    members of enums, in tables, and by decorators and calls that register.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.
    New names of this kind keep coming; a drafter under another word is not seen.

Sources
    Chen et al., DFlash, 2026; An et al., PARD, 2025.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word constructs a drafter."""
    return find_drafter(index, "dflash")


_BRANCH = """
class DFlashProposer:
    def propose(self, hidden):
        return hidden


class Config:
    def use_dflash(self):
        return self.method == "dflash"


class Runner:
    def __init__(self, config):
        if config.use_dflash():
            self.drafter = DFlashProposer(config)
"""
_DOTTED = """
SPECULATORS = {
    "block_diffusion": "spec.BlockSpeculator",
}
"""
_BLOCK = """
class BlockSpeculator:
    def propose(self, hidden):
        return hidden
"""
_ONLY_EAGLE = """
class EagleProposer:
    def propose(self, hidden):
        return hidden


class Config:
    def use_eagle(self):
        return self.method in ("eagle", "dflash")


class Runner:
    def __init__(self, config):
        if config.use_eagle():
            self.drafter = EagleProposer(config)
        if config.kernel == "flash":
            self.attention = Attention("d_flash")
"""

CASES = (
    Case("a branch through a predicate", {"runner.py": _BRANCH}, Standing.PRESENT),
    Case("a dotted string in a table", {"table.py": _DOTTED, "spec.py": _BLOCK}, Standing.PRESENT),
    Case("a word that another drafter takes", {"runner.py": _ONLY_EAGLE}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.dflash", "Drafting a block at once", __doc__, (), detect, CASES)

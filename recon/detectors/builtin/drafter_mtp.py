"""Drafting by MTP layers of the target's checkpoint.

What it is
    Some checkpoints carry layers that were trained to predict the token after the next, also called NextN. An engine
    that runs them as a drafter needs no second checkpoint.

What counts
    declared: where a word for it (`mtp`, `nextn`) is asked for, something that drafts is constructed. Words are
    asked for in the tests of branches, also through predicates and members of enums, in tables, and by decorators
    and calls that register.
    An alias counts too: the word is rewritten to another drafter's, or a class for heads like EAGLE's takes it.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.

Sources
    Gloeckle et al., Better & faster large language models via multi-token prediction, 2024; DeepSeek-V3, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word, or what it is rewritten to, constructs a drafter."""
    return find_drafter(index, "mtp")


_ALIAS = """
class Args:
    def __post_init__(self):
        if self.algorithm == "NEXTN":
            self.algorithm = "EAGLE"


class EagleWorker:
    def draft(self, batch):
        return batch


def build(args):
    if args.algorithm in ("EAGLE", "EAGLE3"):
        return EagleWorker(args)
"""
_OWN = """
class MtpSpeculator:
    def propose(self, hidden):
        return hidden


def build(config):
    if config.method == "deepseek_mtp":
        return MtpSpeculator(config)
"""
_THROUGH = """
class EagleProposer:
    def propose(self, hidden):
        return hidden


class Config:
    def use_eagle(self):
        return self.method in ("eagle", "mtp")


def build(config):
    if config.use_eagle():
        return EagleProposer(config)
"""
_CONFIGURED = """
class EagleProposer:
    def propose(self, hidden):
        return hidden


def build(config, hf):
    if hf.model_type == "deepseek_v3":
        hf.num_nextn_predict_layers = 0
    if hf.model_type == "deepseek_mtp":
        raise ValueError("MTP layers are not run")
    if config.method == "eagle":
        return EagleProposer(config)
"""

CASES = (
    Case("a word of its own", {"build.py": _OWN}, Standing.PRESENT),
    Case("an alias that is rewritten", {"args.py": _ALIAS}, Standing.PRESENT),
    Case("a class that serves several words", {"build.py": _THROUGH}, Standing.PRESENT),
    Case("layers that are skipped", {"build.py": _CONFIGURED}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.mtp", "Drafting by MTP layers of the target's checkpoint", __doc__, (), detect, CASES)

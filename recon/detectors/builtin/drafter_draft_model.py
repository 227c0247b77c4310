"""Drafting by an independent model.

What it is
    A smaller causal language model with the target's vocabulary drafts token by token, with a cache of its own.

What counts
    declared: where a word for it (`draft_model`, `draft_target`, `standalone`) is asked for, something that drafts
    is constructed. Words are asked for in the tests of branches, also through predicates and members of enums, in
    tables, and by decorators and calls that register.
    A drafter in the else of such branches, taking whatever no word takes, counts too: any model may be given.
    The path of a draft model is an option that other drafters need as well, and says nothing.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.

Sources
    Leviathan et al., 2023; Chen et al., 2023.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word, or no word, constructs a drafter that runs any model."""
    return find_drafter(index, "draft_model")


_WORD = """
class DraftModelProposer:
    def propose(self, tokens):
        return tokens


class Config:
    def uses_draft_model(self):
        return self.method == "draft_model"


class Runner:
    def __init__(self, config):
        if config.uses_draft_model():
            self.drafter = DraftModelProposer(config)
"""
_REST = """
class MedusaWorker:
    def get_spec_proposals(self):
        pass


class MultiStepWorker:
    def get_spec_proposals(self):
        pass


def create_worker(kind, cfg):
    if kind == "medusa":
        worker = MedusaWorker(cfg)
    else:
        if cfg.tp > 1 and kind == "eagle":
            raise NotImplementedError
        worker = MultiStepWorker(cfg)
    return worker
"""
_RAISES = """
from typing import Literal

Method = Literal["ngram", "draft_model"]


class NgramProposer:
    def propose(self, tokens):
        return tokens


class Config:
    def __init__(self, model, draft_model_path=None):
        if model == "ngram":
            self.method = "ngram"
        else:
            self.method = "draft_model"
            raise NotImplementedError("draft models are not supported yet")


class Runner:
    def __init__(self, config):
        if config.method == "ngram":
            self.drafter = NgramProposer()
        else:
            raise ValueError(config.method)
"""
_PATH = """
class EagleWorker:
    def __init__(self, args):
        self.path = args.speculative_draft_model_path

    def draft(self, batch):
        return batch


def build(args):
    if args.algorithm == "EAGLE":
        if args.speculative_draft_model_path is None:
            args.speculative_draft_model_path = args.model_path
        return EagleWorker(args)
"""

CASES = (
    Case("a word of its own", {"runner.py": _WORD}, Standing.PRESENT),
    Case("whatever no other word takes", {"spec.py": _REST}, Standing.PRESENT),
    Case("a literal that only raises", {"config.py": _RAISES}, Standing.ABSENT),
    Case("a path for another drafter", {"build.py": _PATH}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.draft_model", "Drafting by an independent model", __doc__, (), detect, CASES)

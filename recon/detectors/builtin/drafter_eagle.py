"""Drafting by EAGLE heads, which read the target's hidden states.

What it is
    A small head of one decoder layer that takes the target's last hidden states with the embedding of the next token,
    and goes on from its own output. The first two generations are meant here; the third has a page of its own.

What counts
    declared: where a word for it (`eagle`) is asked for, something that drafts is constructed. Words are asked for
    in the tests of branches, also through predicates and members of enums, in tables, and by decorators and calls
    that register.
    A model of that name that is registered counts where a drafter takes whatever no other word takes and runs it.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.

Sources
    Li et al., EAGLE, 2024, and EAGLE-2, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word constructs a drafter."""
    return find_drafter(index, "eagle")


_BRANCH = """
class EagleProposer:
    def propose(self, hidden):
        return self.head(hidden)


class Config:
    def use_eagle(self):
        return self.method in ("eagle", "eagle3")


class GPUModelRunner:
    def __init__(self, config):
        if config.method == "ngram":
            self.drafter = None
        elif config.use_eagle():
            self.drafter = EagleProposer(config)
"""
_ENUM = """
from enum import Enum, auto


class Algo(Enum):
    NONE = auto()
    EAGLE = auto()

    def worker(self):
        if self is Algo.EAGLE:
            from heads import HeadWorker

            return HeadWorker
"""
_HEADS = """
class HeadWorker:
    def draft(self, batch):
        return batch
"""
_REGISTERED = """
_MODELS = {
    "EAGLEModel": ("eagle", "EAGLE"),
    "LlamaForCausalLM": ("llama", "Llama"),
}
"""
_EAGLE = """
class EAGLE:
    def forward(self, x):
        return x

    def load_weights(self, weights):
        pass
"""
_FACTORY = """
class MedusaWorker:
    def get_spec_proposals(self):
        pass


class MultiStepWorker:
    def get_spec_proposals(self):
        pass


def create_worker(kind, cfg):
    if kind == "medusa":
        return MedusaWorker(cfg)
    else:
        return MultiStepWorker(cfg)
"""
_NAMED = """
from typing import Literal

Method = Literal["eagle", "ngram"]


class EagleConfig:
    def __init__(self, method):
        self.method = method


class NgramProposer:
    def propose(self):
        pass


def build(config):
    if config.method == "eagle":
        config.hf = EagleConfig("eagle")
    if config.method == "eagle" and config.tp > 1:
        raise NotImplementedError("EAGLE does not run on several GPUs")
    if config.method == "ngram":
        return NgramProposer()
"""

CASES = (
    Case("a branch through a predicate", {"runner.py": _BRANCH}, Standing.PRESENT),
    Case("a member of an enum", {"algo.py": _ENUM, "heads.py": _HEADS}, Standing.PRESENT),
    Case(
        "a registered model that any drafter runs",
        {"registry.py": _REGISTERED, "eagle.py": _EAGLE, "spec.py": _FACTORY},
        Standing.PRESENT,
    ),
    Case("a registered model that nothing runs", {"registry.py": _REGISTERED, "eagle.py": _EAGLE}, Standing.ABSENT),
    Case("branches that configure and raise", {"config.py": _NAMED}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.eagle", "Drafting by EAGLE heads", __doc__, (), detect, CASES)

"""Drafting by n-gram lookup.

What it is
    No model drafts: the last tokens are looked up in the prompt, in what was generated, or in a corpus, and what
    followed them there is proposed. Also called prompt lookup and lookahead.

What counts
    declared: where a word for it (`ngram`, `prompt_lookup`, `lookahead`) is asked for, something that drafts is
    constructed. Words are asked for in the tests of branches, also through predicates and members of enums, in
    tables, and by decorators and calls that register.
    Here an option of that name selects as well, because it says how far to look back and is set only for this.
    A word that is only listed, or whose branch only raises, is the nearest miss.

Blind spots
    A class that is found by a name put together at run time is not seen.

Sources
    Saxena, Prompt lookup decoding, 2023; Fu et al., Lookahead decoding, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.drafters import find_drafter


def detect(index: Index) -> Findings:
    """Where its word constructs a drafter."""
    return find_drafter(index, "ngram")


_OPTION = """
class NGramWorker:
    def get_spec_proposals(self):
        pass


def create_worker(prompt_lookup_max, cfg):
    if prompt_lookup_max > 0:
        return NGramWorker(cfg)
"""
_LAZY = """
class Algo:
    def is_ngram(self):
        return self == Algo.NGRAM

    def create_worker(self):
        if self.is_ngram():
            from corpus import CorpusWorker

            return CorpusWorker
"""
_CORPUS = """
class CorpusWorker:
    def _prepare_draft_tokens(self, batch):
        return batch
"""
_EMBEDDED = """
class NgramEmbedding:
    def forward(self, ids):
        return self.table[ids]


class NgramTokenizer:
    def encode(self, text):
        return text.split()


class Model:
    def __init__(self, config):
        if config.embedding == "ngram":
            self.embed = NgramEmbedding()
        if config.ngram_size > 0:
            self.tokenizer = NgramTokenizer()
"""

CASES = (
    Case("an option that is set", {"spec.py": _OPTION}, Standing.PRESENT),
    Case("a worker that is imported late", {"algo.py": _LAZY, "corpus.py": _CORPUS}, Standing.PRESENT),
    Case("embeddings and tokenizers of n-grams", {"model.py": _EMBEDDED}, Standing.ABSENT),
)
DETECTOR = Detector("drafter.ngram", "Drafting by n-gram lookup", __doc__, (), detect, CASES)

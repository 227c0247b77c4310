"""Gates: which refusals belong to which capability, and in which order they are told."""

import pytest

from recon.detectors.api import Evidence, Grade, Index
from recon.detectors.gates import MOST_GATES, gates_of
from recon.detectors.testing import indexed

VALIDATOR = """
def check_speculative(cfg, logger):
    if cfg.speculative_topk > 1 and cfg.page_size > 1 and cfg.attention_backend not in TREES:
        raise ValueError("topk > 1 with page_size > 1 needs another backend")
    if cfg.speculative_algorithm == "DFLASH" and cfg.speculative_topk != 1:
        logger.warning("DFLASH only supports topk == 1")
        cfg.speculative_topk = 1
    if cfg.speculative_algorithm not in ("EAGLE", "MTP") and cfg.runner == "v2":
        raise NotImplementedError("the second runner drafts with EAGLE and MTP only")
    if cfg.speculative_algorithm is not None and cfg.has_mamba:
        raise NotImplementedError("no speculation with hybrid models")
    if cfg.speculative_topk is None:
        raise ValueError("speculative_topk must be given")
    if cfg.speculative_topk <= 0:
        raise ValueError("speculative_topk must be positive")
    if cfg.speculative_heads > 1 and cfg.speculative_algorithm != "MEDUSA":
        raise ValueError("several heads are an option of MEDUSA")
    if cfg.speculative_sample_method not in ("greedy", "exact"):
        raise ValueError("drafts are sampled in two ways")
    if cfg.speculative_algorithm == "OLD":
        raise ValueError("speculative algorithm OLD was renamed")
"""
WORKER = """
class SpecWorker:
    def __init__(self, server):
        if server.spec_algorithm == "MEDUSA" and server.device == "cpu":
            raise ValueError("MEDUSA drafts on GPUs only")
        if server.device == "cpu" and server.overlap:
            raise ValueError("speculative decoding overlaps on GPUs only")
        assert server.topk == 1
        self.server = server

    def step(self, logits):
        return self.verify(logits)

    def verify(self, logits):
        assert logits.shape[0] == 1, "one draft"
        return accept(logits)


def accept(logits):
    return logits


class Router:
    def route(self, topk):
        if topk > 8:
            raise ValueError("too many experts")
"""
TREE = {
    "e/config.py": VALIDATOR,
    "e/worker.py": WORKER,
    "e/tests/checks.py": VALIDATOR,
}


@pytest.fixture(scope="module")
def index() -> Index:
    """A small engine."""
    return indexed(TREE)


def place(path: str = "e/worker.py", line: int = 20) -> Evidence:
    return Evidence(path, "accept", line, Grade.SHAPED, (), "")


def messages(index: Index, capability: str, *places: Evidence) -> list[str]:
    return [gate.message for gate in gates_of(index, capability, places or (place(),))]


def test_a_tree_is_gated_by_what_tests_its_options(index: Index) -> None:
    """And by what stands on the way; not by experts, missing values, silent assertions, shapes or tests."""
    assert [
        "topk > 1 with page_size > 1 needs another backend",
        "DFLASH only supports topk == 1",
        "MEDUSA drafts on GPUs only",
        "speculative decoding overlaps on GPUs only",
    ] == messages(index, "accept.tree.greedy")


def test_a_gate_has_the_condition_as_written_and_its_place(index: Index) -> None:
    first = gates_of(index, "tree.build.dynamic", [place()])[0]

    assert ("e/config.py", 4) == (first.path, first.line)
    assert "cfg.speculative_topk > 1 and cfg.page_size > 1 and (cfg.attention_backend not in TREES)" == first.condition


def test_a_chain_is_gated_on_its_way_alone(index: Index) -> None:
    assert ["MEDUSA drafts on GPUs only", "speculative decoding overlaps on GPUs only"] == messages(
        index, "accept.linear.greedy"
    )


def test_a_chain_elsewhere_is_not_gated(index: Index) -> None:
    assert [] == messages(index, "accept.linear.greedy", place("e/worker.py", 24))
    assert [] == messages(index, "accept.linear.greedy", place("e/gone.py", 1))


@pytest.mark.parametrize(
    ("drafter", "is_refused"), [("dflash", True), ("suffix", True), ("eagle", False), ("mtp", False), ("eagle3", True)]
)
def test_a_drafter_that_is_not_among_those_spared_is_refused(index: Index, drafter: str, *, is_refused: bool) -> None:
    said = messages(index, f"drafter.{drafter}")

    assert is_refused is ("the second runner drafts with EAGLE and MTP only" in said)
    assert ("dflash" == drafter) is ("DFLASH only supports topk == 1" in said)


@pytest.mark.parametrize("drafter", ["eagle", "medusa", "ngram"])
def test_options_of_one_drafter_gate_no_other(index: Index, drafter: str) -> None:
    """Nor does the way of sampling choose a drafter; what stands on the way and takes another is that one's."""
    said = messages(index, f"drafter.{drafter}")

    assert not {"several heads are an option of MEDUSA", "drafts are sampled in two ways"} & set(said)
    assert ("medusa" == drafter) is ("MEDUSA drafts on GPUs only" in said)


def test_recurrent_state_is_gated_by_hybrid_models(index: Index) -> None:
    assert "no speculation with hybrid models" in messages(index, "state.chain")
    assert "no speculation with hybrid models" not in messages(index, "accept.tree.greedy")


def test_gates_are_few_and_each_is_told_once() -> None:
    checks = "\n".join(
        f"    if cfg.speculative_topk > {n}:\n        raise ValueError('topk above {n}')\n" * 2 for n in range(2, 20)
    )
    index = indexed({"e/config.py": f"def check(cfg):\n{checks}", "e/worker.py": WORKER})
    found = messages(index, "accept.tree.greedy")

    assert (MOST_GATES, MOST_GATES) == (len(found), len(set(found)))


BACKEND = """
class Builder:
    cudagraph_support = Support.NEVER


class TreeBuilder(Builder):
    def build(self):
        return accept(self)


class GraphBuilder(Builder):
    cudagraph_support = Support.ALWAYS


def accept(x):
    return x
"""


def test_a_backend_that_no_graph_captures_says_so() -> None:
    """By its own constant, or one that it inherits."""
    index = indexed({"e/tree.py": BACKEND})
    found = gates_of(index, "attn.tree.verify", [place("e/tree.py", 8)])

    assert ["Builder has cudagraph_support = Support.NEVER", "TreeBuilder has cudagraph_support = Support.NEVER"] == [
        gate.condition for gate in found
    ]
    assert () == gates_of(index, "accept.tree.greedy", [place("e/tree.py", 8)])


def test_a_long_condition_is_cut_between_words_and_says_so() -> None:
    long = "cfg.scheduler.max_num_batched_tokens < cfg.scheduler.max_model_len + cfg.scheduler.reserved_tokens"
    short = "cfg.speculative_topk > 1 and cfg.page_size > 1"
    whole = " and ".join(f"cfg.speculative_topk > {number}" for number in range(9))
    nested = f"    if {long}:\n        if {short}:\n            raise ValueError('no tree')\n"
    source = f"def check(cfg):\n{nested}    if {whole}:\n        raise ValueError('no such tree')\n"
    gates = gates_of(indexed({**TREE, "e/config.py": source}), "tree.build.static", [place()])
    conditions = {gate.message: gate.condition for gate in gates}

    assert f"… and {short}" == conditions["no tree"]
    assert conditions["no such tree"].endswith(") …")
    assert len(conditions["no such tree"]) <= 120

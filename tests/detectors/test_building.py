"""Building of draft trees in parts: selections, growth, queues, links, templates."""

import pytest

from recon.detectors.api import View
from recon.detectors.shapes.building import tree_choices
from recon.detectors.shapes.templates import tree_templates
from recon.detectors.testing import indexed
from recon.detectors.trees import draft_loops
from tests.index.spelled import python


def choices(source: str, *params: str) -> list[str]:
    """What is seen of a choice of nodes in a function."""
    return [sighting.shape for sighting in tree_choices(View(python(source), params))]


@pytest.mark.parametrize(
    ("path_score", "tokens", "parents", "grows"),
    [
        ("scores.unsqueeze(2) * p.view(-1, k, k)", "ids.gather(1, at)", "at // k", True),
        ("torch.mul(scores.unsqueeze(-1), p)", "torch.gather(ids, 1, at)", "at // k", True),
        ("p + scores[:, None]", "ids.view(-1)[at]", "torch.div(at, k, rounding_mode='floor')", True),
        ("p + scores.unsqueeze(0)", "ids.gather(1, at)", "at // k", False),
        ("p + scores[:, None]", "ids.gather(1, at)", "at", False),
        ("p + scores[:, None]", "at % 32000", "at // 32000", False),
        ("p * p", "ids.gather(1, at)", "at // k", False),
    ],
)
def test_a_level_grows_by_the_score_of_its_paths(path_score: str, tokens: str, parents: str, grows: bool) -> None:
    """The parent's score is spread over its children; tokens are looked up, parents found by division."""
    source = f"""
    def f(scores, p, ids, k):
        total = {path_score}
        best, at = torch.topk(total.flatten(1), k, dim=-1)
        return best, {tokens}, {parents}
    """

    assert grows == ("build.expand" in choices(source, "scores", "p", "ids", "k"))


@pytest.mark.parametrize(
    ("pushed", "budget", "is_tree"),
    [
        ("(score + gain[r], len(tokens), r)", "len(tokens) < n", True),
        ("(score * gain[r], count, r)", "count < n", True),
        ("(score + gain[r], r)", "len(tokens) < n", False),
        ("(gain[r], len(tokens), r)", "len(tokens) < n", False),
        ("(score + gain[r], len(tokens), r)", "not done", False),
    ],
)
def test_a_queue_of_open_nodes_needs_scores_numbers_and_a_budget(pushed: str, budget: str, is_tree: bool) -> None:
    """Shortest paths, merges and schedules have queues as well."""
    source = f"""
    def f(queue, gain, n, k, done):
        tokens, count = [], 0
        while queue and {budget}:
            score, parent, token = heapq.heappop(queue)
            tokens.append(token)
            count += 1
            for r in range(k):
                heapq.heappush(queue, {pushed})
        return tokens
    """

    assert is_tree == ("build.queue" in choices(source, "queue", "gain", "n", "k", "done"))


def test_what_is_put_back_once_is_no_child() -> None:
    """Work is dealt to the bin that holds least, and the bin goes back with more in it: as many as before."""
    source = """
    def f(bins, sizes, n):
        for task in range(n):
            load, held = heapq.heappop(bins)
            heapq.heappush(bins, (load + sizes[task], task))
    """

    assert [] == choices(source, "bins", "sizes", "n")


def test_a_budget_may_be_the_number_of_rounds() -> None:
    """Each round takes one node, numbered by the round."""
    source = """
    def f(queue, gain, n, k):
        for node in range(n):
            score, parent, token = heapq.heappop(queue)
            tree[node] = parent, token
            for r in range(k):
                heapq.heappush(queue, (score + gain[r], node, r))
    """

    assert ["build.queue"] == choices(source, "queue", "gain", "n", "k")


@pytest.mark.parametrize(
    ("links", "is_linked"),
    [
        ("sib[i] = child[p]; child[p] = i", True),
        ("first = child[p]; child[p] = i; sib[i] = first", True),
        ("tl.store(sib + i, tl.load(child + p)); tl.store(child + p, i)", True),
        ("child[p] = i; sib[i] = -1", False),
        ("sib[i] = child[i]; child[i] = i", False),
        ("sib[i] = child[p]; other[p] = i", False),
    ],
)
def test_links_put_a_node_before_its_siblings(links: str, is_linked: bool) -> None:
    """The parent's first child becomes the node's sibling, and the node the first child."""
    source = f"def f(child, sib, parents, other, n):\n    for i in range(n):\n        p = parents[i]\n        {links}\n"

    assert is_linked == ("build.links" in choices(source, "child", "sib", "parents", "other", "n"))


@pytest.mark.parametrize(
    ("width", "is_fixed"),
    [("self.widths[level]", True), ("k", False), ("self.k", False), ("level + 1", False)],
)
def test_a_template_says_how_wide_each_level_is(width: str, is_fixed: bool) -> None:
    """One width for all levels leaves the choice to somebody else."""
    source = f"""
    def f(self, ids, n, k):
        for level in range(n):
            logits = self.model.forward(ids)
            ids = torch.topk(logits, {width}, dim=-1).indices
        return ids
    """
    found = [sighting.shape for sighting in tree_templates(View(python(source), ("self", "ids", "n", "k")))]

    assert is_fixed == ("template.widths" in found)


def test_loops_near_acceptance_are_drafting_and_others_are_not() -> None:
    """A loop that feeds a model with its own choices may also be found far from speculation."""
    loop = """
def {name}(model, ids, hidden, steps):
    every = []
    for _ in range(steps):
        hidden = model.forward(ids, hidden)
        ids = hidden.argmax(dim=-1)
        every.append(ids)
    return every
"""
    step = """
def count(drafts, wanted):
    n = (drafts[:, 1:] == wanted[:, :-1]).int().cumprod(dim=1).sum(dim=1)
    return n, wanted[torch.arange(len(n)), n]


def speculate(model, ids, hidden, wanted):
    return count(propose(model, ids, hidden, 4), wanted)


def serve(model, ids, hidden, wanted):
    describe(model, ids, hidden, 9)
    return speculate(model, ids, hidden, wanted)
"""
    step += """

def warm_up(model, ids, hidden, wanted):
    serve(model, ids, hidden, wanted)


def start(model, ids, hidden, wanted):
    tune(model, ids, hidden, 9)
    return warm_up(model, ids, hidden, wanted)
"""
    source = "".join(loop.format(name=name) for name in ("tune", "describe", "propose", "alone")) + step

    assert ["propose", "describe"] == [place.symbol for place in draft_loops(indexed({"a.py": source}))]


LOOP_BY_METHOD = """
class Speculator:
    def propose(self, ids, hidden, steps):
        every = [ids]
        for _ in range(steps):
            hidden = self.net(every[-1].int(), hidden)
            ids, odds = self.{method}(hidden)
            {collects}
        return torch.stack(every)

    def pick(self, hidden):
        return self.pick_best(hidden)

    def pick_best(self, hidden):
        return hidden.argmax(dim=-1), None

    def turn(self, hidden):
        return hidden.flip(0), None

    def serve(self, ids, hidden, wanted):
        drafts = self.propose(ids, hidden, 3)
        n = (drafts[:, 1:] == wanted[:, :-1]).int().cumprod(dim=1).sum(dim=1)
        return wanted[torch.arange(len(n)), n]
"""


@pytest.mark.parametrize(
    ("method", "collects", "drafts"),
    [
        ("pick", "every.append(ids)", True),
        ("turn", "every.append(ids)", False),
        ("pick", "every[-1].copy_(ids)", False),
    ],
)
def test_a_loop_may_choose_by_a_method_beside_it(method: str, collects: str, *, drafts: bool) -> None:
    """Which leads to an argmax, and the loop collects what it chose."""
    source = LOOP_BY_METHOD.format(method=method, collects=collects)

    assert (["Speculator.propose"] if drafts else []) == [
        place.symbol for place in draft_loops(indexed({"a.py": source}))
    ]


def test_a_module_is_no_model() -> None:
    """Weights are quantised in turn by a library's function: nothing has a last output."""
    source = """
def load(layer, ops, scales):
    best = layer.scale.max(dim=1).values.argmax()
    for i in range(layer.count):
        plain = dequantize(layer.weight[i], layer.scale[i])
        layer.weight[i], _ = {receiver}.quantize(plain, best)
    return layer
"""
    objects = indexed({"a.py": source.format(receiver="ops")})
    modules = indexed({"a.py": "import kernels\n" + source.format(receiver="kernels")})

    assert [1, 0] == [len(list(index.seen("loop"))) for index in (objects, modules)]

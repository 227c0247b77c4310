"""Building of a draft tree by scores, anew in each step.

What it is
    The drafter proposes several tokens a place, and each step the engine chooses the nodes that are worth verifying: by
    the product of the probabilities along their paths, or by how often they were seen after the same context. Where the
    drafter is sure the tree grows deep, where it is not it grows wide.

What counts
    shaped: a top-k over the joined scores of all levels picks from the joined tokens, parents beside them; or the best
    node is added again and again, by a maximum over scores that contain their parent's or from a queue whose entries
    are pushed with scores made of their parent's. A top-k of parent's times child's scores level by level counts beside
    one of these, or beside links.
    partial: a given choice of nodes is linked into children, siblings, mask and positions, in code or by a call of a
    compiled operator whose schema takes links and makes others, a mask or positions; nothing makes the choice.
    declared: a Python function that calls such code in a C++ or CUDA file that its module builds.

Blind spots
    Scores joined in one function and ranked in another are followed through their list's name only inside a function.
    Compiled libraries are read by symbol and schema only.

Sources
    Li et al., EAGLE-2, 2024, section 4; Wang et al., OPT-Tree, 2024; He et al., REST, 2023, for counts.
"""

from pathlib import PurePosixPath

from recon.detectors.api import Case, Detector, Evidence, Findings, Index, Library, Standing
from recon.detectors.compiled import builds_tree, compiled
from recon.detectors.places import outside, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import DRAFT_LOOP, TREE_CHOICE, TREE_TEMPLATE
from recon.detectors.trees import ACCEPTANCE, draft_loops

_CHOICES = ("build.select", "build.best", "build.queue")
_LINKS, _GROWTH, _WIDTHS = "build.links", "build.expand", "template.widths"
_WORDS = (frozenset({"build", "tree"}), frozenset({"tree", "mask", "indices"}))
_ONLY_LINKED = "A given choice of nodes is linked into a tree; nothing here makes the choice by scores or counts."


def detect(index: Index) -> Findings:
    """Places that choose nodes, then those that link them; drafting loops are where a choice would be made."""
    choices, links = with_doors(index, *_CHOICES), with_doors(index, _LINKS)
    growth = _beside(seen(index, _GROWTH), [*choices, *links])
    if choices or growth:
        places = (*choices, *growth, *links)
        return Findings(evidence=places, reach=reach_of([*choices, *growth]))
    behind = compiled(index, builds_tree, *_WORDS)
    linked = [*links, *behind.places]
    if linked:
        return Findings(
            evidence=tuple(linked), nearest=tuple(draft_loops(index)), lacks=_ONLY_LINKED, reach=reach_of(linked)
        )
    elsewhere = outside(index, *_WORDS)
    near: dict[tuple[str, str], Evidence] = {}
    for each in (*behind.nearest, *seen(index, _WIDTHS), *draft_loops(index)):
        near.setdefault((each.path, each.symbol), each)
    return Findings(nearest=tuple(near.values()), reason=behind.reason, external=elsewhere, unread=behind.unread)


def _beside(growth: list[Evidence], others: list[Evidence]) -> list[Evidence]:
    """Growth level by level in a folder where a tree is made; elsewhere it is a beam search."""
    folders = {PurePosixPath(each.path).parent for each in others}
    return [each for each in growth if PurePosixPath(each.path).parent in folders]


_SELECT = """
def choose(values, ids, sources, budget, width):
    flat = torch.cat(values, dim=1).flatten(1)
    names = torch.cat(ids, dim=1)
    best = torch.topk(flat, budget - 1, dim=-1).indices.sort().values
    drafts = names.gather(1, best)
    above = torch.cat(sources[:-1], dim=1)
    return above, best, drafts
"""
_DIVIDE = """
def grow(model, ids, hidden, depth, k, total):
    kept, words, p = [], [], None
    for level in range(depth):
        out = model(hidden, input_ids=ids).log_softmax(-1).topk(k)
        path = out.values + p[:, None] if p is not None else out.values
        kept.append(path.view(-1))
        words.append(out.indices.view(-1))
        p, at = path.view(-1).topk(k)
        ids = out.indices.view(-1)[at]
    every, tokens = torch.cat(kept), torch.cat(words)
    order = every.topk(total).indices.sort().values
    return tokens[order], order // k
"""
_REPEATED = """
@triton.jit
def k(out, origin, mass, gain, ids, N: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr):
    slot = tl.arange(0, BLOCK)
    used = tl.zeros((BLOCK,), dtype=tl.int1)
    tl.store(mass, 0.0)
    for node in range(1, N):
        open = (slot // K < node) & ~used
        total = tl.load(mass + slot // K, mask=open, other=-1e9) + tl.load(gain + slot, mask=open, other=0.0)
        best = tl.argmax(tl.where(open, total, -1e9), axis=0)
        tl.store(mass + node, tl.load(mass + best // K) + tl.load(gain + best))
        tl.store(origin + node, best // K)
        tl.store(out + node, tl.load(ids + best))
        used |= slot == best
"""
_HEAP = """
def best_first(logits, budget, k):
    top, ids = logits.log_softmax(-1).topk(k)
    open_ = [(-top[0, r], 0, 0, r) for r in range(k)]
    heapq.heapify(open_)
    tokens, parents = [], []
    while open_ and len(tokens) < budget:
        score, depth, parent, rank = heapq.heappop(open_)
        tokens.append(ids[depth, rank])
        parents.append(parent)
        for r in range(k):
            if depth + 1 < len(top):
                heapq.heappush(open_, (score - top[depth + 1, r], depth + 1, len(tokens), r))
    return tokens, parents
"""
_TRIE = """
Drafts Index::propose(const Node* start, size_t budget, int width) {
  std::priority_queue<std::tuple<int, const Node*, double>> open;
  std::vector<Entry> tree(budget + 1);
  int used = 1;
  auto spread = [&](int above, const Node* from, double chance) {
    double all = 0.0;
    for (auto* next : from->children) all += next->count;
    for (auto* next : from->children) open.emplace(above, next, next->count / all * chance);
  };
  spread(0, start, 1.0);
  while (!open.empty() && used <= budget) {
    auto [above, node, chance] = open.top();
    open.pop();
    int place = used++;
    tree[above].next[node->token] = place;
    spread(place, node, chance);
  }
  return finish(tree);
}
"""
_LINKED = """
__global__ void link(const int* chosen, const int* above, int* child, int* sib, int* depth, int n, int k) {
  int b = blockIdx.x;
  for (int i = n - 1; i > 0; --i) {
    int p = above[b * n + chosen[b * n + i - 1] / k];
    if (child[b * n + p] == -1) {
      child[b * n + p] = i;
    } else {
      int first = child[b * n + p];
      child[b * n + p] = i;
      sib[b * n + i] = first;
    }
  }
}
"""
_BEAMS = """
def step(scores, logits, beams):
    total = logits.log_softmax(-1) + scores[:, None]
    best, at = total.view(-1).topk(beams)
    return best, at // logits.shape[-1], at % logits.shape[-1]
"""
_MERGE = """
def merge(values, places, k):
    scores = torch.cat(values, dim=-1)
    rows = torch.cat(places, dim=-1)
    best = torch.topk(scores, k, dim=-1)
    return best.values, rows.gather(-1, best.indices)
"""
_EXPERTS = """
def route(logits, bias, groups, k):
    scores = logits.sigmoid() + bias.unsqueeze(0)
    best = scores.view(len(scores), groups, -1).topk(2, dim=-1).values.sum(-1)
    kept = best.topk(k, dim=-1).indices
    weights, ids = scores.topk(k, dim=-1)
    return weights, ids, ids // groups, kept
"""
_ONE_PATH = """
@triton.jit
def k(out, ids, join, D: tl.constexpr, K: tl.constexpr):
    b = tl.program_id(0)
    slot = tl.arange(0, K)
    at = 0
    for d in range(D):
        at = tl.argmax(tl.load(join + (b * D + d) * K * K + at * K + slot), axis=0)
        tl.store(out + b * D + d, tl.load(ids + (b * D + d) * K + at))
"""
_ROUTES = """
def shortest(graph, start):
    best, open_ = {start: 0}, [(0, start)]
    while open_:
        cost, node = heapq.heappop(open_)
        for other, length in graph[node]:
            if cost + length < best.get(other, 1e9):
                best[other] = cost + length
                heapq.heappush(open_, (cost + length, other))
    return best
"""
_OUTSIDE = """
from kernels import build_tree_kernel


def link(parents, chosen, mask):
    build_tree_kernel(parents, chosen, mask)
    return mask
"""

_COMPILED = """
def link(parents, chosen, tree_mask, positions):
    torch.ops.ours.link.default(parents, chosen, tree_mask, positions)
"""
_LIBRARY = Library(
    "ops.abi3.so",
    1,
    (),
    ("link(Tensor parents, Tensor chosen, Tensor! tree_mask, Tensor! positions) -> ()",),
    (),
)

CASES = (
    Case("links by a compiled operator", {"a.py": _COMPILED}, Standing.PARTIAL, (_LIBRARY,)),
    Case("a selection over all levels", {"a.py": _SELECT}, Standing.PRESENT),
    Case("growth and selection, parents by division", {"a.py": _DIVIDE}, Standing.PRESENT),
    Case("a maximum again and again in Triton", {"a.py": _REPEATED}, Standing.PRESENT),
    Case("a heap in Python", {"a.py": _HEAP}, Standing.PRESENT),
    Case("counts of a trie in C++", {"a.cpp": _TRIE}, Standing.PRESENT),
    Case("links of a given choice", {"a.cuh": _LINKED}, Standing.PARTIAL),
    Case("an operator of another distribution", {"a.py": _OUTSIDE}, Standing.UNKNOWN),
    Case("a beam search", {"a.py": _BEAMS}, Standing.ABSENT),
    Case("the best of several shards", {"a.py": _MERGE}, Standing.ABSENT),
    Case("experts are routed to", {"a.py": _EXPERTS}, Standing.ABSENT),
    Case("a selector that walks one path", {"a.py": _ONE_PATH}, Standing.ABSENT),
    Case("shortest routes", {"a.py": _ROUTES}, Standing.ABSENT),
)
DETECTOR = Detector(
    "tree.build.dynamic",
    "Building of a draft tree by scores",
    __doc__,
    (TREE_CHOICE, TREE_TEMPLATE, DRAFT_LOOP, *ACCEPTANCE),
    detect,
    CASES,
)

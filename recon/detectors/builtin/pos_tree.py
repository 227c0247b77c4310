"""Position ids of a draft tree by depth.

What it is
    In the target's verification pass the position of a node is the length before the tree and the node's depth: all
    siblings have one position, and a path has consecutive ones. By its index in the batch a node would be rotated for
    the wrong place.

What counts
    shaped: for each node a sum of a length and its depth is written, the depth found by climbing from parent to parent,
    by counting its row of the ancestor mask, or from a table in which each node is one deeper than its parent.
    A compiled operator that is called, and whose schema takes links or a mask and positions, counts as shaped too.
    Where only the loop that drafts gives all nodes of a level one position, the standing is partial.

Blind spots
    A table of depths that one function makes and another adds to lengths is not seen. Whether the positions that a
    builder writes serve the target's pass or only the draft's is not followed: a builder counts for the target's.

Sources
    Miao et al., SpecInfer, 2023, section 4; Li et al., EAGLE, 2024, section 3.2.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Library, Standing
from recon.detectors.compiled import compiled, places_nodes
from recon.detectors.places import launchers, outside, ranked, reach_of, seen, shaped, with_doors
from recon.detectors.shapes.catalog import DEPTH_POSITION, DRAFT_LOOP, LEVEL_POSITION, LINEAR_POSITION

_WORDS = (frozenset({"build", "tree"}), frozenset({"tree", "mask"}), frozenset({"tree", "position"}))
_DRAFT = "Only the loop that drafts gives nodes positions by their depth; the target's pass counts them through."


def detect(index: Index) -> Findings:
    """Builders of positions by depth; else loops that draft by levels."""
    behind = compiled(index, places_nodes, *_WORDS)
    builders = [*with_doors(index, DEPTH_POSITION.id), *behind.places]
    near = tuple(seen(index, LINEAR_POSITION.id))
    if builders:
        callers = [
            place
            for function, _ in index.seen(DEPTH_POSITION.id)
            for place in launchers(index, function, "calls {} for the positions of a tree")
        ]
        found = list(dict.fromkeys(ranked([*builders, *callers])))
        return Findings(evidence=tuple(found), nearest=near, reach=reach_of(found))
    loops = {function.ref for function, _ in index.seen(DRAFT_LOOP.id)}
    levels = [
        shaped(index, function, each) for function, each in index.seen(LEVEL_POSITION.id) if function.ref in loops
    ]
    elsewhere = outside(index, *_WORDS)
    if elsewhere.names or behind.unread:
        near = (*behind.nearest, *levels, *near)
        return Findings(nearest=near, external=elsewhere, unread=behind.unread)
    near = (*behind.nearest, *near)
    return Findings(evidence=tuple(levels), nearest=near, lacks=_DRAFT if levels else "", reach=reach_of(levels))


_CLIMB = """
@triton.jit
def build(parents, lens, mask, places, N: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    start = tl.load(lens + b)
    for node in range(N):
        cur = node
        depth = 0
        for _ in range(D):
            if cur > 0:
                depth += 1
                tl.store(mask + (b * N + node) * N + cur, 1)
                cur = tl.load(parents + b * N + cur)
        tl.store(places + b * N + node, start + depth)
"""
_COUNT = """
@triton.jit
def build(mask, lens, places, n: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    row, col = i[:, None], i[None, :]
    seen = tl.load(mask + b * (n * n) + row * n + col, mask=(row < n) & (col < row), other=0)
    depth = tl.sum(seen.to(tl.int32), axis=1)
    tl.store(places + b * n + i, depth + tl.load(lens + b), mask=i < n)
"""
_COUNT_IN_TORCH = """
def build(places, mask, lens, b, n):
    marks = mask.view(b, n, n)
    places[:] = lens.unsqueeze(1) + marks.sum(dim=-1) - 1
"""
_TABLE = """
def build(parents, lens):
    depth = torch.zeros(len(parents), dtype=torch.long)
    for node in range(1, len(parents)):
        depth[node] = depth[parents[node]] + 1
    return lens[:, None] + depth[None, :]
"""
_CUDA = """
__global__ void Place(const int64_t* parents, const int64_t* lens, int64_t* places, int n) {
  int b = blockIdx.x;
  int node = threadIdx.x;
  int depth = 0;
  int cur = node;
  while (cur > 0) {
    depth++;
    cur = parents[b * n + cur];
  }
  places[b * n + node] = lens[b] + depth;
}
"""
_LEVELS = """
class Proposer:
    def grow(self, ids, positions, hidden, widths):
        for level in range(len(widths) - 1):
            here = (positions + (level + 1)).view(-1, 1)
            here = here.repeat_interleave(widths[level], dim=1)
            hidden = self.model(ids, positions=here.view(-1), hidden_states=hidden)
            ids = torch.topk(self.model.head(hidden), widths[level + 1], dim=-1).indices
        return ids
"""
_STEPS = """
class Proposer:
    def grow(self, ids, positions, hidden, steps):
        for _ in range(steps):
            positions = positions + 1
            hidden = self.model(ids, positions=positions, hidden_states=hidden)
            ids = self.model.head(hidden).argmax(dim=-1)
        return ids
"""
_LINEAR = """
def prepare(computed, scheduled, offsets, total):
    rows = np.repeat(np.arange(len(scheduled)), scheduled)
    positions = np.empty(total)
    positions[:] = computed[rows] + offsets[:total]
    return positions
"""
_ROTARY = """
def tables(theta, dim, longest):
    angles = torch.arange(longest)[:, None] * theta ** -(torch.arange(0, dim, 2) / dim)
    cache = torch.empty(longest, dim)
    cache[:, : dim // 2] = angles.cos()
    cache[:, dim // 2 :] = angles.sin()
    return cache
"""
_LENGTHS = """
def lengths(ids, prefix, pad):
    out = torch.empty(len(prefix))
    out[:] = prefix + (ids != pad).sum(dim=-1)
    return out
"""
_OUTSIDE = """
from kernels import build_tree_kernel


def prepare(parents, lens, places):
    build_tree_kernel(parents, lens, places)
    return places
"""

_OPERATOR = """
def prepare(parents, lens, tree_mask, positions):
    torch.ops.ours.link.default(parents, lens, tree_mask, positions)
"""
_LIBRARY = Library(
    "ops.abi3.so",
    1,
    (),
    ("link(Tensor parents, Tensor lens, Tensor! tree_mask, Tensor! positions) -> ()",),
    (),
)

CASES = (
    Case("depths found by climbing", {"a.py": _CLIMB}, Standing.PRESENT),
    Case("ancestors counted in a row", {"a.py": _COUNT}, Standing.PRESENT),
    Case("ancestors counted in torch", {"a.py": _COUNT_IN_TORCH}, Standing.PRESENT),
    Case("a table of depths", {"a.py": _TABLE}, Standing.PRESENT),
    Case("a climb in CUDA", {"place.cu": _CUDA}, Standing.PRESENT),
    Case("levels of a draft alone", {"a.py": _LEVELS}, Standing.PARTIAL),
    Case("a compiled builder", {"a.py": _OPERATOR}, Standing.PRESENT, (_LIBRARY,)),
    Case("a builder of another distribution", {"a.py": _OUTSIDE, "b.py": _LEVELS}, Standing.UNKNOWN),
    Case("a chain drafted step by step", {"a.py": _STEPS}, Standing.ABSENT),
    Case("positions counted through", {"a.py": _LINEAR}, Standing.ABSENT),
    Case("tables of angles", {"a.py": _ROTARY}, Standing.ABSENT),
    Case("lengths without padding", {"a.py": _LENGTHS}, Standing.ABSENT),
)
DETECTOR = Detector(
    "pos.tree",
    "Position ids of a draft tree by depth",
    __doc__,
    (DEPTH_POSITION, LEVEL_POSITION, DRAFT_LOOP, LINEAR_POSITION),
    detect,
    CASES,
)

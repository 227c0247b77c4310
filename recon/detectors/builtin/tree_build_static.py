"""Building of a draft tree by a template, the same in every step.

What it is
    The shape of the tree is fixed before serving starts: a list of paths such as (0,), (1,), (0, 0), given as a
    constant or an option, or a number of children for each level. Each step only fills in tokens.

What counts
    shaped: a list of paths is laid out level by level (paths counted by their length, beside counts of neighbouring
    levels or the paths' prefixes); or a drafting loop takes as many of the best tokens a parent as a table says for the
    level. A default that is a chain counts where another value makes a tree.

Blind spots
    Where the list comes from is not followed to its option. A template that is unrolled in code, one statement a node,
    is not seen, and a layout with neither nested loops nor a test of order is seen only where it is drafted along.

Sources
    Cai et al., Medusa, 2024, section 3.3; Miao et al., SpecInfer, 2023, section 3; Li et al., EAGLE, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Standing
from recon.detectors.places import reach_of, seen
from recon.detectors.shapes.catalog import DRAFT_LOOP, TREE_TEMPLATE
from recon.detectors.trees import ACCEPTANCE, draft_loops


def detect(index: Index) -> Findings:
    """Places that lay a template out or draft along it; drafting loops are where one would be followed."""
    templates = seen(index, TREE_TEMPLATE.id)
    return Findings(evidence=tuple(templates), nearest=tuple(draft_loops(index)), reach=reach_of(templates))


_OPTION = """
class Proposer:
    def __init__(self, text):
        self.paths = ast.literal_eval(text)
        if len(self.paths) < 1:
            raise ValueError(text)
        sizes = [0] * len(self.paths[-1])
        for path in self.paths:
            sizes[len(path) - 1] += 1
        self.ends, self.widths = [sizes[0]], [sizes[0]]
        for level in range(1, len(sizes)):
            self.ends.append(self.ends[-1] + sizes[level])
            self.widths.append(sizes[level] // sizes[level - 1])
"""
_CONSTANT = """
CHOICES = [[0], [1], [0, 0], [0, 1], [1, 0], [0, 0, 0]]


def buffers(choices, k):
    order = sorted(choices, key=lambda path: (len(path), path))
    sizes = []
    for path in order:
        if len(path) > len(sizes):
            sizes.append(0)
        sizes[len(path) - 1] += 1
    mask = torch.eye(len(order) + 1)
    for i, path in enumerate(order):
        for depth in range(len(path) - 1):
            mask[i + 1, order.index(path[: depth + 1]) + 1] = 1
    parents = [order.index(path[:-1]) + 1 for path in order if len(path) > 1]
    return mask, parents, sizes


BUFFERS = buffers(CHOICES, 10)
"""
_WIDTHS = """
def propose(self, logits, hidden):
    ids = torch.topk(logits, self.children[0], dim=-1).indices
    every = [ids]
    for level in range(len(self.children) - 1):
        hidden = self.model(input_ids=ids, hidden_states=hidden)
        logits = self.model.compute_logits(hidden)
        ids = torch.topk(logits, self.children[level + 1], dim=-1).indices
        every.append(ids)
    return every
"""
_EXPANSION = """
def expand(self, logits, hidden, widths):
    every = []
    for k in widths:
        ids = logits.topk(k, dim=-1).indices.flatten()
        every.append(ids)
        logits = self.model.forward(ids, hidden)
    return every
"""
_CHAIN = """
# TODO: tree-based drafting along self.tree_choices
def propose(self, logits, hidden):
    ids = logits.argmax(dim=-1)
    every = [ids]
    for _ in range(self.steps - 1):
        hidden = self.model(input_ids=ids, hidden_states=hidden)
        ids = self.model.compute_logits(hidden).argmax(dim=-1)
        every.append(ids)
    return torch.stack(every, dim=1)
"""
_LENGTHS = """
def lengths(words, longest):
    counts = [0] * longest
    for word in words:
        if len(word) <= longest:
            counts[len(word) - 1] += 1
    return counts
"""
_SCORED = """
def grow(model, ids, hidden, depth, k):
    every = []
    for level in range(depth):
        top = model.forward(ids, hidden).topk(k, dim=-1)
        ids = top.indices.flatten()
        every.append(ids)
    return every
"""

CASES = (
    Case("paths from an option", {"a.py": _OPTION}, Standing.PRESENT),
    Case("paths from a constant", {"a.py": _CONSTANT}, Standing.PRESENT),
    Case("children for each level", {"a.py": _WIDTHS}, Standing.PRESENT),
    Case("a list of widths", {"a.py": _EXPANSION}, Standing.PRESENT),
    Case("a chain, with a comment about trees", {"a.py": _CHAIN}, Standing.ABSENT),
    Case("lengths of words are counted", {"a.py": _LENGTHS}, Standing.ABSENT),
    Case("one width for all levels", {"a.py": _SCORED}, Standing.ABSENT),
)
DETECTOR = Detector(
    "tree.build.static",
    "Building of a draft tree by a template",
    __doc__,
    (TREE_TEMPLATE, DRAFT_LOOP, *ACCEPTANCE),
    detect,
    CASES,
)

"""Greedy acceptance of a draft tree.

What it is
    A walk over a tree of candidates that keeps the longest path whose tokens are what the target would have chosen,
    each at the node before it. One forward pass then yields the best of many branches, not only of one chain.

What counts
    shaped: in one function the next node is found from the current one (by links, fields of nodes, maps, patterns,
    parents, ranges or a filter of its children, a call of the function itself) and its drafted token is compared with
    the target's choice at the node reached; a match is counted, written out or given back.
    shaped, too: all nodes or paths are judged together (a frontier, the rows of an ancestor mask or its bits, a table,
    a set or a list of candidate paths, a thread for each of them), and the deepest or longest one is taken.
    shaped, too: a call of a compiled operator whose schema takes drafted tokens, links between nodes and the target's
    choices, and nothing random.
    declared: a Python function that calls such code in a CUDA file that its module builds.

Blind spots
    Compiled libraries are read by symbol and schema only. A walk split over several launches, one a level, is seen
    only if one of them holds both the step to the next node and the comparison; so is a length of a path that one
    function measures and another compares, unless the one stands inside the other. Kernels in strings are not read.

Sources
    Miao et al., SpecInfer, 2023, section 4.2; Cai et al., Medusa, 2024; Li et al., EAGLE, 2024.
"""

from recon.detectors.api import Case, Detector, Findings, Index, Library, Standing
from recon.detectors.compiled import compiled, walks_tree
from recon.detectors.places import outside, reach_of, seen, with_doors
from recon.detectors.shapes.catalog import GREEDY_CHAIN, GREEDY_WALK

_WORDS = (frozenset({"tree", "verify"}), frozenset({"tree", "accept"}), frozenset({"tree", "greedy"}))


def detect(index: Index) -> Findings:
    """Places that walk a tree; operators of other distributions and chains are what comes nearest."""
    behind = compiled(index, walks_tree, *_WORDS)
    walks = [*with_doors(index, GREEDY_WALK.id), *behind.places]
    elsewhere = outside(index, *_WORDS)
    near = (*behind.nearest, *seen(index, GREEDY_CHAIN.id))
    return Findings(
        evidence=tuple(walks),
        nearest=near,
        reason="" if walks else behind.reason,
        reach=reach_of(walks),
        external=elsewhere,
        unread=behind.unread,
    )


_LINKS = """
@triton.jit
def k(out, count, ids, tok, child, sib, want, N: tl.constexpr, D: tl.constexpr):
    b = tl.program_id(0)
    last = tl.load(ids + b * N)
    cur = 0
    n = 0
    go = 1
    for _ in range(D):
        if go:
            cur = tl.load(child + b * N + cur)
            hit = 0
            for _ in range(N):
                if hit == 0 and cur != -1:
                    if tl.load(tok + b * N + cur) == tl.load(want + last):
                        last = tl.load(ids + b * N + cur)
                        n += 1
                        tl.store(out + b * D + n, last)
                        hit = 1
                    else:
                        cur = tl.load(sib + b * N + cur)
            if hit == 0:
                go = 0
    tl.store(count + b, n)
"""
_WRITTEN_FIRST = """
def stroll(words, first, beside, best):
    at = 0
    out = []
    while True:
        out.append(int(best[at]))
        kid = first[at]
        while kid != -1 and words[kid] != best[at]:
            kid = beside[kid]
        if kid == -1:
            return out
        at = kid
"""
_DICTIONARY = """
def follow(children, posterior):
    node, path = 0, []
    token = posterior[node]
    while token in children[node]:
        node = children[node][token]
        path.append(node)
        token = posterior[node]
    return path, token
"""
_PATHS = """
def pick(logits, candidates):
    match = (candidates[:, 1:] == torch.argmax(logits[:, :-1], dim=-1)).int()
    length = torch.cumprod(match, dim=1).sum(dim=1)
    best = torch.argmax(length)
    return candidates[best], length[best]
"""
_CHAIN = """
@triton.jit
def k(out, draft, want, bonus, n):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            d = tl.load(draft + b * n + i)
            w = tl.load(want + b * n + i)
            tl.store(out + b * (n + 1) + i, w)
            bad = d != w
    if not bad:
        tl.store(out + b * (n + 1) + n, tl.load(bonus + b))
"""
_GRAMMAR = """
def allow(child, sib, tokens, grammar, mask):
    stack = [(0, None)]
    cur = child[0]
    while cur != -1:
        if grammar.accept(tokens[cur]):
            grammar.fill(mask, cur)
            cur = child[cur]
        else:
            cur = sib[cur]
"""
_REPLAY = """
def replay(children, accepted):
    node, out = 0, []
    for depth in range(len(accepted)):
        node = children[node][accepted[depth]]
        out.append(node)
    return out
"""
_NESTED = """
def follow(trie, best):
    out, node = [], trie
    while True:
        t = int(best[node["id"]])
        out.append(t)
        if t not in node["next"]:
            return out
        node = node["next"][t]
"""
_NESTED_GET = """
def follow(node, best):
    out = []
    while node is not None:
        t = best[node["id"]]
        out.append(t)
        node = node["next"].get(t)
    return out
"""
_NESTED_TEXT = """
def match(node, text):
    out = []
    for letter in text:
        if letter not in node["next"]:
            return out
        node = node["next"][letter]
        out.append(node["id"])
    return out
"""
_BY_WORD = """
def follow(cur, best):
    out = []
    while cur is not None:
        want = best[cur.row]
        out.append(want)
        cur = {c.token: c for c in cur.children}.get(want)
    return out
"""
_BY_LETTER = """
def match(cur, text):
    out = []
    for letter in text:
        kids = {c.letter: c for c in cur.children}
        cur = kids.get(letter)
        if cur is None:
            break
        out.append(cur.value)
    return out
"""
_GENERATOR = """
def follow(kids, tokens, wanted, at=0):
    yield wanted[at]
    for k in kids[at]:
        if tokens[k] == wanted[at]:
            yield from follow(kids, tokens, wanted, k)
            return
"""
_STOP_GENERATOR = """
def stops(kids, letters, text, at=0, place=0):
    yield at
    for k in kids[at]:
        if letters[k] == text[place]:
            yield from stops(kids, letters, text, k, place + 1)
            return
"""
_RECURSION = """
class Rule:
    def follow(self, kids, tokens, wanted, at=0):
        for k in kids[at]:
            if tokens[k] == wanted[at]:
                return [k] + self.follow(kids, tokens, wanted, k)
        return []
"""
_LONGEST = """
def follow(kids, tokens, wanted, at):
    best = []
    for k in kids[at]:
        if tokens[k] == wanted[at]:
            best = max(best, [k, *follow(kids, tokens, wanted, at=k)], key=len)
    return best
"""
_FILTER = """
def follow(kids, tokens, wanted):
    at, path = 0, []
    while True:
        hit = [k for k in kids[at] if tokens[k] == wanted[at]]
        if not hit:
            return path
        at = hit[0]
        path.append(at)
"""
_FRONT = """
def deepest(tokens, parents, wanted):
    front, best = [0], 0
    while front:
        following = [c for c in range(len(tokens)) if parents[c] in front and tokens[c] == wanted[parents[c]]]
        if following:
            best = following[0]
        front = following
    return best
"""
_QUEUE = """
def standing(kids, tokens, wanted):
    queue, kept = [0], []
    while queue:
        at = queue.pop()
        kept.append(at)
        for k in kids[at]:
            if tokens[k] != wanted[at]:
                continue
            queue.append(k)
    return kept
"""
_LEVELS = """
def leaf(tokens, parents, wanted, depth):
    hit = tokens == wanted.gather(1, parents)
    ok = torch.zeros_like(hit)
    ok[:, 0] = True
    for i in range(1, tokens.shape[1]):
        ok[:, i] = hit[:, i] & ok.gather(1, parents[:, i : i + 1]).squeeze(1)
    return (depth * ok).argmax(-1)
"""
_STOP_WORDS = """
def stops(kids, letters, text, at=0, place=0):
    for k in kids[at]:
        if letters[k] == text[place]:
            return [k] + stops(kids, letters, text, k, place + 1)
    return []
"""
_TRIE = """
def match(kids, letters, text):
    at, path = 0, []
    for letter in text:
        hit = [k for k in kids[at] if letters[k] == letter]
        if not hit:
            break
        at = hit[0]
        path.append(at)
    return path
"""
_RADIX = """
def match_prefix(root, key):
    node, value = root, []
    best = torch.argmax(key)
    while len(key) and key[0] in node.children:
        node = node.children[key[0]]
        value.append(node.value)
        key = key[len(node.key):]
    return value, best
"""
_BEAMS = """
def backtrack(parents, tokens, scores):
    at, out = torch.argmax(scores[-1]), []
    for t in range(len(parents) - 1, -1, -1):
        out.append(tokens[t][at])
        at = parents[t][at]
    return out[::-1]
"""
_ALIVE = """
def alive(tokens, ends, parents, scores):
    live = torch.ones_like(tokens)
    for i in range(1, tokens.shape[1]):
        live[:, i] = (tokens[:, i] != ends) & live.gather(1, parents[:, i : i + 1]).squeeze(1)
    return (scores * live).argmax(-1)
"""
_AUTOMATON = """
def advance(automaton, state, logits):
    n = 0
    for token in logits.argmax(-1).tolist():
        if token not in automaton[state]:
            break
        state = automaton[state][token]
        n += 1
    return state, n
"""
_REGION = """
def region(near, colours, start):
    queue, kept = [start], []
    while queue:
        at = queue.pop()
        kept.append(at)
        queue += [k for k in near[at] if colours[k] == colours[at]]
    return kept
"""

_EDGES = """
class Tree:
    def accept(self, said):
        at, path = 0, []
        while True:
            for edge in self.edges:
                if edge.source == at and edge.token == said[at]:
                    path.append(edge.target)
                    at = edge.target
                    break
            else:
                return path
"""
_EDGES_OF_TEXT = """
class Automaton:
    def read(self, text):
        at, path = 0, []
        for place in range(len(text)):
            for edge in self.edges:
                if edge.source == at and edge.token == text[place]:
                    path.append(edge.target)
                    at = edge.target
                    break
        return path
"""
_FIRST_MISS = """
def best(tokens, said, paths, lengths):
    miss = tokens[paths[:, 1:]] != said[paths[:, :-1]]
    n = np.where(miss.any(1), miss.argmax(1), lengths - 1)
    row = n.argmax()
    return paths[row, : n[row] + 1], said[paths[row, n[row]]]
"""
_OUTSIDE = """
from kernels import verify_tree_greedy


def accept(predicts, links, wanted):
    verify_tree_greedy(predicts, links, wanted)
    return predicts
"""
_OUTSIDE_MODULE = """
import kernels


def accept(predicts, links, wanted):
    kernels.verify_tree_greedy(predicts, links, wanted)
    return predicts
"""
_WRAPPER = """
def verify(out, accepted, candidates, next_token, next_sibling, target_predict):
    torch.ops.ops.verify.default(out, accepted, candidates, next_token, next_sibling, target_predict)
"""
_SCHEMA = "verify(Tensor! out, Tensor! n, Tensor candidates, Tensor next_sibling, Tensor target_predict) -> ()"
_LIBRARY = Library("ops.abi3.so", 1, (), (_SCHEMA,), ())
_ANOTHER = Library("ops.abi3.so", 1, (), ("verify(Tensor candidates, Tensor target_predict) -> ()",), ())
_EMPTY = Library("ops.abi3.so", 1, (), ("sort(Tensor! x) -> ()",), ())

CASES = (
    Case("a compiled operator that is called", {"a.py": _WRAPPER}, Standing.PRESENT, (_LIBRARY,)),
    Case("a compiled operator that nobody calls", {"a.py": ""}, Standing.ABSENT, (_LIBRARY,)),
    Case("a compiled operator without links", {"a.py": _WRAPPER}, Standing.ABSENT, (_ANOTHER,)),
    Case("a wrapper whose operator is gone", {"a.py": _WRAPPER}, Standing.ABSENT, (_EMPTY,)),
    Case("an operator of another distribution, by its module", {"a.py": _OUTSIDE_MODULE}, Standing.UNKNOWN),
    Case("an operator of another distribution", {"a.py": _OUTSIDE}, Standing.UNKNOWN),
    Case("links in Triton", {"a.py": _LINKS}, Standing.PRESENT),
    Case("the choice written before its child is sought", {"a.py": _WRITTEN_FIRST}, Standing.PRESENT),
    Case("a dictionary of children", {"a.py": _DICTIONARY}, Standing.PRESENT),
    Case("a table of paths", {"a.py": _PATHS}, Standing.PRESENT),
    Case("a call of itself for the child that matches", {"a.py": _RECURSION}, Standing.PRESENT),
    Case("a generator that goes on from the child that matches", {"a.py": _GENERATOR}, Standing.PRESENT),
    Case("a generator over a trie of stop words", {"a.py": _STOP_GENERATOR}, Standing.ABSENT),
    Case("dictionaries in dictionaries", {"a.py": _NESTED}, Standing.PRESENT),
    Case("dictionaries in dictionaries, by get", {"a.py": _NESTED_GET}, Standing.PRESENT),
    Case("dictionaries in dictionaries that follow a text", {"a.py": _NESTED_TEXT}, Standing.ABSENT),
    Case("children by their words", {"a.py": _BY_WORD}, Standing.PRESENT),
    Case("children by their letters, for a text", {"a.py": _BY_LETTER}, Standing.ABSENT),
    Case("calls of itself, the longest path kept", {"a.py": _LONGEST}, Standing.PRESENT),
    Case("children filtered", {"a.py": _FILTER}, Standing.PRESENT),
    Case("a frontier by parents", {"a.py": _FRONT}, Standing.PRESENT),
    Case("a queue of nodes that stand", {"a.py": _QUEUE}, Standing.PRESENT),
    Case("levels in torch", {"a.py": _LEVELS}, Standing.PRESENT),
    Case("edges sought by their source", {"a.py": _EDGES}, Standing.PRESENT),
    Case("edges sought by a text", {"a.py": _EDGES_OF_TEXT}, Standing.ABSENT),
    Case("paths by their first mismatch", {"a.py": _FIRST_MISS}, Standing.PRESENT),
    Case("a trie of stop words by calls of itself", {"a.py": _STOP_WORDS}, Standing.ABSENT),
    Case("a trie whose children are filtered", {"a.py": _TRIE}, Standing.ABSENT),
    Case("a radix tree of prefixes", {"a.py": _RADIX}, Standing.ABSENT),
    Case("beams followed back", {"a.py": _BEAMS}, Standing.ABSENT),
    Case("beams that have not ended", {"a.py": _ALIVE}, Standing.ABSENT),
    Case("an automaton follows what was sampled", {"a.py": _AUTOMATON}, Standing.ABSENT),
    Case("a region of one colour", {"a.py": _REGION}, Standing.ABSENT),
    Case("a chain is no tree", {"a.py": _CHAIN}, Standing.ABSENT),
    Case("a grammar walk accepts nothing", {"a.py": _GRAMMAR}, Standing.ABSENT),
    Case("a replay of accepted tokens accepts nothing", {"a.py": _REPLAY}, Standing.ABSENT),
)
DETECTOR = Detector(
    "accept.tree.greedy",
    "Greedy acceptance of a draft tree",
    __doc__,
    (GREEDY_WALK, GREEDY_CHAIN),
    detect,
    CASES,
)

"""Walks over a tree of draft tokens: the forms that acceptance of a tree takes in code.

What separates a tree from a chain: the place of the next node is loaded from memory at the current one; a sideways
search ends on a match; a table of paths is reduced by a maximum over paths; parents are compared with a node's index.
Look-alikes that accept nothing compare no drafted token with what the target chose at the very node of the walk:
grammar walks, radix and suffix trees, replays of tokens already accepted.
"""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View, within
from recon.detectors.shapes.picks import filtered_walks
from recon.detectors.shapes.residuals import is_zeroing, residuals
from recon.detectors.shapes.terms import (
    EQUALITY,
    LOGIC,
    ORDER,
    RANDOM,
    SCANS,
    Load,
    arguments,
    callee,
    is_opaque,
    is_whole,
    loads,
    names_in,
)
from recon.index.sighting import Sighting
from recon.index.term import Term


def greedy_walks(view: View) -> Iterator[Sighting]:
    """Forms of acceptance of a tree by equality with the target's choice."""
    for loop in _outermost(view):
        yield from _link_walks(view, loop)
        yield from _frontiers(view, loop)
    for loop in _all_loops(view):
        yield from _dictionary_walks(view, loop)
        yield from _parent_scans(view, loop)
    yield from filtered_walks(view)
    yield from _path_tables(view)
    yield from _chain_sets(view)


def stochastic_walks(view: View) -> Iterator[Sighting]:
    """Forms of acceptance of a tree by a random draw against the target's probability, with a residual."""
    for loop in _outermost(view):
        yield from _link_draws(view, loop)
        yield from _renormalising_draws(view, loop)


def _outermost(view: View) -> list[Term]:
    return list({id(step.loops[0]): step.loops[0] for step in view.steps if step.loops}.values())


def _all_loops(view: View) -> list[Term]:
    return list({id(loop): loop for step in view.steps for loop in step.loops}.values())


def _on_walk(view: View, side: Term, loop: Term, nodes: set[str]) -> list[Load]:
    """Loads that yield one side of a comparison from an address that depends on the current node."""
    return [load for load in view.loads_of(side, loop) if any(view.depends(load, node, loop) for node in nodes)]


def _bases(found: list[Load]) -> set[str]:
    return {load.base for load in found}


# Links: cur = child[cur]; while nothing matches: token[cur] == target[last]? else cur = sibling[cur]


def _link_walks(view: View, loop: Term) -> Iterator[Sighting]:
    nodes = set(view.chased(loop))
    for compare, step in view.compares() if nodes else ():
        if compare.text not in EQUALITY or not within(step, loop):
            continue
        left, right = (_on_walk(view, side, loop, nodes) for side in compare.parts)
        if not left or not right or _bases(left) & _bases(right):
            continue
        if any(_takes_slice(load) for load in (*left, *right)) or not _records(view, compare, loop, nodes):
            continue
        yield Sighting(
            "walk.links",
            compare.line,
            "a pointer chase compares the drafted token at the current node with the target's choice at the last "
            "accepted node, and moves to a child on a match",
        )
        return


def _takes_slice(load: Load) -> bool:
    return any(key.op == "slice" for key in load.keys)


def _records(view: View, compare: Term, loop: Term, nodes: set[str]) -> bool:
    """Whether a match is counted, or the node or token that matched is written out."""
    governed = view.governed(compare)
    for name in governed:
        for definition in view.definitions[name]:
            value = definition.value
            grows = value.op == "op" and value.text == "+" and value.parts[0].dotted() == name
            if grows and not definition.weak and within(definition.step, loop):
                return True
    for store in view.stores():
        written = {load.base for load in _on_walk(view, store.value, loop, nodes)} or (names_in(store.value) & nodes)
        if within(store.step, loop) and written and view.guarded_by(store.step, compare):
            return True
    return False


# Dictionaries: while token in children[cur]: cur = children[cur][token]; token = target[cur]


def _dictionary_walks(view: View, loop: Term) -> Iterator[Sighting]:
    for name, found in view.chased(loop).items():
        for load in found:
            keys = [key for key in load.keys if key.dotted() != name]
            for key in keys:
                chosen = [other for other in view.loads_of(key, loop) if other.base != load.base]
                if any(view.depends(other, name, loop) for other in chosen) and _is_child_lookup(load, name):
                    yield Sighting(
                        "walk.dictionary",
                        load.term.line,
                        "the next node is looked up in the current node's children by the token that the target chose "
                        "at the current node",
                    )
                    return


def _is_child_lookup(load: Load, node: str) -> bool:
    """Whether a load goes from a node and a token to a child: two keys, a pair as key, or a table of the node's own."""
    if load.base.startswith(node + "."):
        return True
    keys = load.keys[0].parts if load.keys[0].op == "tuple" else load.keys
    return len(keys) > 1 and any(key.dotted() == node for key in keys) and all(key.op != "slice" for key in keys)


# Parents: for i in nodes: if parent[i] == cur and token[i] == target[cur]: cur = i


def _parent_scans(view: View, loop: Term) -> Iterator[Sighting]:
    if loop.op != "for" or not loop.parts[0].dotted():
        return
    index = loop.parts[0].dotted()
    movers = [name for name in view.definitions if name != index and _takes(view, name, index, loop)]
    compares = [(c, s) for c, s in view.compares() if c.text in EQUALITY and within(s, loop)]
    for node in movers:
        parent_tests = [c for c, _ in compares if _is_parent_test(view, c, index, node, loop)]
        token_tests = [c for c, _ in compares if _is_token_test(view, c, index, node, loop)]
        if parent_tests and token_tests:
            yield Sighting(
                "walk.parents",
                token_tests[0].line,
                "nodes are searched for one whose parent is the current node and whose token is the target's choice "
                "there; it becomes the current node",
            )
            return


def _takes(view: View, name: str, index: str, loop: Term) -> bool:
    """Whether a name is set to the loop's index somewhere in the loop, plainly or by a selection."""
    for definition in view.definitions[name]:
        value = definition.value
        if definition.weak or not within(definition.step, loop):
            continue
        chosen = value.parts[-2:] if value.op == "select" or callee(value) == "where" else (value,)
        if any(part.dotted() == index for part in chosen):
            return True
    return False


def _is_parent_test(view: View, compare: Term, index: str, node: str, loop: Term) -> bool:
    for ours, other in (compare.parts, compare.parts[::-1]):
        keyed = any(view.depends(load, index, loop) for load in view.loads_of(ours, loop))
        if keyed and other.dotted() == node:
            return True
    return False


def _is_token_test(view: View, compare: Term, index: str, node: str, loop: Term) -> bool:
    for ours, other in (compare.parts, compare.parts[::-1]):
        drafted = [load for load in view.loads_of(ours, loop) if view.depends(load, index, loop)]
        chosen = [load for load in view.loads_of(other, loop) if view.depends(load, node, loop)]
        if drafted and chosen and not _bases(drafted) & _bases(chosen):
            return True
    return False


# Frontiers: standing = standing[parent] & (token == target[parent]), or where(... & (parent == i), length + 1, length)


def _frontiers(view: View, loop: Term) -> Iterator[Sighting]:
    for name, definitions in view.definitions.items():
        for definition in definitions:
            if not within(definition.step, loop):
                continue
            value = definition.value
            if definition.weak:
                compare = _stands_by_parent(view, name, value)
            else:
                compare = _gathers_itself(view, name, value) or _grows_by_parent(view, name, value, loop)
            if compare is not None and _is_reduced(view, name):
                yield Sighting(
                    "walk.frontier",
                    compare.line,
                    "all nodes advance together: a node stands where its parent stands and its token is the target's "
                    "choice there; the deepest one is taken",
                )
                return


def _gathers_itself(view: View, name: str, value: Term) -> Term | None:
    """`v = v[parent] & match`: the equality behind the match, if that is the form."""
    own = [
        load
        for load in loads(value)
        if load.base == name and not all(is_whole(k) or k.op == "slice" for k in load.keys)
    ]
    if not own or not any(part.op in ("and", "op", "call") for part in value.walk()):
        return None
    equalities = [match for match in view.matches(value).values() if match.text == "=="]
    return next((match for match in equalities if _is_of_tokens(view, match)), None)


def _stands_by_parent(view: View, name: str, value: Term) -> Term | None:
    """`v[i] = v[parent[i]] & match[i]`: the equality behind the match, one side of which is read at the parent too."""
    keys = [key for load in loads(value) if load.base == name for key in load.keys if key.op not in ("const", "slice")]
    links = {load.base for key in keys for load in view.loads_behind(key)} - {name}
    if not links or not any(part.op in ("and", "op", "select") or callee(part) in LOGIC for part in value.walk()):
        return None
    for compare in view.behind(value).values():
        if compare.op == "compare" and compare.text == "==" and _is_of_tokens(view, compare):
            at_parent = [
                any(links & view.names_behind(key) for load in view.loads_of(side) for key in load.keys)
                for side in compare.parts
            ]
            if sum(at_parent) == 1:
                return compare
    return None


def _grows_by_parent(view: View, name: str, value: Term, loop: Term) -> Term | None:
    """`v = where((token == chosen) & (parent == i), v + 1, v)`: the equality of tokens, if that is the form."""
    selects = [t for t in value.walk() if t.op == "select" or (callee(t) == "where" and len(t.parts) == 4)]
    index = loop.parts[0].dotted() if loop.op == "for" else ""
    if not selects or not index:
        return None
    test = selects[0].parts[-3]
    if name not in {part.dotted() for branch in selects[0].parts[-2:] for part in branch.walk()}:
        return None
    equalities = [part for part in view.behind(test, loop).values() if part.op == "compare" and part.text == "=="]
    parents = [c for c in equalities if any(side.dotted() == index for side in c.parts)]
    tokens = [c for c in equalities if c not in parents and any(loads_at(view, c, index, loop))]
    return tokens[0] if parents and tokens else None


def loads_at(view: View, compare: Term, index: str, loop: Term) -> Iterator[bool]:
    """Whether each side of a comparison is loaded at an address that depends on an index."""
    for side in compare.parts:
        yield any(view.depends(load, index, loop) for load in view.loads_behind(side, loop))


def _is_reduced(view: View, name: str) -> bool:
    return any(name in view.names_behind(call) for call, _ in view.calls("max", "argmax", "amax", "sum", "any"))


# Tables of paths: (candidates == chosen).cumprod(1).sum(1), then argmax over the paths


def _path_tables(view: View) -> Iterator[Sighting]:
    for best, _ in view.calls("argmax", "max"):
        inner = view.behind(best)
        sums = [term for term in inner.values() if callee(term) in ("sum", "count_nonzero") and term is not best]
        scans = [scan for total in sums for scan in view.behind(total).values() if callee(scan) in SCANS]
        matched = [match for scan in scans for part in arguments(scan) for match in view.matches(part).values()]
        equal = [match for match in matched if match.text == "==" and _is_of_tokens(view, match)]
        if equal and _selects_row(view, best):
            yield Sighting(
                "walk.paths",
                equal[0].line,
                "a table of candidate paths is compared with the target's choices, matches are counted along each "
                "path, and the longest path is taken",
            )
            return


def _is_of_tokens(view: View, compare: Term) -> bool:
    """Whether both sides of an equality are read from somewhere, or given: neither is made up in place."""
    return all(
        any(loads(source, deep=False) or source.dotted() for source in view.sources(side))
        or any(callee(source) in ("argmax", "squeeze") or is_opaque(source) for source in view.sources(side))
        for side in compare.parts
    )


def _selects_row(view: View, best: Term) -> bool:
    """Whether a maximum over paths chooses the row that is read next."""
    holders = {n for n, ds in view.definitions.items() if any(view.holds(d.value, best) for d in ds if not d.weak)}
    for step in view.steps:
        for load in loads(step.term):
            for key in load.keys:
                if key.op != "slice" and (view.holds(key, best) or key.dotted() in holders):
                    return True
    return False


# Sets of chains: for each path count matches until the first mismatch; keep the longest


def _chain_sets(view: View) -> Iterator[Sighting]:
    for test, step in view.compares():
        if test.text not in ORDER or not step.loops or step.loops[-1].op != "for":
            continue
        outer = step.loops[-1]
        kept = [d for name in names_in(test) for d in view.definitions.get(name, ()) if within(d.step, outer)]
        counts = [d for d in kept if d.step.loops and d.step.loops[-1] is not outer]
        bests = [d for d in kept if d.step.loops[-1] is outer and view.guarded_by(d.step, test)]
        for compare, inner in view.compares() if counts and bests else ():
            if compare.text in EQUALITY and len(inner.loops) > len(step.loops) and within(inner, outer):
                keyed = [load for side in compare.parts for load in view.loads_of(side, outer)]
                row = outer.parts[0]
                rows = {part.dotted() for part in row.walk()} - {""}
                if len(_bases(keyed)) > 1 and any(view.depends(load, name, outer) for load in keyed for name in rows):
                    yield Sighting(
                        "walk.chains",
                        compare.line,
                        "each candidate path is matched against the target's choices up to its first mismatch, and the "
                        "longest one is kept",
                    )
                    return


# Draws along links: a running probability mass over the siblings against one coin, then a residual


def _link_draws(view: View, loop: Term) -> Iterator[Sighting]:
    nodes = set(view.chased(loop))
    for compare, step in view.compares() if nodes else ():
        if compare.text not in ORDER or not within(step, loop) or len(step.loops) < 2:
            continue
        links = {load.base for found in view.chased(loop).values() for load in found}
        tokens = [
            load
            for load in view.loads_behind(compare, loop)
            if load.base not in links and any(view.depends(load, node, loop) for node in nodes)
        ]
        lookups = [load for load in tokens if _is_lookup(view, load, tokens, loop)]
        if not lookups or not _has_coin(view, compare, loop, _bases(lookups)):
            continue
        if not _writes_token(view, compare, loop, _bases(tokens) - _bases(lookups)) or not any(residuals(view)):
            continue
        yield Sighting(
            "draws.links",
            compare.line,
            "siblings are tried in turn: the target's probability of the drafted token is set against a random number, "
            "and what is left of the distribution is sampled when none is accepted",
        )
        return


def _writes_token(view: View, compare: Term, loop: Term, tokens: set[str]) -> bool:
    """Whether the token that was tried is written out where the comparison lets it pass."""
    for store in view.stores():
        if within(store.step, loop) and _bases(view.loads_of(store.value, loop)) & tokens:
            masked = any(view.holds(part, compare) for part in store.step.term.walk() if part.op == "kw")
            if masked or view.guarded_by(store.step, compare):
                return True
    return False


def _is_lookup(view: View, load: Load, tokens: list[Load], loop: Term) -> bool:
    """Whether a load is addressed by a token that was itself loaded at the current node: a probability by token."""
    addressed = {id(source) for key in load.keys for source in view.sources(key, loop)}
    return any(id(token.term) in addressed and token.base != load.base for token in tokens)


def _has_coin(view: View, compare: Term, loop: Term, lookups: set[str]) -> bool:
    """Whether something random, or loaded beside the probabilities, takes part in a comparison."""
    if any(view.calls_behind(compare, RANDOM)):
        return True
    return any(load.base not in lookups for side in compare.parts for load in view.loads_of(side, loop))


def _renormalising_draws(view: View, loop: Term) -> Iterator[Sighting]:
    """`r <= p[x] / q[x]`, else p[x] = 0 and p = p / sum(p): siblings in turn, in torch or numpy."""
    for compare, step in view.compares():
        if compare.text not in ORDER or not within(step, loop):
            continue
        random = any(view.calls_behind(compare, RANDOM, loop))
        looked_up = _bases(view.loads_behind(compare, loop))
        if not random or not looked_up:
            continue
        for base in looked_up:
            zeroed = any(
                is_zeroing(store) and store.base == base and within(store.step, loop) for store in view.stores()
            )
            if zeroed and _is_renormalised(view, base, loop):
                yield Sighting(
                    "draws.renormalise",
                    compare.line,
                    "siblings are tried in turn by a random draw; a refused one loses its probability and the rest is "
                    "renormalised before the next is tried",
                )
                return


def _is_renormalised(view: View, base: str, loop: Term) -> bool:
    for definition in view.definitions.get(base, ()):
        value = definition.value
        if definition.weak or not within(definition.step, loop):
            continue
        if value.op == "op" and value.text == "/" and base in names_in(value):
            return True
        if any(callee(part) in ("div_", "div", "normalize", "softmax") for part in value.walk()):
            return True
    return any(within(step, loop) and base in names_in(call) for call, step in view.calls("div_"))

"""Acceptance of a tree by chance: siblings tried against random numbers, and what is left of the distribution."""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import limited, quotient
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Definition, Step, within
from recon.detectors.shapes.residuals import clamped_differences, is_zeroing, residuals
from recon.detectors.shapes.terms import ORDER, RANDOM, Load, bases, callee, is_constant, is_random, loads, names_in
from recon.index.sighting import Sighting
from recon.index.term import Term


def stochastic_walks(view: View) -> Iterator[Sighting]:
    """Forms of acceptance of a tree by a random draw against the target's probability, with a residual."""
    for loop in view.outermost():
        yield from _link_draws(view, loop)
        yield from _renormalising_draws(view, loop)
    yield from residual_draws(view)
    yield from upward_draws(view)


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
        if not lookups or not _has_coin(view, compare, loop, bases(lookups)):
            continue
        words = bases(tokens) - bases(lookups)
        if not _writes(view, (compare, step), loop, words, nodes) or not _leaves_rest(view, bases(lookups), words):
            continue
        yield Sighting(
            "draws.links",
            compare.line,
            "siblings are tried in turn: the target's probability of the drafted token is set against a random number, "
            "and what is left of the distribution is sampled when none is accepted",
        )
        return


def _writes(view: View, test: tuple[Term, Step], loop: Term, tokens: set[str], nodes: set[str]) -> bool:
    """Whether the token that was tried, or its node, is written out where the comparison lets it pass."""
    compare, at = test
    inner = view.ended(compare, at, loop)
    flags = view.flags(compare, loop)
    for store in view.stores():
        if not within(store.step, loop):
            continue
        taken = bases(view.loads_of(store.value, loop)) & tokens
        if not taken and not view.names_behind(store.value, loop) & nodes:
            continue
        masked = any(view.holds(part, compare) for part in store.step.terms if part.op == "kw")
        if masked or view.guarded_by(store.step, compare):
            return True
        if any(flags & view.names_behind(guard.test) for guard in store.step.guards):
            return True
        if inner is not None and not within(store.step, inner) and store.step.order > view.last_of(inner):
            return True
    return False


def _leaves_rest(view: View, lookups: set[str], tokens: set[str]) -> bool:
    """Whether a residual is taken: max(p - q, 0), or what is left once the tokens that were tried have none."""
    if any(residuals(view)):
        return True
    taken_out = [store for store in view.stores() if is_zeroing(store)]
    if any(bases(loads(key)) & tokens for store in taken_out for key in store.keys):
        return True
    roots = {view.root(base) for base in lookups}
    zeroed = {
        store.base
        for store in taken_out
        if (view.names_behind(Term("name", store.base)) | {store.base}) & (roots | lookups)
    }
    return any(_shares(term) & zeroed for step in view.steps for term in step.terms) or any(
        names_in(call) & zeroed for call, _ in view.calls("multinomial")
    )


def _shares(term: Term) -> set[str]:
    """What is divided by its own sum."""
    parts = quotient(term)
    if parts is None or not any(callee(inner) in ("sum", "fsum") for inner in parts[1].walk()):
        return set()
    return names_in(parts[0]) & names_in(parts[1])


def _is_lookup(view: View, load: Load, tokens: list[Load], loop: Term) -> bool:
    """Whether a load is addressed by a token that was itself loaded at the current node: a probability by token."""
    addressed = {id(source) for key in load.keys for source in view.sources(key, loop)}
    return any(id(token.term) in addressed and token.base != load.base for token in tokens)


def _has_coin(view: View, compare: Term, loop: Term, lookups: set[str]) -> bool:
    """Whether something random, or loaded beside the probabilities, takes part in a comparison."""
    if any(view.calls_behind(compare, RANDOM)):
        return True
    return any(load.base not in lookups for side in compare.parts for load in view.loads_of(side, loop))


# Siblings in turn, by value: `r <= p[x] / q[x]`, else p[x] = 0 and p = p / sum(p)


def _renormalising_draws(view: View, loop: Term) -> Iterator[Sighting]:
    for compare, step in view.compares():
        if compare.text not in ORDER or not within(step, loop):
            continue
        random = any(view.calls_behind(compare, RANDOM, loop))
        looked_up = bases(view.loads_behind(compare, loop))
        if not random or not looked_up or not _ends_search(view, compare, loop):
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


def _ends_search(view: View, compare: Term, loop: Term) -> bool:
    """Whether no further sibling is tried once one was accepted: the loop is left, or a flag is set."""
    leaves = ("break", "return", "continue")
    return bool(view.flags(compare, loop)) or any(
        step.term.op in leaves and within(step, loop) and view.guarded_by(step, compare) for step in view.steps
    )


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


# Siblings in turn, by value: `r <= p[x] / q[x]`, else p = norm(max(p - q, 0)) for the next one


def residual_draws(view: View) -> Iterator[Sighting]:
    """Candidates for one place tried in turn, each against what the refused ones have left of the distribution."""
    for compare, step in view.compares():
        if compare.text not in ORDER or not step.loops:
            continue
        loop = step.loops[-1]
        operands = [each for side in compare.parts for each in view.operands(side, loop)]
        tried = bases(load for each in operands for load in loads(each, deep=False) if any(map(names_in, load.keys)))
        left = [(base, d) for base in tried for d in view.definitions.get(base, ()) if _is_left(view, d, base, tried)]
        random = any(map(is_random, operands))
        left = [(base, d) for base, d in left if random or tried - view.names_behind(d.value, loop) - {base}]
        if any(within(d.step, loop) and _goes_on(view, compare, d.step, loop) for _, d in left):
            yield Sighting(
                "draws.residual",
                compare.line,
                "candidates for one place are tried in turn by a random draw; a refused one leaves the residual, "
                "against which the next is tried",
            )
            return


def _is_left(view: View, definition: Definition, base: str, tried: set[str]) -> bool:
    """Whether a distribution becomes what is left of it: a difference cut off at zero, or a function of two."""
    value = definition.value
    if definition.weak or base not in names_in(value):
        return False
    cut = [term for term, _ in clamped_differences(view)]
    if any(view.holds(value, term) for term in cut):
        return True
    given = {part.dotted() for part in value.parts[1:]} if value.op == "call" else set()
    return base in given and bool(given & (tried - {base}))


def _goes_on(view: View, compare: Term, refused: Step, loop: Term) -> bool:
    """Whether a loop ends where a comparison lets a candidate pass, and goes on where it refuses one."""
    held = {guard.holds for guard in refused.guards if view.holds(guard.test, compare)}
    ends = {
        guard.holds
        for step in view.steps
        if step.term.op in ("break", "return") and within(step, loop)
        for guard in step.guards
        if view.holds(guard.test, compare)
    }
    return len(held) == 1 and ends == {not holds for holds in held}


# From the leaves upwards: weight = min(weight[parent] * p / q, 1); a refusal leaves max(weight * p - q, 0)


def upward_draws(view: View) -> Iterator[Sighting]:
    """Traversal verification: a node stands with the weight of its whole path, or its parent is tried without it."""
    zeroed = {store.base for store in view.stores() if is_zeroing(store)}
    if not zeroed:
        return
    rests = [each for _, each in clamped_differences(view) if each.parts[0].op == "op" and each.parts[0].text == "*"]
    weights = [
        held
        for step in (view.steps if rests else ())
        for held in limited(step.term, 1)
        if _is_of_path(held) and any(quotient(part) for part in view.behind(held).values())
    ]
    put_back = any(
        view.holds(store.value, rest) and store.base in view.names_behind(rest)
        for store in view.stores()
        for rest in rests
    )
    if not weights or not put_back or not any(zeroed & view.names_behind(rest.parts[1]) for rest in rests):
        return
    handed = _handed_down(view, weights)
    for compare, _ in view.compares():
        weighed = any(view.holds(compare, weight) for weight in weights) or handed & names_in(compare)
        if compare.text in ORDER and weighed and not any(is_constant(side) for side in compare.parts):
            yield Sighting(
                "draws.upward",
                compare.line,
                "nodes are tried from the leaves upwards by the weight of their whole path; a refused one leaves its "
                "parent the residual, without the token that was tried",
            )
            return


def _is_of_path(held: Term) -> bool:
    """Whether a weight is a product, `above * p / q`: the quotient alone is that of one node."""
    return held.op == "op" and (held.text == "*" or (held.text == "/" and held.parts[0].text == "*"))


def _handed_down(view: View, weights: list[Term]) -> set[str]:
    """Parameters that a call of the function itself gives a weight."""
    return {
        parameter
        for call, _ in view.calls(view.body.text)
        for parameter, given in zip(view.params, call.parts[1:], strict=False)
        if any(view.holds(given, weight) for weight in weights)
    }

"""Lossy acceptance: thresholds in place of a draw, fixed or adapted to the entropy of the target's distribution."""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import alike
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Step
from recon.detectors.shapes.terms import (
    EQUALITY,
    LOGIC,
    ORDER,
    Load,
    arguments,
    bare,
    callee,
    is_constant,
    is_opaque,
    is_random,
    loads,
    names_in,
    subject,
)
from recon.index.sighting import Sighting
from recon.index.term import Term

_SUMS = frozenset({"sum", "Sum", "nansum", "reduce_sum", "fsum"})
_LOGS = frozenset({"log", "log2", "logf", "__logf", "log_", "log_softmax", "log1p"})
_EXPS = frozenset({"exp", "exp2", "expf", "__expf", "exp_"})
_READY = frozenset({"xlogy", "entr"})
_MODULES = frozenset({"torch", "tl", "F", "np", "torch.nn.functional", "torch.special", "tl.math", "math"})
_LIFTS = frozenset({"maximum", "max", "fmax", "fmaxf", "clamp_min", "clamp", "clip", "add"})
_LOWER = frozenset({"minimum", "min", "fmin", "fminf", "clamp", "clip", "clamp_max", "where", "clamp_"})


def lossy_rules(view: View) -> Iterator[Sighting]:
    """Rules that accept by a threshold, and entropies for those that are gated by one made elsewhere."""
    entropies = _entropies(view)
    if any(compare.text in ORDER for compare, _ in view.compares()):
        yield from _adaptive(view, entropies)
        yield from _fixed(view)
        yield from _gates(view, entropies)
    if entropies:
        yield Sighting("typical.entropy", entropies[0].line, "the entropy of a distribution is taken")


# The entropy: sum(p * log(p))


def _entropies(view: View) -> list[Term]:
    """Sums of p · log p, with p and its logarithm of one origin; running sums among them."""
    if not view.calls(*_LOGS, *_EXPS, *_READY):
        return []
    found = [call for call, _ in view.calls(*_SUMS) if any(_is_p_log_p(view, part) for part in _summed(view, call))]
    for name, definitions in view.definitions.items():
        for definition in definitions:
            value = definition.value
            running = value.op == "op" and value.text in ("+", "-") and subject(value.parts[0]) == name
            if running and definition.step.loops and any(_is_p_log_p(view, p) for p in _products(view, value.parts[1])):
                found.append(value)
    return found


def _summed(view: View, call: Term) -> Iterator[Term]:
    """Products that a sum adds up, through names, signs, casts and selections."""
    function, *given = call.parts
    if function.op == "attr":
        given.append(function.parts[0])
    for part in given:
        yield from _products(view, part)


def _products(view: View, term: Term) -> Iterator[Term]:
    stack, seen = [term], set[int]()
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if (current.op == "op" and current.text == "*") or callee(current) in ("mul", "multiply", *_READY):
            yield current
        elif callee(current) == "where":
            stack.extend(current.parts[2:])
        elif current.op in ("neg", "select", "kw"):
            stack.extend(current.parts)
        elif current.op == "name":
            stack.extend(d.value for d in view.definitions.get(current.text, ()) if not d.weak)
        elif current.op == "call" and current.parts[0].op == "attr":  # `(p * logp).float().nan_to_num(0)`
            stack.append(current.parts[0].parts[0])


def _is_p_log_p(view: View, product: Term) -> bool:
    """`p * log(p + tiny)`, `softmax(x) * log_softmax(x)`, `exp(l) * l`."""
    if callee(product) in _READY:
        return True
    sides = product.parts if product.op == "op" else arguments(product)
    if len(sides) != 2:
        return False
    return any(
        (callee(call) in _LOGS and _is_of(view, one, call)) or (callee(call) in _EXPS and _is_of(view, one, call))
        for one, other in (sides, sides[::-1])
        for call in view.sources(other)
    )


def _is_of(view: View, value: Term, call: Term) -> bool:
    """Whether a logarithm or an exponential is taken of a value, plainly or with something tiny added."""
    given = [part for part in arguments(call) if part.op not in ("kw", "const") and part.dotted() not in _MODULES]
    if callee(call) == "log_softmax":
        soft = [source for source in view.sources(value) if callee(source) == "softmax"]
        return any(alike(one, other) for each in soft for one in arguments(each) for other in given)
    return any(alike(bare(value), part) for each in given for part in _guarded(view, bare(each)))


def _guarded(view: View, term: Term) -> Iterator[Term]:
    """A term, and what it is if something only keeps it from zero: `p + tiny`, `max(p, tiny)`, `p.clamp_min(tiny)`."""
    yield term
    strong = [one for one in view.definitions.get(term.dotted(), ()) if not one.weak]
    lifted = bare(strong[0].value) if len(strong) == 1 else term
    if lifted.op == "op" and lifted.text == "+":
        yield from map(bare, lifted.parts)
    elif callee(lifted) in _LIFTS:
        yield from map(bare, arguments(lifted))


# The adaptive threshold: p[token] > min(epsilon, delta * exp(-H))


def _adaptive(view: View, entropies: list[Term]) -> Iterator[Sighting]:
    for compare, step in view.compares() if view.calls(*_EXPS) else ():
        if compare.text not in ORDER:
            continue
        for side, other in (compare.parts, compare.parts[::-1]):
            falling = [exp for exp in view.calls_behind(other, _EXPS) if _falls(view, exp, entropies)]
            if not falling or any(view.holds(side, exp) for exp in falling):
                continue
            scaled = any(_is_scaled(view, part, falling) for part in view.behind(other).values())
            capped = any(view.calls_behind(other, _LOWER)) or any(
                part.op == "select" for part in view.behind(other).values()
            )
            falls = scaled and (capped or _is_one_of_two(step, compare))
            if falls and _by_token(view, side) and view.decides(compare):
                detail = "" if any(view.holds(exp, entropy) for exp in falling for entropy in entropies) else "given"
                note = (
                    "the target's probability of the drafted token is set against a threshold that falls with the "
                    "entropy of the target's distribution"
                )
                yield Sighting("typical.adaptive", compare.line, note, detail)
                return


def _falls(view: View, exp: Term, entropies: list[Term]) -> bool:
    """Whether an exponential is taken of an entropy: of one made here, or of something given, negated."""
    given = [part for part in exp.parts[1:] if part.op != "kw"] or [exp.parts[0].parts[0]]
    if any(view.holds(each, entropy) for each in given for entropy in entropies):
        return True
    return any(each.op == "neg" and _is_given(view, each.parts[0]) for each in given)


def _is_given(view: View, term: Term) -> bool:
    """Whether a number comes from outside as it is: a parameter, what is loaded through one, what a call gives back."""
    sources = view.sources(term)
    return term.op in ("name", "index", "call") and all(
        source.dotted() in view.params
        or any(view.root(load.base) in view.params for load in loads(source, deep=False))
        or is_opaque(source)
        for source in sources
    )


def _is_scaled(view: View, part: Term, falling: list[Term]) -> bool:
    """Whether an exponential is multiplied by a factor, the delta of the rule."""
    if part.op == "op" and part.text == "*":
        return any(view.holds(part, exp) for exp in falling)
    return callee(part) in ("mul", "multiply", "mul_") and any(view.holds(part, exp) for exp in falling)


def _is_one_of_two(step: Step, compare: Term) -> bool:
    """`p > epsilon or p > delta * exp(-H)`: above the lower of two."""
    return any(_is_or(part) and any(arm is compare for arm in _arms(part)) for part in step.terms)


def _by_token(view: View, side: Term) -> bool:
    """Whether a number was looked up by a token: by something given or loaded, not by a whole axis or a literal."""
    return any(_is_lookup(view, load) for load in _looked_up(view, side))


def _looked_up(view: View, side: Term) -> list[Load]:
    return [load for operand in view.operands(side) for load in loads(operand, deep=False)]


def _is_lookup(view: View, load: Load) -> bool:
    is_flat = callee(load.term) == "load"  # an address that holds no row, as row * width, is a place in a vector
    if is_flat and not any(part.op == "op" and part.text == "*" for k in load.keys for part in view.behind(k).values()):
        return False
    keys = [
        key for key in load.keys if key.op not in ("slice", "const", "kw") or (key.op == "kw" and key.text == "index")
    ]
    for key in keys:
        part = key.parts[0] if key.op == "kw" else key
        inner = [one for one in view.loads_behind(part) if one.base != load.base]
        tokens = {source.dotted() for source in view.sources(part)} & set(view.params)
        if inner or tokens:
            return True
    return False


# Fixed thresholds: a probability above a parameter accepts too, or the draw is made against p / threshold


def _fixed(view: View) -> Iterator[Sighting]:
    for compare, step in view.compares():
        if compare.text not in ORDER:
            continue
        for side, other in (compare.parts, compare.parts[::-1]):
            if not _is_setting(view, other) or not _beside_a_test(view, step, compare, side):
                continue
            if _by_token(view, side) and view.decides(compare):
                note = f"a drafted token also stands when the target's probability of it passes {other.dotted()}"
                yield Sighting("typical.fixed", compare.line, note)
                return


def _is_setting(view: View, term: Term) -> bool:
    """Whether a term is a number given from outside: a parameter that nothing is loaded from, a field of the object."""
    name = term.dotted()
    if not name or name in view.definitions or not (name.startswith("self.") or name in view.params):
        return False
    return name not in view.read_from


def _beside_a_test(view: View, step: Step, compare: Term, side: Term) -> bool:
    """Whether a comparison is one of several by which a token is accepted: or-ed with a draw or with an equality."""
    for part in step.terms:
        if not _is_or(part) or not any(arm is compare for arm in _arms(part)):
            continue
        (setting,) = (each.dotted() for each in compare.parts if each is not side)
        others = [other for other in view.matches(part).values() if other is not compare]
        if any(_accepts(view, other, side) and setting not in names_in(other) for other in others):
            return True
    return False


def _is_or(term: Term) -> bool:
    return term.op == "or" or (term.op == "op" and term.text == "|") or callee(term) == "logical_or"


def _arms(term: Term) -> Iterator[Term]:
    """The alternatives of a disjunction."""
    for part in arguments(term) if term.op == "call" else term.parts:
        if _is_or(part):
            yield from _arms(part)
        else:
            yield part


def _accepts(view: View, other: Term, side: Term) -> bool:
    """A test of acceptance: two tokens that are equal, or the same probability against something that was drawn."""
    if any(is_constant(part) for part in other.parts):
        return False
    if other.text == "==":
        return all(view.loads_of(part) or part.op in ("name", "attr", "index") for part in other.parts)
    bases = {load.base for load in _looked_up(view, side)}
    weighed = {load.base for part in other.parts for load in _looked_up(view, part)}
    is_drawn = bool(weighed - bases) or any(is_random(one) for part in other.parts for one in view.operands(part))
    return other.text in ORDER and bool(bases & weighed) and is_drawn


# Gates: a mismatch is let stand where the entropy is high


def _gates(view: View, entropies: list[Term]) -> Iterator[Sighting]:
    tests = _token_tests(view)
    tokens = {load.base for test in tests for side in test.parts for load in view.loads_of(side)}
    seen: set[str] = set()
    for compare, step in view.compares() if tests else ():
        if compare.text not in ORDER:
            continue
        for side, other in (compare.parts, compare.parts[::-1]):
            if not _is_setting(view, other):
                continue
            own = any(view.holds(side, entropy) for entropy in entropies)
            given = {view.root(load.base) for load in view.loads_of(side) if load.base not in tokens}
            given |= {side.dotted()}
            details = sorted(({""} if own else given & set(view.params)) - seen)
            if details and _is_consequential(view, compare, step):
                seen |= set(details)
                note = f"a draft that would be refused may stand where a number for its place passes {other.dotted()}"
                for detail in details:
                    yield Sighting("typical.gate", compare.line, note, detail)


def _token_tests(view: View) -> list[Term]:
    """Where two tokens are set against each other, one by one or as whole vectors, as acceptance does."""
    found = []
    for compare, _ in view.compares():
        if compare.text in EQUALITY and not any(is_constant(side) for side in compare.parts):
            left, right = ({load.base for load in view.loads_of(side)} or names_in(side) for side in compare.parts)
            if left and right and left != right:
                found.append(compare)
    return found


def _is_consequential(view: View, compare: Term, step: Step) -> bool:
    """Whether the outcome is joined with others, and something is written by it."""
    joined = any(
        any(inner is compare for inner in part.walk())
        for part in step.terms
        if part.op in ("and", "or") or (part.op == "op" and part.text in ("&", "|")) or callee(part) in LOGIC
    )
    return joined and any(
        view.guarded_by(store.step, compare) or view.holds(store.step.term, compare) for store in view.stores()
    )

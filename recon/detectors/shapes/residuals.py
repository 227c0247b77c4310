"""Residual distributions: what is left of the target's distribution once refused drafts are taken out."""

from collections.abc import Iterator

from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Store
from recon.detectors.shapes.terms import ORDER, arguments, callee, is_opaque
from recon.index.sighting import Sighting
from recon.index.term import Term

_CLAMPS = frozenset({"maximum", "max", "clamp", "clamp_min", "relu", "fmaxf", "fmax", "clamp_", "clamp_min_", "relu_"})
_CUTTING = frozenset({"call", "select"})


def residuals(view: View) -> Iterator[Sighting]:
    """Places where a difference of two distributions is cut off at zero, plainly or in logarithms."""
    for step in view.steps:
        for term in step.terms:
            if term.op in _CUTTING and (
                _is_clamped_difference(view, term)
                or _is_selected_difference(view, term)
                or _is_log_difference(view, term)
                or _is_sampled_difference(view, term)
            ):
                yield Sighting("residual", term.line, "the residual max(p - q, 0) is taken")
                break


def clamped_differences(view: View) -> Iterator[tuple[Term, Term]]:
    """Differences that are cut off at zero, each as the term that cuts it off and the difference itself."""
    for step in view.steps:
        for term in step.terms:
            if term.op != "call":
                continue
            if _is_clamped_difference(view, term):
                given = (part for part in arguments(term) if _difference(view, part))
            elif callee(term) == "where" and len(term.parts) == 4 and _is_zero(term.parts[3]):
                given = (part for part in term.parts[2:3] if _difference(view, part))
            else:
                continue
            for part in given:
                yield term, _spelled_out(view, part)


def _spelled_out(view: View, difference: Term) -> Term:
    """A difference itself, where a name stands for it."""
    while difference.op == "name":
        difference = next(d.value for d in view.definitions[difference.text] if not d.weak)
    return difference


def is_zeroing(store: Store) -> bool:
    """Whether a store writes a constant zero."""
    return store.value.op == "const" and store.value.text.rstrip("f").strip("-") in ("0", "0.", "0.0")


def _difference(view: View, term: Term) -> bool:
    """Whether a term is, or names, a difference of two things that are not constants."""
    if term.op == "op" and term.text == "-":
        return all(any(part.op in ("name", "attr") for part in side.walk()) for side in term.parts)
    if term.op == "name":
        strong = [d.value for d in view.definitions.get(term.text, ()) if not d.weak]
        return (
            bool(strong)
            and all(value.op == "op" and value.text == "-" for value in strong)
            and all(_difference(view, value) for value in strong)
        )
    return False


def _is_zero(term: Term) -> bool:
    if term.op == "kw":  # a floor that is named, or set on the object, keeps zero out of a division
        return term.text == "min" and (_is_zero(term.parts[0]) or term.parts[0].op == "attr")
    if term.op == "call" and len(term.parts) == 2:  # float(0), DType(0)
        return _is_zero(term.parts[1])
    if callee(term) in ("zeros_like", "zeros"):
        return True
    return term.op == "const" and term.text.rstrip("fF").lstrip("-") in ("0", "0.0", "0.", "1e-10", "1e-8")


def _is_clamped_difference(view: View, term: Term) -> bool:
    name = callee(term)
    if name not in _CLAMPS:
        return False
    function, *arguments = term.parts
    receiver = [function.parts[0]] if function.op == "attr" else []
    if not any(_difference(view, part) for part in (*receiver, *arguments)):
        return False
    return name.startswith("relu") or any(_is_zero(part) for part in arguments)


def _is_selected_difference(view: View, term: Term) -> bool:
    """`where(p > q, p - q, 0)`, or the same by a conditional expression."""
    if term.op != "select" and (callee(term) != "where" or len(term.parts) != 4):
        return False
    test, then, otherwise = term.parts[-3:]
    return test.op == "compare" and test.text in ORDER and _difference(view, then) and _is_zero(otherwise)


def _is_sampled_difference(view: View, term: Term) -> bool:
    """`multinomial(normed(p - q))`: what a function of the tree makes of the difference can be drawn from."""
    if callee(term) != "multinomial":
        return False
    made = [part for given in arguments(term) for part in view.behind(given).values() if is_opaque(part)]
    return any(_difference(view, part) for call in made for part in arguments(call))


def _is_log_difference(view: View, term: Term) -> bool:
    """`log(1 - exp(b - a))`, the difference of two log-probabilities."""
    if callee(term) not in ("log", "log1p"):
        return False
    behind = view.behind(term)
    ones = any(part.op == "op" and part.text == "-" and part.parts[0].op == "const" for part in behind.values())
    exps = [part for part in behind.values() if callee(part) in ("exp", "expm1", "exp2")]
    return (ones or callee(term) == "log1p") and any(
        _difference(view, argument) for part in exps for argument in part.parts[1:]
    )

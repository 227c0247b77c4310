"""What a tree's selections say of one drafter: the part that the detectors of drafters share."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from recon.detectors.api import Evidence, Findings, Grade, Index
from recon.detectors.places import evidence, is_outskirts, reach_of
from recon.detectors.selection import Alias, Listing, Selection, Selections, drafting_methods, selections_of
from recon.detectors.words import HEADS, drafters_in
from recon.index.roots import label
from recon.index.tables import Ref

_MOST_NEAR = 6


def find_drafter(index: Index, drafter: str) -> Findings:
    """Whether a word selects this drafter, and what it constructs."""
    known = selections_of(index)
    chosen = _chosen(index, known, drafter)
    models = [each for each in known.selections if each.is_model and drafter in each.drafters - {"draft_model"}]
    rest = [each for each in _chosen(index, known, "draft_model") if not each.drafters]
    aliases = [each for each in known.aliases if drafter in each.drafters] if drafter == "mtp" else []
    served = [each for alias in aliases for word in sorted(alias.becomes) for each in _chosen(index, known, word)]
    listed = [each for each in known.listings if drafter in each.lines]
    near = [*_models(index, models, drafter), *(_listing(index, each, drafter) for each in _listed_first(listed))]
    if chosen:
        made = _name(index, chosen[0].made)
        reason = f"Chosen by name in {_where(index, chosen[0])}, which constructs {made}."
        places = [*_places(index, [*chosen, *served]), *(_alias(index, each) for each in aliases), *near]
    elif served:
        reason = (
            f"Its word stands for another drafter's in {_where(index, aliases[0])}: {_name(index, served[0].made)}."
        )
        places = [*(_alias(index, each) for each in aliases), *_places(index, served), *near]
    elif models and rest:
        reason = (
            f"Its model, {_name(index, models[0].made)}, is run by {_name(index, rest[0].made)} as any draft model."
        )
        places = [*near[:2], *_places(index, rest), *near[2:]]
    else:
        return _absent(index, known, drafter, listed, models)
    made_here = dict.fromkeys(each.made for each in [*chosen, *served, *(rest if not chosen else [])])
    reach = reach_of(_class(index, made, "") for made in made_here)
    return Findings(tuple(_own_first(_once(places))), reason=reason, reach=reach)


def drafting_classes(index: Index) -> dict[Ref, frozenset[str]]:
    """The classes that words select and that draft, with what each word stands for."""
    found: dict[Ref, frozenset[str]] = {}
    for each in selections_of(index).selections:
        if not each.is_model:
            found[each.made] = found.get(each.made, frozenset()) | each.drafters
    return found


def _chosen(index: Index, known: Selections, drafter: str) -> list[Selection]:
    """Selections that construct this drafter: the widest choices and the classes named after it first."""
    wide = _widths(known)
    own: dict[Selection, bool] = {}
    for each in known.selections:
        spoken = _spoken(index, each.made)
        is_own = drafter in spoken
        is_rest = not each.drafters and drafter == "draft_model" and not spoken
        shares = drafter in HEADS - {"eagle"} and "eagle" in spoken
        if not each.is_model and (is_rest or (drafter in each.drafters and (is_own or shares or not spoken))):
            own[each] = is_own
    return sorted(own, key=lambda each: (not own[each], not each.drafters, -wide[each.ref]))


def _widths(known: Selections) -> dict[Ref, int]:
    """How many different classes each place chooses among."""
    made: dict[Ref, set[Ref]] = {}
    for each in known.selections:
        made.setdefault(each.ref, set()).add(each.made)
    return {ref: len(classes) for ref, classes in made.items()}


def _spoken(index: Index, made: Ref) -> frozenset[str]:
    """The drafters that a class is named after, or else its file."""
    return drafters_in(index.names.scope_of(made).name) or drafters_in(PurePosixPath(made.path).stem)


def _absent(index: Index, known: Selections, drafter: str, listed: list[Listing], models: list[Selection]) -> Findings:
    """Nothing that drafts is constructed for this word: where it is listed, and where it would be added."""
    wide = _widths(known)
    choices = sorted((each for each in known.selections if not each.is_model), key=lambda each: -wide[each.ref])
    several = [each for each in _listed_first(listed) if len(each.lines) > 1]
    places = [_listing(index, each, drafter, Grade.NAMED) for each in several]
    places += [
        _place(index, each, "selects other drafters", Grade.NAMED)
        for each in choices
        if wide[each.ref] == wide[choices[0].ref]
    ]
    places += _models(index, models, drafter, Grade.NAMED)
    places += [
        _listing(index, each, next(iter(each.lines)), Grade.NAMED)
        for each in _listed_first(known.listings)[:_MOST_NEAR]
    ]
    reason = ""
    if choices:
        others = ", ".join(dict.fromkeys(_name(index, each.made) for each in choices[:8]))
        said = f"It is listed in {_where(index, several[0])}, but nothing" if several else "Nothing"
        reason = f"{said} that drafts is constructed for it; what is constructed: {others}."
    return Findings(nearest=tuple(_own_first(_once(places))[:_MOST_NEAR]), reason=reason)


def _listed_first(listings: Iterable[Listing]) -> list[Listing]:
    """Where most drafters are listed, by most words, comes first."""
    return sorted(listings, key=lambda each: (-len(each.lines), -sum(each.count.values())))


def _own_first(places: list[Evidence]) -> list[Evidence]:
    """The engine's own places before those of its tests and benchmarks."""
    return sorted(places, key=lambda each: is_outskirts(each.path))


def _places(index: Index, chosen: Iterable[Selection]) -> Iterator[Evidence]:
    for each in chosen:
        name = _name(index, each.made)
        asked = "chooses by name" if each.drafters else "takes whatever no other name takes"
        yield _place(index, each, f"{asked} and constructs {name}")
        yield _class(index, each.made, f"is constructed in {_where(index, each)}")


def _models(
    index: Index, models: Iterable[Selection], drafter: str, grade: Grade = Grade.DECLARED
) -> Iterator[Evidence]:
    for each in sorted(models, key=lambda each: len(drafters_in(_name(index, each.made)) - {drafter})):
        name = _name(index, each.made)
        line = index.names.scope_of(each.made).line
        yield Evidence(each.made.path, name, line, grade, _run_by(index, each.made), "is a model for it")
        yield _place(index, each, f"registers the model {name}", grade)


def _run_by(index: Index, model: Ref) -> tuple[str, ...]:
    """Who reaches the forward pass of a model."""
    return next(filter(None, map(index.holders, index.names.classes.method(model, "forward"))), ())


def _alias(index: Index, alias: Alias) -> Evidence:
    note = "puts the word of another drafter in its place"
    return evidence(index, index.function(alias.ref), alias.line, note, Grade.DECLARED)


def _listing(index: Index, listing: Listing, drafter: str, grade: Grade = Grade.DECLARED) -> Evidence:
    symbol, line = _where(index, listing), listing.lines[drafter]
    return Evidence(listing.ref.path, symbol, line, grade, index.holders(listing.ref), "lists the words for drafters")


def _class(index: Index, made: Ref, note: str) -> Evidence:
    """A class, reached by whoever reaches the first of its methods that drafts and is reached at all."""
    reached = (index.holders(method) for method in drafting_methods(index, made))
    scope = next(filter(None, reached), ())
    return Evidence(made.path, index.names.qualname(made), index.names.scope_of(made).line, Grade.DECLARED, scope, note)


def _place(index: Index, each: Selection, note: str, grade: Grade = Grade.DECLARED) -> Evidence:
    """Where a selection stands: a choice is made while the server starts, so that the step need not reach it."""
    holder = index.steps.holder_of(each.ref)
    scope = index.holders(each.ref) or ((label(index, holder),) if holder is not None else ())
    return Evidence(each.ref.path, _where(index, each), each.line, grade, scope, note)


def _where(index: Index, each: Selection | Alias | Listing) -> str:
    return (each.name if not isinstance(each, Alias) else "") or index.function(each.ref).symbol


def _name(index: Index, made: Ref) -> str:
    return index.names.qualname(made)


def _once(places: Iterable[Evidence]) -> list[Evidence]:
    """The first of the places with the same symbol."""
    found: dict[tuple[str, str], Evidence] = {}
    for each in places:
        found.setdefault((each.path, each.symbol), each)
    return list(found.values())

"""Candidate paths side by side: matches are counted along each one, and the longest is taken.

What separates them from the requests of a batch, each with a chain of its own, is that one path wins.
"""

from collections.abc import Iterator

from recon.detectors.shapes.chains import FIRST, leads, moving, stop_of
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Definition, Step, within
from recon.detectors.shapes.spread import is_of_one_row
from recon.detectors.shapes.terms import EQUALITY, ORDER, SCANS, arguments, bases, callee, loads, names_in
from recon.detectors.shapes.vectors import are_joined, is_of_tokens
from recon.index.sighting import Sighting
from recon.index.term import Term


def best_paths(view: View) -> Iterator[Sighting]:
    """Forms in which one of several paths wins."""
    yield from _path_tables(view)
    yield from _chain_sets(view)
    yield from _measured_lists(view)
    yield from _lanes(view)
    yield from _live_rows(view)
    yield from _live_lists(view)


# Tables of paths: (candidates == chosen).cumprod(1).sum(1), then argmax over the paths


def _path_tables(view: View) -> Iterator[Sighting]:
    counts = view.calls(*SCANS, "argmin") or (view.calls("min", "amin", "argmax") and view.calls("where"))
    for best, _ in view.calls("argmax", "max", "index", "topk", "sort", "argsort") if counts else ():
        matches = (match for match in _counted(view, best) if is_of_tokens(view, match))
        equal = next((match for match in matches if not is_of_one_row(view, match)), None)
        if equal is not None and (_selects_row(view, best) or _is_given_back(view, best)):
            yield Sighting(
                "walk.paths",
                equal.line,
                "a table of candidate paths is compared with the target's choices, matches are counted along each "
                "path, and the longest path is taken",
            )
            return


def _counted(view: View, best: Term) -> Iterator[Term]:
    """The equalities whose leading matches are counted behind a maximum."""
    for term in view.behind(best).values():
        name = callee(term)
        if name in ("sum", "count_nonzero") and term is not best:
            scans = [scan for scan in view.behind(term).values() if callee(scan) in SCANS]
            yield from (m for scan in scans for part in arguments(scan) for m in _leading(view, scan, part))
        elif name in ("min", "amin", "argmin") and term is not best:  # the place of the first mismatch
            given = [m for part in arguments(term) for m in view.matches(part).values() if m.text in EQUALITY]
            yield from (m for m in given if any(callee(inner) == "where" for inner in term.walk()) or name == "argmin")
        elif name == "argmax" and term is not best:
            yield from (m for part in arguments(term) for m in view.matches(part).values() if m.text == "!=")


def _leading(view: View, scan: Term, part: Term) -> Iterator[Term]:
    """The equalities whose leading matches a scan tells from the rest."""
    for match in view.matches(part).values():
        if match.text in EQUALITY and leads(view, scan, part, match):
            yield match


def _selects_row(view: View, best: Term) -> bool:
    """Whether a maximum over paths chooses the row that is read next."""
    holders = {n for n, ds in view.definitions.items() if any(view.holds(d.value, best) for d in ds if not d.weak)}
    for step in view.steps:
        for load in loads(step.term):
            for key in load.keys:
                if key.op != "slice" and (view.holds(key, best) or key.dotted() in holders):
                    return True
    return False


def _is_given_back(view: View, best: Term) -> bool:
    """Whether the place of the maximum itself is what a function returns."""
    if callee(best) != "argmax":
        return False
    for step in view.steps:
        if step.term.op == "return" and step.term.parts:
            given = step.term.parts[0].parts if step.term.parts[0].op == "tuple" else step.term.parts
            if any(source is best for part in given for source in view.sources(part)):
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
            is_inside = compare.text in EQUALITY and len(inner.loops) > len(step.loops) and within(inner, outer)
            if is_inside and _is_along(view, compare, outer) and view.decides(compare):
                yield Sighting(
                    "walk.chains",
                    compare.line,
                    "each candidate path is matched against the target's choices up to its first mismatch, and the "
                    "longest one is kept",
                )
                return


def _is_along(view: View, compare: Term, rows: Term) -> bool:
    """Whether both sides are read along a path, the drafted and the chosen: what a set of prompts shares is not."""
    names = names_in(rows.parts[0])
    sides = [view.loads_of(side, rows) for side in compare.parts]
    moved = [any(view.depends(load, name, rows) for load in side for name in names) for side in sides]
    return all(moved) and len(bases(load for side in sides for load in side)) > 1


# Lists of lengths, one a path: lengths.append(n); the path whose length is the greatest


def _measured_lists(view: View) -> Iterator[Sighting]:
    ranked = _ranked(view)
    for store in view.stores() if ranked else ():
        if store.base not in ranked or not store.step.loops or store.step.loops[-1].op != "for":
            continue
        rows = store.step.loops[-1]
        lengths = view.names_behind(store.value, rows)
        for compare, at in view.compares():
            is_inside = within(at, rows) and len(at.loops) > len(store.step.loops) and compare.text in EQUALITY
            counts = moving(view, at.loops[-1]) & lengths if is_inside else ()
            if counts and _is_along(view, compare, rows) and stop_of(view, compare, at):
                yield Sighting(
                    "walk.chains",
                    compare.line,
                    "the matches of each candidate path with the target's choices are counted up to its first "
                    "mismatch, and the path with the most is taken",
                )
                return


def _ranked(view: View) -> set[str]:
    """Names behind what the greatest is taken of: by a call, or by a loop that keeps the best so far."""
    found = {
        name
        for call, _ in view.calls("max", "argmax", "sorted", "topk", "sort")
        for part in arguments(call)
        for name in view.names_behind(part)
    }
    for test, step in view.compares():
        if test.text in ORDER and step.loops and step.loops[-1].op == "for":
            loop = step.loops[-1]
            sides = [(ours.dotted(), theirs) for ours, theirs in (test.parts, test.parts[::-1])]
            keeps = any(
                d.value.op != "const" and within(d.step, loop) and view.guarded_by(d.step, test)
                for best, measured in sides
                if names_in(loop.parts[0]) & view.names_behind(measured, loop)
                for d in view.definitions.get(best, ())
            )
            if keeps:
                found |= view.names_behind(loop.parts[1])
    return found


# Lanes: each thread counts along a path of its own; the longest wins by a maximum over the threads


def _lanes(view: View) -> Iterator[Sighting]:
    together = view.calls("atomicMax", "atomic_max", "__syncthreads", "syncthreads", "sync", *_SHUFFLES)
    for compare, step in view.compares() if together else ():
        if compare.text not in EQUALITY or not _are_read(view, compare) or not stop_of(view, compare, step):
            continue
        counts = _counts(view, compare, step)
        if counts and (_wins_by_atomic(view, counts) or _wins_by_scan(view, counts) or _wins_by_shuffle(view, counts)):
            yield Sighting(
                "walk.lanes",
                compare.line,
                "each thread matches a candidate path of its own against the target's choices up to its first "
                "mismatch, and the longest one wins",
            )
            return


def _are_read(view: View, compare: Term) -> bool:
    """Whether both sides of a comparison are read from memory, from different places."""
    left, right = (bases(view.loads_of(side)) for side in compare.parts)
    return bool(left and right) and not left & right


_SHUFFLES = ("__shfl_down_sync", "__shfl_xor_sync", "__shfl_sync", "__shfl_up_sync", "shfl_down", "shfl_xor", "shfl")


def _counts(view: View, compare: Term, step: Step) -> set[str]:
    """Names that count a thread's leading matches."""
    rounds = moving(view, step.loops[-1]) if step.loops else set()
    takes_first = bool(view.calls(*FIRST))
    return {
        name
        for name, definitions in view.definitions.items()
        if (name in rounds or takes_first)  # what is cheap to tell comes first: a kernel has thousands of names
        and any(_is_count(view, each, name, compare, rounds) for each in definitions)
        and any(view.holds(each.value, compare) or view.guarded_by(each.step, compare) for each in definitions)
    }


def _is_count(view: View, each: Definition, name: str, compare: Term, rounds: set[str]) -> bool:
    """Whether a definition raises a name round by round, or sets it to the first place of a comparison's outcome."""
    if name in rounds and each.value.op == "op" and each.value.text == "+" and each.value.parts[0].dotted() == name:
        return True
    places = [part for part in each.value.walk() if callee(part) in FIRST]
    return any(id(compare) in view.matches(given) for place in places for given in arguments(place))


def _wins_by_atomic(view: View, counts: set[str]) -> bool:
    """`atomicMax(best, count << 32 | path)`: of a batch's chains only the count would be of interest."""
    for call, _ in view.calls("atomicMax", "atomic_max"):
        for value in call.parts[2:3]:
            spelled = view.names_behind(value)
            packed = [t for t in view.behind(value).values() if t.op == "op" and t.text in ("|", "+")]
            if spelled & counts and any(_mixes(view, t, counts) for t in packed):
                return True
    return False


def _mixes(view: View, term: Term, counts: set[str]) -> bool:
    holds = [bool(view.names_behind(part) & counts) for part in term.parts]
    return sum(holds) == 1 and all(part.op != "const" for part in term.parts)


def _wins_by_scan(view: View, counts: set[str]) -> bool:
    """`for p in paths: if (length[p] > length[best]) best = p`, behind a store of each thread's count."""
    shared = {store.base for store in view.stores() if store.keys and view.names_behind(store.value) & counts}
    for test, step in view.compares() if shared else ():
        if test.text not in ORDER or not step.loops or step.loops[-1].op != "for":
            continue
        target = step.loops[-1].parts[0].dotted()
        read = [load for side in test.parts for load in view.loads_of(side) if load.base in shared]
        taken = any(
            d.value.dotted() == target and view.guarded_by(d.step, test)
            for definitions in view.definitions.values()
            for d in definitions
        )
        if target and read and taken:
            return True
    return False


def _wins_by_shuffle(view: View, counts: set[str]) -> bool:
    """`other = __shfl_down_sync(m, count, d); if (other > count) { count = other; path = other_path; }`."""
    handed = {
        name
        for name, definitions in view.definitions.items()
        for d in definitions
        if callee(d.value) in _SHUFFLES and view.names_behind(d.value) & counts
    }
    for test, _ in view.compares() if handed else ():
        if test.text in ORDER and names_in(test) & handed:
            moved = {n for n, ds in view.definitions.items() for d in ds if view.guarded_by(d.step, test)}
            if moved - counts:
                return True
    return False


# Rows that stand: live = live & (table[:, i] == chosen), until none does; one of the last that did is taken


def _live_rows(view: View) -> Iterator[Sighting]:
    for compare, step in view.compares() if view.calls(*_TAKES_ROW) else ():
        if compare.text != "==" or not step.loops:
            continue
        loop = step.loops[-1]
        column = any(_is_column(view, load.keys, loop) for side in compare.parts for load in view.loads_of(side, loop))
        if not column or not _ends_where_none(view, compare, loop) or not _takes_row(view, compare):
            continue
        for term in (t for s in view.steps if within(s, loop) for t in s.terms):
            if are_joined(term, compare, view) and len(term.parts) > 1:
                yield Sighting(
                    "walk.rows",
                    compare.line,
                    "position by position those candidate paths stay whose next token is the target's choice, and one "
                    "of the last to stay is taken",
                )
                return


def _is_column(view: View, keys: tuple[Term, ...], loop: Term) -> bool:
    """`[:, i]` with the i of a loop."""
    rounds = moving(view, loop)
    return (
        len(keys) > 1 and keys[0].op == "slice" and any(names_in(key) & rounds for key in keys[1:] if key.op != "slice")
    )


def _ends_where_none(view: View, compare: Term, loop: Term) -> bool:
    return any(
        step.term.op in ("break", "return") and within(step, loop) and view.guarded_by(step, compare)
        for step in view.steps
    )


_TAKES_ROW = ("nonzero", "flatnonzero", "argmax", "where", "max")


def _takes_row(view: View, compare: Term) -> bool:
    """`live.nonzero()[0]`, `live.argmax()`."""
    for call, _ in view.calls(*_TAKES_ROW):
        if any(id(compare) in view.matches(part) or view.holds(part, compare) for part in arguments(call)):
            return True
    return False


# Lists that shrink: rows = [row for row in rows if row[i] == target[where rows[0] stands]]


def _live_lists(view: View) -> Iterator[Sighting]:
    for step in view.steps:
        if step.term.op != "assign" or not step.loops:
            continue
        name, value = step.term.parts[0].dotted(), step.term.parts[-1]
        if not name or value.op != "comp" or name not in names_in(value.parts[2]):
            continue
        row = names_in(value.parts[1])
        for compare in (t for part in value.parts[3:] if part.op == "if" for t in part.walk()):
            if compare.op == "compare" and compare.text == "==" and _is_led(view, compare, name, row, step.loops[-1]):
                yield Sighting(
                    "walk.rows",
                    compare.line,
                    "those candidate paths stay whose next token is the target's choice at the node that the ones "
                    "before them reached",
                )
                return


def _is_led(view: View, compare: Term, name: str, row: set[str], loop: Term) -> bool:
    """Whether one side is the row's token, and the other what was chosen where the rows that stood lead."""
    for ours, theirs in (compare.parts, compare.parts[::-1]):
        if (
            names_in(ours) & row
            and not names_in(theirs) & row
            and name in view.names_behind(theirs, loop) - names_in(theirs)
        ):
            return any(load.base != name for load in view.loads_of(theirs, loop))
    return False

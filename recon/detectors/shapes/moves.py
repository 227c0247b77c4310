"""What becomes of the KV cache after acceptance: bytes moved, slots given back, or a length that is lowered."""

from collections.abc import Iterator

from recon.detectors.shapes.algebra import alike
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Store
from recon.detectors.shapes.states import copied
from recon.detectors.shapes.terms import CASTS, Load, callee, is_whole, loads, names_in, subject
from recon.index.sighting import Sighting
from recon.index.term import Term


def cache_moves(view: View) -> Iterator[Sighting]:
    """Entries of each layer's buffer copied to other places of the same buffer: `for c in caches: c[to] = c[from]`."""
    for store in (*view.stores(), *_index_copies(view)):
        load = copied(view, store)
        if load is None or view.root(load.base) != store.base:
            continue
        is_one = _is_layer(view, store, load) or _is_of_pair(view, store, load)
        if is_one and _is_elsewhere(view, store, load) and not _is_swapped(view, store, load):
            note = "in every layer's buffer entries are copied to other places of the same buffer"
            yield Sighting("move", store.step.term.line, note)
            return


def _is_swapped(view: View, store: Store, load: Load) -> bool:
    """Whether the places that are read are written as well: halves that change places keep what they held."""
    return any(other.base == store.base and _are_alike(other.keys, load.keys) for other in view.stores())


def _index_copies(view: View) -> Iterator[Store]:
    """`cache.index_copy_(0, to, value)` as the store that it is."""
    for call, step in view.calls("index_copy_", "index_put_"):
        places = [part for part in call.parts[1:] if part.op != "kw"]
        if call.parts[0].op == "attr" and len(places) > 1:
            buffer = call.parts[0].parts[0]
            yield Store(view.root(subject(buffer)), (*_keys(buffer), *places[:-1]), places[-1], step)


def _keys(term: Term) -> tuple[Term, ...]:
    return tuple(term.parts[1:]) if term.op == "index" else ()


def _is_layer(view: View, store: Store, load: Load) -> bool:
    """Whether a buffer is one of many: an element of a list that is gone through, a pointer out of a table, an axis."""
    if all(keys and is_whole(keys[0]) for keys in (store.keys, load.keys)):
        return True
    rounds = _rounds(store)
    own = [one for one in view.definitions.get(load.base, ()) if not one.weak]
    if any(one.step.loops and set(map(id, one.step.loops)) <= set(map(id, store.step.loops)) for one in own):
        values = [one.value.parts[0] if one.value.op == "item" else one.value for one in own]
        if any(value.op == "each" or (value.op == "index" and names_in(value) & rounds) for value in values):
            return True
    if {key.dotted() for key in store.keys} & {key.dotted() for key in load.keys} & rounds:
        return True
    return callee(load.term) == "load" and any(_is_from_table(view, one.value) for one in own)


def _is_of_pair(view: View, store: Store, load: Load) -> bool:
    """Whether keys and values move alike, from chosen slots of a list to its first ones, whatever layer they are of."""
    partners = [
        other
        for other in view.stores()
        if other.base != store.base and _are_alike(other.keys, store.keys) and _is_moved_by(view, other, load)
    ]
    chosen, first = (
        {one.base: one for key in keys for one in view.loads_behind(key)} for keys in (load.keys, store.keys)
    )
    both = chosen.keys() & first.keys()
    return bool(partners) and any(_is_leading(first[base]) and not _is_leading(chosen[base]) for base in both)


def _is_moved_by(view: View, store: Store, load: Load) -> bool:
    other = copied(view, store)
    return other is not None and view.root(other.base) == store.base and _are_alike(other.keys, load.keys)


def _are_alike(some: tuple[Term, ...], others: tuple[Term, ...]) -> bool:
    return len(some) == len(others) and all(map(alike, some, others))


def _is_leading(load: Load) -> bool:
    """`slots[:n]`, `slots[:, :n]`."""
    last = load.keys[-1]
    return last.op == "slice" and last.parts[1].op != "none"


def _rounds(store: Store) -> set[str]:
    """Names that count the rounds of the loops around a store."""
    return {name for loop in store.step.loops if loop.op == "for" for name in names_in(loop.parts[0])}


def _is_from_table(view: View, value: Term) -> bool:
    """Whether a pointer was itself loaded, cast or not."""
    inner = value.parts[1] if callee(value) == "cast" and len(value.parts) > 1 else value
    return any(callee(load.term) == "load" for load in view.loads_of(inner))


def _is_elsewhere(view: View, store: Store, load: Load) -> bool:
    """Whether both places are given or looked up, and not the same way."""
    if store.step.term.op == "do" and callee(load.term) == "load":
        read, written = (
            {view.root(one.base) for key in keys for one in view.loads_behind(key)} for keys in (load.keys, store.keys)
        )
        return bool(read - written) and bool(written - read)
    if len(store.keys) != len(load.keys):
        return False
    moved = [pair for pair in zip(store.keys, load.keys, strict=True) if pair[0] != pair[1]]
    rounds = _rounds(store)
    return bool(moved) and all(_is_place(key) and key.dotted() not in rounds for pair in moved for key in pair)


def _is_place(key: Term) -> bool:
    """Whether a key is a vector of places, or looked up in one: a name or a subscript, no offset from another place."""
    return key.op in ("name", "attr", "index") or callee(key) in CASTS


def freed_slots(view: View) -> Iterator[Sighting]:
    """Slots kept for the accepted nodes and the others given back: `m[acc] = False; free(slots[m]); slots[acc]`."""
    for store in view.stores():
        if len(store.keys) != 1 or store.value.op != "const" or not store.keys[0].dotted():
            continue
        accepted = store.keys[0].dotted()
        freed = [load for load in _arguments(view) if load.keys and load.keys[0].dotted() == store.base]
        if not freed:
            continue
        kept = {
            load.base
            for step in view.steps
            for load in loads(step.term)
            if len(load.keys) == 1 and load.keys[0].dotted() == accepted
        }
        if any(load.base in kept for load in freed):
            note = f"the slots at {accepted} are kept in the page table and all others given back; no bytes move"
            yield Sighting("freed", store.step.term.line, note)
            return


def _arguments(view: View) -> Iterator[Load]:
    """Loads that are handed to a method as its only argument."""
    for step in view.steps:
        if step.term.op == "do" and step.term.parts[0].op == "call" and len(step.term.parts[0].parts) == 2:
            yield from loads(step.term.parts[0].parts[1], deep=False)


def lowered_lengths(view: View) -> Iterator[Sighting]:
    """A request's length lowered by what was refused: `length -= drafted - accepted`, the numbers those of tokens."""
    for step in view.steps:
        term = step.term
        if term.op == "assign" and term.text == "-" and term.parts[0].op == "attr":
            refused = [part for part in view.behind(term.parts[1]).values() if part.op == "op" and part.text == "-"]
            if any(sum(callee(inner) == "len" for inner in view.behind(part).values()) > 1 for part in refused):
                note = "the length of a request is lowered by the refused tokens, whose entries are written over later"
                yield Sighting("lowered", term.line, note)
                return

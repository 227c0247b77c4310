"""Recurrent and convolution states in speculative decoding: which state a token starts from, and which one stays.

A plain recurrence carries one state from token to token and keeps the last. To take back a draft, it starts from a
state chosen by how many tokens were accepted, or keeps one state a position of which one is copied back; on a tree each
node starts from its parent's.
"""

from collections.abc import Iterator

from recon.detectors.shapes.chains import moving
from recon.detectors.shapes.flow import View
from recon.detectors.shapes.laid import Definition, Step, Store, within
from recon.detectors.shapes.terms import Load, arguments, bare, callee, is_whole, loads, names_in, subject
from recon.index.sighting import Sighting
from recon.index.term import Term

_ADDERS = frozenset({"sum", "max"})
_PRODUCTS = frozenset({"outer", "einsum", "addcmul", "mul", "mul_", "baddbmm", "addr", "lerp", "matmul", "mv", "bmm"})


def counted_states(view: View) -> Iterator[Sighting]:
    """A recurrence whose first state lies at a place that is found with a count of tokens, less one.

    The sighting's detail is the name that the count comes through.
    """
    counts = list(_counts(view))
    for loop in _loops(view) if counts else ():
        for name, definition in _carried(view, loop):
            count = _decided_by(view, name, definition, counts, loop)
            if count and _works(view, name, loop):
                note = f"the state that the first token starts from is chosen by the count in {count}"
                yield Sighting("counted", definition.value.line, note, count)
                return


def stepped_states(view: View) -> Iterator[Sighting]:
    """A recurrence over tokens that keeps the state after each of them at a place of its own.

    The sighting's detail is the name that the kept states go through.
    """
    rounds = {id(loop): moving(view, loop) for loop in _loops(view) if not _is_blocked(view, loop)}
    seen: set[str] = set()
    for store in view.stores():
        around = [loop for loop in store.step.loops if id(loop) in rounds and store.base not in seen]
        if any(_keeps(view, store, loop, rounds[id(loop)]) for loop in around):
            seen.add(store.base)
            note = f"the state after each token is kept in {store.base}, at a place of its own"
            yield Sighting("stepped", store.step.term.line, note, store.base)


def picked_states(view: View) -> Iterator[Sighting]:
    """A copy of one of several kept entries a request, chosen by a step given for it, to the request's own slot.

    The sighting's detail is the name that the kept entries are read through.
    """
    for store in view.stores():
        load = copied(view, store)
        if load is not None and view.root(load.base) != store.base and _picks(view, store, load):
            source = view.root(load.base)
            note = f"for each request one of the entries kept in {source} is copied to {store.base} by its step"
            yield Sighting("picked", store.step.term.line, note, source)
            return


def parent_states(view: View) -> Iterator[Sighting]:
    """A recurrence or convolution in which every node starts from the state, or the inputs, of its parent.

    The sighting's detail is the name that the parents come through.
    """
    for loop in _loops(view):
        if not _is_blocked(view, loop):
            found = _from_parent_state(view, loop) or _over_ancestors(view, loop)
            if found is not None:
                yield found
                return


def updated_states(view: View) -> Iterator[Sighting]:
    """A kernel that reads a state, works something else into it and writes it back: a recurrence of any kind."""
    if not any(view.calls("program_id")) or any(view.calls("dot")):
        return
    for store in view.stores():
        for load in view.loads_behind(store.value):
            if view.root(load.base) == store.base and _is_worked_into(view, store, load, None):
                note = "a state is read, worked on and written back, whatever was accepted before"
                yield Sighting("updated", store.step.term.line, note)
                return


# States that are carried


def _loops(view: View) -> list[Term]:
    return list({id(loop): loop for step in view.steps for loop in step.loops}.values())


def _set_in(view: View, loop: Term) -> list[str]:
    """Names that a loop assigns, in the order in which the function first does."""
    own = view.set_in(loop)
    return [name for name in view.definitions if name in own]


def _carried(view: View, loop: Term) -> Iterator[tuple[str, Definition]]:
    """Names that are given a value before a loop and another one inside, each with a definition from before."""
    for name in _set_in(view, loop):
        strong = [one for one in view.definitions[name] if not one.weak]
        if any(within(one.step, loop) for one in strong):
            yield from ((name, one) for one in strong if not within(one.step, loop))


def _counts(view: View) -> Iterator[tuple[Term, Load]]:
    """Terms `count - 1`, the count loaded, with its load."""
    for step in view.steps:
        for part in step.terms:
            if part.op == "op" and part.text == "-" and part.parts[1].op == "const" and part.parts[1].text == "1":
                yield from ((part, load) for load in view.loads_of(part.parts[0]) if load.base)


def _decided_by(view: View, name: str, definition: Definition, counts: list[tuple[Term, Load]], loop: Term) -> str:
    """The name through which the count comes that decides where a value is loaded; '' if there is none.

    What is only read, and what is read in the loop too, is an input and no state.
    """
    for load in view.loads_of(definition.value):
        for term, count in counts:
            source = view.root(count.base)
            if source != view.root(load.base) and any(part is term for part in _leading(view, load, definition.step)):
                origins = _origins(view, load, definition.step)
                if not origins & _inputs(view, loop) and (_is_stored(view, name) or origins & _bases(view)):
                    return source
    return ""


def _inputs(view: View, loop: Term) -> set[str]:
    """What a loop reads."""
    steps = [step.term for step in view.steps if within(step, loop)]
    read = [step.parts[-1] if step.op == "assign" else step for step in steps]
    return {view.root(load.base) for term in read for load in loads(term)}


def _is_stored(view: View, name: str) -> bool:
    return any(bare(store.value).dotted() == name for store in view.stores())


def _bases(view: View) -> set[str]:
    """What is written to."""
    return {store.base for store in view.stores()}


def _leading(view: View, load: Load, step: Step) -> Iterator[Term]:
    """The terms that lead to a load's place by the definitions that hold at a step, and no others of the same names."""
    for key in load.keys:
        yield from _at(view, key, step)


def _at(view: View, term: Term, step: Step) -> Iterator[Term]:
    todo, seen = [(term, step)], set[int]()
    while todo:
        current, where = todo.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        for part in current.walk():
            yield part
            name = part.dotted()
            todo += [(one.value, one.step) for one in _holding(view, name, where)] if name else []


def _origins(view: View, load: Load, step: Step) -> set[str]:
    """The parameters, or first names, that a load's pointer may start from at a step."""
    found: set[str] = set()
    todo, seen = [(load.base, step)], set[str]()
    while todo:
        name, where = todo.pop()
        onward = [] if name in view.params else list(_holding(view, name, where))
        found |= set() if onward else {name}
        todo += [(subject(one.value), one.step) for one in onward if subject(one.value) not in seen | {""}]
        seen.add(name)
    return found


def _holding(view: View, name: str, step: Step) -> Iterator[Definition]:
    """The definitions of a name from which its value at a step may come, the last one first."""
    for one in reversed(view.definitions.get(name, ())):
        if one.step.order < step.order and not one.weak:
            yield one
            if all(
                guard.test is other.test for guard, other in zip(one.step.guards, step.guards, strict=False)
            ) and len(one.step.guards) <= len(step.guards):
                return  # it is set on every way that leads here


def _works(view: View, name: str, loop: Term) -> bool:
    """Whether what a loop carries is multiplied with what was read, token by token, and what comes of it written."""
    if _is_blocked(view, loop):
        return False
    return any(_has_part(view, product, name, loop) for product in _products(view, loop)) and any(
        name in view.names_behind(store.value, loop) for store in view.stores() if within(store.step, loop)
    )


def _is_blocked(view: View, loop: Term) -> bool:
    """Whether a loop goes over blocks of tokens: it multiplies matrices."""
    return any(within(step, loop) for _, step in view.calls("dot"))


def _products(view: View, loop: Term | None) -> Iterator[Term]:
    """Products of two values that are not constants, in a loop."""
    for step in view.steps:
        if not within(step, loop):
            continue
        if step.term.op == "assign" and step.term.text == "*":
            yield Term("op", "*", step.term.parts, step.term.line)
        for part in step.terms:
            if part.op == "call":
                is_product = callee(part) in _PRODUCTS
            else:
                is_product = part.op == "op" and part.text in ("*", "@") and all(p.op != "const" for p in part.parts)
            if is_product:
                yield part


def _factors(product: Term) -> tuple[Term, ...]:
    return product.parts if product.op == "op" else arguments(product)


def _has_part(view: View, product: Term, name: str, loop: Term) -> bool:
    """Whether a carried value itself is a factor, beside something that was read."""
    factors = _factors(product)
    own = [factor for factor in factors if name in _values(view, factor, loop)]
    return bool(own) and any(view.loads_behind(factor) for factor in factors if factor is not own[0])


def _values(view: View, term: Term, loop: Term) -> set[str]:
    """Names whose values a value may be, through casts, selections, additions and moves between names."""
    found: set[str] = set()
    stack = [term]
    while stack:
        current = stack.pop()
        dotted = current.dotted()
        if dotted in found:
            continue
        if dotted:
            found.add(dotted)
        stack.extend(view.carried_on(current, loop) or ([current.parts[0]] if current.op == "index" else []))
    return found


# One state a position


def _keeps(view: View, store: Store, loop: Term, rounds: set[str]) -> bool:
    """Whether a loop stores what it carries on, at a place that moves with it."""
    name = bare(store.value).dotted()
    if not name or not _moves(view, store, loop, rounds):
        return False
    strong = [one for one in view.definitions.get(name, ()) if not one.weak and within(one.step, loop)]
    if not any(name in view.names_behind(one.value, loop) for one in strong):
        return False
    if all(within(one.step, loop) or _excludes(one.step, strong[0].step) for one in view.definitions[name]):
        return False  # made anew in each round, not carried on; in another branch the name is another's
    return any(_has_part(view, product, name, loop) for product in _products(view, loop))


def _excludes(one: Step, other: Step) -> bool:
    """Whether two steps stand in different branches of one test."""
    return any(
        guard.test is against.test and guard.holds != against.holds for guard in one.guards for against in other.guards
    )


def _moves(view: View, store: Store, loop: Term, rounds: set[str]) -> bool:
    return any(rounds & view.names_behind(key, loop) for key in store.keys)


# One of several kept states is copied


def copied(view: View, store: Store) -> Load | None:
    """The load whose value is stored just as it was read; None if more is done to it."""
    value = bare(store.value)
    strong = [one for one in view.definitions.get(value.dotted(), ()) if not one.weak] if value.dotted() else []
    if len(strong) == 1:
        value = bare(strong[0].value)
    found = loads(value, deep=False)
    return found[0] if found and found[0].base and found[0].keys else None


def _picks(view: View, store: Store, load: Load) -> bool:
    """Whether the place read has a step that the place written lacks, and each is a place of the request's."""
    if store.step.term.op == "do":
        read, written = (_roots(view, keys) for keys in (load.keys, store.keys))
        return bool(read - written) and bool(written - read) and len(read) > 1
    steps, slots = ({key for key in keys if not is_whole(key)} for keys in (load.keys, store.keys))
    return len(steps) > len(slots) > 0


def _roots(view: View, keys: tuple[Term, ...]) -> set[str]:
    """Arrays that a place in memory was looked up in."""
    return {view.root(load.base) for key in keys for load in view.loads_behind(key)}


def _looked_up(view: View, store: Store) -> set[str]:
    """Arrays in which the place of a store was looked up."""
    parts = [part for key in store.keys for part in _at(view, key, store.step)]
    return {view.root(load.base) for part in parts for load in loads(part, deep=False)}


# Parents


def _from_parent_state(view: View, loop: Term) -> Sighting | None:
    """`state = kept[parent[i]]`, and after the token `kept[i] = state`; what the token gives is written elsewhere."""
    stores = [store for store in view.stores() if within(store.step, loop)]
    rounds = moving(view, loop) if len({store.base for store in stores}) > 1 else set[str]()
    for store in stores if rounds else ():
        if not _moves(view, store, loop, rounds):
            continue
        for load in view.loads_behind(store.value, loop):
            if view.root(load.base) == store.base and _is_worked_into(view, store, load, loop):
                parent = _parent_of(view, load, loop, rounds)
                if parent and parent not in _looked_up(view, store):
                    note = f"each node starts from the state that was kept for its parent, which comes through {parent}"
                    return Sighting("parent.state", load.term.line, note, parent)
    return None


def _is_worked_into(view: View, store: Store, load: Load, loop: Term | None) -> bool:
    """Whether a loaded state is what is stored again, multiplied with something that was read elsewhere."""
    if not any(operand is load.term for operand in view.operands(store.value, loop)):
        return False
    for product in _products(view, loop):
        for factor in _factors(product):
            others = [
                one
                for other in _factors(product)
                if other is not factor and view.holds(store.value, other, loop)
                for one in view.loads_behind(other)
            ]
            if any(view.root(one.base) != view.root(load.base) for one in others) and any(
                operand is load.term for operand in view.operands(factor, loop)
            ):
                return True
    return False


def _parent_of(view: View, load: Load, loop: Term, rounds: set[str]) -> str:
    """The name of the array in which a load's place was looked up at the token of the round; '' if it was not."""
    for key in load.keys:
        for source in view.sources(key, loop):
            vector = _entry(view, source, rounds, loop)
            if vector and view.root(vector) != view.root(load.base):
                return view.root(vector)
    return ""


def _entry(view: View, term: Term, places: set[str], loop: Term) -> str:
    """The array of which a term is the entry at one of some places: by a load, or by a masked sum."""
    for load in loads(term, deep=False):
        if any(places & _named(view, key, loop) for key in load.keys):
            return load.base
    if callee(term) in _ADDERS:
        for part in arguments(term):
            if callee(part) == "where" and len(part.parts) == 4 and part.parts[1].op == "compare":
                test, vector, _ = part.parts[1:]
                found = view.loads_of(vector) or view.loads_behind(vector)
                if test.text == "==" and found and places & {side.dotted() for side in test.parts}:
                    return min(found, key=lambda load: (load.term.line, load.base)).base
    return ""


def _named(view: View, key: Term, loop: Term) -> set[str]:
    """Names that a key spells, and those that the pointers in it were last made of."""
    spelled = names_in(key)
    made = [one.value for name in spelled for one in view.definitions.get(name, ()) if within(one.step, loop)]
    return spelled.union(*(names_in(value) for value in made))


def _over_ancestors(view: View, loop: Term) -> Sighting | None:
    """A sum of products over the inputs of a node, its parent, its parent's parent: a convolution on a tree."""
    climbers = _climbers(view, loop)
    for product in _products(view, loop) if climbers else ():
        for factor in _factors(product):
            weights = {
                view.root(one.base)
                for other in _factors(product)
                if other is not factor
                for one in view.loads_of(other)
            }
            for load in view.loads_of(factor, loop):
                names = {part for key in load.keys for part in view.names_behind(key, loop)} & set(climbers)
                links = {climbers[name] for name in names} - {view.root(load.base)}
                if links and weights - {view.root(load.base)} and _is_summed_and_written(view, product, loop):
                    parent = min(links)
                    note = f"each node takes in the inputs of its ancestors, found through {parent}"
                    return Sighting("parent.window", load.term.line, note, parent)
    return None


def _climbers(view: View, loop: Term) -> dict[str, str]:
    """Names that a loop sends from node to node, each with the array of links that it follows."""
    found: dict[str, str] = {}
    for name in _set_in(view, loop):
        for definition in view.definitions[name]:
            if definition.weak or not within(definition.step, loop):
                continue
            for source in view.sources(definition.value, loop):
                links = _entry(view, source, {name}, loop)
                if links:
                    found[name] = view.root(links)
    return found


def _is_summed_and_written(view: View, product: Term, loop: Term) -> bool:
    """Whether a product is added to a sum that the loop writes out."""
    sums = {
        name
        for name in view.set_in(loop)
        for one in view.definitions[name]
        if within(one.step, loop) and one.value.op == "op" and one.value.text == "+" and view.holds(one.value, product)
    }
    return any(sums & view.names_behind(store.value, loop) for store in view.stores() if within(store.step, loop))

"""Where the mask of a draft tree goes: from the code that builds it to the attention kernels that take one."""

from dataclasses import dataclass

from recon.detectors.api import Evidence, Index
from recon.detectors.handing import is_function, reaches
from recon.detectors.hooks import Hook, hooks
from recon.detectors.places import evidence, ranked, seen
from recon.detectors.shapes.catalog import (
    ANCESTOR_MASK,
    DRAFT_LOOP,
    GREEDY_CHAIN,
    GREEDY_WALK,
    STOCHASTIC_CHAIN,
    STOCHASTIC_WALK,
)
from recon.index.tables import Ref
from recon.records.path import Tier

ACCEPTANCE = (GREEDY_CHAIN, GREEDY_WALK, STOCHASTIC_CHAIN)
"""Shapes that `draft_loops` asks about too."""
_FARTHEST = 6
"""Calls that are looked up from a loop that drafts, or from acceptance, to where both are called from."""
_AS_NEAR = 1
"""Steps by which a loop may be farther from acceptance than the nearest one."""


@dataclass(frozen=True, slots=True)
class Route:
    """One way on which a tree's mask reaches an attention kernel."""

    kernel: Ref
    builders: tuple[Ref, ...]
    draft: tuple[Evidence, ...]
    """Places that a drafting loop calls."""
    verify: tuple[Evidence, ...]
    """The other places: the kernel, what launches it, what carries the mask, what builds it."""


def routes(index: Index) -> tuple[Route, ...]:
    """All ways from a builder of ancestor masks to a kernel that takes a mask."""
    builders = {function.ref for function, _ in index.seen(ANCESTOR_MASK.id)}
    found = []
    for hook in hooks(index):
        reached = [maker for maker in hook.trail.makers if reaches(index, maker, builders)]
        if reached:
            found.append(_route(index, hook, reached, builders))
    return tuple(found)


def _route(index: Index, hook: Hook, reached: list[Ref], builders: set[Ref]) -> Route:
    kernel = hook.function
    places = [evidence(index, kernel, kernel.scope.line, "adds the mask to the scores")]
    loops = drafting(index)
    draft: list[Evidence] = []
    for ref, line in hook.trail.functions.items():
        if is_function(index, ref):
            function = index.function(ref)
            place = evidence(index, function, line, "hands the mask on towards the kernel")
            (draft if ref in loops else places).append(place)
    used = [builder for builder in builders if any(reaches(index, maker, {builder}) for maker in reached)]
    for ref in dict.fromkeys([*reached, *used]):
        function = index.function(ref)
        if is_function(index, ref):
            places.append(evidence(index, function, function.scope.line, "builds the mask of the tree's ancestors"))
    return Route(kernel.ref, tuple(reached), tuple(ranked(draft)), tuple(ranked(places)))


def drafting(index: Index) -> set[Ref]:
    """The loops that draft, and what they call themselves to set a round up."""
    loops = {function.ref for function, _ in index.seen(DRAFT_LOOP.id)}
    return loops | {edge.target for ref in loops for edge in index.graph.edges_from(ref) if edge.tier is not Tier.GUESS}


def draft_loops(index: Index) -> list[Evidence]:
    """Where tokens are drafted: loops on the host whose callers soonest lead to acceptance as well.

    Code that feeds a model with its own choices is also found far from speculation, in searches and quantisers: a loop
    counts that is about as near as the nearest, or, where none leads to acceptance, that a runner reaches.
    """
    accepting = {function.ref for function, _ in index.seen(*(shape.id for shape in ACCEPTANCE))}
    below = _steps_up(index, accepting)
    near: dict[Ref, tuple[int, Evidence]] = {}
    apart: dict[Ref, Evidence] = {}
    for function, sighting in index.seen(DRAFT_LOOP.id):
        if function.is_kernel:
            continue
        above = _steps_up(index, {function.ref})
        place = evidence(index, function, sighting.line, sighting.note)
        meeting = [above[ref] + below[ref] for ref in above.keys() & below.keys()]
        if meeting:
            near[function.ref] = min(meeting), place
        elif place.scope:
            apart[function.ref] = place
    if not near:
        return list(apart.values())
    nearest = min(steps for steps, _ in near.values())
    ordered = sorted(near.values(), key=lambda each: each[0])
    return [place for steps, place in ordered if steps <= nearest + _AS_NEAR]


def _steps_up(index: Index, refs: set[Ref]) -> dict[Ref, int]:
    """Callers of some functions, and theirs, with the steps to the nearest; guesses are not followed."""
    found = dict.fromkeys(refs, 0)
    level = refs
    for steps in range(1, _FARTHEST + 1):
        level = {edge.source for ref in level for edge in index.callers(ref)} - found.keys()
        found.update(dict.fromkeys(level, steps))
    return found


def accepts_trees(index: Index, *, wired: bool) -> bool:
    """Whether anything in the tree walks a draft tree to accept; with `wired`, anything that the step reaches."""
    walks = seen(index, GREEDY_WALK.id, STOCHASTIC_WALK.id)
    return any(walk.scope or not wired for walk in walks)

"""The data-flow view: what may lie behind a value, which names chase, what governs what."""

from collections.abc import Iterator

import pytest

from recon.detectors import survey as surveys
from recon.detectors.api import Feature, Shape, Sighting, View
from recon.detectors.shapes.laid import within
from recon.detectors.shapes.terms import loads, subject
from recon.index.reading import Subject
from recon.index.term import Term
from tests.index.spelled import cuda, python, spelled


def view(source: str, *params: str) -> View:
    """The view of a Python function."""
    return View(python(source), params)


def loops(seen: View) -> list[Term]:
    """The loops of a function, in source order."""
    return list({id(loop): loop for step in seen.steps for loop in step.loops}.values())


def value(seen: View, name: str, number: int = 0) -> Term:
    """What a name is set to, the first time or a later one."""
    return seen.definitions[name][number].value


def spelled_all(terms: object) -> set[str]:
    """Terms as text."""
    assert isinstance(terms, list | dict)
    return {spelled(term) for term in (terms.values() if isinstance(terms, dict) else terms)}


# Laying out


def test_names_that_are_bound_together_get_their_own_share() -> None:
    """Of what is paired off, each the elements of one sequence."""
    seen = view("""
        def f(a, b, c):
            for x, y in zip(a, b):
                pass
            for i, (z, w) in enumerate(zip(b, c)):
                pass
            for v, u in c:
                pass
    """)

    assert ["(each a)", "(each b)", "(each b)", "(each c)"] == [spelled(value(seen, name)) for name in "xyzw"]
    assert ["(item:0 (each c))", "(item:1 (each c))"] == [spelled(value(seen, name)) for name in "vu"]
    assert ["a", "b", "b", "c"] == [seen.sources(value(seen, name))[0].dotted() for name in "xyzw"]


def test_a_step_knows_its_loops_and_its_guards() -> None:
    """Also those that an early exit above it leaves behind."""
    seen = view("""
        def f(n):
            for i in range(n):
                if done(i):
                    continue
                while i < n:
                    if bad(i):
                        x = 1
                    else:
                        x = 2
    """)
    one, two = (definition.step for definition in seen.definitions["x"])
    guards = [(spelled(guard.test), guard.holds) for guard in one.guards]

    assert ["for", "while"] == [loop.op for loop in one.loops]
    assert [("(call done i)", False), ("(compare:< i n)", True), ("(call bad i)", True)] == guards
    assert (spelled(two.guards[-1].test), two.guards[-1].holds) == ("(call bad i)", False)
    assert within(one, loops(seen)[0])
    assert not within(seen.steps[0], loops(seen)[1])


def test_definitions_are_plain_or_weak() -> None:
    """A store into a thing, or an append, changes it in part."""
    seen = view("""
        def f(a, b):
            a = b
            a += 1
            a[0] = 2
            a.append(3)
            b.mask = 4
            for k, v in a:
                pass
            c, d = 5, (e := 6)
            g = [h for h in a]
    """)
    known = {name: [(spelled(d.value), d.weak) for d in found] for name, found in seen.definitions.items()}

    assert [("b", False), ("(op:+ a 1)", False), ("2", True), ("(tuple 3)", True)] == known["a"]
    assert [("4", True)] == known["b"]
    assert [("4", False)] == known["b.mask"]
    assert [("(item:0 (each a))", False)] == known["k"]
    assert [("5", False)] == known["c"]
    assert [("6", False)] == known["e"]
    assert [("(each a)", False)] == known["h"]


# What lies behind a value


def test_behind_follows_names_and_stops_at_the_loop_that_it_is_given() -> None:
    """Everything that may have a part in a value, by data."""
    seen = view("""
        def f(x, n):
            a = x[0]
            for i in range(n):
                b = a + i
            return g(b)
    """)
    result = seen.steps[-1].term.parts[0]

    assert {"b", "a", "x", "i", "n", "range", "g"} == seen.names_behind(result)
    assert "x" not in seen.names_behind(value(seen, "b"), loops(seen)[0])
    assert ["x"] == [load.base for load in seen.loads_behind(result)]


def test_behind_ends_on_definitions_that_go_in_circles() -> None:
    """`a = b; b = a` in a loop."""
    seen = view("""
        def f(a, b):
            while a:
                a = b + 1
                b = a * 2
    """)

    assert {"a", "b"} == seen.names_behind(value(seen, "a"))


def test_sources_go_through_what_keeps_values() -> None:
    """Casts, selections, arithmetic and names do; a comparison's outcome is no copy of what it compares."""
    seen = view("""
        def f(p, q, u):
            a = p[0].to(torch.int32)
            b = a if u < 1 else q[1]
            c = torch.where(u > 0, b, -1)
            d = c + (q[2] == u)
            return d
    """)

    assert {"(index p 0)", "(index q 1)"} == spelled_all(seen.sources(value(seen, "d")))


def test_operands_go_on_through_plain_mathematics() -> None:
    """Which `sources` does not: a logarithm is no copy."""
    seen = view("""
        def f(p, q):
            return torch.log(p[0]) - q[0].exp()
    """)
    difference = seen.steps[-1].term.parts[0]

    assert {"(call (attr:log torch) (index p 0))", "(call (attr:exp (index q 0)))"} == spelled_all(
        seen.sources(difference)
    )
    assert {"(index p 0)", "(index q 0)"} <= spelled_all(seen.operands(difference))


@pytest.mark.parametrize(
    ("value_", "compares"),
    [
        ("(a == b).int()", {"(compare:== a b)"}),
        ("torch.logical_and(a == b, c != d)", {"(compare:== a b)", "(compare:!= c d)"}),
        ("torch.where(a == b, 1, 0)", {"(compare:== a b)"}),
        ("~(a == b) & ok", {"(compare:== a b)"}),
        ("named", {"(compare:< c d)"}),
        ("table[a == b]", set()),
        ("f(a == b)", set()),
    ],
)
def test_matches_are_comparisons_through_casts_and_logic_only(value_: str, compares: set[str]) -> None:
    """What is looked up, or computed by a call that nobody knows, is no outcome of a comparison."""
    seen = view(f"def f(a, b, c, d):\n    named = c < d\n    x = {value_}\n")

    assert compares == spelled_all(seen.matches(value(seen, "x")))


# Chases


@pytest.mark.parametrize(
    "step",
    [
        "cur = link[cur]",
        "cur = int(link[cur].item())",
        "cur = tl.load(link + b * n + cur)",
        "cur = tl.load(link + cur, mask=ok, other=-1)",
        "cur = link[cur] if ok else -1",
        "cur = tl.where(ok, tl.load(link + cur), cur)",
        "cur = cur.next[0]",
        "at = cur * 2 + 1; cur = link[at]",
        "cur = torch.gather(link, 1, cur)",
        "cur = link.get(cur)",
        "cur, ok = link[cur], 1",
    ],
)
def test_a_name_that_is_sent_on_through_memory_is_chased(step: str) -> None:
    """In whatever dress the load comes."""
    seen = view(f"def f(link, n, b, ok):\n    cur = 0\n    while cur != -1:\n        {step}\n")

    assert "cur" in seen.chased(loops(seen)[0])


@pytest.mark.parametrize(
    "step",
    [
        "cur = cur + 1",
        "cur = link[i]",
        "cur = f(cur)",
        "x = link[cur]",
        "cur = link[0] == cur",
        "link[cur] = cur",
    ],
)
def test_a_count_or_a_look_up_is_no_chase(step: str) -> None:
    """The next value must be loaded, from an address that depends on the last."""
    seen = view(f"def f(link, n):\n    cur = 0\n    for i in range(n):\n        {step}\n")

    assert {} == seen.chased(loops(seen)[0])


def test_a_chase_is_asked_of_one_loop() -> None:
    """What is set before it, or in another, does not count."""
    seen = view("""
        def f(link, cur):
            cur = link[cur]
            for i in range(3):
                x = i
            while cur:
                cur = link[cur]
    """)
    first, second = loops(seen)

    assert {} == seen.chased(first)
    assert {"cur": ["link"]} == {name: [load.base for load in found] for name, found in seen.chased(second).items()}


def test_a_chase_in_cuda_is_the_same_chase() -> None:
    """A C loop's step stands in its head."""
    seen = View(cuda("__global__ void k(int* n, int* o) { for (int c = n[0]; c != -1; c = n[c]) o[c] = 1; }"))

    assert {"c"} == set(seen.chased(loops(seen)[0]))


def test_a_node_found_by_comparison_is_sought() -> None:
    """`for i in nodes: if id[i] == parent[cur]: cur = i` climbs as a link would."""
    seen = view("""
        def f(ids, parent, n):
            for node in range(n):
                cur = node
                while cur > 0:
                    for i in range(n):
                        if ids[i] == parent[cur]:
                            cur = i
    """)
    _, climb, search = loops(seen)

    assert {"cur"} == seen.sought(climb) - {"i"}
    assert set() == seen.sought(search)


def test_a_plain_search_seeks_nothing() -> None:
    """The key stays where it is."""
    seen = view("""
        def f(ids, key, n):
            for k in range(n):
                for i in range(n):
                    if ids[i] == key:
                        found = i
    """)

    assert set() == seen.sought(loops(seen)[0])


# Who governs whom


def test_a_test_governs_by_data_and_by_control() -> None:
    """What is computed from it, and what is set only where it holds."""
    seen = view("""
        def f(a, b, n):
            ok = a == b
            if ok:
                x = 1
            y = n
            z = x + 1
    """)
    compare, _ = next(iter(seen.compares()))

    assert {"ok", "x"} <= seen.governed(compare)
    assert "y" not in seen.governed(compare)


def test_stores_are_told_with_their_keys() -> None:
    """Subscripts, `tl.store` through a pointer made of offsets, appends, atomics."""
    seen = view(
        """
        def f(out, p, i, v):
            row = out + i * 8
            tl.store(row + 1, v)
            p[i][2] = v
            p.append(v)
            tl.atomic_add(out + i, v)
            x = p[i]
    """,
        "out",
        "p",
        "i",
        "v",
    )
    found = [(store.base, [spelled(key) for key in store.keys]) for store in seen.stores()]

    assert [("out", ["(op:+ row 1)"]), ("p", ["i", "2"]), ("p", []), ("out", ["(op:+ out i)"])] == found


def test_the_root_of_a_pointer_is_the_parameter_that_it_starts_from() -> None:
    """A name without a definition is its own root; one defined by itself ends."""
    seen = view("def f(p):\n    a = p + 4\n    b = a.to(x)\n    c = c + 1\n", "p")

    assert ["p", "p", "c", "d"] == [seen.root(name) for name in ("p", "b", "c", "d")]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("a[i]", ("a", ["i"])),
        ("a[i][j]", ("a", ["i", "j"])),
        ("tl.load(p + i, mask=m)", ("p", ["(op:+ p i)"])),
        ("torch.gather(a, 1, i)", ("a", ["1", "i"])),
        ("a.gather(1, i)", ("a", ["1", "i"])),
        ("a.get(i, 0)", ("a", ["i"])),
        ("a[i].get(j)", ("a", ["i", "j"])),
        ("a.to(x)[i]", ("a", ["i"])),
    ],
)
def test_a_load_has_a_base_and_keys(expression: str, found: tuple[str, list[str]]) -> None:
    """However it is written."""
    term = python(f"def f():\n    return {expression}\n").parts[0].parts[0].parts[0]
    (load,) = loads(term, deep=False)

    assert found == (load.base, [spelled(key) for key in load.keys])


@pytest.mark.parametrize("expression", ["a.shape[0]", "f(x)[0]", "load(x)", "a", "f.load()"])
def test_what_reads_no_memory_is_no_load(expression: str) -> None:
    """A shape is known before anything is read; a call's result has no name."""
    term = python(f"def f():\n    return {expression}\n").parts[0].parts[0].parts[0]

    assert [] == loads(term, deep=False)


def test_the_subject_of_an_address_is_where_it_starts() -> None:
    """Through offsets, subscripts, casts and selections."""
    term = python("def f():\n    return (p.q if c else z)[1].to(t) + i * 4\n").parts[0].parts[0].parts[0]

    assert "p.q" == subject(term)


# The survey


def seen_always(name: str) -> Shape:
    """A shape that is seen wherever it is asked."""

    def find(looked_at: View) -> Iterator[Sighting]:
        yield Sighting(name, len(looked_at.steps), "")

    return Shape(name, name, (Feature.LOOP | Feature.BREAK, Feature.SCAN), find)


@pytest.mark.parametrize(
    ("features", "asked"),
    [
        (Feature.LOOP, []),
        (Feature.LOOP | Feature.BREAK | Feature.EXP, ["one", "two"]),
        (Feature.SCAN, ["one", "two"]),
        (Feature(0), []),
    ],
)
def test_a_shape_is_asked_where_its_signs_are(
    monkeypatch: pytest.MonkeyPatch, features: Feature, asked: list[str]
) -> None:
    """All features of one of its combinations."""
    monkeypatch.setattr(surveys, "shapes", lambda: (seen_always("one"), seen_always("two")))
    body = python("def f():\n    return 1\n")

    assert asked == [sighting.shape for sighting in surveys.survey(Subject(body, (), features))]

"""Branches as the first pass keeps them."""

from textwrap import dedent

from recon.index.outline import outline_python
from recon.index.records import Branch


def branches(source: str) -> list[Branch]:
    """The branches of a source, in the order in which they end."""
    return list(outline_python(dedent(source).encode()).branches)


def test_branches_that_choose_are_kept_with_their_lines() -> None:
    """By a literal or a member, or because the body names a class; all of a chain know its first test."""
    source = """\
    if x.method == "a" and not y.is_b():
        pass
    elif x.is_c() or x.kind in (Kind.D, "e"):
        z = 1
        w = 2
    else:
        from m import Maker
    if plain:
        z = lower()
    if plain:
        return_class = Some
    if x.m != "f":
        z = 3
    """

    assert [
        Branch(0, "x.method 'a'", 1, 1, 2, 2),
        Branch(0, "x.is_c() x.kind Kind.D 'e'", 1, 3, 4, 5),
        Branch(0, "", 1, 7, 7, 7),
        Branch(0, "plain", 10, 10, 11, 11),
    ] == branches(source)


def test_cases_of_a_match_are_branches() -> None:
    """Each with what its pattern names; the last takes the rest."""
    source = """\
    def f(x):
        match x:
            case "a" | Kind.B:
                return 1
            case {"k": "c"} if x.ok:
                y = Some()
            case _:
                y = Other()
    """

    assert [
        Branch(1, "'a' Kind.B", 2, 3, 4, 4),
        Branch(1, "'c'", 2, 5, 6, 6),
        Branch(1, "", 2, 8, 8, 8),
    ] == branches(source)


def test_a_chain_inside_a_branch_is_one_of_its_own() -> None:
    """Also below an else that holds nothing but it and more."""
    source = """\
    if x == "a":
        if x == "b":
            pass
    else:
        if x == "c":
            pass
        y = 1
    """

    assert [("'b'", 2), ("'a'", 1), ("'c'", 5)] == [
        (branch.test.removeprefix("x "), branch.head) for branch in branches(source)
    ]


def test_strings_that_are_no_words_are_not_asked_for() -> None:
    """What is kept must be printable and short; half a surrogate pair would not even be written."""
    source = 'if x in ("a b", "", "\\ud800", "it\'s", "ok"):\n    y = Some()\n'

    assert ["x 'ok'"] == [branch.test for branch in branches(source)]

"""What the first pass tells of bindings and lambdas."""

from textwrap import dedent

from recon.index.outline import outline_python


def test_a_binding_knows_how_sure_it_is_and_from_where_on_it_holds() -> None:
    source = """\
    a = f(
        1)
    if x:
        b = g
    for c in y:
        while z:
            d = h
    """

    found = {(bind.target, bind.since, bind.around) for bind in outline_python(dedent(source).encode()).binds}

    assert {("a", 2, 0), ("b", 0, -1), ("c", 0, 5), ("d", 0, 5)} == found


def test_lambdas_are_scopes_behind_all_others() -> None:
    source = """\
    x = lambda a: f(a, lambda: g("word"))
    def h(): pass
    """

    read = outline_python(dedent(source).encode())

    assert ["", "h", "<lambda1:4>", "<lambda1:19>"] == [scope.name for scope in read.scopes]
    assert [0, 2] == [scope.parent for scope in read.scopes[2:]]
    assert [("f", 2), ("g", 3)] == [(call.callee, call.scope) for call in read.calls]
    assert [3] == [text.scope for text in read.texts]

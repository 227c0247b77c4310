"""What is called in C++ like a function and is none: objects of a class with an `operator()`, and lambdas."""

import tree_sitter

from recon.index.cuda_spell import params
from recon.index.term import Term, name


def of_class(kind: tree_sitter.Node | None, value: Term) -> Term:
    """A list of values with the class that is made of it: `Same<int> same{a, b}`."""
    if (
        kind is None
        or value.op != "tuple"
        or kind.type not in ("type_identifier", "template_type", "qualified_identifier")
    ):
        return value
    spelled = (kind.text or b"").partition(b"<")[0].rpartition(b"::")[2]
    return Term("tuple", spelled.decode("utf-8", "replace"), value.parts, value.line)


def lambda_of(node: tree_sitter.Node, body: Term, line: int) -> Term:
    """A lambda by what it does, with its parameters."""
    declarator = node.child_by_field_name("declarator")
    given = params(declarator.child_by_field_name("parameters")) if declarator is not None else ()
    return Term("lambda", "", (body, *(name(each.name, line) for each in given)), line)

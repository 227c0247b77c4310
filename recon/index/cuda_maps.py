"""Maps of C++ as Terms of Python have them: `it = m.find(k)` and `it->second` are what the map holds under a key."""

from recon.index.term import Term

LOOKUPS = {"find": "get", "at": "index", "count": "in", "contains": "in"}
"""Methods that take a key alone."""


def looked_up(method: Term, key: Term, line: int) -> Term:
    """What a call of such a method gives: `find` nothing where the key is missing, `at` an exception."""
    table = method.parts[0]
    match LOOKUPS[method.text]:
        case "get":
            return Term("call", "", (Term("attr", "get", (table,), line), key), line)
        case "index":
            return Term("index", "", (table, key), line)
    return Term("compare", "in", (key, table), line)

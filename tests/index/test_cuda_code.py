"""Some lines of a C++ file are parsed as if nothing stood around them."""

from recon.index.cuda_code import Code
from recon.index.cuda_terms import functions
from tests.index.spelled import statements

BRANCHED = b"""\
struct Walk {
#if WIDE
  void start(long at) {
#else
  void start(int at) {
#endif
    first = at;
  }

  template <typename Q>
  int
  next(int at, const Q* kids) const {
    while (at >= 0) at = kids[at];
    return at;
  }
};
"""
"""To the grammar, which sees both opening braces and one that closes them, `next` is a part of `start`."""
NEXT = ["(while (compare:>= at 0) (block (assign at (index kids at))))", "(return at)"]


def test_lines_that_are_parsed_alone_keep_their_numbers() -> None:
    found = [(first, last, term.text) for first, last, term in functions(Code(BRANCHED).tree_between(10, 15))]

    assert [(11, 15, "next")] == found


def test_a_function_is_read_by_its_lines_as_it_is_alone() -> None:
    alone = b"\n".join(BRANCHED.split(b"\n")[10:15])
    by_lines, apart = (
        statements(next(functions(tree))[2]) for tree in (Code(BRANCHED).tree_between(10, 15), Code(alone).tree())
    )

    assert NEXT == by_lines == apart


def test_the_last_lines_of_a_file_without_a_line_end_are_there() -> None:
    code = Code(b"int a;\nint f() { return a; }")

    assert [(2, 2, "f")] == [(first, last, term.text) for first, last, term in functions(code.tree_between(2, 2))]

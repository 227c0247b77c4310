"""Statements that macros are handed, as the grammar can read them."""

import pytest

from recon.detectors.testing import indexed
from recon.index.macro_blocks import with_blocks
from tests.index.spelled import cuda

WALK = """
__host__ __device__ void walk(const int* tok, const int* want, const int* kid, const int* next, int* out, int n) {
  int at = 0;
  // one thread a request
  ON_TARGET(sm_80, (
    for (int d = 0; d < n; ++d) {
      int c = kid[at];
      while (c != -1 && tok[c] != want[at]) c = next[c];
      if (c == -1) break;
      out[d] = c;
      at = c;
    }),
    host, ({ out[0] = -1; }))
}
"""


def test_statements_in_an_argument_are_a_block_under_the_macros_condition() -> None:
    """Every byte keeps its place, so that lines are the file's own."""
    source = b"void f() {\n  RUN(is_device, (int a = g();\n    return;), (h();));\n}\n"

    assert b"void f() {\n  if (is_device) {int a = g();\n    return;}  {h();} ;\n}\n" == with_blocks(source)


def test_a_word_before_a_block_is_left_out() -> None:
    """What it hides cannot be known: the block may run."""
    source = b"int f() {\n  int a = 0;\n  UNLESS_CONSTANT\n  { a = g(); }\n  return a;\n}\n"
    body = cuda(source.decode()).parts[0]

    assert source.replace(b"UNLESS_CONSTANT", b" " * 15) == with_blocks(source)
    assert ["assign", "assign", "return"] == [part.op for part in body.parts]


def test_a_word_before_a_block_with_another_choice_is_a_condition() -> None:
    source = b"int f() {\n  UNLESS_CONSTANT\n  { a(); }\n  // now\n  else\n  { return 1; }\n  return 2;\n}\n"
    body = cuda(source.decode()).parts[0]

    assert source.replace(b"UNLESS_CONSTANT", b"if(ESS_CONSTAN)") == with_blocks(source)
    assert ["if", "return"] == [part.op for part in body.parts]


def test_what_stands_in_a_macros_argument_is_seen() -> None:
    """A walk that runs on one kind of device is a walk."""
    index = indexed({"walk.cuh": WALK})

    assert ["walk.links"] == [sighting.shape for _, sighting in index.seen("walk")]
    assert {} == index.refused


@pytest.mark.parametrize(
    "source",
    [
        "  CHECK(a, (b == c), f(d));\n",
        "  DISPATCH(type, [&] { run(); });\n",
        "  DISPATCH(type, ([&] { run(); }));\n",
        "  EACH((int i = 0; i < n; ++i)) { run(i); }\n",
        "  x = \n    PICK(a, (f();));\n",
        "  call(a,\n    PICK(b, (f();)));\n",
        "  run(is_device, (f();));\n",
        "  RUN(is_device, (f();)\n",
        "  int a = PAIR {1, 2};\n",
        "  g(\n    PAIR {1; 2});\n",
        "  PAIR {1, 2};\n",
    ],
)
def test_all_else_stays(source: str) -> None:
    """Expressions, lambdas, headings of loops, values, and what has no end."""
    whole = f"void f() {{\n  g();\n{source}}}\n".encode()

    assert whole == with_blocks(whole)


def test_macros_in_macros_take_no_longer_than_their_text() -> None:
    """Each is looked at as long as that is cheap; the others stay as they are."""
    deep = b"void f() {\n" + b"  RUN(a, (\n" * 5_000 + b"g();" + b"))" * 5_000 + b"\n}\n"

    assert len(deep) == len(with_blocks(deep))

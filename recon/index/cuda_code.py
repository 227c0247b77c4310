"""C++ and CUDA through tree-sitter: a file as a whole, or the lines of one function of it."""

from itertools import accumulate

import tree_sitter_cuda
from tree_sitter import Language, Parser, Range, Tree

from recon.index.macro_bodies import as_functions

__all__ = ["Code", "Tree"]

_LANGUAGE = Language(tree_sitter_cuda.language())


class Code:
    """A file whose macros with bodies are written as functions.

    Attributes:
        text: The file, every line under its number.
    """

    def __init__(self, data: bytes) -> None:
        self.text = as_functions(data)
        self._starts = list(accumulate((len(row) + 1 for row in self.text.split(b"\n")), initial=0))

    def tree(self) -> Tree:
        """The syntax tree of the file."""
        return Parser(_LANGUAGE).parse(self.text)

    def tree_between(self, first: int, last: int) -> Tree:
        """The syntax tree of some lines, counted from 1, as if nothing stood around them; lines keep their numbers.

        Headers have thousands of functions of which a few are asked for.
        """
        end = min(self._starts[last], len(self.text))
        lines = Range((first - 1, 0), (last, 0), self._starts[first - 1], end)
        return Parser(_LANGUAGE, included_ranges=[lines]).parse(self.text)

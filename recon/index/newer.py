"""Source in newer syntax than this Python knows: read by libcst, brought to the tree that the first pass walks.

It runs in a process of its own (`python -c`, started by `recon.index.rescue`), because libcst can end its process on
deep nesting and take minutes on long chains.
"""

import resource
import sys

import libcst as cst
import msgspec
from libcst.metadata import MetadataWrapper, PositionProvider

from recon.index.newer_tree import Convert
from recon.index.outline import outline_of_tree
from recon.index.records import Outline, Parsed

_MOST_MEMORY_BYTES = 4 << 30
_DEEPEST_RECURSION = 20_000


def main() -> None:
    """Read source from standard input and write its Outline, or the reason why there is none, as msgpack."""
    sys.setrecursionlimit(_DEEPEST_RECURSION)
    _limit_memory()
    data = sys.stdin.buffer.read()
    try:
        answer: Outline | str = newer_outline(data)
    except cst.ParserSyntaxError as error:
        answer = f"line {error.raw_line}: no Python that libcst knows"
    except (UnicodeError, LookupError, SyntaxError, RecursionError, MemoryError, ValueError) as error:
        answer = f"libcst: {error}" if str(error) else f"libcst: {type(error).__name__}"
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer))


def newer_outline(data: bytes) -> Outline:
    """All records of a file as libcst reads it.

    Raises:
        ParserSyntaxError: libcst cannot read it either.
    """
    wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
    places = wrapper.resolve(PositionProvider)
    module = wrapper.module
    source = module.bytes.decode(module.encoding).encode()
    tree = Convert(places, source).module(module)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return outline_of_tree(tree, source, Parsed.NEWER, f"newer syntax than Python {version} knows, read by libcst")


def _limit_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MOST_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(hard, _MOST_MEMORY_BYTES)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    except (OSError, ValueError):  # some systems refuse; the wall limit of the parent still holds
        return

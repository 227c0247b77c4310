"""What of a tree could not be read as a whole."""

from collections.abc import Iterable, Mapping

from recon.index.records import Outline, Parsed
from recon.index.strings import file_of
from recon.index.tables import is_python
from recon.records.source import Snapshot
from recon.records.unknown import PARTLY, Unknown


def unread(
    snapshot: Snapshot, files: Mapping[str, Outline], refused: Iterable[tuple[str, int, str]]
) -> tuple[Unknown, ...]:
    """Files, libraries, and parts that a parser gave up on.

    Args:
        snapshot: What was to be read.
        files: What was read, by path.
        refused: Functions that were to be read in full and could not be, each its path, its line and why.
    """
    found = list(snapshot.unread)
    partly = 0
    for path, outline in files.items():
        if outline.parsed is Parsed.JOINED:
            found.append(Unknown(PARTLY, file_of(path), outline.problem))
        elif outline.parsed is Parsed.UNREAD or (outline.parsed is Parsed.PARTLY and is_python(path)):
            found.append(Unknown("source", file_of(path), outline.problem))
        partly += outline.parsed is Parsed.PARTLY and not is_python(path)
    for path, line, why in refused:
        found.append(Unknown("function", f"{file_of(path)}:{line}", why))
    if partly:
        why = "the CUDA grammar fails in parts of them; the functions were examined as far as it reads"
        found.append(Unknown(PARTLY, f"{partly} files", why))
    return tuple(found)

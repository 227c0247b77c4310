"""Sources: content-addressed bytes and the manifest that names them."""

from dataclasses import dataclass

from recon.records.unknown import Unknown


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source file of an install."""

    path: str
    """Relative to the folder that holds the package, with `/`."""
    digest: str
    """blake2b-128 of the bytes, in hex."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Library:
    """What was read of one compiled library: names only, never code."""

    path: str
    size_bytes: int
    symbols: tuple[str, ...]
    """Names of the dynamic symbols that the library defines."""
    schemas: tuple[str, ...]
    """Operator schemas found as strings, e.g. `verify_tree_greedy(Tensor! predicts, ...) -> ()`."""
    needed: tuple[str, ...]
    """Libraries that it loads."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The manifest of an install's files at one moment."""

    digest: str
    """blake2b-128 over (path, digest) of all files and (path, size) of all libraries: equal trees are equal here."""
    files: tuple[SourceFile, ...]
    """Python, CUDA and C++ sources, sorted by path."""
    libraries: tuple[Library, ...]
    unread: tuple[Unknown, ...]
    """Files that could not be read, and libraries that were not asked for."""

"""The features that are known by name: ours, those of other distributions, and those of the user's folder."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import resources
from pathlib import Path

from recon.errors import NotFound, ReconError, Unreadable, Usage
from recon.features.reading import feature_of
from recon.plugins import Plugin, plugins
from recon.records.feature import Feature
from recon.records.unknown import Unknown

MAX_BYTES = 1024 * 1024
OURS = "recon"


@dataclass(frozen=True, slots=True)
class Shelf:
    """Features by id, and what could not be put among them."""

    features: dict[str, Feature]
    unknowns: tuple[Unknown, ...]


def shelf(folder: Path) -> Shelf:
    """All features that are known by name.

    A name is given once: ours first, then those of other distributions (entry points `recon.features`, each a Feature
    or the path of a TOML file), then those of the user's folder. What is broken or comes second is an Unknown.
    """
    features: dict[str, Feature] = {}
    unknowns: list[Unknown] = []
    for found in (*_ours(), *_offered(), *_in(folder)):
        if isinstance(found, Unknown):
            unknowns.append(found)
        elif found.id in features:
            why = f"there is one already, from {features[found.id].origin}"
            unknowns.append(Unknown(f"feature {found.id}", found.origin, why))
        else:
            features[found.id] = found
    return Shelf(features, tuple(unknowns))


def named(words: tuple[str, ...], known: Shelf) -> tuple[Feature, ...]:
    """The features that words name: an id, or a TOML file.

    Raises:
        NotFound: there is no such feature, or no such file.
        Usage: the file does not describe one.
    """
    chosen = {feature.id: feature for feature in (_named(word, known) for word in words)}
    return tuple(chosen.values())


def _named(word: str, known: Shelf) -> Feature:
    if word in known.features:
        return known.features[word]
    if word.endswith(".toml") or "/" in word:
        found = read(Path(os.path.expanduser(word)))  # noqa: PTH111  # leaves the home of nobody as it is written
        if (taken := known.features.get(found.id)) is not None and taken.origin == OURS:
            raise Usage(f"{found.origin}: recon has a feature {found.id} of its own", "Give it another id.")
        return found
    near = get_close_matches(word, known.features, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else f"Features: {', '.join(sorted(known.features))}; or a file.toml."
    raise NotFound(f"no feature {word!r}", hint)


def read(path: Path) -> Feature:
    """The feature of a file.

    Raises:
        NotFound: there is no such file.
        Unreadable: it cannot be read.
        Usage: it does not describe a feature.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"no file {path}") from error
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot read {path}: {error}") from error
    if len(content) > MAX_BYTES:
        raise Unreadable(f"{path} is larger than {MAX_BYTES} bytes", "That is no feature.")
    return feature_of(content, str(path))


def _ours() -> Iterator[Feature]:
    for file in sorted(resources.files("recon.features").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            yield replace(feature_of(file.read_bytes(), file.name), origin=OURS)


def _offered() -> Iterator[Feature | Unknown]:
    for found in plugins("recon.features"):
        yield _taken(found) if isinstance(found, Plugin) else found


def _taken(plugin: Plugin) -> Feature | Unknown:
    where = plugin.distribution or plugin.name
    match plugin.value:
        case Feature():
            return plugin.value
        case str() | os.PathLike():
            return _tried(Path(plugin.value), where)
        case _:
            kind = type(plugin.value).__name__
            return Unknown(f"plug-in {plugin.name}", where, f"it offers a {kind}, neither a Feature nor a file's path")


def _in(folder: Path) -> Iterator[Feature | Unknown]:
    try:
        files = sorted(folder.glob("*.toml"))
    except OSError as error:
        yield Unknown("features", str(folder), str(error))
        return
    for file in files:
        yield _tried(file, str(file))


def _tried(path: Path, where: str) -> Feature | Unknown:
    try:
        return read(path)
    except ReconError as error:
        return Unknown("feature", where, error.message)

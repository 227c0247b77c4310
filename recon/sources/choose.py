"""The one rule by which a wheel is chosen.

Of the newest version that the requirement admits, the wheel that pip would install on CPython 3.12, x86-64 Linux with
the newest C library: most specific Python tag first, then the newest manylinux, then the highest build number; a pure
wheel where there is no other. The rule does not look at the machine that recon runs on, so a release means the same
file everywhere. `requires-python` is not asked: the wheel is read, never run.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from recon.errors import NotFound, Usage
from recon.records.install import Engine
from recon.sources.simple import IndexFile

PYTHON = (3, 12)
_NEWEST_GLIBC = 99
_OLDEST_GLIBC = 5
_ALIASES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
_NEAR = 4

ENGINES = {
    "vllm": Engine.VLLM,
    "sglang": Engine.SGLANG,
    "sgl-kernel": Engine.SGL_KERNEL,
    "sglang-kernel": Engine.SGLANG_KERNEL,
    "flashinfer-python": Engine.FLASHINFER,
    "lmdeploy": Engine.LMDEPLOY,
    "tensorrt-llm": Engine.TENSORRT_LLM,
}
"""Engines by the normalised name of their distribution."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A release as it was asked for."""

    project: str
    """Normalised."""
    specifiers: SpecifierSet
    pinned: str
    """The version, where exactly one was named; '' otherwise."""

    def __str__(self) -> str:
        """As a requirement."""
        return f"{self.project}{self.specifiers}"


@dataclass(frozen=True, slots=True)
class _Candidate:
    version: Version
    build: tuple[int, str] | tuple[()]
    rank: int
    """Place of its best tag in the order of preference; 0 is best."""
    file: IndexFile


def wanted_of(text: str) -> Wanted:
    """A requirement such as `vllm==0.20.1` or `sglang>=0.5`.

    Raises:
        Usage: it is none, or it names an address.
    """
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        raise Usage(f"{text[:80]!r} is not a release", "write it as name==version, e.g. vllm==0.20.1") from None
    if requirement.url:
        raise Usage("a release is named by its version, not by an address", "download the wheel and name its path")
    exact = [
        spec.version for spec in requirement.specifier if spec.operator in ("==", "===") and "*" not in spec.version
    ]
    pinned = exact[0] if len(exact) == len(requirement.specifier) == 1 else ""
    return Wanted(canonicalize_name(requirement.name), requirement.specifier, pinned)


def engine_of(project: str) -> Engine:
    """The engine that a distribution is, by its name.

    >>> engine_of("sgl_kernel").value, engine_of("torch").value
    ('sgl_kernel', 'other')
    """
    return ENGINES.get(canonicalize_name(project), Engine.OTHER)


def choose(wanted: Wanted, files: Iterable[IndexFile]) -> tuple[Version, IndexFile]:
    """The wheel that the rule of this module picks.

    Raises:
        NotFound: the project, the version or a wheel for it does not exist; the hint names what comes near.
    """
    listed = list(files)
    if not listed:
        raise NotFound(f"no package index knows {wanted.project}", _projects_like(wanted.project))
    candidates = list(_candidates(listed))
    admitted = _admitted(wanted, candidates)
    if not admitted:
        exists = any(True for _ in wanted.specifiers.filter(_versions(listed), prereleases=True))
        what = f"{wanted} has no wheel for CPython 3.12 on x86-64 Linux" if exists else f"there is no {wanted}"
        raise NotFound(what, _versions_like(wanted, candidates))
    newest = max(candidate.version for candidate in admitted)
    best = max((c for c in admitted if c.version == newest), key=lambda c: (-c.rank, c.build, c.file.name))
    return best.version, best.file


def _versions(files: Iterable[IndexFile]) -> Iterator[Version]:
    """Versions of all files, wheels and source archives alike."""
    for file in files:
        with suppress(InvalidWheelFilename, InvalidSdistFilename):
            yield (
                parse_wheel_filename(file.name)[1] if file.name.endswith(".whl") else parse_sdist_filename(file.name)[1]
            )


def _candidates(files: Iterable[IndexFile]) -> Iterator[_Candidate]:
    """The wheels among the files that can be installed where the rule says."""
    order = _order()
    for file in files:
        if not file.name.endswith(".whl"):
            continue
        try:
            _, version, build, tags = parse_wheel_filename(file.name)
        except InvalidWheelFilename:
            continue
        ranks = [order[tag] for tag in tags if tag in order]
        if ranks:
            yield _Candidate(version, build, min(ranks), file)


def _admitted(wanted: Wanted, candidates: list[_Candidate]) -> list[_Candidate]:
    """A withdrawn file counts where its version was named, and a pre-release where nothing else fits, as for pip."""
    fitting = [c for c in candidates if wanted.pinned or not c.file.yanked]
    versions = set(wanted.specifiers.filter({c.version for c in fitting}))
    return [c for c in fitting if c.version in versions]


@cache
def _order() -> dict[Tag, int]:
    platforms = list(_platforms())
    tags = [
        *cpython_tags(PYTHON, abis=["cp312"], platforms=platforms),
        *compatible_tags(PYTHON, interpreter="cp312", platforms=platforms),
    ]
    return {tag: rank for rank, tag in reversed(list(enumerate(tags)))}


def _platforms() -> Iterator[str]:
    for minor in range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1):
        yield f"manylinux_2_{minor}_x86_64"
        if minor in _ALIASES:
            yield f"{_ALIASES[minor]}_x86_64"
    yield "linux_x86_64"


def _projects_like(project: str) -> str:
    near = [each for each in difflib.get_close_matches(project, ENGINES, n=3, cutoff=0.5) if each != project]
    return f"did you mean {' or '.join(near)}?" if near else f"recon knows {', '.join(ENGINES)} by name"


def _versions_like(wanted: Wanted, candidates: list[_Candidate]) -> str:
    """Versions that do have a wheel: the ones beside the version named, or else the newest."""
    versions = sorted({candidate.version for candidate in candidates})
    if not versions:
        return "the project has no wheel for CPython 3.12 on x86-64 Linux at all"
    named = [spec.version.rstrip(".*") for spec in wanted.specifiers]
    try:
        place = sum(version < Version(named[0]) for version in versions)
    except (IndexError, ValueError):
        place = len(versions)
    first = max(0, min(place - _NEAR // 2, len(versions) - _NEAR))
    return f"the nearest that have wheels are {', '.join(str(version) for version in versions[first : first + _NEAR])}"

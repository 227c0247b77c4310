"""What a source checkout says of itself: its name and version. Nothing in it is executed, git included."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from recon.facts.disk import names_in, text_of
from recon.facts.texts import is_version

MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""Any of these makes a folder the root of a project."""
TOML_BYTES = 1 << 20
REFS_BYTES = 1 << 22
TAGS = 10_000


@dataclass(frozen=True, slots=True)
class Project:
    """A project: what is built and released together."""

    root: Path
    name: str
    """'' if its pyproject.toml does not say."""
    version: str
    """'' if no file says; a build backend may compute it."""


def is_project(folder: Path) -> bool:
    """Whether a folder is the root of a project."""
    return any((folder / mark).exists() for mark in MARKS)


def project_in(folder: Path) -> Project:
    """What a project says in pyproject.toml, PKG-INFO, a version file, or by a tag at its HEAD."""
    name, version = _declared(folder)
    version = version or next((found for look in (_archived, _stated, _tagged) if (found := look(folder))), "")
    return Project(folder, name, version.removeprefix("v"))


def _declared(folder: Path) -> tuple[str, str]:
    """Name and version of pyproject.toml, either of which may be empty."""
    try:
        told = tomllib.loads(text_of(folder / "pyproject.toml", TOML_BYTES))
    except (tomllib.TOMLDecodeError, RecursionError):
        return "", ""
    tables = [told.get("project"), _table(told.get("tool")).get("poetry")]
    name = next((value for table in tables if isinstance(value := _table(table).get("name"), str)), "")
    version = next((value for table in tables if isinstance(value := _table(table).get("version"), str)), "")
    return name, version if is_version(version) else ""


def _archived(folder: Path) -> str:
    """What git put into an archive of the tree: its `describe-name`, without the commits since."""
    described = re.search(r"^describe-name: *(\S+)$", text_of(folder / ".git_archival.txt"), re.MULTILINE)
    name = described[1] if described else ""
    exact = re.sub(r"-(\d+)-g[0-9a-f]+$", r".dev\1", name)
    return exact if is_version(exact) else ""


def _stated(folder: Path) -> str:
    """PKG-INFO of a source distribution, or a file that holds nothing but the version."""
    header = text_of(folder / "PKG-INFO").partition("\n\n")[0]
    found = re.search(r"^Version: *(\S+)$", header, re.MULTILINE)
    if found and is_version(found[1]):
        return found[1]
    alone = (text_of(folder / name, 200).strip() for name in ("VERSION", "version.txt"))
    return next((text for text in alone if is_version(text)), "")


def _tagged(folder: Path) -> str:
    """The version tag that points to HEAD; '' if none does."""
    git = folder / ".git"
    head = text_of(git / "HEAD", 4096).strip()
    refs = _packed(text_of(git / "packed-refs", REFS_BYTES))
    name = head.removeprefix("ref: ")
    if name != head:
        if not re.fullmatch(r"refs/[\w./-]+", name) or ".." in name:
            return ""
        head = text_of(git / name, 200).strip() or refs.get(name, "")
    tags = {ref: commit for ref, commit in refs.items() if ref.startswith("refs/tags/")}
    for tag in names_in(git / "refs" / "tags")[:TAGS]:
        tags[f"refs/tags/{tag}"] = text_of(git / "refs" / "tags" / tag, 200).strip()
    pointing = sorted(ref.removeprefix("refs/tags/") for ref, commit in tags.items() if head and commit == head)
    return next((tag for tag in pointing if is_version(tag)), "")


def _packed(text: str) -> dict[str, str]:
    """Ref to commit; of an annotated tag the commit that it peels to."""
    refs: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        commit, _, ref = line.partition(" ")
        if line.startswith("^") and last:
            refs[last] = line[1:].strip()
        elif ref.startswith("refs/"):
            refs[ref] = commit
            last = ref
    return refs


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}

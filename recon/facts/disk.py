"""Site folders and package folders of this machine's disk, read directly into the records that `sites` answers.

What lies there is untrusted: only regular files are opened, never a pipe or a device, and never beyond a bound.
"""

import json
import os
import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from recon.facts.names import DISTRIBUTIONS, PACKAGES
from recon.facts.sites import LINKS, RECORD_BYTES, REDIRECT_BYTES, TEXT_BYTES, Dist, Link, Package, Site
from recon.facts.texts import VERSION_FILES, VERSION_LINE, cleaned, is_plain, redact, told_of_pth, version_in

DIST = re.compile(rf"({'|'.join(DISTRIBUTIONS)})(_v?[0-9].*)?_(dist|egg)_info")
LINKING = ("*.pth", "*.egg-link", "__editable__*_finder.py", "_editable_*.py", "_*_editable.py")
TOP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)/.*\.py,")
TOPS = 50


def text_of(path: Path, cap_bytes: int = TEXT_BYTES) -> str:
    """The start of a regular file; '' for everything else, unreadable files included."""
    try:
        # Opening a pipe would wait for a writer.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return ""
        try:
            return file.read(cap_bytes).decode("utf-8", "replace")
        except OSError:
            return ""


def names_in(folder: Path) -> list[str]:
    """Names in a folder that can stand in reports, sorted; none where it cannot be listed."""
    try:
        return sorted(child.name for child in folder.iterdir() if is_plain(child.name))
    except OSError:
        return []


def site_on_disk(folder: Path) -> Site:
    """What lies in a site folder, in the order that the shell's globs have."""
    path = str(folder)
    names = names_in(folder)
    normal = {name: re.sub(r"[.-]+", "_", name.lower()) for name in names}
    metadata = [name for kind in (".dist-info", ".egg-info") for name in names if name.endswith(kind)]
    return Site(
        path,
        os.path.realpath(path),
        os.access(path, os.R_OK | os.X_OK),
        dists=tuple(dist_on_disk(folder / name) for name in metadata if DIST.fullmatch(normal[name])),
        links=tuple(_links(folder, names)),
        packages=tuple(package for name in PACKAGES if (package := package_on_disk(folder / name)) is not None),
    )


def package_on_disk(path: Path) -> Package | None:
    """A package folder; None where there is no folder."""
    if not path.is_dir() or not is_plain(str(path)):
        return None
    init = next((found for pattern in ("__init__.py", "__init__.*so") for found in sorted(path.glob(pattern))), None)
    regular = init is not None and init.is_file()
    linked = init is not None and regular and init.is_symlink()
    real = str(init.resolve().parent) if init is not None and linked else os.path.realpath(path)
    return Package(str(path), real, regular, version_on_disk(path))


def version_on_disk(package: Path) -> str:
    """The version that a package's own files assign; '' if none does."""
    lines = [line for name in VERSION_FILES for line in text_of(package / name).splitlines()]
    return version_in([line for line in lines if VERSION_LINE.match(line)])


def dist_on_disk(folder: Path) -> Dist:
    """The metadata of one distribution."""
    header = next((text for name in ("METADATA", "PKG-INFO", "") if (text := text_of(folder / name))), "")
    fields: dict[str, str] = {}
    for line in header.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key, cleaned(value))
    listed = text_of(folder / "top_level.txt", 4096).split("\n")
    listed += [found[1] for found in map(TOP.match, text_of(folder / "RECORD", RECORD_BYTES).split("\n")) if found]
    tops = [name for name in sorted(set(listed))[:TOPS] if name and (folder.parent / name).is_dir()]
    return Dist(
        str(folder),
        fields.get("Name", ""),
        fields.get("Version", ""),
        cleaned(text_of(folder / "INSTALLER", 4096).partition("\n")[0]),
        _without_credentials(text_of(folder / "direct_url.json", 8192)),
        tuple(tops),
    )


def _without_credentials(text: str) -> str:
    """A direct_url.json with its URL redacted; '' where it is none."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(told, dict) or not isinstance(told.get("url"), str):
        return ""
    return json.dumps(told | {"url": redact(told["url"])})


def _links(folder: Path, names: list[str]) -> Iterator[Link]:
    """Small files by which Python finds packages elsewhere, by name; hidden ones do not count."""
    linking = [name for name in names if name[0] != "." and any(fnmatchcase(name, pattern) for pattern in LINKING)]
    for name in linking[:LINKS]:
        if (folder / name).is_file():
            cap = REDIRECT_BYTES if name.endswith(".py") else TEXT_BYTES
            text = text_of(folder / name, cap)
            told = text.replace("\r", " ").replace("\t", " ").removesuffix("\n")
            yield Link(name, told if name.endswith(".py") else told_of_pth(told))

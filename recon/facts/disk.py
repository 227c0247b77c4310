"""Site folders and package folders of this machine's disk, read directly into the records that `sites` answers.

What lies there is untrusted: only regular files are opened, never a pipe, a device or what the kernel makes up, never
another's file through a link, and never beyond a bound.
"""

import json
import os
import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from recon.facts.names import DISTRIBUTIONS, PACKAGES
from recon.facts.sites import LINKS, PATHS, RECORD_BYTES, REDIRECT_BYTES, TEXT_BYTES, Dist, Link, Package, Site
from recon.facts.texts import (
    VERSION_FILES,
    VERSION_LINE,
    cleaned,
    installer_in,
    is_plain,
    redact,
    told_of_pth,
    version_in,
)

DIST = re.compile(rf"({'|'.join(DISTRIBUTIONS)})(_v?[0-9].*)?_(dist|egg)_info")
LINKING = ("*.pth", "*.egg-link", "__editable__*_finder.py", "_editable_*.py", "_*_editable.py")
TOP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)/.*\.py,")
TOPS = 50
KERNEL = ("/proc/", "/sys/", "/dev/")
SHARED_MEMORY = "/dev/shm/"  # noqa: S108 - nothing is made there


def is_own(path: Path, folder: str) -> bool:
    """Whether a file may be read that lies in a folder whose real path is given: the rule of `fact.PLAIN`."""
    real = os.path.realpath(path)
    within = real.rpartition("/")[2] == path.name or real.startswith(f"{folder}/")
    regular = os.path.isfile(real)  # noqa: PTH113 - that of Path raises where a folder is closed
    return within and regular and os.access(real, os.R_OK) and not _is_kernel(real)


def _is_kernel(real: str) -> bool:
    return real.startswith(KERNEL) and not real.startswith(SHARED_MEMORY)


def own_text(path: Path, folder: str, cap_bytes: int = TEXT_BYTES) -> str:
    """As `text_of`; '' also for a link that leads to another's file."""
    return text_of(path, cap_bytes) if is_own(path, folder) else ""


def text_of(path: Path, cap_bytes: int = TEXT_BYTES) -> str:
    """The start of a regular file; '' for everything else, unreadable files included."""
    if _is_kernel(os.path.realpath(path)):
        return ""
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
    real = os.path.realpath(path)
    if init is not None and regular and init.is_symlink() and init.resolve().name.startswith("__init__."):
        real = str(init.resolve().parent)
    return Package(str(path), real, regular, version_on_disk(path))


def version_on_disk(package: Path) -> str:
    """The version that a package's own files assign; '' if none does."""
    home = os.path.realpath(package)
    lines = [line for name in VERSION_FILES for line in own_text(package / name, home).splitlines()]
    return version_in([line for line in lines if VERSION_LINE.match(line)])


def dist_on_disk(folder: Path) -> Dist:
    """The metadata of one distribution."""
    site = os.path.realpath(folder.parent)
    header = next((text for name in ("METADATA", "PKG-INFO", "") if (text := own_text(folder / name, site))), "")
    fields: dict[str, str] = {}
    for line in header.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key, cleaned(value))
    listed = own_text(folder / "top_level.txt", site, 4096).split("\n")
    record = own_text(folder / "RECORD", site, RECORD_BYTES).split("\n")
    listed += [found[1] for found in map(TOP.match, record) if found]
    tops = [name for name in sorted(set(listed))[:TOPS] if name and (folder.parent / name).is_dir()]
    return Dist(
        str(folder),
        fields.get("Name", ""),
        fields.get("Version", ""),
        installer_in(own_text(folder / "INSTALLER", site, 4096).partition("\n")[0].rstrip()),
        _without_credentials(own_text(folder / "direct_url.json", site, 8192)),
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
    real = os.path.realpath(folder)
    for name in linking[:LINKS]:
        if is_own(folder / name, real):
            cap = REDIRECT_BYTES if name.endswith(".py") else TEXT_BYTES
            text = text_of(folder / name, cap)
            told = text.replace("\r", " ").replace("\t", " ").removesuffix("\n")
            yield Link(name, told if name.endswith(".py") else _told_of_pth(told, folder))


def _told_of_pth(text: str, site: Path) -> str:
    def is_folder(line: str) -> bool:
        return os.path.isdir(site / line)  # noqa: PTH112 - that of Path raises where a name is too long

    return told_of_pth("\n".join(text.split("\n")[:PATHS]), is_folder)

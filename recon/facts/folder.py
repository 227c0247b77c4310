"""What a folder of this machine holds that recon can look at; its content decides, not its name."""

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from recon.errors import NoEngine, NotFound, Unreadable
from recon.facts.disk import DIST, dist_on_disk, names_in, package_on_disk, site_on_disk, version_on_disk
from recon.facts.installs import installs, linked_packages
from recon.facts.names import DISTRIBUTIONS, PACKAGES, engine_named, known_by_distribution, normalise
from recon.facts.project import Project, is_project, project_in
from recon.facts.sites import Sites
from recon.facts.texts import is_plain
from recon.records.host import PythonEnv
from recon.records.install import Engine, Found, Provenance

DEPTH = 4
"""How deep packages are looked for: a folder of checkouts holds `sglang/sgl-kernel/python/sgl_kernel`."""
FOLDERS = 5000
"""How many folders are listed on the way."""
LAYOUTS = ("python", "src")
"""Folders between the root of a project and its packages, where there is one."""
SITES = ("site-packages", "dist-packages")
APART = frozenset(
    {"3rdparty", "benchmark", "benchmarks", "build", "dist", "doc", "docs", "example", "examples", "node_modules"}
    | {"script", "scripts", "test", "tests", "third_party", "tools"}
)
"""Folders of a checkout whose packages are not what it releases."""
NATIVE = ("csrc", "include", "cpp", "src/turbomind")
"""Folders of a project that hold the native sources of its package."""
CUDA = (".cu", ".cuh", ".hip")
SETUP = frozenset({"setup.py", "conftest.py", "noxfile.py", "__init__.py"})
_RELEASE = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+")
"""How a release is named, where a folder is asked for."""
SOUGHT = (
    "Looked for: a site-packages folder, an environment, a checkout, an unpacked wheel, a package folder, "
    "or any folder with Python packages or CUDA sources."
)


def find_in_folder(path: str | Path) -> tuple[Found, ...]:
    """Every engine and companion in a folder, whatever kind of folder it is.

    A site-packages folder, the prefix of an environment, an unpacked wheel, a checkout or a folder of checkouts, a
    package folder or one inside it, and any other folder of Python packages or CUDA sources (engine `other`).
    `packages` are paths below `root`; the last part of each is the import package or the folder of native sources.

    Raises:
        NotFound: there is nothing of that name.
        NoEngine: speculative decoding could not live in anything there.
        Unreadable: the folder cannot be listed.
    """
    folder = _folder(path)
    try:
        for look in (_in_environment, _in_site, _in_package, _in_checkouts, _other):
            if found := tuple(look(folder)):
                return tuple(_located(one, folder) for one in found)
    except OSError as error:  # a folder that may be listed and not entered, a disk that fails
        where = error.filename or folder
        raise Unreadable(f"{where} cannot be read: {error.strerror}", "Ask for the right to read it.") from error
    raise NoEngine(f"{folder} holds no engine", f"{SOUGHT}{_odd_names(folder)}")


def _odd_names(folder: Path) -> str:
    """That sources are left out for their names, in a sentence; '' where none are."""
    for parent in (folder, *_children(folder)):
        with contextlib.suppress(OSError):
            if any(child.suffix in {".py", *CUDA} and not is_plain(child.name) for child in parent.iterdir()):
                return " Files whose names hold control characters or bytes that are no text are left out."
    return ""


def _located(found: Found, folder: Path) -> Found:
    """What was found, with its own folder where that was named and others may lie beside it under the same root."""
    if found.engine is not Engine.OTHER or len(found.packages) != 1:
        return found
    place = Path(found.root, found.packages[0])
    return replace(found, named=str(place)) if place in (folder, *folder.parents) else found


def _folder(path: str | Path) -> Path:
    """The folder that was named.

    Raises:
        NotFound: there is none.
        NoEngine: it is a file.
        Unreadable: it cannot be listed.
    """
    try:
        folder = Path(path).expanduser().absolute()
        is_folder = folder.is_dir()
        if not is_folder and not folder.exists():
            release = f" A published release: --release {path}" if _RELEASE.fullmatch(str(path)) else ""
            raise NotFound(f"{folder} does not exist", f"Give a folder on this machine.{release}")
    except (ValueError, RuntimeError) as error:  # a NUL in the name; a home folder of nobody
        raise NotFound(f"{str(path)!r} is no path: {error}", "Give a folder on this machine.") from error
    except FileNotFoundError as error:
        raise NotFound("the current folder is gone", "Go to another folder.") from error
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}", "Ask for the right to read it.") from error
    if not is_folder:
        raise NoEngine(
            f"{folder} is a file", "Give the folder that holds it, or a wheel; unpack any other archive first."
        )
    try:
        next(folder.iterdir(), None)
    except OSError as error:
        raise Unreadable(f"{folder} cannot be listed: {error.strerror}", "Ask for the right to read it.") from error
    return Path(os.path.normpath(folder))


def _in_environment(folder: Path) -> Iterator[Found]:
    """Installs of a virtual or conda environment, or of any Python's prefix.

    Raises:
        NoEngine: it is one, and none of them is known.
    """
    patterns = ("lib/python*/site-packages", "lib64/python*/site-packages", "lib/python*/dist-packages")
    found = sorted(site for pattern in patterns for site in folder.glob(pattern) if site.is_dir())
    sites: dict[str, Path] = {}
    for site in found:  # lib64 may be a link to lib
        sites.setdefault(os.path.realpath(site), site)
    if sites and not is_project(folder):
        yield from _installed(list(sites.values()), str(folder))


def _in_site(folder: Path) -> Iterator[Found]:
    """Installs of a site-packages folder, or what an unpacked wheel holds.

    Raises:
        NoEngine: it is a site-packages folder, and nothing in it is known.
    """
    metadata = [name for name in names_in(folder) if name.endswith((".dist-info", ".egg-info"))]
    named = folder.name in SITES
    if is_project(folder) or not (metadata or named):
        return
    if named or len(metadata) > 1:
        yield from _installed([folder], str(folder.parents[2]) if named and len(folder.parents) > 2 else "")
        return
    dist = dist_on_disk(folder / metadata[0])
    if known_by_distribution(dist.name) is None and dist.tops:
        yield Found(Engine.OTHER, dist.version, str(folder), dist.tops, dist.folder, _provenance("wheel"))
        return
    with contextlib.suppress(NoEngine):
        yield from _installed([folder], "")


def _installed(folders: list[Path], prefix: str) -> Iterator[Found]:
    """Installs of site folders that one Python imports from.

    Raises:
        NoEngine: there are none.
    """
    environment = PythonEnv(prefix, "venv", "", tuple(str(folder) for folder in folders))
    listed = Sites(tuple(site_on_disk(folder) for folder in folders), ())
    looked = (package_on_disk(Path(path)) for path in linked_packages(listed))
    found, unknowns = installs((environment,), listed, [package for package in looked if package is not None])
    if not found:
        said = f": {unknowns[0].why}" if unknowns else ""
        raise NoEngine(
            f"no known engine is installed in {prefix or folders[0]}{said}",
            f"Known are {', '.join(DISTRIBUTIONS)}. For another one, give its package folder.",
        )
    yield from found


def _in_package(folder: Path) -> Iterator[Found]:
    """The package that a folder is, or that it lies in."""
    if not _is_package(folder) or (is_project(folder) and any(map(_is_package, _children(folder)))):
        return
    top = folder
    while _is_package(top.parent):
        top = top.parent
    note = f"{folder} lies inside it" if top != folder else ""
    if top.name in PACKAGES and any(DIST.fullmatch(normalise(name)) for name in names_in(top.parent)):
        for one in _in_site(top.parent):
            if top.name in one.packages:
                together = "; ".join(text for text in (one.provenance.note, note) if text)
                yield replace(one, provenance=replace(one.provenance, note=together))
        return
    yield _of_package(top, note)


def _in_checkouts(folder: Path) -> Iterator[Found]:
    """Known packages of a checkout, or of several."""
    for level in _package_levels(folder):
        for package in level:
            if package.name in PACKAGES:
                yield _of_package(package, "")


def _package_levels(folder: Path) -> Iterator[list[Path]]:
    """Regular packages below a folder, level by level; folders inside packages are not looked into."""
    level, listed = [folder], 0
    for _ in range(DEPTH):
        below = [child for parent in level[: FOLDERS - listed] for child in _children(parent)]
        listed += len(level)
        yield [child for child in below if _is_package(child)]
        level = [child for child in below if not _is_package(child)]


def _of_package(package: Path, note: str) -> Found:
    """A package with the project that it belongs to, and the native sources of that project."""
    project = _project_of(package)
    root, packages = _with_native(package.parent, [package], project)
    named = normalise(package.name)
    beside = [name for name in names_in(package.parent) if name.endswith(".dist-info")]
    own = [name for name in beside if normalise(name.partition("-")[0]) == named]
    dist = dist_on_disk(package.parent / own[0]) if own else None
    kind = "wheel" if dist else "checkout" if project else "folder"
    stated = dist.version if dist else project.version if project else ""
    return Found(
        engine_named(project.name if project else "", package.name),
        (dist.version if dist else "") or version_on_disk(package) or stated,
        str(root),
        packages,
        dist.folder if dist else "",
        _provenance(kind, note),
    )


def _with_native(base: Path, packages: list[Path], project: Project | None) -> tuple[Path, tuple[str, ...]]:
    """The root of an install and the paths below it, the native sources of its project included."""
    names = tuple(package.name for package in packages)
    native = [name for name in NATIVE if project and (project.root / name).is_dir() and name not in names]
    if project is None or not native:
        return base, names
    return project.root, (*(package.relative_to(project.root).as_posix() for package in packages), *native)


def _project_of(package: Path) -> Project | None:
    """The project whose package a folder is, by the usual layouts."""
    above = package.parent
    if is_project(above):
        return project_in(above)
    if above.name in LAYOUTS and is_project(above.parent):
        return project_in(above.parent)
    return None


def _other(folder: Path) -> Iterator[Found]:
    """Python packages of any name, else loose Python or CUDA sources."""
    level = next((packages for packages in _package_levels(folder) if packages), [])
    for base in dict.fromkeys(package.parent for package in level):
        packages = [package for package in level if package.parent == base]
        project = _project_of(packages[0]) or (project_in(folder) if is_project(folder) else None)
        wanted = normalise(project.name if project and project.name else base.name)
        packages.sort(key=lambda package: (normalise(package.name) != wanted, package.name))
        root, paths = _with_native(base, packages, project)
        version = version_on_disk(packages[0]) or (project.version if project else "")
        yield Found(Engine.OTHER, version, str(root), paths, "", _provenance("checkout" if project else "folder"))
    if not level and _holds_sources(folder):
        project = project_in(folder) if is_project(folder) else None
        kind, version = ("checkout", project.version) if project else ("folder", "")
        yield Found(Engine.OTHER, version, str(folder.parent), (folder.name,), "", _provenance(kind))


def _holds_sources(folder: Path) -> bool:
    """Whether there is Python or CUDA source in a folder, or in the folders just below it."""
    for parent in (folder, *_children(folder)):
        for name in names_in(parent):
            python = name.endswith(".py") and name not in SETUP
            if (python or name.endswith(CUDA)) and (parent / name).is_file():
                return True
    return False


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _children(folder: Path) -> list[Path]:
    """Folders in a folder that could hold what a project releases, links and hidden ones left out."""
    names = [name for name in names_in(folder) if name not in APART and not name.startswith(".")]
    return [child for name in names if (child := folder / name).is_dir() and not child.is_symlink()]


def _provenance(kind: str, note: str = "") -> Provenance:
    return Provenance(kind, "", "", "", "", note)

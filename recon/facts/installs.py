"""Installs of engines in the Python environments of a machine, and which of several trees Python would import.

Python looks along `sys.path`: each site folder, then the folders that its `.pth` files name. The first regular package
wins, wherever namespace folders lie. Redirecting modules come before all of that (scikit-build-core) or after it
(setuptools, hatch), so a folder of the package's name shadows the latter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import dirname, isabs, join, normpath

from recon.facts.gather import ask
from recon.facts.names import PACKAGES, engine_of_package, known_by_distribution, normalise
from recon.facts.sites import Dist, Link, Package, Site, Sites, packages, sites
from recon.facts.texts import REDIRECTS, direct_url_in, is_plain, pth_lines, redirects_in, runs_code
from recon.ports import Shell
from recon.records.host import PythonEnv
from recon.records.install import Found, Provenance
from recon.records.unknown import Unknown, denied

LAYOUTS = ("", "python", "src")
"""Where the packages of a checkout lie below its root."""
LOOKS = 5000
"""Package folders that are looked at on behalf of links: no honest machine has so many."""


def discover(
    shell: Shell, environments: Sequence[PythonEnv], *, timeout_s: float = 60.0
) -> tuple[tuple[Found, ...], tuple[Unknown, ...]]:
    """Every place where an engine or a companion lies that the environments import from, and what could not be seen.

    Raises:
        ReconError: the machine did not answer, or not in time.
    """
    folders = list(dict.fromkeys(folder for environment in environments for folder in environment.site_packages))
    look = sites(folders)
    values, unknowns = ask(shell, [look], timeout_s=timeout_s)
    listed = values.of(look)
    if listed is None:
        return (), unknowns
    elsewhere: tuple[Package, ...] = ()
    linked = linked_packages(listed)
    if linked:
        further = packages(linked)
        values, more = ask(shell, [further], timeout_s=timeout_s)
        elsewhere, unknowns = values.of(further) or (), (*unknowns, *more)
    found, rest = installs(environments, listed, elsewhere)
    return found, (*unknowns, *rest)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A way in which Python comes to a package outside of the site folder."""

    path: str
    """The package folder."""
    link: str
    """Name of the file that leads there; '' for PYTHONPATH."""
    rank: int
    """FIRST: before `sys.path` is asked. ON_PATH: a folder of it. LAST: after it."""


FIRST, ON_PATH, LAST = 0, 1, 2


def pointers(site: Site) -> Iterator[Pointer]:
    """Where the links of a site folder lead for each known package, in the order in which Python takes them up."""
    redirecting = {link.file.removesuffix(".py"): link for link in site.links if link.file.endswith(".py")}
    for link in site.links:
        if link.file.endswith(".egg-link"):
            folder = next(iter(link.text.split("\n")), "").strip()
            yield from _in_folder(site, folder, link)
        elif link.file.endswith(".pth"):
            for line in pth_lines(link.text):
                if not runs_code(line):
                    yield from _in_folder(site, line, link)
                    continue
                for name in REDIRECTS.findall(line):
                    if name in redirecting:
                        yield from _redirected(redirecting[name])
    for dist in site.dists:
        yield from _installed_from(dist)


def _in_folder(site: Site, folder: str, link: Link) -> Iterator[Pointer]:
    """The packages that a path in a link could hold; a relative one starts at the site folder."""
    if not folder or not is_plain(folder):
        return
    base = normpath(folder if isabs(folder) else join(site.folder, folder))
    for package in PACKAGES:
        yield Pointer(join(base, package), link.file, ON_PATH)


def _redirected(link: Link) -> Iterator[Pointer]:
    rank = FIRST if link.file.endswith("_editable.py") or link.file.startswith("_editable_skbc_") else LAST
    for name, path in redirects_in(link.text).items():
        if name in PACKAGES and is_plain(path):
            yield Pointer(normpath(path), link.file, rank)


def _installed_from(dist: Dist) -> Iterator[Pointer]:
    """Where the package of an editable distribution may lie, in case that its link is of a kind unknown here."""
    url = direct_url_in(dist.direct_url)
    known = known_by_distribution(dist.name)
    if url is not None and known is not None and url.editable and isabs(url.folder) and is_plain(url.folder):
        for layout in LAYOUTS:
            yield Pointer(normpath(join(url.folder, layout, known.package)), "direct_url.json", LAST)


def linked_packages(listed: Sites) -> tuple[str, ...]:
    """The package folders to look at beyond the site folders themselves."""
    wanted = [join(folder, package) for folder in listed.python_path for package in PACKAGES]
    for site in listed.sites:
        wanted += [pointer.path for pointer in pointers(site)]
    return tuple(dict.fromkeys(wanted))[:LOOKS]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One folder from which Python could import a package."""

    package: Package
    site: Site | None
    """The site folder that holds it or leads to it; None for PYTHONPATH."""
    pointer: Pointer | None
    """None where it lies in the site folder itself."""

    @property
    def root(self) -> str:
        """Folder that holds the package: the real one where the package is reached through a link of its own."""
        parent = dirname(self.package.path)
        real = dirname(self.package.real)
        named_alike = self.package.real.endswith("/" + self.package.name)
        if self.site is not None and self.pointer is None and real == self.site.real:
            return parent
        return real if named_alike else parent


def installs(
    environments: Sequence[PythonEnv], listed: Sites, elsewhere: Sequence[Package]
) -> tuple[tuple[Found, ...], tuple[Unknown, ...]]:
    """Put together what site folders hold and what lies where their links lead."""
    by_path = {package.path: package for package in elsewhere}
    by_folder = {site.folder: site for site in listed.sites}
    found: dict[tuple[str, str, str], Found] = {}
    unknowns: list[Unknown] = []
    for environment in environments:
        own = [by_folder[folder] for folder in environment.site_packages if folder in by_folder]
        for name in PACKAGES:
            candidates = _import_order(name, own, listed.python_path, by_path)
            for candidate in candidates:
                if candidate.package.regular and _owner(candidate, environments) in (environment.prefix, ""):
                    install = _install(candidate, candidates, environment)
                    found.setdefault((candidate.root, name, install.provenance.environment), install)
    for site in listed.sites:
        if not site.readable:
            unknowns.append(Unknown("installs", site.folder, denied()))
        unknowns += _lost(site, by_path)
    return tuple(found.values()), tuple(unknowns)


def _import_order(
    name: str, own: Sequence[Site], python_path: Sequence[str], by_path: dict[str, Package]
) -> list[_Candidate]:
    """The folders that hold a package, the one that Python imports first."""
    on_path = [
        _Candidate(by_path[path], None, None) for folder in python_path if (path := join(folder, name)) in by_path
    ]
    first: list[_Candidate] = []
    last: list[_Candidate] = []
    for site in own:
        on_path += [_Candidate(package, site, None) for package in site.packages if package.name == name]
        for pointer in pointers(site):
            package = by_path.get(pointer.path)
            if package is not None and package.name == name:
                {FIRST: first, ON_PATH: on_path, LAST: last}[pointer.rank].append(_Candidate(package, site, pointer))
    # A folder without __init__ counts only where no regular package is on the path, yet it comes before redirects.
    regular = [candidate for candidate in on_path if candidate.package.regular]
    unique: dict[str, _Candidate] = {}
    for candidate in (*first, *(regular or on_path), *last):
        unique.setdefault(candidate.package.real, candidate)
    return list(unique.values())


def _owner(candidate: _Candidate, environments: Sequence[PythonEnv]) -> str:
    """Prefix of the environment to which a site folder belongs, of those that import from it; '' for PYTHONPATH."""
    if candidate.site is None:
        return ""
    folder = candidate.site.folder
    prefixes = [environment.prefix for environment in environments if folder in environment.site_packages]
    holding = [prefix for prefix in prefixes if folder.startswith(prefix.rstrip("/") + "/")]
    return max(holding, key=len) if holding else prefixes[0]


def _install(candidate: _Candidate, candidates: Sequence[_Candidate], environment: PythonEnv) -> Found:
    """One candidate as the place of an install."""
    dist, rivals = _dist_of(candidate)
    known = known_by_distribution(dist.name) if dist else None
    name = candidate.package.name
    beside = dist.tops if dist and candidate.pointer is None and not _is_editable(dist) else ()
    version = (dist.version if dist else "") or candidate.package.version
    return Found(
        known.engine if known else engine_of_package(name),
        version,
        candidate.root,
        (name, *(top for top in beside if top != name)),
        dist.folder if dist else "",
        _provenance(candidate, dist, environment, _note(candidate, candidates, dist, rivals)),
    )


def _dist_of(candidate: _Candidate) -> tuple[Dist | None, tuple[Dist, ...]]:
    """The metadata of a candidate, and other metadata that claims the same folder."""
    if candidate.site is None:
        return None, ()
    name = candidate.package.name
    claims = [dist for dist in candidate.site.dists if _package_of(dist) == name]
    here = any(package.name == name for package in candidate.site.packages)
    if candidate.pointer is None:
        claims = [dist for dist in claims if not _is_editable(dist)] or claims
    elif here:  # metadata of a wheel speaks for the folder beside it, not for a link to elsewhere
        claims = [dist for dist in claims if _is_editable(dist)]
    if not claims:
        return None, ()
    # Where one distribution was installed over another, the files tell whose they are.
    claims.sort(key=lambda dist: (not _leads_to(dist, candidate), dist.version != candidate.package.version))
    return claims[0], tuple(claims[1:])


def _package_of(dist: Dist) -> str:
    known = known_by_distribution(dist.name or dist.folder.rpartition("/")[2].partition("-")[0])
    return known.package if known else ""


def _is_editable(dist: Dist) -> bool:
    url = direct_url_in(dist.direct_url)
    return url is not None and url.editable


def _leads_to(dist: Dist, candidate: _Candidate) -> bool:
    """Whether a candidate lies below the folder that a distribution says it was installed from."""
    url = direct_url_in(dist.direct_url)
    below = f"{url.folder.rstrip('/')}/" if url and url.editable and url.folder else ""
    return f"{candidate.package.path}/".startswith(below) or f"{candidate.package.real}/".startswith(below)


def _provenance(candidate: _Candidate, dist: Dist | None, environment: PythonEnv, note: str) -> Provenance:
    url = direct_url_in(dist.direct_url) if dist else None
    if candidate.pointer is not None or (url is not None and url.editable):
        kind = "editable"
    else:
        kind = "wheel" if dist else "folder"
    return Provenance(
        kind,
        environment.prefix if candidate.site is not None else "",
        dist.installer if dist else "",
        url.url if url else "",
        url.sha256 if url else "",
        note,
    )


def _note(candidate: _Candidate, candidates: Sequence[_Candidate], dist: Dist | None, rivals: Sequence[Dist]) -> str:
    """What else decides which tree is imported."""
    notes = []
    winner = candidates[0]
    if candidate is not winner:
        namespace = "" if winner.package.regular else ", which has no __init__"
        notes.append(f"shadowed by {join(winner.root, winner.package.name)}{namespace}")
    elif len(candidates) > 1:
        others = ", ".join(join(other.root, other.package.name) for other in candidates[1:])
        notes.append(f"imported first; shadows {others}")
    if candidate.site is None:
        notes.append("on PYTHONPATH of the shell that was asked")
    elif candidate.pointer is not None:
        notes.append(f"through {candidate.pointer.link}")
    elif candidate.package.real != join(candidate.site.real, candidate.package.name):
        notes.append(f"reached through a link in {candidate.site.folder}")
    if dist is not None and candidate.package.version not in ("", dist.version):
        notes.append(f"metadata says {dist.version or 'no version'}, the files say {candidate.package.version}")
    notes += [f"also claimed by {normalise(rival.name)} {rival.version}" for rival in rivals]
    return "; ".join(notes)


def _lost(site: Site, by_path: dict[str, Package]) -> Iterator[Unknown]:
    """Metadata of engines of which no package can be found."""
    linked = {by_path[pointer.path].name for pointer in pointers(site) if pointer.path in by_path}
    here = {package.name for package in site.packages}
    for dist in site.dists:
        package = _package_of(dist)
        if package and package not in here | linked:
            why = f"there is metadata of {dist.name} {dist.version}, and no package {package} where it leads"
            yield Unknown("install", dist.folder, why)

"""Pages of a package index, in both forms of the simple API: JSON (PEP 691) and HTML (PEP 503)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import url2pathname

import msgspec
from packaging.utils import canonicalize_name

from recon.errors import Unreachable
from recon.sources.pip_config import PackageIndexes
from recon.sources.web import Client, Page, host_of

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_MAX_FILES = 100_000


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file that an index lists for a project."""

    name: str
    url: str = field(repr=False)
    """http, https or file; may hold credentials."""
    sha256: str
    """'' where the index gives none."""
    size_bytes: int | None
    yanked: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """What all indexes together hold of a project."""

    files: tuple[IndexFile, ...]
    silent: Unreachable | None
    """Why an index did not answer, if one did not."""


class _File(msgspec.Struct):
    filename: str
    url: str
    hashes: dict[str, str] = {}
    size: int | None = None
    yanked: bool | str = False


class _Project(msgspec.Struct):
    files: list[_File]


class _Anchors(HTMLParser):
    """Links of an HTML page, with the base that they are relative to."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.base = url
        self.links: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        href = values.get("href")
        if not href:
            return
        if tag == "base":
            self.base = urljoin(self.base, href)
        elif tag == "a" and len(self.links) < _MAX_FILES:
            self.links.append((href, "data-yanked" in values))


def listing_of(project: str, indexes: PackageIndexes, client: Client) -> Listing:
    """Every file that the indexes and find-links list for a project; each file name once, the first place wins.

    An index that does not answer is remembered, not fatal: another may have what is wanted.
    """
    files: dict[str, IndexFile] = {}
    silent: Unreachable | None = None
    name = canonicalize_name(project)
    for url in [*indexes.find_links, *(f"{index.rstrip('/')}/{name}/" for index in indexes.urls)]:
        try:
            for file in _files_at(url, client):
                if _belongs(file.name, name):
                    files.setdefault(file.name, file)
        except Unreachable as error:
            silent = silent or error
    return Listing(tuple(files.values()), silent)


def files_of(page: Page) -> Iterator[IndexFile]:
    """Files that a page lists, whichever form it has.

    Raises:
        Unreachable: the page has neither form.
    """
    if page.media_type.endswith("json"):
        yield from _files_of_json(page)
    elif page.media_type.endswith("html"):
        yield from _files_of_html(page)
    else:
        raise Unreachable(
            f"{host_of(page.url)} answered with {page.media_type or 'nothing'}, which is no package index"
        )


def local_path(url: str) -> Path | None:
    """The file that an address without a network names; None for other addresses.

    >>> local_path("file:///opt/a%20b"), local_path("https://index.example/a")
    (PosixPath('/opt/a b'), None)
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path))
    return None if parts.scheme in ("http", "https") else Path(url).expanduser()


def _belongs(file: str, project: str) -> bool:
    """Whether a file is of the project: a folder of find-links holds those of many."""
    if file.endswith(".whl"):
        return canonicalize_name(file.partition("-")[0]) == project
    return canonicalize_name(file).startswith(project + "-")


def _files_at(url: str, client: Client) -> Iterator[IndexFile]:
    path = local_path(url)
    if path is not None:
        yield from _files_on_disk(path)
        return
    page = client.page(url, _ACCEPT)
    if page is not None:
        yield from files_of(page)


def _files_on_disk(path: Path) -> Iterator[IndexFile]:
    """A folder of wheels, a folder with an index page in it, or a page; nothing where there is none, as pip does."""
    try:
        page = path / "index.html" if path.is_dir() else path
        if page.is_file() and page.suffix in (".html", ".htm"):
            yield from _files_of_html(Page(page.read_bytes(), "text/html", page.resolve().as_uri()))
        elif path.is_dir():
            for file in sorted(path.glob("*.whl")):
                yield IndexFile(file.name, file.resolve().as_uri(), "", file.stat().st_size, yanked=False)
    except OSError as error:
        raise Unreachable(f"a local folder of packages cannot be read: {error.strerror}") from None


def _files_of_json(page: Page) -> Iterator[IndexFile]:
    try:
        project = msgspec.json.decode(page.body, type=_Project)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreachable(f"{host_of(page.url)} answered with JSON that is no package index") from None
    for file in project.files[:_MAX_FILES]:
        size = file.size if file.size is not None and file.size > 0 else None
        yield IndexFile(
            file.filename,
            urljoin(page.url, file.url),
            _sha256(file.hashes.get("sha256", "")),
            size,
            yanked=file.yanked is not False,
        )


def _files_of_html(page: Page) -> Iterator[IndexFile]:
    anchors = _Anchors(page.url)
    anchors.feed(page.body.decode("utf-8", "replace"))
    anchors.close()
    for href, yanked in anchors.links:
        address, _, fragment = urljoin(anchors.base, href).partition("#")
        name = unquote(urlsplit(address).path).rpartition("/")[2]
        algorithm, _, value = fragment.partition("=")
        yield IndexFile(name, address, _sha256(value) if algorithm == "sha256" else "", None, yanked=yanked)


def _sha256(text: str) -> str:
    """The hash, if it looks like one."""
    lower = text.lower()
    return lower if len(lower) == 64 and all(digit in "0123456789abcdef" for digit in lower) else ""

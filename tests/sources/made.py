"""Trees, wheels and libraries made for tests, and a package index on this machine."""

import contextlib
import hashlib
import re
import struct
import threading
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from recon.ports import Silent

ALIGN = 8


class Told(Silent):
    """A Progress that remembers."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, int | None]] = []
        self.done = 0

    def start(self, task: str, total: int | None) -> None:
        self.tasks.append((task, total))

    def advance(self, amount: int = 1, note: str = "") -> None:
        self.done += amount


class Bytes:
    """A ByteRange over bytes that remembers which of them were read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reads: list[tuple[int, int]] = []

    @property
    def size_bytes(self) -> int:
        return len(self.data)

    def read(self, offset: int, length: int) -> bytes:
        piece = self.data[offset : offset + length]
        self.reads.append((offset, offset + len(piece)))
        return piece


@dataclass(frozen=True)
class MadeLibrary:
    """An ELF file put together by hand, with the place of each section."""

    data: bytes
    places: dict[str, tuple[int, int]]
    """Offset and end of each section."""


def library(
    *,
    defined: tuple[str, ...] = ("verify", "build"),
    imported: tuple[str, ...] = ("malloc",),
    needed: tuple[str, ...] = ("libc10.so",),
    text: tuple[bytes, ...] = (b"verify(Tensor! a, int k) -> ()",),
    gpu_bytes: int = 4096,
    sections: bool = True,
    hashing: str = "gnu",
    extended: bool = False,
) -> MadeLibrary:
    """A 64-bit little-endian shared object, with addresses equal to offsets."""
    names = [*imported, *defined]
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in (*names, *needed))
    place_of = {name: strings.index(b"\0" + name.encode() + b"\0") + 1 for name in (*names, *needed)}
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", place_of[name], 0x12, 0, 7 if name in defined else 0, 0x1000, 8) for name in names
    )
    pieces: dict[str, bytes] = {
        ".hash": _hash_table(hashing, len(names) + 1, len(imported) + 1),
        ".dynsym": symbols,
        ".dynstr": strings,
        ".rodata": b"\0" + b"\0".join(text) + b"\0",
        ".nv_fatbin": (b"\x50\xed\x55\xba\x01\x00\x10\x00" + bytes(gpu_bytes))[: gpu_bytes + 8 if gpu_bytes else 0],
    }
    head = 64 + 56 * 2
    places: dict[str, tuple[int, int]] = {}
    body = b""
    for name, piece in pieces.items():
        body += bytes(-(head + len(body)) % ALIGN)
        places[name] = (head + len(body), head + len(body) + len(piece))
        body += piece
    body += bytes(-(head + len(body)) % ALIGN)
    tags = [(1, place_of[name]) for name in needed]
    tags += [(4 if hashing == "sysv" else 0x6FFFFEF5, places[".hash"][0])] if hashing != "none" else []
    tags += [(5, places[".dynstr"][0]), (6, places[".dynsym"][0]), (10, len(strings)), (11, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in tags)
    places[".dynamic"] = (head + len(body), head + len(body) + len(dynamic))
    body += dynamic
    size = head + len(body)
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, size, size, 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 6, places[".dynamic"][0], places[".dynamic"][0], 0, len(dynamic), 0, 8)
    table, names_index = _section_table(places, size, hashing, extended=extended) if sections else (b"", 0)
    count = len(table) // 64 if sections and not extended else 0
    offset = size + (len(table) and _name_bytes(places)) if sections else 0
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, offset, 0, 64, 56, 2, 64, count, names_index)
    names_table = _names_of(places) if sections else b""
    return MadeLibrary(header + segments + body + names_table + table, places)


def _names_of(places: Mapping[str, tuple[int, int]]) -> bytes:
    return b"\0" + b"".join(name.encode() + b"\0" for name in (*places, ".shstrtab"))


def _name_bytes(places: Mapping[str, tuple[int, int]]) -> int:
    return len(_names_of(places))


def _section_table(
    places: Mapping[str, tuple[int, int]], size: int, hashing: str, *, extended: bool
) -> tuple[bytes, int]:
    names = _names_of(places)
    order = [*places, ".shstrtab"]
    kinds = {
        ".hash": 5 if hashing == "sysv" else 0x6FFFFFF6,
        ".dynsym": 11,
        ".dynstr": 3,
        ".rodata": 1,
        ".nv_fatbin": 1,
        ".dynamic": 6,
        ".shstrtab": 3,
    }
    links = {".hash": ".dynsym", ".dynsym": ".dynstr", ".dynamic": ".dynstr"}
    index = order.index(".shstrtab") + 1
    rows = [(0, 0, 0, 0, 0, len(order) + 1 if extended else 0, index if extended else 0)]
    for name in order:
        start, end = places.get(name, (size, size + len(names)))
        flags = 3 if name == ".dynamic" else 0 if name == ".shstrtab" else 2
        link = order.index(links[name]) + 1 if name in links else 0
        rows.append((names.index(name.encode() + b"\0"), kinds[name], flags, start, start, end - start, link))
    table = b"".join(struct.pack("<IIQQQQIIQQ", *row, 0, 8, 24 if row[1] == 11 else 0) for row in rows)
    return table, 0xFFFF if extended else index


def _hash_table(kind: str, count: int, first: int) -> bytes:
    if kind == "sysv":
        return struct.pack("<II", 1, count) + bytes(4 + 4 * count)
    if kind == "none":
        return b""
    chain = b"".join(struct.pack("<I", 2 if place + 1 < count else 3) for place in range(first, count))
    return struct.pack("<IIIIQI", 1, first, 1, 0, 0, first if chain else 0) + chain


def wheel(folder: Path, name: str, members: Mapping[str, bytes], *, metadata: bool = True) -> Path:
    """A wheel file with these members and, unless told otherwise, metadata."""
    path = folder / name
    project, version = name.split("-")[:2]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        if metadata:
            text = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
            archive.writestr(f"{project}-{version}.dist-info/METADATA", text)
    return path


def files_below(folder: Path) -> list[str]:
    """Every file, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Site:
    """What a server on this machine serves, and how badly."""

    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    """Body and media type by path."""
    redirects: dict[str, str] = field(default_factory=dict)
    login: str = ""
    """Value that the Authorization header must have."""
    ranges: bool = True
    suffixes: bool = True
    """Whether `bytes=-N` is understood."""
    cuts: int = 0
    """So many answers break off half way."""
    failures: list[int] = field(default_factory=list)
    """Status of the next answers, one each."""
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    """Path, Range and Authorization of each request."""
    url: str = ""

    def answer(self, path: str, asked: str, login: str) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers."""
        self.seen.append((path, asked, login))
        if self.failures:
            return self.failures.pop(0), b"", {}
        if self.login and login != self.login:
            return 401, b"", {}
        if path in self.redirects:
            return 302, b"", {"Location": self.redirects[path]}
        if path not in self.files:
            return 404, b"no such page", {}
        body, media_type = self.files[path]
        headers = {"Content-Type": media_type}
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", asked) if self.ranges else None
        if match is None or (not match[1] and not self.suffixes):
            return 200, body, headers
        start = int(match[1]) if match[1] else max(0, len(body) - int(match[2]))
        end = min(int(match[2]) + 1, len(body)) if match[1] and match[2] else len(body)
        if start >= end:
            return 416, b"", {}
        return 206, body[start:end], headers | {"Content-Range": f"bytes {start}-{end - 1}/{len(body)}"}


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve a site on the loopback address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
            """Say nothing."""

        def do_GET(self) -> None:
            login = self.headers.get("Authorization", "")
            status, body, headers = site.answer(self.path, self.headers.get("Range", ""), login)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            if site.cuts and body and status in (200, 206):
                site.cuts -= 1
                body = body[: len(body) // 2]
            self.wfile.write(body)
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

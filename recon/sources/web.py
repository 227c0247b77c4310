"""HTTP reads for release files: pages, ranges and whole files, counted, retried, without ever showing an address.

Errors name the host alone: the path and the query of an index's address can hold a token.
"""

import base64
import http.client
import netrc
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from recon import __version__
from recon.errors import Unreachable, Unreadable
from recon.numbers import number
from recon.sources.pip_config import PackageIndexes

MAX_PAGE_BYTES = 64 << 20
CHUNK_BYTES = 256 << 10

_ATTEMPTS = 4
_PAUSE_S = 0.5  # before the second attempt; each later pause is twice as long
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})")
_BROKEN = (URLError, http.client.HTTPException, OSError)


class Refused(Unreachable):
    """The index answered that we may not."""

    kind = "auth"


class NoRanges(Exception):
    """The server sends whole files only: a fork in the road, not a failure."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of an index."""

    body: bytes
    media_type: str
    url: str
    """Where it came from in the end, for the links in it."""


class _Answer(Protocol):
    """What urllib's responses offer of use here."""

    headers: Mapping[str, str]
    status: int

    def read(self, amount: int) -> bytes: ...

    def geturl(self) -> str: ...


class Client:
    """Reads over HTTP what pip would read, as pip would.

    Attributes:
        moved: Bytes of all answers so far.
        requests: Requests made so far, retries included.
    """

    def __init__(
        self,
        indexes: PackageIndexes,
        moving: Callable[[int], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            indexes: Certificates, proxy, time limit, and the credentials that addresses hold.
            moving: Called with the bytes moved so far, after each piece.
            sleep: Waits between attempts.
        """
        self.moved = 0
        self.requests = 0
        self._indexes = indexes
        self._moving = moving
        self._sleep = sleep
        self._openers: dict[bool, OpenerDirector] = {}
        self._logins = dict(_logins((*indexes.urls, *indexes.find_links)))

    def page(self, url: str, accept: str) -> Page | None:
        """A page of an index; None where there is none.

        Raises:
            Unreachable: no answer, or one that is too large.
        """
        for attempt in range(_ATTEMPTS):
            try:
                with self._open(url, {"Accept": accept}) as answer:
                    body = b"".join(self._pieces(answer, url, MAX_PAGE_BYTES))
                    return Page(body, answer.headers.get("Content-Type", "").partition(";")[0].strip(), answer.geturl())
            except HTTPError as error:
                if error.code in (404, 410):
                    return None
                self._again(url, error, attempt)
            except _BROKEN as error:
                self._again(url, error, attempt)
        raise AssertionError  # the last attempt raises

    def range(self, url: str, start: int, end: int) -> tuple[bytes, int]:
        """Bytes `start` to `end` (not included; a negative start counts from the end), and the file's length.

        Raises:
            NoRanges: the server sends whole files only.
            Unreachable: no answer.
        """
        parts: list[bytes] = []
        total = -1
        for attempt in range(_ATTEMPTS):
            try:
                with self._open(
                    url, {"Range": f"bytes={start}" if start < 0 else f"bytes={start}-{end - 1}"}
                ) as answer:
                    first, total = _content_range(answer, total)
                    if start >= 0 and first != start:
                        raise NoRanges
                    start, end = first, min(end, total) if start >= 0 else total
                    for piece in self._pieces(answer, url, end - start):
                        parts.append(piece)
                        start += len(piece)
                if start >= end:
                    return b"".join(parts), total
                self._again(url, TimeoutError("the connection was cut"), attempt)
            except HTTPError as error:
                if error.code in (400, 405, 416, 501):
                    raise NoRanges from None
                self._again(url, error, attempt)
            except _BROKEN as error:
                self._again(url, error, attempt)
        raise AssertionError  # the last attempt raises

    def download(self, url: str, into: IO[bytes], limit: int) -> None:
        """A whole file, into an empty file object.

        Raises:
            Unreachable: no answer, or more bytes than `limit`.
            Unreadable: the disk cannot take it.
        """
        for attempt in range(_ATTEMPTS):
            into.seek(0)
            into.truncate()
            try:
                with self._open(url, {}) as answer:
                    said = answer.headers.get("Content-Length", "")
                    for piece in self._pieces(answer, url, limit):
                        _write(into, piece)
                if number(said) in (None, into.tell()):
                    return
                self._again(url, TimeoutError("the connection was cut"), attempt)
            except _BROKEN as error:
                self._again(url, error, attempt)

    @contextmanager
    def _open(self, url: str, headers: dict[str, str]) -> Iterator[_Answer]:
        address, login = self._split(url)
        request = Request(address, headers={"User-Agent": f"recon/{__version__}", "Accept-Encoding": "identity"})  # noqa: S310 - _split lets http and https through alone
        for name, value in headers.items():
            request.add_header(name, value)
        if login:
            request.add_unredirected_header("Authorization", login)  # so no other host ever sees it
        self.requests += 1
        try:
            answer = self._opener(address).open(request, timeout=self._indexes.timeout_s)
        except HTTPError as error:
            error.close()
            raise
        with answer:
            yield answer

    def _pieces(self, answer: _Answer, url: str, limit: int) -> Iterator[bytes]:
        left = limit
        while piece := answer.read(min(CHUNK_BYTES, left + 1)):
            self.moved += len(piece)
            self._moving(self.moved)
            left -= len(piece)
            if left < 0:
                raise Unreachable(f"{host_of(url)} sent more than it was asked for")
            yield piece

    def _again(self, url: str, error: Exception, attempt: int) -> None:
        """Wait before the next attempt, or give up.

        Raises:
            Unreachable: there is no use in another attempt.
        """
        transient = not isinstance(error, HTTPError) or error.code in _TRANSIENT
        certificate = isinstance(getattr(error, "reason", error), ssl.SSLCertVerificationError)
        if transient and not certificate and attempt + 1 < _ATTEMPTS:
            self._sleep(_PAUSE_S * 2**attempt)
            return
        _give_up(url, error)

    def _opener(self, url: str) -> OpenerDirector:
        parts = urlsplit(url)
        trusted = bool({parts.hostname or "", parts.netloc} & set(self._indexes.trusted_hosts))
        if trusted not in self._openers:
            handlers = [HTTPSHandler(context=_context(self._indexes, verify=not trusted)), _Redirects()]
            proxy = self._indexes.proxy
            proxies = ProxyHandler({"http": proxy, "https": proxy} if proxy else None)
            self._openers[trusted] = build_opener(proxies, *handlers)
        return self._openers[trusted]

    def _split(self, url: str) -> tuple[str, str]:
        """The address without credentials, and the value of the Authorization header ('' for none).

        Raises:
            Unreachable: the address is not of the web.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Unreachable("an index gave an address that is neither http nor https")
        bare = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))
        login = _login_in(url) or self._logins.get(parts.netloc.rpartition("@")[2]) or _netrc_login(parts.hostname)
        return bare, "Basic " + base64.b64encode(login.encode()).decode("ascii") if login else ""


class _Redirects(HTTPRedirectHandler):
    """Follows redirects on the web, never from a checked connection to an open one; credentials stay on their host."""

    def redirect_request(  # noqa: PLR0917 - urllib's signature
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme == "https" and new.scheme != "https"):
            raise Unreachable(f"{host_of(req.full_url)} redirects to an address that is not encrypted")
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        login = req.unredirected_hdrs.get("Authorization")
        if request is not None and login and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            request.add_unredirected_header("Authorization", login)
        return request


def host_of(url: str) -> str:
    """The part of an address that may be shown.

    >>> host_of("https://me:secret@index.example:8443/token/simple/?key=1")
    'index.example:8443'
    """
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] if parts.scheme in ("http", "https") else parts.scheme or "a local folder"


def _give_up(url: str, error: Exception) -> NoReturn:
    host = host_of(url)
    if isinstance(error, HTTPError):
        if error.code in (401, 403, 407):
            raise Refused(
                f"{host} refused to answer: HTTP {error.code}",
                "check the user name and password of pip's configuration",
            ) from None
        raise Unreachable(f"{host} answered HTTP {error.code}", "try again later") from None
    reason = getattr(error, "reason", error)
    why = (
        reason if isinstance(reason, str) else getattr(reason, "verify_message", "") or getattr(reason, "strerror", "")
    )
    raise Unreachable(
        f"{host} did not answer: {why or type(reason).__name__}",
        "check the connection and pip's configuration (index-url, proxy, cert), or name a wheel file instead",
    ) from None


def _write(into: IO[bytes], piece: bytes) -> None:
    """Write; a full disk must not look like a broken connection."""
    try:
        into.write(piece)
    except OSError as error:
        raise Unreadable(f"a temporary file could not be written: {error.strerror}", "free some space") from None


def _content_range(answer: _Answer, known: int) -> tuple[int, int]:
    """First byte and the file's length, as the answer says.

    Raises:
        NoRanges: it is not an answer to a range, or the file's length changed.
    """
    match = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if answer.status != http.HTTPStatus.PARTIAL_CONTENT or match is None:
        raise NoRanges
    first, last, total = (int(number) for number in match.groups())
    if not first <= last < total or (known >= 0 and known != total):
        raise NoRanges
    return first, total


def _context(indexes: PackageIndexes, *, verify: bool) -> ssl.SSLContext:
    try:
        folder = bool(indexes.cert) and Path(indexes.cert).is_dir()
        context = ssl.create_default_context(
            cafile=None if folder or not indexes.cert else indexes.cert, capath=indexes.cert if folder else None
        )
        if indexes.client_cert:
            context.load_cert_chain(indexes.client_cert)
    except (OSError, ssl.SSLError):
        raise Unreachable(
            "the certificates of pip's configuration cannot be read", "check pip's cert setting"
        ) from None
    if not verify:  # the user said so to pip, for this host
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _logins(urls: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Credentials by host: what an index's address holds is good for the files that it links to on that host."""
    for url in urls:
        if login := _login_in(url):
            yield urlsplit(url).netloc.rpartition("@")[2], login


def _login_in(url: str) -> str:
    parts = urlsplit(url)
    if parts.username is None:
        return ""
    return f"{unquote(parts.username)}:{unquote(parts.password or '')}"


def _netrc_login(host: str) -> str:
    named = os.environ.get("NETRC")
    for path in [named] if named else ["~/.netrc", "~/_netrc"]:
        try:
            found = netrc.netrc(Path(path).expanduser()).authenticators(host)
        except (OSError, RuntimeError, netrc.NetrcParseError, UnicodeDecodeError):
            continue
        if found:
            return f"{found[0] or found[1] or ''}:{found[2] or ''}"
    return ""

"""Pages and ranges arrive over bad connections, and no secret leaves its host."""

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from recon.errors import Exit, Unreachable, Unreadable
from recon.sources.pip_config import PackageIndexes
from recon.sources.web import Client, NoRanges, Refused
from tests.sources.made import Site, serving

BODY = bytes(range(256)) * 40


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(
        Site(files={"/f.whl": (BODY, "application/zip"), "/p/": (b"<html>", "text/html; charset=utf-8")})
    ) as it:
        yield it


def client(*urls: str, **more: object) -> tuple[Client, list[float]]:
    waits: list[float] = []
    return Client(PackageIndexes(urls, (), **more), sleep=waits.append), waits  # type: ignore[arg-type]  # named fields


def basic(login: str) -> str:
    return "Basic " + base64.b64encode(login.encode()).decode()


def test_a_page_comes_with_its_type_and_place(site: Site) -> None:
    reader, _ = client()
    page = reader.page(site.url + "/p/", "text/html")

    assert page is not None
    assert (b"<html>", "text/html", site.url + "/p/") == (page.body, page.media_type, page.url)
    assert (6, 1) == (reader.moved, reader.requests)


def test_a_page_that_is_not_there_is_none(site: Site) -> None:
    assert client()[0].page(site.url + "/none/", "*/*") is None


def test_a_range_is_what_was_asked_for(site: Site) -> None:
    reader, _ = client()

    assert (BODY[100:300], len(BODY)) == reader.range(site.url + "/f.whl", 100, 300)
    assert (BODY[-50:], len(BODY)) == reader.range(site.url + "/f.whl", -50, 0)
    assert (BODY[-50:], len(BODY)) == reader.range(site.url + "/f.whl", len(BODY) - 50, len(BODY) + 999)
    assert (300, 3) == (reader.moved, reader.requests)


def test_a_server_without_ranges_is_told_apart(site: Site) -> None:
    site.ranges = False

    with pytest.raises(NoRanges):
        client()[0].range(site.url + "/f.whl", 0, 10)
    with pytest.raises(NoRanges):
        client()[0].range(site.url + "/p/", 100, 200)


def test_a_range_that_breaks_off_goes_on_where_it_broke(site: Site) -> None:
    site.cuts = 2
    reader, waits = client()

    assert (BODY[:8000], len(BODY)) == reader.range(site.url + "/f.whl", 0, 8000)
    assert ["bytes=0-7999", "bytes=4000-7999", "bytes=6000-7999"] == [asked for _, asked, _ in site.seen]
    assert [0.5, 1.0] == waits


def test_a_download_that_breaks_off_begins_again(site: Site) -> None:
    site.cuts = 1
    into = io.BytesIO()
    client()[0].download(site.url + "/f.whl", into, 1 << 20)

    assert BODY == into.getvalue()


def test_a_download_beyond_the_limit_is_stopped(site: Site) -> None:
    with pytest.raises(Unreachable, match="more than it was asked for"):
        client()[0].download(site.url + "/f.whl", io.BytesIO(), 1000)


def test_a_full_disk_is_not_taken_for_a_broken_connection(site: Site) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(Unreadable, match="No space left"):
        client()[0].download(site.url + "/f.whl", Full(), 1 << 20)
    assert 1 == len(site.seen)


def test_a_busy_server_is_asked_again_and_then_given_up(site: Site) -> None:
    site.failures = [503, 429]
    assert client()[0].page(site.url + "/p/", "*/*") is not None

    site.failures = [503] * 9
    with pytest.raises(Unreachable, match="answered HTTP 503"):
        client()[0].page(site.url + "/p/", "*/*")


def test_a_refusal_is_not_repeated(site: Site) -> None:
    site.login = basic("me:secret")

    with pytest.raises(Refused, match="refused to answer: HTTP 401") as caught:
        client()[0].page(site.url + "/p/", "*/*")
    assert ("auth", Exit.INCOMPLETE, 1) == (caught.value.kind, caught.value.exit, len(site.seen))


def test_a_host_that_is_not_there_is_named_without_its_address() -> None:
    reader, waits = client()

    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9 did not answer: Connection refused") as caught:
        reader.page("http://me:hunter2@127.0.0.1:9/token/simple/?key=k", "*/*")
    assert 3 == len(waits)
    for word in ("hunter2", "token", "key="):
        assert word not in f"{caught.value} {caught.value.hint} {caught.value.args}"
    assert caught.value.__suppress_context__


def test_credentials_of_the_address_are_sent_as_a_header(site: Site) -> None:
    site.login = basic("me:p@ss word")
    host = site.url.removeprefix("http://")
    reader, _ = client(f"http://me:p%40ss%20word@{host}/simple")

    assert reader.page(f"http://me:p%40ss%20word@{host}/p/", "*/*") is not None
    assert reader.page(f"http://{host}/p/", "*/*") is not None, "files of the index's host are asked for likewise"


def test_credentials_of_netrc_are_sent(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    site.login = basic("me:secret")

    assert client()[0].page(site.url + "/p/", "*/*") is not None


def test_credentials_follow_a_redirect_on_their_host_and_nowhere_else(site: Site) -> None:
    with serving(Site(files={"/f": (b"x", "text/html")})) as other:
        site.redirects = {"/here": site.url + "/p/", "/there": other.url + "/f"}
        site.login = basic("me:secret")
        reader, _ = client(site.url.replace("http://", "http://me:secret@"))

        assert reader.page(site.url + "/here", "*/*") is not None
        assert reader.page(site.url + "/there", "*/*") is not None
        assert [("/f", "", "")] == other.seen


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_a_redirect_off_the_web_is_refused(site: Site, target: str) -> None:
    site.redirects = {"/here": target}

    with pytest.raises(Unreachable):
        client()[0].page(site.url + "/here", "*/*")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http:///x", "x"])
def test_only_the_web_is_read(url: str) -> None:
    with pytest.raises(Unreachable, match="neither http nor https"):
        client()[0].page(url, "*/*")


def test_a_certificate_file_that_is_missing_is_said(site: Site) -> None:
    with pytest.raises(Unreachable, match="certificates of pip's configuration"):
        client(cert="/nonexistent/ca.pem")[0].page(site.url + "/p/", "*/*")


def test_a_proxy_is_gone_through(site: Site) -> None:
    reader, _ = client(proxy=site.url)
    reader.page("http://index.invalid/p/", "*/*")

    assert ["http://index.invalid/p/"] == [path for path, _, _ in site.seen]

"""An archive from a stranger gives what was asked for, or nothing."""

import io
import tarfile
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.sources.framing import HostileStream
from recon.sources.tar_reader import TarReader

WANTED = {"eng/a.py": 5, "eng/b.py": 2000, "eng/" + "deep/" * 60 + "c.py": 3}


def member(name: str, data: bytes = b"hello", kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(data), kind, link
    return info


def archive(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.GNU_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return file.getvalue()


def read(pieces: Iterable[bytes]) -> dict[str, bytes]:
    got: dict[str, bytes] = {}
    reader = TarReader(WANTED, got.__setitem__)
    for piece in pieces:
        reader(piece)
    return got


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("step", [1, 511, 512, 513, 1 << 20])
def test_files_come_whole_however_the_stream_is_cut(form: int, step: int) -> None:
    """Names beyond a hundred characters too, in the way of each format; two archives may follow each other."""
    deep = [path for path in WANTED if "deep" in path] if form != tarfile.USTAR_FORMAT else []
    bodies = {"eng/a.py": b"hello", "eng/b.py": b"x" * 2000, **dict.fromkeys(deep, b"abc")}
    data = b"".join(archive((member(f"./{path}", body), body), form=form) for path, body in bodies.items())

    assert bodies == read(data[at : at + step] for at in range(0, len(data), step))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "not relative"),
        ("eng/../../x.py", "leaves the tree"),
        ("eng/other.py", "not asked for"),
        ("eng/a\x1b[2J.py", "not plain text"),
        ("././eng/a.py", "plainest form"),
    ],
)
def test_a_name_that_was_not_asked_for_ends_it(name: str, why: str) -> None:
    """What came before stands; nothing after it is taken."""
    with pytest.raises(HostileStream, match=why):
        read([archive((member(name), b"hello"))])


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"S", b"V"])
def test_only_regular_files_are_taken(kind: bytes) -> None:
    """Devices, pipes, sparse files and whatever else a header can say."""
    with pytest.raises(HostileStream, match="no regular file"):
        read([archive((member("eng/a.py", b"", kind), b""))])


@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.SYMTYPE])
def test_a_link_is_left_out(kind: bytes) -> None:
    """The file is asked for by itself; where the link leads does not matter."""
    link, other = member("eng/a.py", b"", kind, "/etc/shadow"), member("eng/b.py")

    assert {"eng/b.py": b"hello"} == read([archive((link, b""), (other, b"hello"))])


def test_a_file_larger_than_listed_is_left_out() -> None:
    """It grew since; its bytes pass by and are not kept."""
    big, other = b"x" * 100_000, b"hello"

    assert {"eng/b.py": other} == read([archive((member("eng/a.py", big), big), (member("eng/b.py"), other))])


def test_a_file_that_comes_twice_ends_it() -> None:
    """An honest host sends each once."""
    twice = archive((member("eng/a.py"), b"hello"), (member("eng/a.py"), b"HELLO"))
    with pytest.raises(HostileStream, match="twice"):
        read([twice])


def test_a_name_without_end_ends_it() -> None:
    """A long name has a ceiling before it is read."""
    with pytest.raises(HostileStream, match="absurd"):
        read([archive((member("././@LongLink", b"x" * 9000, tarfile.GNUTYPE_LONGNAME), b"x" * 9000))])


def test_headers_without_end_end_it() -> None:
    """More members than were asked for are not read on."""
    flood = archive(*((member("eng/a.py", b"", tarfile.SYMTYPE, "x"), b"") for _ in range(100)))
    with pytest.raises(HostileStream, match="more files"):
        read([flood])


@pytest.mark.parametrize("cut", [0, 1, 511, 512, 600, 1023])
def test_a_cut_archive_gives_what_came_whole(cut: int) -> None:
    """Half a file is no file."""
    data = archive((member("eng/b.py"), b"hello"), (member("eng/a.py"), b"hello"))

    assert {"eng/b.py": b"hello"} == read([data[: 1024 + cut]])


@given(st.binary(max_size=3000), st.integers(0, 2500))
def test_noise_is_refused_or_gives_nothing(noise: bytes, at: int) -> None:
    """Bytes changed anywhere: nothing that was not asked for, no endless loop, no other error."""
    data = bytearray(archive((member("eng/b.py", b"x" * 2000), b"x" * 2000)))
    data[at : at + len(noise)] = noise
    try:
        got = read([bytes(data)])
    except HostileStream:
        return

    assert got.keys() <= WANTED.keys()
    assert all(len(body) <= WANTED[path] for path, body in got.items())

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


@pytest.mark.parametrize("kind", [b"S", b"V", b"M", b"7", b"Z"])
def test_only_regular_files_are_taken(kind: bytes) -> None:
    """Sparse files, volumes, and whatever else a header can say, whose bytes may follow in another form."""
    with pytest.raises(HostileStream, match="no regular file"):
        read([archive((member("eng/a.py", b"", kind), b""))])


@pytest.mark.parametrize(
    "kind", [tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_what_is_no_file_is_left_out(kind: bytes) -> None:
    """Links, devices, pipes, folders: the file is asked for by itself; where a link leads does not matter."""
    odd, other = member("eng/a.py", b"", kind, "/etc/shadow"), member("eng/b.py")

    assert {"eng/b.py": b"hello"} == read([archive((odd, b""), (other, b"hello"))])


def test_a_folder_in_place_of_a_file_is_left_out_with_all_that_is_in_it() -> None:
    """A tar that is asked for it sends it all."""
    members = [member("eng/a.py/", b"", tarfile.DIRTYPE), member("eng/a.py/x.py"), member("eng/b.py")]

    assert {"eng/b.py": b"hello"} == read([archive(*((each, b"hello"[: each.size]) for each in members))])


@pytest.mark.parametrize(
    ("name", "why"),
    [("eng/a.py/../../../etc/passwd", "leaves the tree"), ("eng/a.py/\n.py", "not plain text"), ("\n", "not plain")],
)
def test_a_hostile_name_below_a_file_ends_it(name: str, why: str) -> None:
    """That it begins like one that was asked for does not help it."""
    with pytest.raises(HostileStream, match=why):
        read([archive((member(name), b"hello"), form=tarfile.PAX_FORMAT)])


def pax(**told: str) -> tarfile.TarInfo:
    """A member with an extended header that says otherwise than the plain one."""
    info = member("eng/b.py")
    info.pax_headers = told
    return info


@pytest.mark.parametrize(
    "told",
    [
        {"size": "99999999999999999999"},
        {"size": "-1"},
        {"size": "1e3"},
        {"path": "/etc/passwd"},
        {"path": "eng/\nb.py"},
        {"path": "../b.py"},
        {"comment": "x" * 9000},
    ],
    ids=lambda told: next(iter(told)),
)
def test_an_extended_header_cannot_smuggle(told: dict[str, str]) -> None:
    """Sizes without end, other names, headers without end."""
    with pytest.raises(HostileStream):
        read([archive((pax(**told), b"hello"), form=tarfile.PAX_FORMAT)])


def test_what_an_extended_header_says_of_other_matters_does_not_count() -> None:
    """Owners, times, links, sparse maps; a header for all that follows is passed over."""
    told = {"uid": "0", "linkpath": "/etc/shadow", "GNU.sparse.size": "99999999", "SCHILY.xattr.user.x": "y"}

    assert {"eng/b.py": b"hello"} == read([archive((pax(**told), b"hello"), form=tarfile.PAX_FORMAT)])


@pytest.mark.parametrize("size", [b"\x80" + b"\xff" * 11, b"77777777777\0", b"-0000000001\0", b"zzzzzzzzzzz\0"])
def test_a_size_that_is_a_lie_gives_nothing(size: bytes) -> None:
    """What would follow is passed by, piece by piece, and nothing is kept of it; or it is no archive."""
    data = bytearray(archive((member("eng/b.py"), b"hello")))
    data[124:136] = size
    data[148:156] = b"%06o\0 " % (sum(data[:148]) + sum(data[156:512]) + 8 * 32)
    try:
        got = read([bytes(data)] + [bytes(1 << 20)] * 8)
    except HostileStream:
        return

    assert {} == got


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

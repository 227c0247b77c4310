"""A listing is a stranger's word: it is read in full, or refused."""

import hashlib
import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import Unreadable
from recon.ports import Entry
from recon.records.unknown import Unknown
from recon.sources import listing as listing_module
from recon.sources.host_scripts import COMPLAINTS, WIDEST
from recon.sources.listing import Listing, read_listing

HEAD = b"//#|1000|sha256sum:abc::-\0//h|./eng\0/site/eng\0//d|1|./eng\0"


def listing(*records: bytes, head: bytes = HEAD) -> Listing:
    return read_listing(head + b"".join(b"//" + record + b"\0" for record in (*records, b".|")), ["eng"])


def said(*records: bytes) -> list[Entry | Unknown]:
    return list(listing(*records).order)


def test_records_end_at_nul_or_at_a_line() -> None:
    """Tools that cannot write NUL end a line; a name with a line break in it stays one name."""
    lines = HEAD.replace(b"\0//", b"\n//") + b"//f|3|9.5|8.5|./eng/a\nb.py\n//f|4|9.5|8.5|./eng/c.py\n//.|\n"
    found = read_listing(lines, ["eng"]).order

    assert [Unknown("file", "eng/a\\nb.py", "its path is not plain text"), Entry("eng/c.py", 4)] == list(found)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (b"f|-5|9.5|8.5|./eng/a.py", "-5"),
        (b"f|9999999999999999|9.5|8.5|./eng/a.py", "99"),
        (b"f|x|9.5|8.5|./eng/a.py", "x"),
        (b"f|5|./eng/a.py", "eng"),
        (b"z|5", "z"),
        (b"", "''"),
    ],
)
def test_a_record_that_is_none_refuses_the_whole(record: bytes, why: str) -> None:
    """Half a listing would make files absent that are there."""
    with pytest.raises(Unreadable, match=why):
        listing(record)


KILLED = b"//c|Killed\n\n137\0//.|\0"


def test_a_record_that_a_killed_walk_left_half_written_is_dropped() -> None:
    """The walk says so right behind it."""
    found = read_listing(HEAD + b"//f|3|9.5|8.5|./eng/a.py\0//f|3|9\0\n" + KILLED, ["eng"])
    why = "its listing is not whole: find ended with status 137"

    assert [Unknown("folder", "eng", why), Entry("eng/a.py", 3)] == list(found.order)
    assert "" == found.digest


def test_a_half_written_record_anywhere_else_is_nonsense() -> None:
    with pytest.raises(Unreadable, match=r"f\|3\|9"):
        read_listing(HEAD + b"//f|3|9\0//f|3|9.5|8.5|./eng/a.py\0" + KILLED, ["eng"])


def test_complaints_without_an_end_are_cut_and_too_many_are_a_fault_of_the_walk() -> None:
    """What was not told may hide any file."""
    many = b"".join(b"find: './eng/%d': Input/output error\n" % number for number in range(40))

    assert "find complained of 40 things and more" in str(said(b"f|3|9.5|8.5|./eng/a.py", b"c|" + many + b"\n1")[0])


@pytest.mark.parametrize(
    ("real", "given"),
    [
        (b"/site/eng/b.py", Entry("eng/a.py", 7)),
        (b"/site/other/b.py", Unknown("file", "eng/a.py", "it leads out of the tree")),
        (b"/site/eng/../../etc/b.py", Unknown("file", "eng/a.py", "it leads out of the tree")),
        (b"/site/engine/b.py", Unknown("file", "eng/a.py", "it leads out of the tree")),
    ],
)
def test_a_link_counts_where_it_stays_inside(real: bytes, given: Entry | Unknown) -> None:
    """What the host says that it leads to decides, and no dots get past that."""
    assert [given] == said(b"l|file|7|9.5|8.5|./eng/a.py\0" + real)


def test_another_file_system_is_named() -> None:
    """It is not entered; one that holds the whole package is no other."""
    assert [Unknown("folder", "eng/data", "another file system is mounted there")] == said(b"d|2|./eng/data")
    assert [Entry("eng/a.py", 5)] == said(b"d|1|./eng/data", b"f|5|9.5|8.5|./eng/a.py")


@pytest.mark.parametrize(
    ("changed", "written", "kept"),
    [
        (b"1000.25", b"990.5", True),
        (b"1000", b"990", False),
        (b"999", b"990", False),
        (b"1000.0000000000", b"990.0000000000", False),
        (b"998", b"990", True),
    ],
)
def test_a_file_of_this_very_second_is_not_remembered(changed: bytes, written: bytes, kept: bool) -> None:
    """Where times are whole seconds, it could change once more and look the same."""
    listed = HEAD.partition(b"\0")[2] + b"//f|3|%s|%s|./eng/a.py\0//.|\0" % (changed, written)
    made = hashlib.sha256(listed).hexdigest()
    told = f"sha256sum:{made}::-"

    assert (told if kept else "") == read_listing(f"//#|1000|{told}\0".encode() + listed, ["eng"]).digest


@pytest.mark.parametrize("told", [b"sha256sum:abc::-", b"cksum:1:2", b"sha256sum:", b"", b":", b"md5sum"])
def test_a_digest_that_is_not_that_of_the_listing_is_none(told: bytes) -> None:
    """Whoever gives it: it must not be taken for the listing of another."""
    listed = HEAD.replace(b"sha256sum:abc::-", told)

    assert "" == listing(b"f|3|1000.25|990.5|./eng/a.py", head=listed).digest


@given(st.lists(st.binary(max_size=60), max_size=12))
def test_noise_is_refused_or_read(records: list[bytes]) -> None:
    """No other error than the one that says so, and no entry that lies outside."""
    try:
        found = listing(*records).order
    except Unreadable:
        return

    assert all(".." not in each.path.split("/") for each in found if isinstance(each, Entry))


def test_a_listing_without_any_file_is_no_empty_tree() -> None:
    """What lists the files failed, and nothing may be called absent for it."""
    with pytest.raises(Unreadable, match="listed no file"):
        listing()


def test_a_link_that_is_not_described_is_refused() -> None:
    """Its target went between two looks, or the host has no stat."""
    with pytest.raises(Unreadable, match="link"):
        listing(b"f|5|9.5|8.5|./eng/a.py", b"l||./eng/b.py\0/site/eng/a.py")


@pytest.mark.parametrize(
    ("line", "gap"),
    [
        (b"find: './eng/a: b.py': Input/output error", ("eng/a: b.py", "Input/output error")),
        (b"stat: can't stat './eng/a.py': Stale file handle", ("eng/a.py", "Stale file handle")),
        (b"find: `./eng/a.py': Input/output error", ("eng/a.py", "Input/output error")),
        (b"find: ./eng/it's.py: Input/output error", ("eng/it's.py", "Input/output error")),
        (b"find: out of memory", ("eng", "its listing is not whole: find said: find: out of memory")),
        (b"./", ("eng", "its listing is not whole: find said: ./")),
        (b"./: why", ("eng", "its listing is not whole: find said: ./: why")),
    ],
)
def test_a_complaint_is_read_from_its_end(line: bytes, gap: tuple[str, str]) -> None:
    """A name may hold anything; the reason holds no colon."""
    found = said(b"f|3|9.5|8.5|./eng/z.py", b"c|" + line + b"\n1")

    assert [gap] == [(each.where, each.why) for each in found if isinstance(each, Unknown)]


def test_a_complaint_is_looked_at_no_further_than_a_path_can_be_long() -> None:
    """A line that never ends, or a million of them, are the walk's fault and keep nobody busy."""
    line = b"find: " + b"./" * 8000
    many = b"\n".join(b"find: ./eng/%d: x" % number for number in range(100_000))
    wide = said(b"f|3|9.5|8.5|./eng/z.py", b"c|" + line + b": why\n1")
    long = said(b"f|3|9.5|8.5|./eng/z.py", b"c|" + many + b"\n1")
    again = said(b"f|3|9.5|8.5|./eng/z.py", *[b"c|find: ./eng/%d: x\n1" % number for number in range(5000)])

    assert WIDEST < len(line)
    assert ["eng", "eng/z.py"] == [each.where if isinstance(each, Unknown) else each.path for each in wide]
    assert COMPLAINTS + 2 == len(long)
    assert 4 * COMPLAINTS + 1 >= len(again)


def test_no_pattern_of_a_listing_looks_back() -> None:
    """Each begins with what it looks for, and repeats one class at most: its time grows with the text, no faster."""
    patterns = [each for each in vars(listing_module).values() if isinstance(each, re.Pattern)]
    repeats = re.compile(r"(?<!\\)[*+]")

    assert patterns
    for each in patterns:
        text = each.pattern if isinstance(each.pattern, str) else each.pattern.decode()
        assert len(repeats.findall(text)) <= 1
        assert not text.startswith((".*", ".+"))


@pytest.mark.parametrize("record", [b"d|1|%d", b"l|gone||||%d\0x", b"h|%d\0/x", b"u|%d"])
def test_more_records_than_any_tree_has_are_refused(record: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted while they are cut off one by one."""
    monkeypatch.setattr(listing_module, "_MAX_RECORDS", 100)
    monkeypatch.setattr(listing_module, "MAX_FILES", 50)

    with pytest.raises(Unreadable, match=r"more than 50 files|holds"):
        listing(*(record % number for number in range(200)))


def test_records_are_cut_off_one_by_one() -> None:
    """Not all at once: millions of empty ones would be held otherwise."""
    cut = listing_module._records(b"//a" + b"\0//b" * 1000)

    assert [b"a", b"b"] == list(islice(cut, 2))
    assert 999 == len(list(cut))


def test_a_reason_of_a_host_is_shown_in_short_and_as_text() -> None:
    (gap,) = said(b"m|\x1b[2J" + b"x" * 5000 + b"|./eng", b"f|3|9.5|8.5|./other/a.py")[:1]

    assert isinstance(gap, Unknown)
    assert gap.why.isprintable()
    assert len(gap.why) < 300

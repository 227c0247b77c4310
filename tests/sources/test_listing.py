"""A listing is a stranger's word: it is read in full, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import Unreadable
from recon.ports import Entry
from recon.records.unknown import Unknown
from recon.sources.listing import Listing, read_listing

HEAD = b"//#|1000|sha256sum:abc\0//h|./eng\0/site/eng\0//d|1|./eng\0"


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
    assert kept is bool(listing(b"f|3|%s|%s|./eng/a.py" % (changed, written)).digest)


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

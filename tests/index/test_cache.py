"""The cache of outlines: keyed by what made them, shared by processes, never fatal."""

import multiprocessing
import sqlite3
from pathlib import Path

import msgspec
import pytest

from recon.index import cache as cache_module
from recon.index.cache import EXTRACTORS, OutlineCache, version_of
from recon.index.outline import outline_python

OUTLINE = outline_python(b"def f(x: int = 1):\n    return g(x) == h('a.b')\n")
ROW = ("d1", msgspec.msgpack.encode(OUTLINE))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "outlines.db"


def test_what_is_put_is_got_back_equal(path: Path) -> None:
    with OutlineCache(path) as cache:
        cache.put_many([ROW])
    with OutlineCache(path) as cache:
        found = cache.get_many(["d1", "d2"])

    assert {"d1": OUTLINE} == found
    assert [] == cache.notes


def test_the_file_is_its_owners_alone(path: Path) -> None:
    """Outlines hold strings of the source that they were made of."""
    with OutlineCache(path) as cache:
        cache.put_many([ROW])

        assert 0o600 == path.stat().st_mode & 0o777
        assert 0o700 == path.parent.stat().st_mode & 0o777


def test_more_digests_than_one_query_holds_are_found(path: Path) -> None:
    with OutlineCache(path) as cache:
        cache.put_many((f"d{number}", ROW[1]) for number in range(1500))
        found = cache.get_many(f"d{number}" for number in range(2000))

    assert 1500 == len(found)


def test_another_version_of_the_extractor_finds_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OutlineCache(path) as cache:
        cache.put_many([ROW])
        monkeypatch.setattr(cache_module, "version_of", lambda _: "edited")

        assert {} == cache.get_many(["d1"])


def test_the_version_follows_the_source_and_the_python(monkeypatch: pytest.MonkeyPatch) -> None:
    version = version_of(EXTRACTORS)
    fewer = version_of(EXTRACTORS[:-1])
    monkeypatch.setattr("recon.index.cache.sys.version_info", type("V", (), {"major": 3, "minor": 99}))
    version_of.cache_clear()
    other_python = version_of(EXTRACTORS)
    version_of.cache_clear()

    assert 3 == len({version, fewer, other_python})


def test_every_extractor_is_a_module_with_source() -> None:
    """A misspelled name would leave its module out of the key."""
    folder = Path(cache_module.__file__).parent

    assert [] == [name for name in EXTRACTORS if not (folder / f"{name}.py").is_file()]


def test_whatever_an_extractor_imports_is_an_extractor() -> None:
    """Otherwise an edit there would serve stale rows."""
    folder = Path(cache_module.__file__).parent
    imported: set[str] = set()
    for name in EXTRACTORS:
        for item in outline_python((folder / f"{name}.py").read_bytes()).imports:
            if item.module == "recon.index":
                imported.add(item.name)
            elif item.module.startswith("recon.index."):
                imported.add(item.module.removeprefix("recon.index."))

    assert set() == imported - set(EXTRACTORS)
    assert {"spell", "newer_tree"} < imported


def test_payloads_of_kinds_and_versions_are_kept_apart(path: Path) -> None:
    with OutlineCache(path) as cache:
        cache.put_blob_records("terms", "1", [("d1", b"a")])
        cache.put_blob_records("terms", "2", [("d1", b"b")])
        cache.put_blob_records("other", "1", [("d1", b"c")])
        cache.put_blob_records("terms", "1", [("d1", b"z")])

        assert {"d1": b"z"} == cache.get_blob_records("terms", "1", ["d1"])
        assert {"d1": b"b"} == cache.get_blob_records("terms", "2", ["d1"])
        assert {"d1": b"c"} == cache.get_blob_records("other", "1", ["d1"])
        assert {} == cache.get_many(["d1"])


def test_a_damaged_row_is_a_miss(path: Path) -> None:
    with OutlineCache(path) as cache:
        cache.put_many([("d1", ROW[1][:40]), ("d2", ROW[1])])

        assert {"d2": OUTLINE} == cache.get_many(["d1", "d2"])


def test_pruning_removes_what_other_versions_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OutlineCache(path) as cache:
        with monkeypatch.context() as patched:
            patched.setattr(cache_module, "version_of", lambda _: "older")
            cache.put_many([ROW, ("d2", ROW[1])])
        cache.put_many([ROW])

        assert 2 == cache.prune()
        assert {"d1": OUTLINE} == cache.get_many(["d1"])


def test_a_file_that_is_no_database_is_set_aside(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but long enough to be taken for one" * 50)

    with OutlineCache(path) as cache:
        first = cache.get_many(["d1"])
        cache.put_many([ROW])
        second = cache.get_many(["d1"])

    assert {} == first
    assert {"d1": OUTLINE} == second
    assert path.with_name("outlines.db.corrupt").read_bytes().startswith(b"not a database")
    assert ["file is not a database; set aside as outlines.db.corrupt"] == [note.why for note in cache.notes]


def test_a_torn_database_is_set_aside(path: Path) -> None:
    with OutlineCache(path) as cache:
        cache.put_many((f"d{number}", ROW[1] * 20) for number in range(200))
    data = bytearray(path.read_bytes())
    data[4096 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4096)
    path.write_bytes(data)

    with OutlineCache(path) as cache:
        cache.put_many([ROW])
        found = cache.get_many(["d1"])

    assert {"d1": OUTLINE} == found
    assert 1 == len(cache.notes)
    assert path.with_name("outlines.db.corrupt").exists()


def test_a_database_of_another_schema_is_made_anew(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE payloads (x)")
        other.execute("PRAGMA user_version = 77")
    other.close()

    with OutlineCache(path) as cache:
        cache.put_many([ROW])

        assert {"d1": OUTLINE} == cache.get_many(["d1"])
        assert [] == cache.notes


def test_a_place_that_cannot_be_written_is_bypassed_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with OutlineCache(tmp_path / "file" / "outlines.db") as cache:
        cache.put_many([ROW])
        found = cache.get_many(["d1"])

    assert {} == found
    assert 1 == len(cache.notes)
    assert str(tmp_path / "file" / "outlines.db") == cache.notes[0].where


def test_a_folder_in_its_place_is_bypassed_with_a_note(path: Path) -> None:
    path.mkdir(parents=True)

    with OutlineCache(path) as cache:
        cache.put_many([ROW])

        assert {} == cache.get_many(["d1"])
        assert 1 == len(cache.notes)


def test_a_lock_held_too_long_is_bypassed_with_a_note(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_WAIT_S", 0.05)
    with OutlineCache(path) as cache:
        cache.put_many([ROW])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        cache.put_many([("d2", ROW[1])])
        other.close()

    assert ["another process kept it for more than 0.05 s"] == [note.why for note in cache.notes]
    assert path.exists()


def _put(path: Path, start: int) -> None:
    with OutlineCache(path) as cache:
        for number in range(start, start + 40):
            cache.put_many([(f"d{number}", ROW[1])])
        if cache.notes:
            raise RuntimeError(cache.notes)


def test_two_processes_write_at_once(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_put, args=(path, start)) for start in (0, 100)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    with OutlineCache(path) as cache:
        found = cache.get_many(f"d{number}" for number in range(200))

    assert [0, 0] == [writer.exitcode for writer in writers]
    assert 80 == len(found)

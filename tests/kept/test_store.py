"""The file of a tree's parts: written whole, read back as it was, and never a reason to fail."""

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from recon.kept import store
from recon.kept.kept import Lost, opened
from recon.kept.store import is_kept, path_of, write
from tests.kept.trees import keep, parts


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    given = parts()
    keep(tmp_path, "one")

    with opened(tmp_path, "one") as kept:
        edges = [kept.edges.at(place) for place in range(len(kept.edges))]
        assert given.definitions == [kept.definition(each.id) for each in given.definitions]
        assert sorted(given.edges, key=repr) == sorted(edges, key=repr)
        assert len(given.definitions) == kept.count


def test_neighbours_are_those_of_the_edges(tmp_path: Path) -> None:
    given = parts()
    keep(tmp_path, "one")

    with opened(tmp_path, "one") as kept:
        for each in given.definitions:
            assert {e for e in given.edges if e.target == each.id} == set(kept.callers(each.id))
            assert {e for e in given.edges if e.source == each.id} == set(kept.callees(each.id))


def test_a_version_is_written_once(tmp_path: Path) -> None:
    path = keep(tmp_path, "one")

    assert is_kept(path, parts().version)
    assert not is_kept(path, "another")
    assert not is_kept(path_of(tmp_path, "two"), parts().version)


def test_use_keeps_a_file_young(tmp_path: Path) -> None:
    """A scan that finds it and a question that it answers."""
    path = keep(tmp_path, "one")
    os.utime(path, (0, 0))
    is_kept(path, "any")
    scanned = path.stat().st_mtime
    os.utime(path, (0, 0))
    with opened(tmp_path, "one"):
        asked = path.stat().st_mtime

    assert min(scanned, asked) > 0


def test_nothing_is_read_where_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(Lost), opened(tmp_path, "one"):
        pass

    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(5000)])
def test_a_file_of_something_else_is_lost(tmp_path: Path, content: bytes) -> None:
    path = keep(tmp_path, "one")
    path.write_bytes(content)

    assert not is_kept(path, parts().version)
    with pytest.raises(Lost), opened(tmp_path, "one"):
        pass


def test_damage_is_noticed_wherever_it_lies(tmp_path: Path) -> None:
    """Every page overwritten in turn: what is read is what was written, or nothing."""
    path = keep(tmp_path, "one")
    whole = path.read_bytes()
    with opened(tmp_path, "one") as kept:
        edges = bytes(kept.edges.sources) + bytes(kept.edges.targets) + bytes(kept.edges.order)
    for start in range(0, len(whole), 4096):
        path.write_bytes(whole[:start] + b"\xa5" * 4096 + whole[start + 4096 :])
        try:
            with opened(tmp_path, "one") as kept:
                assert edges == bytes(kept.edges.sources) + bytes(kept.edges.targets) + bytes(kept.edges.order)
        except Lost:
            continue


def test_an_older_form_is_lost(tmp_path: Path) -> None:
    path = keep(tmp_path, "one")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE about SET value = '0-odd' WHERE key = 'format'")
    connection.close()

    with pytest.raises(Lost), opened(tmp_path, "one"):
        pass


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = keep(tmp_path, "one")
    whole = path.read_bytes()
    given = parts()
    broken = replace(given, definitions=[*given.definitions, given.definitions[0]])  # an id that is taken

    with pytest.raises(sqlite3.Error):
        write(path, broken)

    assert (whole, [path]) == (path.read_bytes(), list(path.parent.iterdir()))


def test_more_than_any_tree_holds_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_EDGES", 3)

    with pytest.raises(ValueError, match="more than is kept"):
        keep(tmp_path, "one")


def test_names_that_are_no_text_are_kept_bounded(tmp_path: Path) -> None:
    odd = os.fsdecode(b"engine/\xff.py")
    keep(tmp_path, "one", {"engine/a.py": f"def {'x' * 900}():\n    pass\n"})
    given = parts({"engine/a.py": "def f():\n    pass\n"})
    renamed = [each._replace(path=odd) for each in given.definitions]
    write(path_of(tmp_path, "two"), replace(given, definitions=renamed))

    with opened(tmp_path, "one") as kept:
        assert store._LONGEST == len(kept.definition(1).symbol)
    with opened(tmp_path, "two") as kept:
        assert r"engine/\xff.py" == kept.definition(1).path


def test_a_digest_of_a_run_file_names_no_folder(tmp_path: Path) -> None:
    """Run files come from elsewhere."""
    assert tmp_path / store.FOLDER == path_of(tmp_path, "../../etc/passwd").parent

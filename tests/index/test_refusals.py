"""Refusals: which statements count, under which tests, with which words."""

from pathlib import Path
from textwrap import dedent

import pytest

from recon.detectors.testing import MemoryBlobs
from recon.index.cache import OutlineCache
from recon.index.pool import outline_of
from recon.index.refusals import Choice, Refusal, read_refusals, refusals_of
from recon.index.tables import Ref
from recon.ports import Silent
from recon.records.source import Snapshot, SourceFile

WANTED = (b"spec", b"topk")


def refusals(source: str) -> list[Refusal]:
    """Those of a source."""
    data = dedent(source).encode()
    return list(refusals_of(data, outline_of("a.py", data).scopes, WANTED))


def test_an_error_under_tests_has_its_conditions_and_words() -> None:
    (found,) = refusals("""
    class Args:
        @validated
        def check(self, cfg):
            if cfg.spec is not None:
                if cfg.topk > 1 and cfg.page_size > 1:
                    raise ValueError(
                        f"topk > 1 with page_size {cfg.page_size!r} "
                        "is not supported"
                    )
    """)

    assert ("raise", 7, ("cfg.spec is not None", "cfg.topk > 1 and cfg.page_size > 1")) == (
        found.form,
        found.line,
        found.tests,
    )
    assert "topk > 1 with page_size {page_size} is not supported" == found.message
    assert {"cfg", "spec", "topk", "page_size"} == set(found.words)


@pytest.mark.parametrize(
    ("statement", "form", "test", "message"),
    [
        ("assert topk == 1, 'one only'", "assert", "not (topk == 1)", "one only"),
        ("if topk:\n        raise NotImplementedError", "raise", "topk", ""),
        ("if topk:\n        raise mod.UnsupportedError('a' + 'b')", "raise", "topk", "a b"),
        ("if topk:\n        pass\n    else:\n        raise TypeError('x')", "raise", "not (topk)", "x"),
        ("try:\n        if topk: raise ValueError('%s' % topk)\n    finally:\n        pass", "raise", "topk", "%s"),
        ("with lock:\n        while 1:\n            if topk: raise ValueError(fill('w'))", "raise", "topk", ""),
        ("match topk:\n        case 1:\n            assert spec, 'm'", "assert", "not (spec)", "m"),
    ],
)
def test_forms_of_refusal(statement: str, form: str, test: str, message: str) -> None:
    (found,) = refusals(f"def f(topk, spec):\n    {statement}\n")

    assert (form, test, message) == (found.form, found.tests[-1], found.message)


@pytest.mark.parametrize(
    "statement",
    [
        "raise ValueError('always')",
        "if topk:\n        return",
        "if topk:\n        raise StopIteration",
        "if topk:\n        raise",
        "if topk:\n        log.warning('only said')",
        "if topk:\n        log.warning('said')\n        cfg.other = 1",
        "if cfg.topk:\n        cfg.topk = 1",
        "if cfg._topk:\n        log.warning('said')\n        cfg._topk = True",
        "if topk:\n        bad.append('x')",
        "def inner():\n        if topk: raise ValueError('its own')",
    ],
)
def test_what_is_no_refusal_of_the_function(statement: str) -> None:
    found = refusals(f"def f(topk, cfg):\n    {statement}\n")

    assert [] == [each for each in found if each.scope == 1]


def test_a_setting_that_is_changed_with_a_warning_is_an_override() -> None:
    found = refusals("""
    def f(cfg, args):
        if cfg.topk != 1:
            logger.warning("topk is %s", cfg.topk)
            cfg.topk = 1
        if cfg.spec_steps > 1:
            warnings.warn("one step")
            declare(args, "here", spec_steps=1)
    """)

    assert [("override", 5, "topk is %s"), ("override", 8, "one step")] == [
        (each.form, each.line, each.message) for each in found
    ]


def test_complaints_that_are_raised_together_keep_their_own_tests() -> None:
    found = refusals("""
    def f(cfg):
        bad = []
        notes = []
        if cfg.spec.method not in ("eagle", "mtp"):
            bad.append(f"method {cfg.spec.method}")
        if cfg.topk:
            notes.append("kept")
        if bad:
            raise ValueError("not supported: " + ", ".join(bad))
    """)

    assert [("raise", "method {method}"), ("raise", "not supported: ,")] == [
        (each.form, each.message) for each in found
    ]
    assert (Choice("method.spec.cfg", "eagle"), Choice("method.spec.cfg", "mtp")) == found[0].spared


def test_what_none_of_several_tests_knew_is_left_over() -> None:
    found = refusals("""
    def f(spec):
        if spec.method == "a":
            return 1
        elif spec.method == "b":
            return 2
        else:
            raise ValueError("unknown")
    """)

    assert ["leftover"] == [each.form for each in found]


def test_choices_are_taken_or_spared_by_the_sign_of_their_test() -> None:
    (found,) = refusals("""
    def f(spec):
        if spec.kind in ("x", Kind.Y):
            if not spec.method != "z" or spec.mode not in ["p"]:
                raise ValueError("no")
    """)

    assert {"x", "Y", "z"} == {choice.value for choice in found.taken}
    assert (Choice("mode.spec", "p"),) == found.spared


def test_what_cannot_be_parsed_refuses_nothing() -> None:
    data = b"def f(topk):\n    if topk: raise ValueError(\n"

    assert () == refusals_of(data, outline_of("a.py", b"def f(topk):\n    pass\n").scopes, WANTED)


def test_functions_without_the_words_are_not_read() -> None:
    assert [] == refusals("def f(x):\n    assert x, 'x'\n")


def test_answers_come_from_the_cache_unless_damaged(tmp_path: Path) -> None:
    """Blobs are read once; equal files are each answered."""
    source = b"def f(topk):\n    assert topk, 'no'\n"
    files = {path: outline_of(path, source) for path in ("a.py", "b.py")}
    snapshot = Snapshot("", tuple(SourceFile(path, "d" * 32, len(source)) for path in (*files, "c.cu")), (), ())
    blobs, empty = MemoryBlobs({"d" * 32: source}), MemoryBlobs({})
    with OutlineCache(tmp_path / "c.db") as cache:
        first = read_refusals(files, snapshot, WANTED, blobs=blobs, cache=cache, progress=Silent())
        second = read_refusals(files, snapshot, WANTED, blobs=empty, cache=cache, progress=Silent())
        assert cache._connection is not None
        cache._connection.execute("UPDATE payloads SET payload = x'00'")
        third = read_refusals(files, snapshot, WANTED, blobs=blobs, cache=cache, progress=Silent())

    assert {Ref("a.py", 1), Ref("b.py", 1)} == set(first)
    assert first == second == third

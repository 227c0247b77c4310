"""What matters is told by name and size, and hostile names are told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.ports import Entry
from recon.sources.select import MAX_SOURCE_BYTES, Kind, fault_of, kind_of, printable, refusal


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("vllm/a.py", Kind.SOURCE),
        ("sgl/csrc/tree.cu", Kind.SOURCE),
        ("sgl/csrc/tree.cuh", Kind.SOURCE),
        ("sgl/csrc/a.h", Kind.SOURCE),
        ("sgl/csrc/a.hpp", Kind.SOURCE),
        ("sgl/csrc/a.cc", Kind.SOURCE),
        ("sgl/csrc/a.cpp", Kind.SOURCE),
        ("vllm/a.pyi", Kind.OTHER),
        ("vllm/a.pyc", Kind.OTHER),
        ("vllm/config.json", Kind.OTHER),
        ("vllm/_C.abi3.so", Kind.LIBRARY),
        ("vllm/libx.so.3", Kind.LIBRARY),
        ("vllm/libx.so.3.1.0", Kind.LIBRARY),
        ("vllm/notes.so.txt", Kind.OTHER),
        ("vllm/a.sort.so", Kind.LIBRARY),
        ("vllm/a.sort.py", Kind.SOURCE),
        ("vllm/a.solve", Kind.OTHER),
        ("vllm/__pycache__/a.py", Kind.OTHER),
        ("vllm-0.20.1.dist-info/RECORD", Kind.METADATA),
        ("vllm-0.20.1.dist-info/licenses/a.py", Kind.SOURCE),
        ("vllm-0.20.1.dist-info/a.py", Kind.OTHER),
        ("vllm/x.dist-info/RECORD", Kind.OTHER),
    ],
)
def test_a_name_tells_what_a_file_is(path: str, kind: Kind) -> None:
    assert kind == kind_of(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../a.py",
        "vllm/../../a.py",
        "vllm//a.py",
        "./a.py",
        "vllm/a\n.py",
        "vllm/a\x1b[2J.py",
        "vllm/a\x00.py",
        "vllm/\u202eyp.a",
        "vllm/\udcff.py",
        "vllm\\a.py",
        "a" * 2000,
    ],
)
def test_a_hostile_name_is_refused_and_can_be_printed(path: str) -> None:
    refused = refusal(Entry(path, 1))

    assert refused is not None
    assert refused.where.isprintable()
    refused.where.encode("utf-8")


def test_a_generated_source_is_too_large_and_a_library_is_not() -> None:
    source = refusal(Entry("vllm/a.py", MAX_SOURCE_BYTES + 1))

    assert source is not None
    assert source.why.startswith("too large")
    assert refusal(Entry("vllm/a.py", MAX_SOURCE_BYTES)) is None
    assert refusal(Entry("vllm/_C.so", MAX_SOURCE_BYTES + 1)) is None


@given(st.text(max_size=60))
def test_a_path_without_fault_stays_inside_and_prints(path: str) -> None:
    if fault_of(path):
        return

    assert path.isprintable()
    assert path == printable(path)
    assert not path.startswith("/")
    assert ".." not in path.split("/")

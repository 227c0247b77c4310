"""Names of compiled libraries: equal to another reader's, bounded, and never made up."""

import importlib.util
import io
import struct
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.records.source import Library
from recon.records.unknown import Unknown
from recon.sources.elf import read_library
from tests.sources.made import Bytes, library

PLAIN = library()


def real_libraries() -> list[Path]:
    """Extension modules of this Python and of what is installed for it, the smaller ones."""
    folders = [Path(sysconfig.get_path("stdlib")) / "lib-dynload"]
    for name in ("msgspec", "markupsafe", "libcst", "tree_sitter"):
        spec = importlib.util.find_spec(name)
        folders += [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = [path for folder in folders for path in sorted(folder.glob("*.so"))[:4]]
    return [path for path in found if path.stat().st_size < 20 << 20]


REAL = real_libraries() if sys.platform == "linux" else []


def oracle(data: bytes) -> tuple[set[str], list[str]]:
    """Defined dynamic symbols and needed libraries, as pyelftools reads them."""
    elf = ELFFile(io.BytesIO(data))
    symbols = elf.get_section_by_name(".dynsym")
    dynamic = elf.get_section_by_name(".dynamic")
    assert isinstance(symbols, SymbolTableSection)
    assert isinstance(dynamic, DynamicSection)
    defined = {symbol.name for symbol in symbols.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name}
    return defined, [str(vars(tag)["needed"]) for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]


def without_sections(data: bytes) -> bytes:
    """The same file after a strip that takes the section headers too."""
    return data[:40] + bytes(8) + data[48:58] + bytes(6) + data[64:]


def read(data: bytes) -> Library:
    found = read_library("vllm/_C.so", Bytes(data))
    assert isinstance(found, Library), found
    return found


def why(data: bytes) -> str:
    found = read_library("vllm/_C.so", Bytes(data))
    assert isinstance(found, Unknown), found
    return found.why


@pytest.mark.skipif(not REAL, reason="extension modules are ELF on Linux alone")
def test_there_are_real_libraries_to_compare() -> None:
    assert len(REAL) >= 3


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name.partition(".")[0])
def test_symbols_and_needs_of_real_libraries_are_the_oracles(path: Path) -> None:
    data = path.read_bytes()
    symbols, needed = oracle(data)

    found = read(data)

    assert symbols == set(found.symbols)
    assert needed == list(found.needed)
    assert len(data) == found.size_bytes


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name.partition(".")[0])
def test_real_libraries_without_section_headers_tell_the_same(path: Path) -> None:
    data = path.read_bytes()
    whole, stripped = read(data), read(without_sections(data))

    assert whole.symbols == stripped.symbols
    assert whole.needed == stripped.needed
    assert set(whole.schemas) <= set(stripped.schemas)


def test_a_made_library_is_what_the_oracle_says_it_is() -> None:
    symbols, needed = oracle(PLAIN.data)

    assert ({"verify", "build"}, ["libc10.so"]) == (symbols, needed)
    assert (("build", "verify"), ("libc10.so",)) == (read(PLAIN.data).symbols, read(PLAIN.data).needed)


def test_schemas_are_found_among_other_text() -> None:
    made = library(
        text=(
            b"verify_tree_greedy(Tensor! predicts, Tensor! accept_index, int cuda_stream) -> ()",
            b"topk.out(Tensor self, int k=-1, *, Tensor(a!) values) -> (Tensor(a!) values, Tensor indices)",
            b'ns::op(Tensor[]? a, str mode="(x)")->Tensor',
            b"get_meta(\n    int batch,\n    int heads) -> Tensor[]",
            b"Expected f(x) -> y, got nothing",
            b"({%}) -> None",
            b"std::function<void(int)> -> int",
            b"f(a -> b",
            b"caf\xc3\xa9(int a) -> ()",
            b"auto f(int) -> int [with T = float]",
            b"plain_name",
        )
    )  # fmt: skip

    assert [
        "get_meta( int batch, int heads) -> Tensor[]",
        'ns::op(Tensor[]? a, str mode="(x)")->Tensor',
        "topk.out(Tensor self, int k=-1, *, Tensor(a!) values) -> (Tensor(a!) values, Tensor indices)",
        "verify_tree_greedy(Tensor! predicts, Tensor! accept_index, int cuda_stream) -> ()",
    ] == list(read(made.data).schemas)


def test_gpu_code_is_never_touched() -> None:
    made = library(gpu_bytes=1 << 20)
    data = Bytes(made.data)
    start, end = made.places[".nv_fatbin"]

    found = read_library("vllm/_C.so", data)

    assert isinstance(found, Library)
    assert [] == [piece for piece in data.reads if piece[0] < end and piece[1] > start]
    assert sum(stop - begin for begin, stop in data.reads) < 10_000


@pytest.mark.parametrize("hashing", ["gnu", "sysv"])
def test_without_section_headers_symbols_are_counted_by_either_hash_table(hashing: str) -> None:
    found = read(library(sections=False, hashing=hashing, gpu_bytes=0).data)

    assert ("build", "verify") == found.symbols
    assert ("verify(Tensor! a, int k) -> ()",) == found.schemas


def test_a_library_that_exports_nothing_has_no_symbols() -> None:
    assert () == read(library(sections=False, defined=(), gpu_bytes=0).data).symbols


def test_counts_that_do_not_fit_are_read_from_the_first_section() -> None:
    assert read(PLAIN.data) == Library(
        **{**_fields(read(library(extended=True).data)), "size_bytes": len(PLAIN.data)}  # type: ignore[arg-type]  # a record's own fields
    )


def _fields(found: Library) -> dict[str, object]:
    return {name: getattr(found, name) for name in Library.__slots__}


def test_stripped_headers_over_gpu_code_are_reported() -> None:
    assert "GPU code cannot be told" in why(library(sections=False).data)


def test_a_stripped_library_without_a_hash_table_is_reported() -> None:
    assert "cannot be counted" in why(library(sections=False, hashing="none", gpu_bytes=0).data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not an ELF file"),
        (b"#!/bin/sh\n" + bytes(100), "not an ELF file"),
        (b"\x7fELF\x01\x01" + bytes(100), "not a 64-bit little-endian"),
        (b"\x7fELF\x02\x02" + bytes(100), "not a 64-bit little-endian"),
        (b"\x7fELF\x02\x01" + bytes(100), "neither section headers nor"),
        (PLAIN.data[:-10], "may have been cut off"),
        (PLAIN.data[: len(PLAIN.data) // 2], "may have been cut off"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    assert reason in why(data)


def test_a_table_of_pointers_to_one_long_name_does_not_multiply() -> None:
    made = library(defined=("x" * 50_000, *(f"n{i}" for i in range(2_000))))
    data = bytearray(made.data)
    start, end = made.places[".dynsym"]
    long_name = struct.unpack_from("<I", data, start + 48)[0]
    for at in range(start + 48, end, 24):
        struct.pack_into("<I", data, at, long_name)

    assert "longer than their table" in why(bytes(data))


def test_a_hash_chain_without_end_is_reported() -> None:
    made = library(sections=False, gpu_bytes=0)
    data = bytearray(made.data)
    _, end = made.places[".hash"]
    struct.pack_into("<I", data, end - 4, 2)
    data[end:] = bytes(len(data) - end)

    found = read_library("vllm/_C.so", Bytes(bytes(data)))

    assert isinstance(found, Unknown)


@pytest.mark.parametrize("filler", [b")->", b") -> ()", b"f(", b"f() -> ", b"f(x) -> \0", b"(((((((("])
def test_text_that_looks_like_schemas_throughout_costs_little(filler: bytes) -> None:
    """Eight megabytes of it; a search that is quadratic would take hours."""
    made = library(text=(filler * ((8 << 20) // len(filler)),))
    begun = time.process_time()

    found = read_library("vllm/_C.so", Bytes(made.data))

    assert time.process_time() - begun < 5
    assert isinstance(found, Unknown) == (filler == b"f(x) -> \0")


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(PLAIN.data)))
def test_a_library_cut_anywhere_is_never_an_exception(length: int) -> None:
    read_library("vllm/_C.so", Bytes(PLAIN.data[:length]))


TARGETS = [
    data
    for made in (PLAIN, library(sections=False, gpu_bytes=0), library(sections=False, hashing="sysv", gpu_bytes=0))
    for data in [made.data]
]
INTERESTING = st.sampled_from([0, 1, 7, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1])


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(TARGETS), st.lists(st.tuples(st.integers(0, 5000), INTERESTING, st.sampled_from([1, 2, 4, 8]))))
def test_hostile_headers_cost_little_and_raise_nothing(data: bytes, changes: list[tuple[int, int, int]]) -> None:
    changed = bytearray(data)
    for place, value, width in changes:
        at = place % (len(changed) - width)
        changed[at : at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    source = Bytes(bytes(changed))

    found = read_library("vllm/_C.so", source)

    assert isinstance(found, Library | Unknown)
    assert sum(stop - begin for begin, stop in source.reads) < 100 * len(changed)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_after_the_magic_raise_nothing(tail: bytes) -> None:
    assert isinstance(read_library("vllm/_C.so", Bytes(b"\x7fELF\x02\x01\x01" + tail)), Library | Unknown)

"""Names out of a compiled library, without loading it and without reading its GPU code.

A bounded reader of 64-bit little-endian ELF: what a CUDA extension for Linux is. Every offset and count is checked
against the file before it is used, tables are read whole and have a ceiling, and no walk is longer than its table;
what does not fit is reported, never guessed. `.nv_fatbin`, nine tenths of such a library, is never touched.

Only operator schemas written out in full are read. Where code registers a bare name (`m.def("name", &fn)`), the name
is one identifier among thousands in `.rodata`, and nothing there tells it from an error message: it is left out.

Sources
    System V Application Binary Interface, chapters 4 and 5, and its AMD64 supplement; the GNU hash section as
    the GNU linker writes it.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recon.errors import Unreadable
from recon.ports import ByteRange
from recon.records.source import Library
from recon.records.unknown import LIBRARY, Unknown
from recon.sources.select import printable

MAX_TABLE_BYTES = 64 << 20
"""Of one table: the largest string table of PyTorch's own libraries is under half of it."""

MAX_LIBRARY_BYTES = 64 << 20
"""Of all tables of one library that has section headers, which may overlap. All libraries of the largest release known
have less together."""
TOO_LARGE = "its tables are larger than recon reads"

MAX_HEADERS = 100_000
MAX_DYNAMIC_BYTES = 1 << 20
MAX_SCHEMA_BYTES = 8192
MAX_ARROWS = 50_000
"""Strings with an arrow in them; the largest library known has a few thousand."""

_SECTIONS = struct.Struct("<IIQQQQIIQQ")
_SEGMENTS = struct.Struct("<IIQQQQQQ")
_SYMBOLS = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<QQ")
_WORD = struct.Struct("<I")

_SHT_DYNAMIC, _SHT_NOBITS, _SHT_DYNSYM = 6, 8, 11
_SHF_WRITE, _SHF_ALLOC, _SHF_EXEC, _SHF_COMPRESSED = 1, 2, 4, 0x800
_PT_LOAD, _PT_DYNAMIC, _PF_WRITE = 1, 2, 2
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_GNU_HASH = 1, 4, 5, 6, 10, 0x6FFFFEF5
_SHN_XINDEX, _PN_XNUM = 0xFFFF, 0xFFFF

_GPU_CODE = b"\x50\xed\x55\xba\x01\x00\x10\x00"  # head of a fat binary: magic, version 1, header of 16 bytes
_ARROW = re.compile(rb"\)\s*->")
_NAME = re.compile(rb"[A-Za-z_]\w*(?:::\w+)*(?:\.\w+)?\(")
_RETURNS = re.compile(rb"\s*(?:\([\w\s,.!?()\[\]|*]*\)|[A-Za-z_][\w\s,.!?()\[\]|*]*)")
_TEXT = re.compile(rb"[\t\n\r -~]*")


class _Malformed(Exception):
    """The file contradicts itself, or asks for more than recon reads."""


@dataclass(frozen=True, slots=True)
class _Image:
    """The file, read in checked pieces."""

    data: ByteRange

    def piece(self, offset: int, size: int, what: str, limit: int = MAX_TABLE_BYTES) -> bytes:
        """Exactly so many bytes.

        Raises:
            _Malformed: they lie outside the file, or are more than `limit`.
        """
        if size > limit:
            raise _Malformed(f"its {what} is larger than recon reads: {size} bytes")
        if offset + size > self.data.size_bytes:
            raise _Malformed(f"its {what} lies outside the file, which may have been cut off")
        got = self.data.read(offset, size)
        if len(got) != size:
            raise _Malformed(f"its {what} could not be read to the end")
        return got


@dataclass(frozen=True, slots=True)
class _Header:
    segments_at: int
    segments: int
    sections_at: int
    sections: int
    names_index: int


@dataclass(frozen=True, slots=True)
class _Section:
    name_at: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class _Segment:
    kind: int
    flags: int
    offset: int
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class _Tables:
    """What the names are made of, whichever headers told where it lies."""

    symbols: bytes
    strings: bytes
    needed: tuple[int, ...]
    """Offsets into `strings`."""
    constants: tuple[bytes, ...]
    """Read-only data that can hold text."""


def read_library(path: str, data: ByteRange) -> Library | Unknown:
    """Read the names that a compiled library defines, needs and registers as operators.

    Section headers are used where there are any, the program headers where they were stripped.
    """
    image = _Image(data)
    try:
        header = _header(image)
        sections = _sections(image, header)
        tables = (
            _by_sections(image, header, sections)
            if any(section.kind == _SHT_DYNSYM for section in sections)
            else _by_segments(image, header, sections)
        )
        return Library(
            path=path,
            size_bytes=data.size_bytes,
            symbols=tuple(sorted(set(_defined(tables)))),
            schemas=tuple(sorted({schema for piece in tables.constants for schema in _schemas(piece)})),
            needed=tuple(_names(tables.strings, tables.needed)),
        )
    except _Malformed as error:
        return Unknown(LIBRARY, printable(path), str(error))
    except Unreadable as error:
        return Unknown(LIBRARY, printable(path), error.message)


def _header(image: _Image) -> _Header:
    if image.data.size_bytes < 64 or image.data.read(0, 4) != b"\x7fELF":
        raise _Malformed("it is not an ELF file")
    start = image.piece(0, 64, "header")
    if start[4] != 2 or start[5] != 1:
        raise _Malformed("it is not a 64-bit little-endian ELF file")
    segments_at, sections_at = struct.unpack_from("<QQ", start, 32)
    segment_size, segments, section_size, sections, names_index = struct.unpack_from("<HHHHH", start, 54)
    if segments and segment_size != _SEGMENTS.size:
        raise _Malformed(f"its program headers have {segment_size} bytes each")
    if sections_at:
        if section_size != _SECTIONS.size:
            raise _Malformed(f"its section headers have {section_size} bytes each")
        # Counts that do not fit their 16 bits stand in section 0.
        first = _SECTIONS.unpack(image.piece(sections_at, _SECTIONS.size, "section header table"))
        sections = sections or first[5]
        names_index = first[6] if names_index == _SHN_XINDEX else names_index
        segments = first[7] if segments == _PN_XNUM else segments
    elif segments == _PN_XNUM:
        raise _Malformed("the count of its program headers was stripped")
    if max(sections, segments) > MAX_HEADERS:
        raise _Malformed(f"it claims {max(sections, segments)} headers")
    return _Header(segments_at, segments, sections_at, sections if sections_at else 0, names_index)


def _sections(image: _Image, header: _Header) -> tuple[_Section, ...]:
    table = image.piece(header.sections_at, header.sections * _SECTIONS.size, "section header table")
    return tuple(
        _Section(name_at, kind, flags, offset, size, link)
        for name_at, kind, flags, _, offset, size, link, _, _, _ in _SECTIONS.iter_unpack(table)
    )


def _segments(image: _Image, header: _Header) -> tuple[_Segment, ...]:
    table = image.piece(header.segments_at, header.segments * _SEGMENTS.size, "program header table")
    return tuple(
        _Segment(kind, flags, offset, address, size)
        for kind, flags, offset, address, _, size, _, _ in _SEGMENTS.iter_unpack(table)
    )


def _by_sections(image: _Image, header: _Header, sections: tuple[_Section, ...]) -> _Tables:
    symbols = next(section for section in sections if section.kind == _SHT_DYNSYM)
    if symbols.link >= len(sections):
        raise _Malformed("its symbols name a string table that is not there")
    strings = sections[symbols.link]
    dynamic = next((section for section in sections if section.kind == _SHT_DYNAMIC), None)
    entries = (
        b"" if dynamic is None else image.piece(dynamic.offset, dynamic.size, "dynamic section", MAX_DYNAMIC_BYTES)
    )
    left = MAX_LIBRARY_BYTES - len(entries) - symbols.size - strings.size
    return _Tables(
        symbols=image.piece(symbols.offset, symbols.size, "symbol table"),
        strings=image.piece(strings.offset, strings.size, "string table"),
        needed=tuple(value for tag, value in _dynamic(entries) if tag == _DT_NEEDED),
        constants=tuple(_constants(image, header, sections, left)),
    )


def _constants(
    image: _Image, header: _Header, sections: tuple[_Section, ...], left: int = MAX_LIBRARY_BYTES
) -> Iterator[bytes]:
    """Contents of `.rodata` and its kin, as far as so many bytes are left to be read."""
    if left < 0:
        raise _Malformed(TOO_LARGE)
    if header.names_index >= len(sections):
        raise _Malformed("its sections have no names")
    table = sections[header.names_index]
    names = image.piece(table.offset, table.size, "table of section names")
    for section in sections:
        named = names.startswith((b".rodata", b".lrodata"), section.name_at)
        plain = section.flags & (_SHF_WRITE | _SHF_ALLOC | _SHF_EXEC | _SHF_COMPRESSED) == _SHF_ALLOC
        if named and plain and section.kind != _SHT_NOBITS:
            left -= section.size
            if left < 0:
                raise _Malformed(TOO_LARGE)
            yield image.piece(section.offset, section.size, "read-only data")


def _by_segments(image: _Image, header: _Header, sections: tuple[_Section, ...]) -> _Tables:
    """What the loader itself goes by: the dynamic segment, with addresses for offsets."""
    segments = _segments(image, header)
    dynamic = next((segment for segment in segments if segment.kind == _PT_DYNAMIC), None)
    if dynamic is None:
        if sections:  # a program or an archive member: nothing is exported by name
            return _Tables(b"", b"", (), tuple(_constants(image, header, sections)))
        raise _Malformed("it has neither section headers nor a dynamic segment")
    entries = tuple(_dynamic(image.piece(dynamic.offset, dynamic.size, "dynamic segment", MAX_DYNAMIC_BYTES)))
    at = dict(reversed(entries))  # the first of a tag counts
    if _DT_SYMTAB not in at or _DT_STRTAB not in at:
        raise _Malformed("its dynamic segment names no symbols")
    count = _symbol_count(image, segments, at)
    return _Tables(
        symbols=image.piece(_offset_of(segments, at[_DT_SYMTAB]), count * _SYMBOLS.size, "symbol table"),
        strings=image.piece(_offset_of(segments, at[_DT_STRTAB]), at.get(_DT_STRSZ, 0), "string table"),
        needed=tuple(value for tag, value in entries if tag == _DT_NEEDED),
        constants=tuple(_loaded(image, segments)),
    )


def _loaded(image: _Image, segments: tuple[_Segment, ...]) -> Iterator[bytes]:
    """All that is loaded and not writable, since without section headers nothing tells text from other constants."""
    left = MAX_TABLE_BYTES
    for segment in segments:
        if segment.kind != _PT_LOAD or segment.flags & _PF_WRITE:
            continue
        left -= segment.size
        if left < 0:
            raise _Malformed("its section headers were stripped, and it is too large to be searched whole")
        piece = image.piece(segment.offset, segment.size, "read-only segment")
        if _GPU_CODE in piece:
            raise _Malformed("its section headers were stripped, so its GPU code cannot be told from its text")
        yield piece


def _symbol_count(image: _Image, segments: tuple[_Segment, ...], at: dict[int, int]) -> int:
    if _DT_HASH in at:
        _, count = struct.unpack("<II", image.piece(_offset_of(segments, at[_DT_HASH]), 8, "hash table"))
        return int(count)
    if _DT_GNU_HASH not in at:
        raise _Malformed("it has no hash table, so its symbols cannot be counted")
    start = _offset_of(segments, at[_DT_GNU_HASH])
    buckets, first, bloom, _ = struct.unpack("<IIII", image.piece(start, 16, "hash table"))
    chains = start + 16 + bloom * 8 + buckets * 4
    table = image.piece(chains - buckets * 4, buckets * 4, "hash table")
    last = max((value for (value,) in _WORD.iter_unpack(table)), default=0)
    if last < first:
        return int(first)  # nothing is exported: only imports stand in the table
    return int(last) + _chain_length(image, chains + (int(last) - int(first)) * 4)


def _chain_length(image: _Image, start: int) -> int:
    """Symbols from `start` to the end of a GNU hash chain: the entry whose lowest bit is set."""
    length = 0
    while True:
        size = min(4096, image.data.size_bytes - start - length * 4) // 4 * 4
        if size <= 0 or length * 4 > MAX_TABLE_BYTES:
            raise _Malformed("its hash table has no end")
        for (value,) in _WORD.iter_unpack(image.piece(start + length * 4, size, "hash table")):
            length += 1
            if value & 1:
                return length


def _dynamic(entries: bytes) -> Iterator[tuple[int, int]]:
    whole = len(entries) // _DYNAMIC.size * _DYNAMIC.size
    for tag, value in _DYNAMIC.iter_unpack(entries[:whole]):
        if tag == 0:
            return
        yield tag, value


def _offset_of(segments: tuple[_Segment, ...], address: int) -> int:
    for segment in segments:
        if segment.kind == _PT_LOAD and segment.address <= address < segment.address + segment.size:
            return address - segment.address + segment.offset
    raise _Malformed("an address of its dynamic segment lies in no segment")


def _defined(tables: _Tables) -> Iterator[str]:
    """Names of the symbols that have a place in this library."""
    whole = len(tables.symbols) // _SYMBOLS.size * _SYMBOLS.size
    symbols = _SYMBOLS.iter_unpack(tables.symbols[:whole])
    return _names(tables.strings, (name_at for name_at, _, _, section, _, _ in symbols if section and name_at))


def _names(strings: bytes, offsets: Iterable[int]) -> Iterator[str]:
    """Zero-terminated names, together at most twice their table: a table of pointers to one long text ends early."""
    left = 2 * len(strings)
    for offset in offsets:
        end = strings.find(b"\0", offset)
        if offset >= len(strings) or end < 0:
            raise _Malformed("a name lies outside its string table")
        left -= end - offset
        if left < 0:
            raise _Malformed("its names are longer than their table")
        yield strings[offset:end].decode("utf-8", "backslashreplace")


def _schemas(data: bytes) -> Iterator[str]:
    r"""Operator schemas among zero-terminated strings, white space made single.

    >>> list(_schemas(b"no\0verify(Tensor! a, int k) -> ()\0f(x)\0"))
    ['verify(Tensor! a, int k) -> ()']
    """
    at = seen = 0
    while arrow := _ARROW.search(data, at):
        seen += 1
        if seen > MAX_ARROWS:
            raise _Malformed("it holds more text that looks like operators than recon reads")
        start = data.rfind(b"\0", max(0, arrow.start() - MAX_SCHEMA_BYTES), arrow.start()) + 1
        end = data.find(b"\0", arrow.end(), arrow.end() + MAX_SCHEMA_BYTES)
        at = end if end >= 0 else arrow.end() + MAX_SCHEMA_BYTES
        if end >= 0 and (start > 0 or arrow.start() < MAX_SCHEMA_BYTES):
            text = data[start:end]
            if _is_schema(text):
                yield " ".join(text.decode("ascii").split())


def _is_schema(text: bytes) -> bool:
    """Whether a string is `name(arguments) -> returns`, with nothing before or after."""
    if _TEXT.fullmatch(text) is None or _NAME.match(text) is None:
        return False
    counted = depth = 0
    for arrow in _ARROW.finditer(text):
        depth += text.count(b"(", counted, arrow.end()) - text.count(b")", counted, arrow.end())
        counted = arrow.end()
        if not depth:
            return _RETURNS.fullmatch(text, counted) is not None
    return False

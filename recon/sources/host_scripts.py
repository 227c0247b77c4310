r"""The scripts by which a host lists, sends and opens files: POSIX sh that writes nothing and starts no Python.

They run under dash, bash and busybox, with GNU `find` and `tar` or without. Names stand in command lines, a few dozen
in each, and never in a here-document, for which some shells write a file. Nothing here reads standard input: that is
where the scripts themselves arrive.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recon.sources.select import MAX_SOURCE_BYTES, SKIPPED_FOLDERS, SOURCE_SUFFIXES

BLOCK = 4096
"""Ranges of a library begin and end at multiples of it, so that `dd` seeks and never counts single bytes."""
MAX_PIECE_BYTES = 64 << 20
"""Of one table, and of all that is sent of one library: its tables may overlap, in a file that takes no room."""
CONSTANTS = 256
"""Read-only sections of one library whose names are compared; linkers make two dozen."""
COMPLAINTS = 40
"""Lines that a walk may say on standard error; what is more is counted as a fault of the whole walk."""
WIDEST = 4096
"""Characters of such a line; what is longer names nothing that recon follows."""
NAMES = 64
"""Paths in one command line. None is longer than 1024 bytes, and every system takes 128 KiB."""

_PRELUDE = r"""
LC_ALL=C; TZ=UTC0; export LC_ALL TZ
unset CDPATH IFS
"""

_LIST = r"""
if command -v sha256sum >/dev/null 2>&1; then tool=sha256sum
elif command -v md5sum >/dev/null 2>&1; then tool=md5sum
else tool=
fi
lacks=
if ! command -v find >/dev/null 2>&1; then lacks=find
elif find / -prune -printf '' >/dev/null 2>&1; then
  walk() {
    find -H "$@" -xdev -type d @SKIPPED@ -prune -o -type d -printf '//d|%D|%p\0' \
      -o -type f @MATTERS@ -printf '//f|%s|%C@|%T@|%p\0'
  }
  state='find -H "$real" -prune -printf "%s|%C@|%T@"'
  owner='find -H "$folder" -prune -printf "%u:%U"'
elif ! stat -c %s / >/dev/null 2>&1; then lacks='find -printf or stat -c'
else
  walk() {
    find -H "$@" -xdev -type d @SKIPPED@ -prune -o -type d -exec stat -c '//d|%d|%n' {} + \
      -o -type f @MATTERS@ -exec stat -c '//f|%s|%Z|%y %z|%n' {} +
  }
  state='stat -c "%s|%Z|%y %z" -- "$real"'
  owner='stat -c "%U:%u" -- "$folder"'
fi
links='
  for link do
    real=; kind=other; told="0||"
    if [ -e "$link" ]; then
      real=$(readlink -f -- "$link" && printf x); real=${real%??}
      if [ -d "$link" ]; then kind=folder
      elif [ -f "$link" ]; then kind=file; told=$('$state')
      fi
      case $told in *"|"*"|"*) ;; *) kind=gone; told="0||";; esac
    else kind=gone
    fi
    printf "//l|%s|%s|%s\0%s\0" "$kind" "$told" "$link" "$real"
  done'
closed='
  for folder do
    { [ -r "$folder" ] && [ -x "$folder" ]; } || printf "//u|%s|%s\0" "$('$owner')" "$folder"
  done'
heard() {
  { said=$({ "$@" 2>&1 >&3 3>&-; printf '\n%s' "$?"; } | awk '
    NR != 1 && NR <= @COMPLAINTS@ { print line }
    { line = substr($0, 1, @WIDEST@) }
    END { print line }'); } 3>&1
  printf '\0\n//c|%s\0' "$said"  # the record before it may have been cut anywhere
}
list() {
  record=$1; shift
  for top do
    if [ -d "$top" ]; then printf '//h|%s\0%s\0' "$top" "$(cd -P -- "$top" && pwd -P)"
    elif [ -e "$top" ]; then printf '//m|Not a directory|%s\0' "$top"
    else printf '//m|No such file or directory|%s\0' "$top"
    fi
  done
  heard walk "$@"
  heard find -H "$@" -xdev -type d @SKIPPED@ -prune -o -type l -exec sh -c "$links" sh {} +
  heard find -H "$@" -xdev -type d @SKIPPED@ -prune -o -type d -exec sh -c "$closed" sh {} +
  [ -z "$record" ] || [ ! -f "$record" ] || [ ! -r "$record" ] || heard walk "$record"
  printf '//.|\0'
}
tree() {
  printf '\n%s %s\n' "$nonce" "$1"
  (
    if [ -n "$lacks" ]; then printf '//n|%s\0' "$lacks"
    elif cd -- "$2" 2>/dev/null; then
      known=$3; shift 3
      now=$(date +%s)
      told=
      [ -z "$tool" ] || told=$tool:$(list "$@" 2>/dev/null | "$tool" | tr -d '\n' | tr ' ' ':')
      if [ "$told" = "$known" ]; then printf '//=|%s\0' "$told"
      else printf '//#|%s|%s\0' "$now" "$told"; list "$@" 2>/dev/null
      fi
    elif [ -d "$2" ]; then printf '//x|Permission denied\0'
    else printf '//x|No such file or directory\0'
    fi
  )
  printf '\n%s end\n' "$nonce"
}
"""

_SEND = r"""
zip=cat; gzip -1 -c </dev/null >/dev/null 2>&1 && zip='gzip -1 -c'
opened() {
  if [ -h "$1" ]; then state=link
  elif [ ! -e "$1" ]; then state=gone
  elif [ ! -f "$1" ]; then state=odd
  elif [ ! -r "$1" ]; then state=denied
  else state=ok
  fi
  [ "$state" = ok ]
}
"""

_FILES = r"""
number=0
whole() {
  for file do
    opened "$file"
    printf '\n%s %s %s\n' "$nonce" "$number" "$state"
    [ "$state" = ok ] && head -c @LIMIT@ "$file"
    number=$((number + 1))
  done
}
command -v tar >/dev/null 2>&1 || how=frames
printf '\n%s %s %s\n' "$nonce" "$how" "${zip%% *}"
if [ "$how" = tar ]; then each() { tar -cf - "$@"; }; else each() { whole "$@"; }; fi
{ names; [ "$how" = tar ] || printf '\n%s end\n' "$nonce"; } 2>/dev/null | $zip
"""

_EXTENTS = r"""
sum=0; large=
send() {
  first=$(($2 / @BLOCK@)); blocks=$((($2 % @BLOCK@ + $3 + @BLOCK@ - 1) / @BLOCK@))
  [ -z "$large" ] && [ "$3" -gt 0 ] && [ "$3" -le @PIECE@ ] || return 0
  sum=$((sum + $3)); [ "$sum" -le @PIECE@ ] || { too_large; return 0; }
  printf '\n%s %s %s\n' "$nonce" "$number" $((first * @BLOCK@))
  dd if="$1" bs=@BLOCK@ skip="$first" count="$blocks" 2>/dev/null
}
too_large() { large=yes; printf '\n%s %s large\n' "$nonce" "$number"; }
words() {
  dd if="$1" bs=@BLOCK@ skip=$(($2 / @BLOCK@)) count=$((($2 % @BLOCK@ + $3 + @BLOCK@ - 1) / @BLOCK@)) 2>/dev/null |
    tail -c +$(($2 % @BLOCK@ + 1)) | head -c "$3" | od -An -v -t "$4"
}
constant() {
  [ "$1" -lt "$#" ] || return 1
  shift "$1"
  case "$2 $3 $4 $5 $6 $7 $8" in
    "46 114 111 100 97 116 97"|"46 108 114 111 100 97 116") return 0;;
    *) return 1;;
  esac
}
number=0
each() {
  for file do
    [ -z "${named:-}" ] || number=$file
    if opened "$file"; then
      sum=0; large=
      send "$file" 0 64
      set -- $(words "$file" 0 64 u8)
      [ "$#" -eq 8 ] && [ $(($1 % 281474976710656)) -eq @MAGIC@ ] && tables "$file" "$6" \
        $(($8 / 4294967296 % 65536)) $(($8 / 281474976710656))
    else
      printf '\n%s %s %s\n' "$nonce" "$number" "$state"
    fi
    [ -n "${named:-}" ] || number=$((number + 1))
  done
}
tables() {
  lib=$1; spell=$4; index=0; constants=; few=@CONSTANTS@; link=-1
  [ "$2" -gt 0 ] && [ "$3" -gt 0 ] && [ "$3" -le 4096 ] && [ "$spell" -lt "$3" ] || return 0
  send "$lib" "$2" $(($3 * 64))
  set -- $(words "$lib" "$2" $(($3 * 64)) u8)
  while [ "$#" -ge 8 ] && [ -z "$large" ]; do
    kind=$(($1 / 4294967296))
    eval "at_$index=$4 long_$index=$5"
    case $kind in
      11) link=$(($6 % 4294967296)); send "$lib" "$4" "$5";;
      6) send "$lib" "$4" "$5";;
      8) ;;
      *) [ $(($2 & 2055)) -ne 2 ] || { constants="$constants $index:$(($1 % 4294967296))"; few=$((few - 1)); };;
    esac
    shift 8; index=$((index + 1))
  done
  [ "$few" -ge 0 ] || too_large
  [ -z "$large" ] || return 0
  [ "$link" -ge 0 ] && [ "$link" -lt "$index" ] && eval "send \"\$lib\" \$at_$link \$long_$link"
  eval "set -- \$at_$spell \$long_$spell"
  [ "$2" -le 65536 ] || return 0
  send "$lib" "$1" "$2"
  spelled=$(words "$lib" "$1" "$2" u1)
  for each in $constants; do
    constant "${each#*:}" $spelled && eval "send \"\$lib\" \$at_${each%:*} \$long_${each%:*}"
  done
}
"""

_RANGES = r"""
printf '\n%s extents %s\n' "$nonce" "${zip%% *}"
"""

_BY_HAND = r"""
export nonce; named=yes; export named
tree_of() (
  name=${1##*/}; cd -- "${1%/*}/" || exit 0
  printf '\n%s tree%s%s%s%s\n' "$nonce" "$T" "$1" "$T" "$(cd -P -- "$name" && pwd -P)"
  if [ -n "$lacks" ]; then printf '//n|%s\0' "$lacks"; exit 0; fi
  printf '//#|0|\0'; list "" "./$name"
  printf '\n%s archive%s%s\n' "$nonce" "$T" "$1"
  find -H "./$name" -xdev -type d @SKIPPED@ -prune -o -type f @SOURCES@ ! -size +@LARGEST@ -exec tar -cf - {} +
  printf '\n%s libraries%s%s\n' "$nonce" "$T" "$1"
  find -H "./$name" -xdev -type d @SKIPPED@ -prune -o -type f @LIBRARIES@ ! -path '*[![:print:]]*' \
    -exec sh -c "$extents"'each "$@"' sh {} +
) 2>/dev/null
record_of() (
  name=${1##*/}; cd -- "${1%/*}/" && opened "$name/RECORD" || exit 0
  printf '\n%s record%s%s\n' "$nonce" "$T" "$1"
  head -c @RECORD_BYTES@ "$name/RECORD"
) 2>/dev/null
"""

_CLOSED = r"""
{ names; printf '\n%s end\n' "$nonce"; } 2>/dev/null | $zip
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A tree on a host, and the digest of the listing that is known of it."""

    root: str
    packages: tuple[str, ...]
    record: str
    """Path of RECORD below the root; '' if there is none."""
    known: str


def listing_script(places: Sequence[Place], nonce: str) -> str:
    """A script that lists each tree in a frame of its own, or says that it is as it was."""
    asks = [
        " ".join(
            ("tree", str(number), *map(shlex.quote, (place.root, place.known or "-", _below(place.record)))),
        )
        + "".join(f" {shlex.quote(_below(package))}" for package in place.packages)
        for number, place in enumerate(places)
    ]
    return _script(nonce, _LIST, *asks)


def files_script(root: str, paths: Sequence[str], nonce: str, *, limit: int, tar: bool) -> str:
    """A script that sends files as tar archives one after the other, or each file in a frame where there is no tar."""
    body = _FILES.replace("@LIMIT@", str(limit + 1))
    return _script(nonce, _enter(root), _names(paths), f"how={'tar' if tar else 'frames'}", _SEND, body)


def extents_script(root: str, paths: Sequence[str], nonce: str) -> str:
    """A script that sends what names are read from of each library: what its section headers say, and no GPU code."""
    return _script(nonce, _enter(root), _names(paths), _SEND, _EXTENTS, _RANGES, _CLOSED)


def ranges_script(root: str, path: str, ranges: Iterable[tuple[int, int]], nonce: str) -> str:
    """A script that sends (offset, length) pieces of one file."""
    file = shlex.quote(_below(path))
    sends = "; ".join(f"send {file} {offset} {length}" for offset, length in ranges)
    body = f'number=0; if opened {file}; then {sends}; else printf \'\\n%s 0 %s\\n\' "$nonce" "$state"; fi'
    return _script(
        nonce, _enter(root), _SEND, _EXTENTS, _RANGES, f"{{ {body}; printf '\\n%s end\\n' \"$nonce\"; }} | $zip"
    )


def by_hand_script() -> str:
    """Functions for a script that nobody answers: `tree_of PATH` and `record_of PATH` print frames of all that matters.

    `T` is a tab, `nonce` a word that no file holds.
    """
    return _filled("\n".join([_PRELUDE, _LIST, _SEND, f"extents={shlex.quote(_SEND + _EXTENTS)}", _BY_HAND]))


def _script(nonce: str, *parts: str) -> str:
    """The braces make sh read to the end before it starts: a script of which only a part arrived does nothing."""
    return _filled("\n".join(["{", f"nonce={nonce}", _PRELUDE, *parts, "exit 0", "} </dev/null", ""]))


def _filled(text: str) -> str:
    for name, value in _VALUES.items():
        text = text.replace(name, value)
    return text


def _enter(root: str) -> str:
    return f"cd -- {shlex.quote(root)} || exit 9"


def _names(paths: Sequence[str]) -> str:
    """A function that calls `each` with the paths, so many at once as a command line surely holds."""
    lines = [
        "  each " + " ".join(shlex.quote(_below(path)) for path in paths[start : start + NAMES])
        for start in range(0, len(paths), NAMES)
    ]
    return "\n".join(["names() {", *(lines or ["  :"]), "}"])


def _below(path: str) -> str:
    """A path that no program takes for an option."""
    return f"./{path}" if path else ""


def _any(test: str, patterns: Iterable[str]) -> str:
    return " -o ".join(f"{test} '{pattern}'" for pattern in patterns)


_ODD = ("*[![:print:]]*", "*\\\\*")
"""Names that `select` may refuse, of whatever kind the file is."""
_SOURCES = [f"*{suffix}" for suffix in SOURCE_SUFFIXES]
_LIBRARIES = ["*.so", "*.so.*"]
_VALUES = {
    "@SKIPPED@": rf"\( {_any('-name', sorted(SKIPPED_FOLDERS))} \)",
    "@MATTERS@": rf"\( {_any('-name', [*_SOURCES, *_LIBRARIES, 'RECORD'])} -o {_any('-path', _ODD)} \)",
    "@SOURCES@": rf"\( {_any('-name', _SOURCES)} \)",
    "@LIBRARIES@": rf"\( {_any('-name', _LIBRARIES)} \)",
    "@LARGEST@": str(MAX_SOURCE_BYTES // 512),
    "@RECORD_BYTES@": str(16 << 20),
    "@COMPLAINTS@": str(COMPLAINTS + 1),
    "@WIDEST@": str(WIDEST),
    "@BLOCK@": str(BLOCK),
    "@PIECE@": str(MAX_PIECE_BYTES),
    "@CONSTANTS@": str(CONSTANTS),
    "@MAGIC@": str(int.from_bytes(b"\x7fELF\x02\x01", "little")),
}

"""The payload as a script: files written into a private folder of a machine, run there, and put away."""

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recon import kernels
from recon.kernels import wire

PAYLOAD = Path(kernels.__file__).parent
PACKAGE = "recon_payload"
"""What the payload is called over there: a name that no library has, since engines may be imported beside it."""
ROOM_KIB = 128 << 10
"""What a place must have free: the payload, what Triton and the compiler of C make of it, and some more."""

START_S = 60
"""Within which a Python must have started: on a network disk that is cold it may take half of it."""
SILENCE_S = 3.5
"""Without a beat of the client, once it gave one; it gives one a second. Where `timeout` takes no fractions, 4."""

_SCRIPT = r"""
LC_ALL=C; export LC_ALL; unset CDPATH ENV BASH_ENV; umask 077; ulimit -c 0
folder=; why=; job=; stopped=; watcher=
ours() { read -r stat <"/proc/$$/stat" && set -- ${stat##*) } && { [ "$3" = $$ ] || [ "$3" = "$2" ]; }; }
clear() { [ -z "$folder" ] || rm -rf -- "$folder" || { sleep 1; rm -rf -- "$folder"; }; }
rest() { [ -z "$stopped" ] || ! ours || kill -9 0; }
end() {
  trap '' HUP INT TERM
  if [ -n "$job" ]; then
    kill "$job"
    { sleep 1; kill -9 "$job"; sleep 1; clear; rest; } >/dev/null & late=$!
    wait "$job"; kill -9 "$late"
  fi
  clear; kill -9 "$watcher"; rest
} 2>/dev/null
trap end EXIT
trap 'stopped=1; exit 143' HUP INT TERM
watch() {
  if [ -n "$(dd bs=1 count=1)" ]; then
    for each in @SILENCE@ 4 ''; do timeout -k 1 "${each:-1}" dd count=0 </dev/null && break; done
    if [ -z "$each" ]; then cat
    else while [ -n "$(timeout -k 1 "$each" dd bs=64 count=1)" ]; do :; done
    fi
  fi
  kill "$$"
}
watch <&3 >/dev/null 2>&1 & watcher=$!
exec 3<&-
refuse() { printf '{"kind":"refused","why":"%s","detail":"%s"}\n' "$1" "$2"; exit 1; }
started() {
  "$@" </dev/null & job=$!
  { sleep @START@; [ -s "$folder/@LOCK@" ] || { : >"$folder/late"; kill -9 "$job"; }; } >/dev/null 2>&1 & timer=$!
  wait "$job"; set -- $?; job=
  kill -9 "$timer" 2>/dev/null
  return "$1"
}
hangs() { [ ! -e "$folder/late" ] || refuse no_torch 'that Python hangs: it did not start within @START@ s'; }
try() {
  case $2 in /*) ;; *) why="$why $1: not set;"; return 1;; esac
  folder=$(mktemp -d "$2/recon-probe-@SHORT@-XXXXXXXXXX" 2>/dev/null) || {
    folder=; why="$why $1: no folder can be made there;"; return 1
  }
  : >"$folder/@LOCK@"
  { printf '#!/bin/sh\nexit 7\n' >"$folder/test" && chmod 700 "$folder/test" && "$folder/test"; } 2>/dev/null
  if [ $? -ne 7 ]; then why="$why $1: nothing can be executed there;"
  else
    room=$(df -Pk "$folder" 2>/dev/null | awk 'END { print $4 }')
    case $room in ''|*[!0-9]*) room=@ROOM@;; esac
    [ "$room" -lt @ROOM@ ] || { rm -f "$folder/test"; return 0; }
    why="$why $1: less than @ROOM@ KiB free;"
  fi
  rm -rf -- "$folder"; folder=; return 1
}
try XDG_RUNTIME_DIR "${XDG_RUNTIME_DIR:-}" || try /dev/shm /dev/shm || try TMPDIR "${TMPDIR:-/tmp}" ||
  try HOME "${HOME:-}" || refuse no_place "no place for the payload:$why set TMPDIR to one"
python=
for each in @PYTHONS@; do
  case $each in
    */*) [ -x "$each" ] && [ ! -d "$each" ] || continue;;
    *) each=$(command -v -- "$each") || continue;;
  esac
  python=$each; break
done
[ -n "$python" ] || refuse no_torch 'the Python of that environment cannot be run'
started "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >&2 || {
  hangs
  refuse no_torch 'that Python does not run, or is older than 3.10'
}
put() { printf '%s' "$2" >"$folder/$1" || refuse no_place 'the payload could not be written: the disk is full'; }
mkdir @FOLDERS@
@FILES@
unset PYTHONSAFEPATH PYTHONINSPECT PYTHONSTARTUP TRITON_INTERPRET TRITON_CACHE_MANAGER TRITON_DUMP_DIR
there=${folder%/*}; temporary=${TMPDIR:-}
export TMPDIR="$folder/tmp" XDG_CACHE_HOME="$folder/cache" TRITON_HOME="$folder" TRITON_CACHE_DIR="$folder/triton" \
  TRITON_DUMP_DIR="$folder/triton" TRITON_OVERRIDE_DIR="$folder/triton" CUDA_CACHE_PATH="$folder/cuda" \
  TORCHINDUCTOR_CACHE_DIR="$folder/inductor" TORCHINDUCTOR_COMPILE_THREADS=1 TORCH_HOME="$folder/torch" \
  TORCH_EXTENSIONS_DIR="$folder/extensions" PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8
cd -- "$folder" || exit 1
started "$python" -m @PACKAGE@.keeper "$folder" "$there" "${XDG_RUNTIME_DIR:-}" /dev/shm "$temporary" /tmp "${HOME:-}"
set -- $?
hangs
exit "$1"
"""
"""Everything is put away at the end, whatever that is, and this sh watches the client for it, since it alone is sure to
be there: a Python may hang before its first line, or hand over to a program that heeds nobody. What it started is asked
to end, killed a second later, and followed by all else in the group where that is this script's alone. Subshells are
killed (-9): one that is young may still have the traps of its parent, and would put away what is in use."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """One file that is written on the machine."""

    name: str
    """Below the private folder."""
    text: str

    @property
    def size_bytes(self) -> int:
        """Its length there."""
        return len(self.text.encode())

    @property
    def sha256(self) -> str:
        """What its bytes are known by."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def payload_digest() -> str:
    """Digest of the payload's files and their names."""
    return wire.digest_of(PAYLOAD)


def files(plan: wire.Plan) -> tuple[Shipped, ...]:
    """What is written on the machine: the payload, and the plan."""
    sent = [
        Shipped(f"{PACKAGE}/{path.relative_to(PAYLOAD).as_posix()}", path.read_text(encoding="utf-8"))
        for path in sorted(PAYLOAD.rglob("*.py"))
    ]
    return (*sent, Shipped(wire.PLAN, wire.encode_plan(plan)))


def script_of(plan: wire.Plan, pythons: Sequence[str], *, spelled: bool = True) -> str:
    """The sh that ships a plan with the payload, runs it and puts all away; it is to be attended.

    Args:
        plan: What the payload is to do.
        pythons: Paths, or names on PATH: the first that can be run is taken.
        spelled: Whether the files stand in it; otherwise their digests do, for a person to read.
    """
    sent = files(plan)
    folders = [*dict.fromkeys(each.name.rpartition("/")[0] for each in sent if "/" in each.name), "tmp"]
    values = {
        "@SHORT@": plan.payload[:12] or "0" * 12,
        "@LOCK@": wire.LOCK,
        "@ROOM@": str(ROOM_KIB),
        "@START@": str(START_S),
        "@SILENCE@": str(SILENCE_S),
        "@PACKAGE@": PACKAGE,
        "@PYTHONS@": " ".join(map(shlex.quote, pythons)),
        "@FOLDERS@": " ".join(f'"$folder/{each}"' for each in folders),
    }
    script = _SCRIPT
    for name, value in values.items():
        script = script.replace(name, value)
    before, after = script.split("@FILES@")
    texts = {each.name: shlex.quote(each.text) if spelled else f"@{each.sha256}@" for each in sent}
    return before + "\n".join(f"put {name} {text}" for name, text in texts.items()) + after

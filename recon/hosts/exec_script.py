"""A script wrapped so that it can be run by any login shell, told from noise, and never left behind.

The command line is the same for every script and means the same in every shell: COMMAND. What follows on standard input
is one compound command of POSIX sh, which sh reads whole before it runs it; after it come beats, one byte each, for as
long as this side lives. Over there

- marks with a nonce enclose what the script says on either stream, so that what login shells and wrappers print before
  and after it is noise that can be dropped;
- the script is read by another sh, in a session of its own, under `timeout` where there is one;
- a watcher reads the beats. When they end, or none comes for LOST_S, it kills all that the script started: this process
  was killed, the line cut, the lid closed. It ignores SIGPIPE, since by then nobody may listen.

A script that has something to put away before it ends is its own watcher: it is *attended*. It finds the beats on its
descriptor 3, and is killed only when it is late, or over.

Only sh and its builtins are relied on; `setsid`, `timeout` and `dd` are used where they are. Nothing is written: there
is no heredoc, since some shells keep those in files.
"""

import math
import secrets
from dataclasses import dataclass, field

COMMAND = "exec /bin/sh -s"
"""What the login shell is asked to do."""
BEAT = b"."
BEAT_EVERY_S = 2.0
LOST_S = 6
"""Silence of this side after which the other side ends the script."""
ATTENDED_EVERY_S = 1.0
"""Between two beats for a script that is attended."""
LOST = "lost"
"""Status of a script that was ended because of that."""
NO_STATUS = "none"
"""That of an end mark which says nothing: the script is over all the same."""

_BEGIN = "recon-begin-"
_END = "recon-end-"
_STATUS_BYTES = 64
"""What an end mark may say; what goes on without a line's end is no status, and is not waited for."""
_BEGINNING = r"""{
LC_ALL=C; export LC_ALL; unset ENV BASH_ENV
exec 3<&0 </dev/null
recon_say() { printf '%s%s%s\n' "$@"; printf '%s%s%s\n' "$@" >&2; }
recon_own= recon_limit= recon_group=
command -v setsid >/dev/null 2>&1 && recon_own=setsid
timeout -k 5 9 dd count=0 </dev/null >/dev/null 2>&1 && recon_limit='timeout -k 5 @SECONDS@'
read -r recon_stat </proc/$$/stat && set -- ${recon_stat##*) } && [ "$3" = $$ ] && recon_group=0
recon_say @BEGIN@ @NONCE@ ''
"""
_WATCHED = r"""printf '%s\n' @SCRIPT@ | $recon_own $recon_limit /bin/sh -s 3<&- &
recon_job=$!
recon_group=${recon_group:-$recon_job}
[ -z "$recon_own" ] || recon_group=-$recon_job
{
  trap '' PIPE
  if [ -n "$recon_limit" ]; then
    while [ -n "$(timeout -k 1 @LOST@ dd bs=1 count=1 2>/dev/null)" ]; do :; done
  else
    cat >/dev/null
  fi
  recon_say @END@ @NONCE@ ' lost'
  kill -9 "$recon_group"
} <&3 2>/dev/null &
recon_watcher=$!
exec 3<&-
{ wait "$recon_job"; recon_status=$?; kill -9 "$recon_watcher"; } 2>/dev/null
"""
_ATTENDED = r"""printf '%s\n' @SCRIPT@ | $recon_own $recon_limit /bin/sh -s &
recon_job=$!
recon_group=${recon_group:-$recon_job}
[ -z "$recon_own" ] || recon_group=-$recon_job
exec 3<&-
{ wait "$recon_job"; recon_status=$?; } 2>/dev/null
"""
_ENDING = r"""[ "$recon_group" = 0 ] || kill -9 "$recon_group" 2>/dev/null
recon_say @END@ @NONCE@ " $recon_status"
[ "$recon_group" != 0 ] || kill -9 0
exit 0
}
"""


def nonce() -> str:
    """Letters that nobody else prints."""
    return secrets.token_hex(12)


def wrapped(script: str, mark: str, timeout_s: float, *, attended: bool = False) -> bytes:
    """What goes to the standard input of COMMAND, before the beats."""
    values = {
        b"@SECONDS@": b"%d" % (math.ceil(timeout_s) + 1),
        b"@LOST@": b"%d" % LOST_S,
        b"@BEGIN@": _BEGIN.encode(),
        b"@END@": _END.encode(),
        b"@NONCE@": mark.encode(),
    }
    text = f"{_BEGINNING}{_ATTENDED if attended else _WATCHED}{_ENDING}".encode()
    for name, value in values.items():
        text = text.replace(name, value)
    before, after = text.split(b"@SCRIPT@")
    return before + _quoted(script.encode("utf-8", "surrogateescape")) + after


def _quoted(text: bytes) -> bytes:
    return b"'" + text.replace(b"'", b"'\\''") + b"'"


@dataclass(slots=True)
class Frame:
    """Takes a stream in pieces and gives what stands between the marks."""

    mark: str
    noise_cap_bytes: int = 4096
    begun: bool = False
    status: str = ""
    """What the end mark says; empty until it came."""
    noise: bytearray = field(default_factory=bytearray)
    """What came before the first mark, or instead of it, up to the cap."""
    _held: bytes = b""

    def take(self, piece: bytes) -> bytes:
        """What a piece adds; the start of what may be a mark is held back until the rest is here."""
        if self.status:
            return b""
        self._held += piece
        if not self.begun and not self._begin():
            return b""
        end = f"{_END}{self.mark}".encode()
        said, found, rest = self._held.partition(end)
        if not found:
            keep = _overlap(self._held, end)
            said, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
            return said
        line, newline, _ = rest.partition(b"\n")
        if newline or len(line) > _STATUS_BYTES:
            self.status, self._held = line[:_STATUS_BYTES].strip().decode("ascii", "replace") or NO_STATUS, b""
            return said
        self._held = end + rest
        return said

    def _begin(self) -> bool:
        begin = f"{_BEGIN}{self.mark}\n".encode()
        before, found, rest = self._held.partition(begin)
        if not found:
            keep = _overlap(self._held, begin)
            before, rest = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        self.noise += before[: max(self.noise_cap_bytes - len(self.noise), 0)]
        self._held = rest
        self.begun = bool(found)
        return self.begun


def _overlap(text: bytes, mark: bytes) -> int:
    """Length of the longest end of the text with which the mark begins."""
    return next((size for size in range(min(len(text), len(mark) - 1), 0, -1) if text.endswith(mark[:size])), 0)

"""A fact: one thing learned of a machine from one command."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from recon.errors import Unreadable
from recon.facts.texts import cleaned
from recon.ports import Reply

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FactUnreadable(Unreadable):
    """A command answered something that its parser does not understand."""

    kind = "fact_unreadable"

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep what happened, which mostly quotes the answer."""
        super().__init__(cleaned(message), hint)


@dataclass(frozen=True, slots=True)
class Fact(Generic[T_co]):
    """A question that a machine can be asked, and how its answer is read."""

    name: str
    """Stands in reports, e.g. `gpus`."""
    command: str
    """POSIX sh, one line or many. It runs under dash and busybox, reads nothing from standard input, writes nothing."""
    parse: Callable[[Reply], T_co]
    """Pure. Raises FactUnreadable."""


def quote(word: str) -> str:
    """A word as sh reads it back, whatever is in it."""
    return shlex.quote(word)


BOUNDED = """\
bounded() {
  seconds=$1; shift
  if timeout --foreground 1 true 2>/dev/null; then timeout --foreground -k 2 "$seconds" "$@"
  elif timeout 1 true 2>/dev/null; then timeout "$seconds" "$@"
  else "$@"
  fi
}
"""
"""Sh function: a program and the seconds it may take, where the machine has `timeout`; status 124 when it took more.

`--foreground` keeps the program in the script's process group, so that ending the script ends it, too.
"""

PLAIN = """\
plain() {
  [ -f "$1" ] && [ -r "$1" ] && target=$(readlink -f -- "$1" 2>/dev/null) || return 1
  case $target in /dev/shm/*) ;; /proc/*|/sys/*|/dev/*) return 1;; esac
  [ "${target##*/}" = "${1##*/}" ] || case $target in "${2:-//}"/*) ;; *) return 1;; esac
}
"""
"""Sh function: whether a file may be read that lies in a folder whose real path is given, too.

Who owns a folder can lay links there to files that are not his and that we may read. One is followed to what lies in
the folder itself, or bears the name of the link: installers link to files in their caches that way. What the kernel
makes up (/proc, /sys, devices) may wait for ever or change by being read.
"""

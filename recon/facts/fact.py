"""A fact: one thing learned of a machine from one command."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from recon.errors import Unreadable
from recon.ports import Reply

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FactUnreadable(Unreadable):
    """A command answered something that its parser does not understand."""

    kind = "fact_unreadable"


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

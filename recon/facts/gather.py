"""Ask a machine for several facts in one script."""

import itertools
import secrets
from collections.abc import Sequence
from typing import cast

from recon.errors import ReconError
from recon.facts.fact import Fact, FactUnreadable, T, quote
from recon.numbers import number
from recon.ports import Reply, Shell
from recon.records.unknown import Unknown

CAUSE_CHARACTERS = 200
STATUS_DIGITS = 3
"""Of the exit status of any program."""


class Values:
    """What was learned, by fact. A fact that could not be learned is not in it."""

    def __init__(self, learned: Sequence[tuple[Fact[object], object]]) -> None:
        self._by_name = {fact.name: value for fact, value in learned}

    def of(self, fact: Fact[T]) -> T | None:
        """The value of a fact, or None where it is among the unknowns."""
        return cast("T | None", self._by_name.get(fact.name))  # the fact's own parser made it


def gather(
    shell: Shell, facts: Sequence[Fact[object]], *, timeout_s: float = 60.0
) -> tuple[Values, tuple[Unknown, ...]]:
    """As `ask`; where the machine did not answer, every fact becomes an Unknown."""
    try:
        return ask(shell, facts, timeout_s=timeout_s)
    except ReconError as error:
        return Values(()), tuple(Unknown(fact.name, shell.name, error.message) for fact in facts)


def ask(shell: Shell, facts: Sequence[Fact[object]], *, timeout_s: float = 60.0) -> tuple[Values, tuple[Unknown, ...]]:
    """Ask for all facts at once; one that fails becomes an Unknown and takes no other with it.

    Raises:
        ReconError: the machine did not answer, or not in time.
    """
    nonce = secrets.token_hex(16)
    reply = shell.run(script_of(facts, nonce), timeout_s=timeout_s)
    replies = split(reply, nonce)
    learned: list[tuple[Fact[object], object]] = []
    unknowns: list[Unknown] = []
    for place, fact in enumerate(facts):
        try:
            learned.append((fact, read(fact, _reply_to(place, replies, reply))))
        except FactUnreadable as error:
            unknowns.append(Unknown(fact.name, shell.name, error.message))
    return Values(learned), tuple(unknowns)


def read(fact: Fact[T], reply: Reply) -> T:
    """What a reply says of a fact, whatever a stranger wrote into it: what no parser foresaw is unreadable, too.

    Raises:
        FactUnreadable: it says nothing.
    """
    try:
        return fact.parse(reply)
    except FactUnreadable:
        raise
    except (ArithmeticError, LookupError, ValueError, RecursionError) as error:
        raise FactUnreadable(f"the answer was not understood ({type(error).__name__})") from error


def script_of(facts: Sequence[Fact[object]], nonce: str) -> str:
    """One script for all facts, each reply framed on both streams.

    `eval` in a subshell keeps even a syntax error to its own fact. The braces make sh read to the end before it starts,
    so that a script of which only a part arrived does nothing.
    """
    lines = ["{"]
    for place, fact in enumerate(facts):
        lines += [
            f"printf '\\n{nonce} %s\\n' {place}; printf '\\n{nonce} %s\\n' {place} >&2",
            f"( eval {quote(fact.command)} ) </dev/null",
            f"printf '\\n{nonce} %s %s\\n' {place} $?; printf '\\n{nonce} %s end\\n' {place} >&2",
        ]
    return "\n".join([*lines, "exit 0", "}", ""])


def split(reply: Reply, nonce: str) -> dict[int, Reply]:
    """Cut the reply of a script at its frames; a fact whose frame never closed is left out.

    What profiles and banners print around the frames is dropped.
    """
    errors = {place: text for place, text, _ in _frames(reply.stderr, nonce)}
    replies = {}
    for place, text, end in _frames(reply.stdout, nonce):
        if (status := number(end, STATUS_DIGITS)) is not None:
            replies[place] = Reply(text, errors.get(place, ""), status)
    return replies


def _frames(text: str, nonce: str) -> list[tuple[int, str, str]]:
    """(number, text, word at the end) of every closed frame of one stream."""
    frames = []
    pieces = text.split(f"\n{nonce} ")
    for opening, closing in itertools.pairwise(pieces):
        first, _, body = opening.partition("\n")
        last = closing.partition("\n")[0].split(" ")
        place = number(first)
        if place is not None and len(last) == 2 and last[0] == first:
            frames.append((place, body, last[1]))
    return frames


def _reply_to(place: int, replies: dict[int, Reply], whole: Reply) -> Reply:
    """The reply to one fact.

    Raises:
        FactUnreadable: the script ended before it came.
    """
    if place not in replies:
        said = f": {cause_in(whole)}" if cause_in(whole) else ""
        raise FactUnreadable(f"the script ended with status {whole.status} before the answer was complete{said}")
    return replies[place]


def cause_in(reply: Reply) -> str:
    """The last line that a command said on standard error, for people to read."""
    lines = [line.strip() for line in reply.stderr.splitlines() if line.strip()]
    return lines[-1][:CAUSE_CHARACTERS] if lines else ""

"""Asking a person: one question at a time, on the terminal itself, whatever standard input and output are."""

import getpass
import os
import threading
from typing import Protocol

_TERMINAL = "/dev/tty"
_turn = threading.Lock()


class Person(Protocol):
    """Somebody who can be asked."""

    def secret(self, question: str) -> str:
        """An answer that nobody sees while it is typed."""
        ...

    def answer(self, question: str) -> str:
        """An answer that may be seen."""
        ...


class Terminal:
    """Whoever sits at this terminal."""

    def secret(self, question: str) -> str:
        """An answer that nobody sees while it is typed."""
        with _turn:
            return getpass.getpass(question)

    def answer(self, question: str) -> str:
        """An answer that may be seen."""
        with _turn, open(_TERMINAL, "r+b", buffering=0) as terminal:  # noqa: PTH123 - a device
            terminal.write(question.encode("utf-8", "replace"))
            answer = bytearray()
            while not answer.endswith(b"\n") and (piece := terminal.read(1024)):
                answer += piece
            return answer.decode("utf-8", "replace").rstrip("\r\n")


def person() -> Person | None:
    """Whoever can be asked; None where there is no terminal."""
    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return None
    return Terminal()

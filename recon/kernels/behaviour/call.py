"""How a function was found to be called, as it crosses the wire: the check writes it, a later plan reads it."""

from dataclasses import asdict, dataclass
from typing import Any

from .answers import OutputReading
from .roles import Choice

Reading = dict[str, Choice]
"""What each parameter is given."""


@dataclass(frozen=True)
class Call:
    """One way of calling a function in which it follows a rule."""

    rule: str
    """e.g. `chain greedy`."""
    reading: Reading
    rooted: bool
    """Whether arrays of drafts hold the root as well."""
    outputs: OutputReading
    temperature: float

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


def call_of(data: dict[str, Any]) -> Call:
    """A call from JSON.

    Raises:
        KeyError, TypeError, AttributeError: it is none.
    """
    reading = {str(name): Choice(**choice) for name, choice in data["reading"].items()}
    outputs = OutputReading(**data["outputs"])
    return Call(str(data["rule"]), reading, bool(data["rooted"]), outputs, float(data["temperature"]))

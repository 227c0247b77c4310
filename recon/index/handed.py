"""What call sites hand to parameters: facts that come in while a call graph is made, and what leans on them."""

from collections.abc import Iterable

from recon.index.tables import Ref
from recon.index.values import Kind, Value, weakened
from recon.records.path import Tier

Parameter = tuple[Ref, str]
"""A function and the name of its parameter, with its stars."""
Question = tuple[str, int, str]

_MOST_SURE = 4
"""Different functions in one parameter above which it is only likely that a given one is called on a given way."""
_MOST_FUNCTIONS = 64
_MOST = 8
"""Different functions, and other values, in one parameter above which they tell nothing."""


class Handed:
    """Values of parameters, and which questions depend on them.

    Names keeps its answers; one in which a parameter had a part is forgotten when that parameter is given something
    new. What is asked outside of the making of a graph sees no such value, so that answers do not depend on when a
    graph was made.

    Attributes:
        of: The parameters that an answer leans on, for those that lean on any.
        touched: The parameters of which something was asked in the question that is open, or since this was emptied;
            in the order of asking, since what is read again first must not be chance.
    """

    def __init__(self) -> None:
        self._values: dict[Parameter, dict[Value, None]] = {}
        self.touched: dict[Parameter, None] | None = None
        self.of: dict[Question, dict[Parameter, None]] = {}
        self._leaning: dict[Parameter, set[Question]] = {}

    def clear(self) -> set[Question]:
        """Forget all values; the questions in whose answers they may have a part."""
        questions = {one for parameter in self._values for one in self._leaning.get(parameter, ())}
        self._values.clear()
        return questions

    def given(self, parameter: Parameter) -> tuple[Value, ...]:
        """What is known to be handed to a parameter; the question that is open leans on it from now on."""
        self._touch((parameter,))
        values = self._values.get(parameter)
        if not values:
            return ()
        if len(values) <= _MOST_SURE:
            return tuple(values)
        functions = [value for value in values if value.kind is Kind.DEFINITION]
        few = functions if len(functions) <= _MOST_FUNCTIONS else []
        if len(values) - len(functions) <= _MOST:
            few += [value for value in values if value.kind is not Kind.DEFINITION]
        return weakened(few, Tier.LIKELY)

    def _touch(self, parameters: Iterable[Parameter]) -> None:
        if self.touched is None:
            self.touched = {}
        self.touched.update(dict.fromkeys(parameters))

    def begin(self) -> dict[Parameter, None] | None:
        """Open a question; what was touched so far belongs to the question around it."""
        outer, self.touched = self.touched, None
        return outer

    def end(self, question: Question, outer: dict[Parameter, None] | None) -> bool:
        """Close a question; whether a parameter had a part in its answer."""
        touched, self.touched = self.touched, outer
        if touched is None:
            return False
        self.of[question] = touched
        for parameter in touched:
            self._leaning.setdefault(parameter, set()).add(question)
        self._touch(touched)
        return True

    def touch_again(self, question: Question) -> None:
        """An answer that is known, and leans on parameters, is used for another question."""
        self._touch(self.of[question])

    def learn(self, parameter: Parameter, values: Iterable[Value]) -> list[Question]:
        """Note what a call site hands to a parameter.

        Returns:
            The questions whose answers may be others now; nothing if none of the values is new.
        """
        known = self._values.setdefault(parameter, {})
        new = [value for value in values if value not in known and value.kind is not Kind.CONSTANT]
        if not new:
            return []
        known.update(dict.fromkeys(new))
        questions = self._leaning.pop(parameter, set())
        for question in questions:
            self.of.pop(question, None)
        return list(questions)

"""Questions about names, each answered once."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from recon.index.handed import Handed, Parameter, Question
from recon.index.values import Value

_DEEPEST = 40
_NONE: tuple[Value, ...] = ()


class Questions(ABC):
    """Keeps answers, and tells which of them lean on what call sites hand to parameters.

    Questions are (path, scope, text in it), (module, -1, its member) and (path, -2 - class, its attribute, or that with
    `?` for what `__getattr__` gives for it).

    Attributes:
        known: Answers that hold whatever is handed to parameters.
        handed: What call sites are known to give to parameters, while a call graph is made.
        unfollowed: Files or modules in which a chain of names was longer than is followed.
    """

    def __init__(self) -> None:
        self.known: dict[Question, tuple[Value, ...]] = {}
        self.handed = Handed()
        self.unfollowed: set[str] = set()
        self._leant: dict[Question, tuple[Value, ...]] = {}  # answers in which parameters have a part
        self._open: dict[Question, int] = {}
        self._cut = _DEEPEST  # the outermost open question on which the current answer leans
        self._leaning: dict[Question, tuple[tuple[Value, ...], int]] = {}

    def start_anew(self) -> None:
        """Forget all answers."""
        self.known.clear()
        self._leant.clear()

    def learn(self, parameter: Parameter, values: Iterable[Value]) -> bool:
        """Note what a call site hands to a parameter; whether that is news."""
        questions = self.handed.learn(parameter, values)
        for question in questions:
            self._leant.pop(question, None)
        return bool(questions)

    def forget(self) -> None:
        """Forget all that call sites hand to parameters."""
        for question in self.handed.clear():
            self._leant.pop(question, None)

    def ask(self, key: Question) -> tuple[Value, ...]:
        """Answer a question once.

        A question that meets itself has no answer at that point. What leans on such a cut is good only until the
        question that was met is answered; then it is forgotten, so that answers do not depend on the order of asking.
        """
        known = self.known.get(key)
        if known is not None:
            return known
        known = self._leant.get(key)
        if known is not None:
            self.handed.touch_again(key)
            return known
        if (leaning := self._leaning.get(key)) is not None:
            self._cut = min(self._cut, leaning[1])
            if key in self.handed.of:
                self.handed.touch_again(key)
            return leaning[0]
        depth = len(self._open)
        if key in self._open or depth >= _DEEPEST:
            self.unfollowed |= {key[0]} - ({key[0]} if key in self._open else set())
            self._cut = min(self._cut, self._open.get(key, 0))
            return _NONE
        outer, self._cut = self._cut, _DEEPEST
        touched = self.handed.begin()
        self._open[key] = depth
        before = len(self._leaning)
        try:
            found = self._answer(*key)
        finally:
            del self._open[key]
            leans = self.handed.end(key, touched)
        if self._cut < depth:
            self._leaning[key] = (found, self._cut)
            self._cut = min(self._cut, outer)
            return found
        while len(self._leaning) > before:
            self._leaning.popitem()
        if leans:
            self._leant[key] = found
        else:
            self.known[key] = found
        self._cut = outer
        return found

    @abstractmethod
    def _answer(self, path: str, scope: int, text: str) -> tuple[Value, ...]:
        """Answer a question."""

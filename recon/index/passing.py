"""What callers hand to parameters, followed through any number of hands while a call graph is made."""

from collections.abc import Callable
from functools import partial

from recon.index.call_sites import CallSite
from recon.index.handed import Parameter
from recon.index.names import Names
from recon.index.tables import Ref
from recon.index.values import Kind, Value

_MOST_ROUNDS = 24
_TELLING = frozenset({Kind.DEFINITION, Kind.INSTANCE, Kind.CONTAINER, Kind.MODULE})


class Passing:
    """Reads what leans on parameters again, until nothing new is handed to them."""

    def __init__(self, names: Names, *, outside: bool) -> None:
        """Begin with nothing handed over; follow what is outside of the tree too where calls of it are told."""
        self._names = names
        self._telling = _TELLING | {Kind.OUTSIDE} if outside else _TELLING
        self._sites: dict[Ref, dict[tuple[int, bool], CallSite]] = {}
        self._waiting: dict[Parameter, list[Callable[[], None]]] = {}
        self._done: dict[Parameter, int] = {}
        self._fresh: list[Parameter] = []  # parameters that got something new since the last round

    def add(self, target: Ref, site: CallSite) -> None:
        """Note a call of a function."""
        self._sites.setdefault(target, {})[id(site.call), site.is_bound] = site

    @property
    def sites(self) -> dict[Ref, list[CallSite]]:
        """All calls that were noted, by the function that is called."""
        return {target: list(sites.values()) for target, sites in self._sites.items()}

    def read(self, step: Callable[..., None], *given: object) -> None:
        """Do a step of reading, and again whenever a parameter that it leans on is given something new."""
        handed = self._names.handed
        handed.begin()
        step(*given)
        if not handed.touched:
            return
        for parameter in handed.touched:
            self._waiting.setdefault(parameter, []).append(partial(step, *given) if given else step)

    def hand(self, parameter: Parameter, values: tuple[Value, ...]) -> None:
        """Note what is handed to a parameter."""
        if self._names.learn(parameter, [value for value in values if value.kind in self._telling]):
            self._fresh.append(parameter)

    def settle(self) -> None:
        """Follow all that is handed on."""
        for _ in range(_MOST_ROUNDS):
            news = self._news()
            if not news:
                return
            steps = {id(step): step for parameter in news for step in self._waiting.pop(parameter, ())}
            for step in steps.values():
                self.read(step)

    def _news(self) -> list[Parameter]:
        """Hand over what sites that were not looked at yet give; the parameters that got something new."""
        todo = list(self._waiting)
        while todo:
            before = len(self._waiting)
            for parameter in todo:
                owner, name = parameter
                sites = list(self._sites.get(owner, {}).values())
                params = self._names.scope_of(owner).params
                for site in sites[self._done.get(parameter, 0) :]:
                    for text in site.arguments(params, name):
                        self.read(self._give, parameter, site, text)
                self._done[parameter] = len(sites)
            todo = list(self._waiting)[before:]
        news, self._fresh = self._fresh, []
        return list(dict.fromkeys(news))

    def _give(self, parameter: Parameter, site: CallSite, text: str) -> None:
        """Hand one argument of one call to one parameter."""
        self.hand(parameter, self._names.values(site.path, site.call.scope, text, site.call.line))

"""Names of hosts and users in runs: which there are, and what they are called where a run is passed on.

Names are known from the records of hosts, from `--host` on a command line (a host that was down has no record), from
home folders, and from the owners of files that could not be read. What merely looks like an address, a login or
the host of a URL is renamed without being known.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from ipaddress import ip_address

from recon.records.host import Host
from recon.records.install import Engine
from recon.records.run import Run
from recon.records.unknown import OWNER
from recon.runs.files import host_in_name

SOMEONE = "someone"
SOMEWHERE = "somewhere"
_NO_HOST = frozenset({"localhost", "releases", ""})
_NOBODY = frozenset(
    {"root", "ubuntu", "debian", "centos", "admin", "user", "runner", "vscode", "jovyan", "git", "nobody", "recon", ""}
)
"""Accounts that tell nothing of a person."""
_PUBLIC = frozenset({"github.com", "gitlab.com", "huggingface.co", "arxiv.org", "localhost", "127.0.0.1"})
_INSIDE = frozenset({"lan", "local", "internal", "intranet", "corp", "home", "localdomain"})
"""Last labels of names that mean something in one network alone."""
_HOME = re.compile(r"(?P<before>/(?:home|Users|users)/|\\Users\\)(?P<user>\w(?:[\w.@+-]*\w)?)")
_ADDRESS = re.compile(r"(?<![\w.:-])\[?(?P<address>(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)")
_LOGIN = re.compile(r"(?<![\w.+-])(?P<user>[\w.+-]+)@(?P<host>\[[^\]\s]+\]|[A-Za-z][\w.-]*[A-Za-z0-9])")
_URL = re.compile(r"(?<=://)(?P<host>[A-Za-z0-9][\w.-]*)")
_RUN = re.compile(r"[^\W_]+")
_ANY_CASE = re.compile(r"[\d.]")
_WORD = re.compile(r"[A-Za-z0-9_]+")


class Names:
    """What names become.

    Args:
        known: Every name with its new one.
        words: Those of them that are words of recon's own pages.
    """

    def __init__(self, known: dict[str, str], words: frozenset[str]) -> None:
        self.known, self.words = known, words
        inside = known.keys() - {"recon", *(each.value for each in Engine)}
        self._all, self._clear = _told_apart(inside), _told_apart(inside - words)
        self._new = {name[first.start() :]: new for name, new in known.items() if (first := _RUN.search(name))}
        # one text stands in many records: a fleet has the same engines
        self.everywhere = cache(self._everywhere)
        self.in_prose = cache(self._in_prose)
        self.in_source = cache(self._in_source)

    def _everywhere(self, text: str) -> str:
        """The text without names and addresses; for what tells of machines."""
        if text in self.known:
            return self.known[text]
        text = _LOGIN.sub(_no_login, self._renamed(_home_of_someone(text), self._all))
        return _ADDRESS.sub(_no_address, _URL.sub(_no_place, text))

    def _in_prose(self, text: str) -> str:
        """The text likewise; a name that is a word of recon's own, too, means the word here."""
        if text in self.known:
            return self.known[text]
        return _LOGIN.sub(_no_login, self._renamed(_home_of_someone(text), self._clear))

    def _in_source(self, text: str) -> str:
        """Lines of a source, in which `a@b` is a product."""
        return self._renamed(_home_of_someone(text), self._clear)

    def _renamed(self, text: str, names: Mapping[str, Sequence[str]]) -> str:
        """The text with each of the names replaced where it stands as a whole word, the longest first."""
        parts: list[str] = []
        at = 0
        for run in _RUN.finditer(text):
            start = run.start()
            name = next((each for each in names.get(run[0].lower(), ()) if _is_at(each, text, start)), "")
            if name and start >= at:
                parts += (text[at:start], self._new[name])
                at = start + len(name)
        return "".join((*parts, text[at:])) if parts else text


def names_of(runs: tuple[Run, ...], texts: Iterable[str]) -> Names:
    """The names in some runs.

    Args:
        runs: Whose hosts and command lines are asked; hosts are counted in their order.
        texts: All that is written in them.
    """
    written = dict.fromkeys(texts)
    named = dict.fromkeys([*(host.name for run in runs for host in run.hosts), *_asked_for(runs)])
    known: dict[str, str] = {}
    users: dict[str, None] = {}
    domains: dict[str, None] = {}
    for number, name in enumerate(named, 1):
        user, _, _ = name.rpartition("@")
        users |= dict.fromkeys((user, user.rpartition("\\")[2]))
        if name not in _NO_HOST:
            known |= {each: f"host-{number}" for each in _forms(name) if each not in known}
            domains[_domain(_place(name))] = None
    for number, neighbour in enumerate(_neighbours(domains, written, known), len(named) + 1):
        known |= {each: f"host-{number}" for each in _forms(neighbour) if each not in known}
    known |= {domain: f"domain-{number}" for number, domain in enumerate(filter(None, domains), 1)}
    for text in written:
        users |= dict.fromkeys(found["user"] for found in _HOME.finditer(text))
        users |= dict.fromkeys(found["owner"] for found in OWNER.finditer(text))
    known |= dict.fromkeys(users.keys() - _NOBODY - known.keys(), SOMEONE)
    known |= _ids(runs)
    pages = {word for run in runs for each in run.capabilities for word in _WORD.findall(f"{each.id} {each.help}")}
    return Names(known, frozenset(known.keys() & pages))


def _ids(runs: tuple[Run, ...]) -> dict[str, str]:
    """Ids of machines and cards; a machine without one is called by its name, which is no id."""
    hosts: dict[str, Host] = {host.name: host for run in runs for host in run.hosts}
    machines = {host.id: f"machine-{number}" for number, host in enumerate(hosts.values(), 1) if host.id != host.name}
    cards = dict.fromkeys(gpu.uuid for host in hosts.values() for gpu in host.gpus)
    cards |= dict.fromkeys(each.device.uuid for run in runs for each in run.measurements if each.device)
    made = machines | {uuid: f"GPU-{number}" for number, uuid in enumerate(cards, 1)}
    return {name: new for name, new in made.items() if name not in _NO_HOST}


def _asked_for(runs: tuple[Run, ...]) -> Iterator[str]:
    """Hosts that a command line names."""
    for run in runs:
        for word, following in zip(run.command, (*run.command[1:], ""), strict=False):
            if word == "--host":
                yield following
            elif word.startswith("--host="):
                yield word.removeprefix("--host=")


def _place(name: str) -> str:
    """The host of a login, without brackets and port.

    >>> [_place(each) for each in ("me@gpu07:22", "[fe80::1%eth0]:22", "fe80::1", "ssh://gpu07:22")]
    ['gpu07', 'fe80::1%eth0', 'fe80::1', 'gpu07']
    """
    place = name.rpartition("@")[2].rpartition("://")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place if place.count(":") > 1 else place.partition(":")[0]


def _forms(name: str) -> Iterator[str]:
    """All that a host is called by: as typed, as its place, by its first label, and in names of files."""
    place = _place(name)
    yield from (name, name.rpartition("@")[2], place, host_in_name(name))
    yield place.partition("%")[0]
    if not _is_address(place) and not (label := place.partition(".")[0]).isdecimal():
        yield label
    yield from (each.lower() for each in (place, place.partition(".")[0]) if not each.isdecimal())


def _domain(place: str) -> str:
    """What stands behind the first label of a host's name, where that means a network; else ''."""
    domain = place.partition(".")[2].lower()
    return domain if not _is_address(place) and ("." in domain or domain in _INSIDE) else ""


def _neighbours(domains: Iterable[str], texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Other hosts of the same domains that are written somewhere."""
    ends = [re.escape(each) for each in domains if each]
    if not ends:
        return []
    pattern = re.compile(rf"(?<![\w.-])[\w-]+(?:\.[\w-]+)*?\.(?:{'|'.join(ends)})(?![\w-])", re.IGNORECASE)
    found = dict.fromkeys(each.lower() for text in texts for each in pattern.findall(text))
    return [each for each in found if each not in set(known)]


def _is_address(text: str) -> bool:
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _told_apart(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by their first letters and digits, in small letters: a fleet has thousands, and a text few of them."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        if first := _RUN.search(name):
            found.setdefault(first[0].lower(), []).append(name[first.start() :])
    return found


def _is_at(name: str, text: str, start: int) -> bool:
    """Whether a name stands there as a whole word; hosts that hold a digit or a dot are the same in capitals."""
    end = start + len(name)
    there = text[start:end]
    is_same = there == name or (there.lower() == name and _ANY_CASE.search(name) is not None)
    return is_same and not text[end : end + 1].isalnum()


def _home_of_someone(text: str) -> str:
    return _HOME.sub(lambda found: found[0] if found["user"] in _NOBODY else f"{found['before']}{SOMEONE}", text)


def _no_login(found: re.Match[str]) -> str:
    user = found["user"] if found["user"] in _NOBODY else SOMEONE
    return f"{user}@{_no_place(found)}"


def _no_place(found: re.Match[str]) -> str:
    """The host of a login or a URL, where everybody knows it or it has its new name already."""
    host = found["host"]
    return host if host in _PUBLIC or re.fullmatch(r"(?:host|domain)-\d+", host) else SOMEWHERE


def _no_address(found: re.Match[str]) -> str:
    """An address is one if it is whole: versions and times look like it."""
    rest = found.string[found.end() : found.end() + 2]
    shown = found["address"].rstrip(".:")
    is_cut = re.match(r"[\w-]|\.\w", rest) is not None
    return found[0] if is_cut or not _tells(shown) else found[0].replace(shown, "address")


def _tells(address: str) -> bool:
    """Whether this is the address of a machine, and not of any machine."""
    try:
        known = ip_address(address)
    except ValueError:
        return False
    return not (known.is_loopback or known.is_unspecified) and any(map(str.isdigit, address))

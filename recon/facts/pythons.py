"""The Python environments of a machine, found without starting any Python.

The command lists folders and a few keys of `pyvenv.cfg`; the parser puts together what belongs together: which
folders one interpreter imports from, in the order of its `sys.path`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from recon.facts.fact import BOUNDED, PLAIN, Fact, FactUnreadable, quote
from recon.facts.texts import cleaned, is_plain
from recon.ports import Reply
from recon.records.host import PythonEnv
from recon.records.unknown import Unknown

WALK_S = 10
"""How long one walk may take; what it had not reached by then is an Unknown."""


def counted(environments: Sequence[PythonEnv]) -> str:
    """How many there are, as people say it.

    >>> counted(())
    '0 Python environments'
    """
    number = len(environments)
    return f"{number} Python environment{'s' * (number != 1)}"


COMMAND = r"""
T=$(printf '\t'); N='
'
odd() { case $1 in *"$T"*|*"$N"*) printf 'odd\n';; *) return 1;; esac; }
real() { ( cd -P -- "$1" 2>/dev/null && pwd -P ); }
cfg() {
  plain "$1/pyvenv.cfg" "$(real "$1")" || return 0
  head -c 8192 "$1/pyvenv.cfg" | tr '\t\r' '  ' | awk '
    { key = $0; sub(/ *=.*/, "", key); sub(/^ */, "", key); value = $0; sub(/^[^=]*= */, "", value) }
    key ~ /^(home|uv|include-system-site-packages)$/ { print "cfg\t" key "\t" value }'
}
prefix() {
  [ -d "$2" ] || return 0
  odd "$2" && return 0
  printf 'prefix\t%s\t%s\t%s\n' "$1" "$2" "$(real "$2")"
  cfg "$2"
  [ -d "$2/conda-meta" ] && printf 'conda\n'
  for exe in "$2"/bin/python[23].*; do
    [ -x "$exe" ] && [ ! -d "$exe" ] && printf 'exe\t%s\n' "${exe##*/}"
  done
  for dir in "$2"/lib/python*/site-packages "$2"/lib/python*/dist-packages \
             "$2"/lib64/python*/site-packages; do
    [ -d "$dir" ] && ! odd "$dir" && printf 'site\t%s\t%s\n' "$dir" "$(real "$dir")"
  done
}
walk() {
  depth=$1; shift
  { said=$(bounded @WALK_S@ find -H "$@" -xdev -maxdepth "$depth" \
    \( -name site-packages -o -name dist-packages -o -name node_modules -o -name .git -o -name __pycache__ \
       -o -name .cache -o -name proc -o -name sys \) -prune \
    -o \( -name pyvenv.cfg -o -name conda-meta \) -print 2>&1 >&3 3>&-); status=$?; } 3>&1
  [ "$status" -lt 124 ] || printf 'late\t%s\n' "$*"
  printf '%s\n' "$said" | sed -n "s/^find: '\{0,1\}\(\/.*[^']\)'\{0,1\}: Permission denied\$/\1/p" |
    while IFS= read -r at; do
      odd "$at" || printf 'closed\t%s\t%s\n' "$(ls -ld -- "$at" 2>/dev/null | awk 'NR == 1 { print $3 }')" "$at"
    done
}
walked() {
  walk "$@" | while IFS= read -r line; do
    case $line in
      late"$T"*|closed"$T"*|odd) printf '%s\n' "$line";;
      /*/pyvenv.cfg) prefix venv "${line%/pyvenv.cfg}";;
      /*/conda-meta) prefix conda "${line%/conda-meta}";;
    esac
  done
}
unset CDPATH
LC_ALL=C; export LC_ALL  # in other languages, other words for a closed folder
home=${HOME:-/root}; cache=${XDG_CACHE_HOME:-$home/.cache}; share=${XDG_DATA_HOME:-$home/.local/share}
uvcache=${UV_CACHE_DIR:-$cache/uv}
printf 'home\t%s\n' "${PYTHONUSERBASE:-$home/.local}"
for p in "${VIRTUAL_ENV:-}" "${CONDA_PREFIX:-}" @HINTS@; do [ -n "$p" ] && prefix given "$p"; done
for p in @HINTS@; do [ -d "$p" ] || printf 'none\t%s\n' "$p"; done
for p in /usr /usr/local /opt/homebrew /Library/Frameworks/Python.framework/Versions/*; do prefix system "$p"; done
for p in "${PYTHONUSERBASE:-$home/.local}" /root/.local /home/*/.local; do
  [ -d "$p/lib" ] && prefix user "$p"
done
for p in "${UV_TOOL_DIR:-$share/uv/tools}"/*/ "${UV_PYTHON_INSTALL_DIR:-$share/uv/python}"/*/ \
         "$uvcache"/environments-v*/*/ "$uvcache"/archive-v*/*/; do
  p=${p%/}
  case $p in *archive-v*) [ -f "$p/pyvenv.cfg" ] || continue;; esac
  prefix uv "$p"
done
for p in "${PYENV_ROOT:-$home/.pyenv}"/versions/*/ /opt/pyenv/versions/*/; do prefix pyenv "${p%/}"; done
for f in "$home/.conda/environments.txt" /root/.conda/environments.txt; do
  [ -f "$f" ] && [ -r "$f" ] || continue
  head -n 500 "$f" | while IFS= read -r p; do case $p in /*) prefix conda "$p";; esac; done
done
for f in /*/pyvenv.cfg /*/*/pyvenv.cfg "$cache"/pypoetry/virtualenvs/*/pyvenv.cfg "$share"/virtualenvs/*/pyvenv.cfg \
         "$share"/hatch/env/virtual/*/*/*/pyvenv.cfg "$share"/pipx/venvs/*/pyvenv.cfg; do
  [ -f "$f" ] && prefix venv "${f%/pyvenv.cfg}"
done
walked 4 "$(pwd -P)"
[ -d "$home" ] && [ "$home" != "$(pwd -P)" ] && walked 5 "$home"
for p in /root /home /opt /srv /data /raid /workspace /sgl-workspace /vllm-workspace; do
  [ -d "$p" ] && [ "$p" != "$home" ] && walked 4 "$p"
done
:
"""

VERSION = re.compile(r"python(\d{1,4}\.\d{1,4})")
_MOST_NAMED = 20
"""Closed folders that a note names; of more, the number."""


@dataclass(frozen=True, slots=True)
class Pythons:
    """The Python environments of a machine."""

    environments: tuple[PythonEnv, ...]
    """`site_packages` stand in the order of `sys.path`, the folders of the user and of the base included."""
    unknowns: tuple[Unknown, ...]
    closed: tuple[tuple[str, str], ...] = ()
    """Folders that the search could not enter, each with its owner, '' where that is not known."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user may want to know: where environments may lie that were not seen, and who could see them."""
        if not self.closed:
            return ()
        named = ", ".join(path + f" (of {owner})" * bool(owner) for path, owner in self.closed[:_MOST_NAMED])
        more = f" and {len(self.closed) - _MOST_NAMED} more" if len(self.closed) > _MOST_NAMED else ""
        return (f"not searched for environments: {named}{more}: permission denied; the owner or root could read there",)


@dataclass(slots=True)
class _Prefix:
    """What the command told of one prefix."""

    kind: str
    path: str
    real: str
    cfg: dict[str, str] = field(default_factory=dict)
    versions: set[str] = field(default_factory=set)
    """Of the interpreters in its `bin`."""
    sites: dict[str, str] = field(default_factory=dict)
    """Folder to real folder."""

    def sites_of(self, version: str) -> list[str]:
        """Its folders for one Python version, each once though it be reached through a link."""
        seen: dict[str, str] = {}
        for site, real in self.sites.items():
            if _version_in(site) in (version, ""):
                seen.setdefault(real, site)
        return list(seen.values())


def pythons(prefixes: Sequence[str] = ()) -> Fact[Pythons]:
    """The fact, with prefixes that the caller knows of, e.g. `sys.prefix`."""
    hints = " ".join(quote(prefix) for prefix in prefixes)
    command = COMMAND.replace("@WALK_S@", str(WALK_S)).replace("@HINTS@", hints)
    return Fact(name="pythons", command=BOUNDED + PLAIN + command, parse=parse)


def parse(reply: Reply) -> Pythons:
    """Put the listed folders together into environments.

    Raises:
        FactUnreadable: the command broke off, or said something else.
    """
    told = [line.split("\t") for line in reply.stdout.split("\n") if line]
    if reply.status or not told:
        raise FactUnreadable(f"the search for Python environments ended with status {reply.status}")
    prefixes = _prefixes(told)
    base = next((fields[1] for fields in told if fields[0] == "home" and len(fields) == 2), "")
    environments = tuple(_environments(prefixes, base))
    closed = {fields[2]: fields[1] for fields in told if fields[0] == "closed" and not _is_odd(fields)}
    return Pythons(environments, tuple(_unknowns(told)), tuple(closed.items()))


def _prefixes(told: list[list[str]]) -> list[_Prefix]:
    """Each real prefix once, under the name that came first.

    Raises:
        FactUnreadable: a line is none of ours.
    """
    by_real: dict[str, _Prefix] = {}
    current = _Prefix("", "", "")
    for fields in told:
        match fields:
            case ["prefix", *_] if _is_odd(fields):
                current = _Prefix("", "", "")
            case ["site", *_] if _is_odd(fields):
                pass
            case ["prefix", kind, path, real]:
                current = by_real.setdefault(real or path, _Prefix(kind, path, real or path))
                current.kind = kind if current.kind == "given" else current.kind
            case ["conda"]:
                current.kind = "conda"
            case ["cfg", key, value]:
                current.cfg.setdefault(key, value.strip())
            case ["exe", name] if found := VERSION.fullmatch(name):
                current.versions.add(found[1])
            case ["site", path, real]:
                current.sites.setdefault(path, real or path)
            case ["exe" | "home" | "late" | "none" | "odd", *_] | ["closed", _, _]:
                pass
            case _:
                raise FactUnreadable(f"the search for Python environments answered: {' '.join(fields)[:80]}")
    return list(by_real.values())


def _environments(prefixes: list[_Prefix], user_base: str) -> Iterator[PythonEnv]:
    """Environments in the order found; one a Python version where several live under one prefix."""
    users = {found.path: found for found in prefixes if found.kind == "user"}
    own = users.get(user_base)
    system = {found.path: found for found in prefixes if found.kind == "system"}
    by_real = {found.real: found for found in prefixes}
    for found in prefixes:
        for version in _versions(found, system):
            sites = _sites_of(found, version, system)
            if not sites:
                continue
            kind = _kind(found)
            isolated = kind == "user" or bool(found.cfg and not _sees_system(found))
            if own is not None and not isolated:
                theirs = own.sites_of(version) if version else []
                # A virtual environment comes before the user's folder, every other interpreter after it.
                sites = [*sites, *theirs] if found.cfg else [*theirs, *sites]
            if _sees_system(found) and (home := found.cfg.get("home", "")).endswith("/bin"):
                below = by_real.get(home.removesuffix("/bin")) or system.get(home.removesuffix("/bin"))
                sites += _sites_of(below, version, system) if below else []
            yield PythonEnv(found.path, kind, version, tuple(dict.fromkeys(sites)))


def _kind(found: _Prefix) -> str:
    """The word of PythonEnv for a prefix."""
    if found.cfg:
        return "uv" if "uv" in found.cfg or found.kind == "uv" else "venv"
    return {"given": "system", "pyenv": "system", "venv": "venv"}.get(found.kind, found.kind)


def _sees_system(found: _Prefix) -> bool:
    return found.cfg.get("include-system-site-packages", "").lower() == "true"


def _versions(found: _Prefix, system: dict[str, _Prefix]) -> list[str]:
    """The Python versions that import from a prefix, oldest first; an empty one if nothing tells."""
    versions = {version for site in found.sites if (version := _version_in(site))}
    if found.path == "/usr" and (local := system.get("/usr/local")):
        versions |= found.versions & {_version_in(site) for site in local.sites}
    if not versions:
        versions = found.versions
    return sorted(versions, key=_order) or [""]


def _sites_of(found: _Prefix, version: str, system: dict[str, _Prefix]) -> list[str]:
    """The folders of one version; what distributions keep in /usr/local for the Python of /usr comes first."""
    sites = found.sites_of(version)
    usr, local = system.get("/usr"), system.get("/usr/local")
    if usr is None or local is None or found not in (usr, local):
        return sites
    lent = [site for site in local.sites_of(version) if site.endswith("/dist-packages")]
    if version not in local.versions and version in usr.versions:
        lent = local.sites_of(version)
    if found is usr:
        return [*lent, *sites]
    return [site for site in sites if site not in lent]


def _version_in(site: str) -> str:
    """`3.12` of `/usr/lib/python3.12/site-packages`; '' where the folder serves every version."""
    found = VERSION.match(site.rpartition("/")[0].rpartition("/")[2])
    return found[1] if found else ""


def _is_odd(fields: list[str]) -> bool:
    return not all(map(is_plain, fields))


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _unknowns(told: list[list[str]]) -> Iterator[Unknown]:
    """What the walk did not see."""
    groups: dict[str, list[str]] = defaultdict(list)
    for fields in told:
        if fields[0] == "late" and len(fields) == 2:
            groups[f"the walk was ended after {WALK_S} s"].append(fields[1])
        elif fields[0] == "odd" or _is_odd(fields):
            groups["a name with control characters or bytes that are no UTF-8 is not followed"].append("somewhere")
    groups["it was named, and is no folder, or lies in one that is closed"] += dict.fromkeys(
        fields[1] for fields in told if fields[0] == "none" and len(fields) == 2
    )
    for why, places in groups.items():
        if places:
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            yield Unknown("python environments", f"{cleaned(places[0])}{more}", why)

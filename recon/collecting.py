"""For hosts that nobody may log in to: a script that a person runs there, and the bundle that it writes read here.

The script asks the same facts as a scan over SSH and sends the same pieces; since nobody answers it, it takes along
every package folder that Python could come to.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from recon import __version__
from recon.errors import NoEngine, Unreadable
from recon.facts.fact import Fact, FactUnreadable, T, quote
from recon.facts.gather import read
from recon.facts.gpus import GPUS
from recon.facts.installs import installs
from recon.facts.machine import MACHINE
from recon.facts.names import PACKAGES
from recon.facts.pythons import counted, pythons
from recon.facts.sites import packages, sites
from recon.ports import Coming, Progress, Reply
from recon.records.host import Host
from recon.records.install import Edits, Found
from recon.records.source import Snapshot
from recon.records.unknown import Unknown
from recon.sources.bundle import Bundle, open_bundle
from recon.sources.capture import capture
from recon.sources.edits import compare_with_record
from recon.sources.host_scripts import by_hand_script
from recon.sources.store import BlobStore

_OTHERWISE = "`sh collect.sh ENVIRONMENT > bundle` looks at an environment that would not be found."
_USAGE = """\
Collects what recon needs to judge the engines of this machine, and writes it to standard output as one stream.

    sh collect.sh > bundle                  the engines of all Python environments that are found
    sh collect.sh ENVIRONMENT > bundle      the same, with the environment in that folder looked at first
    sh collect.sh --plan                    this text

It reads: names, sizes and times of the files of engines (vllm, sglang and their kernel packages); their Python, CUDA
and C++ sources; of their compiled libraries the symbol tables and read-only text; the metadata of their installation;
what nvidia-smi says of the GPUs; the names of the system and of this host.
It runs sh, find, tar, dd, od, sed, awk, head, gzip and nvidia-smi. It starts no Python, imports nothing, writes no file
and reaches no network. Credentials in addresses of the metadata are left out. Sources go along as they are: read the
bundle as you would read them. What this user may not read is left out; recon names it.

    recon scan --bundle bundle              reads it, on any machine"""

_WORDS = r"""
case ${1:-} in --plan|--help|-h) [ "$#" -ne 1 ] || { printf '%s\n' "$usage"; exit 0; };; esac
wrong=
if [ "$#" -gt 1 ]; then wrong="one environment at most, not $# words"
elif [ "$#" -eq 1 ]; then
  case $1 in
    -*) wrong="no option is called $1";;
    *) [ -d "$1" ] || wrong="there is no folder '$1'";;
  esac
fi
[ -z "$wrong" ] || { printf 'collect.sh: %s; sh collect.sh --plan says how it is run\n' "$wrong" >&2; exit 2; }
[ ! -t 1 ] || { printf '%s\n' "$usage" >&2; exit 2; }
"""

_MAIN = r"""
fact() {
  told=$( ( eval "$2" ) </dev/null 2>/dev/null ); status=$?
  printf '\n%s fact%s%s%s%s\n%s\n' "$nonce" "$T" "$1" "$T" "$status" "$told"
}
rows() { printf '%s\n' "$2" | sed -n "s/^$1$T//p"; }
linked() {
  rows line "$listed" | tr "'\"" '\n\n' | sed -n '\#^/.#p' | sort -u | head -n 5000 |
    while IFS= read -r at; do printf '%s\n' "$at" "${at%/*}" "${at%/*/*}"; done
  rows url "$listed" | sed -n 's#.*"url" *: *"file://\([^"]*\)".*#\1#p' |
    while IFS= read -r at; do printf '%s\n' "$at" "$at/python" "$at/src"; done
  rows pythonpath "$listed" | tr ':' '\n'
  skip=
  printf '%s\n' "$listed" | while IFS= read -r row; do
    case $row in
      site"$T"*) here=${row#*"$T"}; here=${here%%"$T"*};;
      link"$T"*.py) skip=yes;;
      link"$T"*) skip=;;
      line"$T"|line"$T"/*|line"$T"'#'*|line"$T"import*) ;;
      line"$T"*) [ -n "$skip" ] || printf '%s\n' "$here/${row#*"$T"}";;
    esac
  done
}
beside() {
  printf '%s\n' "$listed" | while IFS= read -r row; do
    case $row in
      dist"$T"*) dist=${row#*"$T"};;
      top"$T"*) printf '%s\n' "${dist%/*}/${row#*"$T"}";;
    esac
  done
}
collect() {
  printf 'recon bundle 1 %s\n' "$nonce"
  fact machine "$ask_machine"
  fact gpus "$ask_gpus"
  fact pythons "$ask_pythons"
  folders=$(rows site "$told" | cut -f 1 | sort -u)
  fact sites "$ask_sites
    printf '%s\\n' \"\$folders\" | while IFS= read -r folder; do [ -z \"\$folder\" ] || site \"\$folder\"; done; :"
  listed=$told
  bases=$(linked | sort -u | while IFS= read -r at; do (unset CDPATH; cd -- "$at" 2>/dev/null && pwd); done | sort -u)
  fact packages "$ask_packages
    printf '%s\\n' \"\$bases\" | while IFS= read -r base; do
      [ -z \"\$base\" ] || for name in @PACKAGES@; do package \"\$base/\$name\"; done
    done; :"
  { rows package "$listed"; rows package "$told"; beside; } | cut -f 1 | sort -u |
    while IFS= read -r path; do [ ! -d "$path" ] || tree_of "$path" </dev/null; done
  rows dist "$listed" | while IFS= read -r path; do record_of "$path" </dev/null; done
  printf '\n%s end\n' "$nonce"
}
if [ -n "${1:-}" ]; then VIRTUAL_ENV=$(unset CDPATH; cd -- "$1" && pwd) || exit 2; export VIRTUAL_ENV; fi
if gzip -1 -c </dev/null >/dev/null 2>&1; then collect | gzip -1 -c; else collect; fi
"""


def collect_script() -> str:
    """The script, whole: plain sh that a person can read before running it. Each one has a word of its own."""
    asks = {
        "machine": MACHINE.command,
        "gpus": GPUS.command,
        "pythons": pythons(()).command,
        "sites": sites(()).command,
        "packages": packages(()).command,
    }
    return "\n".join(
        (
            "#!/bin/sh",
            f"# Written by recon {__version__}. `sh collect.sh --plan` says what it does.",
            f"usage={quote(_USAGE)}",
            _WORDS,
            f"nonce={secrets.token_hex(16)}",
            "T=$(printf '\\t')",
            by_hand_script(),
            *(f"ask_{name}={quote(command)}" for name, command in asks.items()),
            _MAIN.replace("@PACKAGES@", " ".join(PACKAGES)),
        )
    )


@dataclass(frozen=True, slots=True)
class Collected:
    """One install of a bundle, ready to be indexed."""

    found: Found
    host: Host
    snapshot: Snapshot
    edits: Edits


def read_bundle(
    path: Path, store: BlobStore, progress: Progress, *, compiled: bool = True
) -> Iterator[Collected | Coming | Unknown]:
    """The installs of a bundle as a scan of its host would find them, and what could not be learned of them.

    Raises:
        NotFound: there is no such file.
        NoEngine: no engine is installed where it was made.
        Unreadable: it is no bundle, it was cut off, or it holds what no honest one does.
    """
    bundle = open_bundle(path)
    unknowns: list[Unknown] = []
    host = _host(bundle, unknowns)
    listed = _told(bundle, sites(()), unknowns)
    elsewhere = _told(bundle, packages(()), unknowns) or ()
    found, more = installs(host.environments, listed, elsewhere) if listed is not None else ((), ())
    yield from (*unknowns, *more)
    if not found:
        raise NoEngine(
            f"no engine is installed in the {counted(host.environments)} of {host.name}",
            " ".join((_OTHERWISE, *(f"{note[:1].upper()}{note[1:]}." for note in host.notes))),
        )
    yield Coming(len(found))
    for each in found:
        try:
            tree = bundle.tree(each, store, progress)
        except Unreadable as error:
            yield Unknown(error.kind, each.root, error.sentence)
            continue
        snapshot = capture(tree, store, progress, compiled=compiled, known=tree.known)
        yield Collected(each, host, snapshot, compare_with_record(each, tree, snapshot=snapshot, store=store))


def _host(bundle: Bundle, unknowns: list[Unknown]) -> Host:
    machine = _told(bundle, MACHINE, unknowns)
    environments = _told(bundle, pythons(()), unknowns)
    gpus = _told(bundle, GPUS, []) or ()
    host = Host("bundle", "bundle", "", gpus, ())
    if machine is not None:
        host = Host(machine.machine_id or machine.hostname, machine.hostname, machine.platform, gpus, ())
    if environments is None:
        return host
    unknowns += environments.unknowns
    return replace(host, environments=environments.environments, notes=environments.notes)


def _told(bundle: Bundle, fact: Fact[T], unknowns: list[Unknown]) -> T | None:
    """What a bundle says of a fact."""
    try:
        return read(fact, bundle.facts.get(fact.name, Reply("", "", 1)))
    except FactUnreadable as error:
        unknowns.append(Unknown(fact.name, "bundle", error.message))
        return None

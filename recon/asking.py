"""Everything that a host may be asked to run: a finite list, which can be read before any of it is run.

A script that depends on answers is shown with a word between `@` where they go in; nonces are shown as `@NONCE@`.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recon.facts.fact import Fact
from recon.facts.gather import script_of
from recon.facts.gpus import GPUS
from recon.facts.load import LOAD
from recon.facts.machine import MACHINE
from recon.facts.pythons import pythons
from recon.facts.sites import packages, sites
from recon.hosts.exec_script import COMMAND, wrapped
from recon.hosts.limits import PHASE_S, PRELUDE
from recon.sources.host_scripts import Place, extents_script, files_script, listing_script, ranges_script

NONCE = "@NONCE@"
NOTE = (
    "Words between @ are put in when the answers to earlier scripts are known: folders and files of engines."
    " @NONCE@ is random, so that replies are told from what a login shell prints."
    " Numbers of seconds and bytes follow what is left of the time and what is asked for."
)


@dataclass(frozen=True, slots=True)
class Step:
    """One script."""

    what: str
    script: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that one host is asked."""

    digest: str
    """blake2b-128 over all of the following: equal plans ask alike."""
    line: str
    """The one command line."""
    wrapper: str
    """What goes to its standard input, with `@SCRIPT@` where a script stands."""
    prelude: str
    """What every script begins with."""
    note: str
    steps: tuple[Step, ...]


def plan(*, load: bool = False, environments: Sequence[str] = ()) -> Plan:
    """What a scan asks of each host.

    Args:
        load: Whether busy hosts are left alone, for which they are asked how busy they are.
        environments: Prefixes that are looked at first.
    """
    steps = tuple(_steps(load=load, environments=environments))
    wrapper = wrapped("@SCRIPT@", NONCE, PHASE_S).decode()
    total = hashlib.blake2b(digest_size=16)
    for text in (COMMAND, wrapper, PRELUDE, *(step.script for step in steps)):
        total.update(text.encode() + b"\0")
    return Plan(total.hexdigest(), COMMAND, wrapper, PRELUDE, NOTE, steps)


def _steps(*, load: bool, environments: Sequence[str]) -> Iterator[Step]:
    if load:
        yield _facts("how busy the host is", LOAD)
    yield _facts("what the machine is, and where its Python environments lie", MACHINE, pythons(environments))
    yield _facts("its GPUs", GPUS)
    yield _facts("what the site folders hold", sites(("@SITE_FOLDER@",)))
    yield _facts("where links of those folders lead", packages(("@PACKAGE_FOLDER@",)))
    place = Place("@ROOT@", ("@PACKAGE@",), "@RECORD@", "@KNOWN_DIGEST@")
    yield Step("the files of the engines, or that they are as they were", listing_script([place], NONCE))
    for tar, how in ((True, "as one stream"), (False, "one after the other, where the first is not possible")):
        script = files_script("@ROOT@", ["@FILE@"], NONCE, limit=0, tar=tar)
        yield Step(f"sources that are not kept here yet, {how}", script)
    yield Step("the names in compiled libraries", extents_script("@ROOT@", ["@LIBRARY@"], NONCE))
    yield Step("pieces of a library that lie elsewhere", ranges_script("@ROOT@", "@LIBRARY@", [(0, 0)], NONCE))


def _facts(what: str, *facts: Fact[object]) -> Step:
    return Step(what, script_of(facts, NONCE))

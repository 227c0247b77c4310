"""What `recon doctor` looks at: the way to a host, and what a machine has for scans and probes."""

import shlex
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from recon.errors import ReconError
from recon.facts.gather import ask, gather
from recon.facts.gpus import GPUS
from recon.facts.machine import MACHINE
from recon.facts.pythons import pythons
from recon.facts.toolchain import LOOKING_NEEDS, READING_NEEDS, TOOLCHAIN, KernelEnv, Toolchain, kernel_envs
from recon.hosts.agent import Held, SocketAgent
from recon.hosts.certificate import plain_type
from recon.hosts.effective import Effective, configuration
from recon.hosts.identities import agent_of, offers
from recon.hosts.local import LocalShell
from recon.hosts.patterns import lookup_name
from recon.hosts.trust import AUTHORITY, REVOKED, KnownHosts, Line
from recon.hosts.wire import fingerprint, type_of
from recon.ports import Shell
from recon.probes.needs import objections
from recon.records.host import Gpu
from recon.report.numbers import size

if TYPE_CHECKING:
    from recon.records.unknown import Unknown

Standing = Literal["ok", "warn", "missing"]
OK: Final = "ok"
WARN: Final = "warn"
MISSING: Final = "missing"

_ONE_LINE = 200
_GO_WITHOUT = (
    (("tar",), "Sources then come one file at a time."),
    (("gzip",), "What is sent is then not packed."),
    (("timeout", "setsid", "nice", "ionice"), "Scans are then less gentle, or end late where a disk hangs."),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    where: str
    """`here`, or the host as the user calls it."""
    what: str
    standing: Standing
    detail: str
    hint: str = ""


def ssh_here(environment_agent: Path | None, config: Path | None = None, home: str = "") -> Iterator[Check]:
    """The ssh program, its configuration, the library, and the agent of this session.

    Args:
        environment_agent: What SSH_AUTH_SOCK says.
        config: The configuration that was named, if one was.
        home: What HOME says.
    """
    yield _ssh_program()
    yield from _configuration(config, home)
    yield _library()
    yield from _agent(SocketAgent(environment_agent) if environment_agent else None)


def way_to(name: str, hops: Iterable[Effective]) -> Iterator[Check]:
    """What the configuration makes of a host: where it leads, keys to offer, and whether the host is known."""
    for hop in hops:
        where = name if hop.target.typed == name else hop.target.typed
        through = ", ".join(each.typed for each in hop.proxy_jump) or hop.proxy_command
        way = f"{hop.user}@{hop.hostname} port {hop.port}" + f", through {through}" * bool(through)
        yield Check(where, "address", OK, way)
        for reason in hop.beyond_paramiko:
            yield Check(where, "transport", WARN, reason, "The system's ssh will carry it.")
        for note in hop.notes:
            yield Check(where, "configuration", WARN, note)
        yield from _identities(where, hop)
        yield from _known(where, hop)


def machine(shell: Shell, where: str, *, afar: bool = True) -> Iterator[Check]:
    """What a machine has: programs for scans; and GPUs, Python environments and a compiler for probes.

    Missing is what a scan needs. What only probes need is a warning where it is not there.

    Args:
        shell: The machine.
        where: What checks call it.
        afar: Whether its files are read through the shell, as those of hosts are.

    Raises:
        ReconError: the machine does not answer: no sh starts, or not in time.
    """
    values, unknowns = ask(shell, [MACHINE, TOOLCHAIN, pythons()])
    about = values.of(MACHINE)
    if about:
        yield Check(where, "machine", OK, f"{about.hostname}: {about.platform}")
    driven, sick = gather(shell, [GPUS])  # apart: a driver that hangs takes no other fact with it
    unknowns = (*unknowns, *sick)
    gpus = driven.of(GPUS)
    if gpus is not None:
        yield from _gpus(where, gpus)
    tools = values.of(TOOLCHAIN)
    if tools is not None:
        yield _compiler(where, tools)
        lacks = tuple(_lacks(where, tools, afar=afar))
        yield from lacks or (Check(where, "programs", OK, "all that scans use"),)
    found = values.of(pythons())
    if found is not None:
        fact = kernel_envs(found.environments)
        torches, more = gather(shell, [fact])
        unknowns = (*unknowns, *more)
        listed = torches.of(fact)
        if listed is not None:
            archs = tuple(sorted({10 * gpu.capability[0] + gpu.capability[1] for gpu in gpus or ()}))
            yield from _environments(where, listed, len(found.environments), archs)
    for each in unknowns:
        yield _unlearned(where, each)


def _ssh_program() -> Check:
    path = shutil.which("ssh")
    if path is None:
        return Check(
            "here", "ssh", WARN, "there is no ssh program", "Without OpenSSH's client ~/.ssh/config is not read."
        )
    try:
        reply = LocalShell("ssh", (path, "-V")).run("", timeout_s=5)
    except ReconError as error:
        return Check("here", "ssh", WARN, error.message, error.hint)
    said = (reply.stderr + reply.stdout).strip().splitlines()
    return Check("here", "ssh", OK, f"{path}: {said[0] if said else 'no version'}"[:_ONE_LINE])


def _configuration(named: Path | None, home: str) -> Iterator[Check]:
    """The file that ssh reads; and that HOME, in which people look for it, is another folder."""
    file = configuration(named)
    standing: Standing = OK
    try:
        with file.open("rb"):
            state = "read"
    except FileNotFoundError:
        state = "absent"
    except OSError as error:
        standing, state = WARN, f"not read: {error.strerror or error}"
    yield Check("here", "config", standing, f"{file} ({state})")
    account = configuration(None).parent.parent
    if named is None and home and Path(home).resolve() != account.resolve():
        detail = f"HOME is {home}, and ssh reads what lies in the home of the account: {account}"
        yield Check(
            "here", "config", WARN, detail, f"Name another one: --ssh-config {shlex.quote(f'{home}/.ssh/config')}"
        )


def _library() -> Check:
    try:
        return Check("here", "paramiko", OK, version("paramiko"))
    except PackageNotFoundError:
        return Check("here", "paramiko", MISSING, "it is not installed", "Install recon anew: it needs it.")


def _agent(agent: SocketAgent | None) -> Iterator[Check]:
    if agent is None:
        yield Check("here", "agent", WARN, "no agent in SSH_AUTH_SOCK", "Encrypted keys are then asked for: ssh-agent.")
        return
    try:
        held = agent.held()
    except ReconError as error:
        yield Check("here", "agent", WARN, error.message, error.hint)
        return
    keys = "1 key" if len(held) == 1 else f"{len(held)} keys"
    yield Check("here", "agent", OK if held else WARN, f"{agent.path}: {keys}", "" if held else "Add one: ssh-add.")
    for each in held:
        yield Check("here", "agent's key", *_judged(each))


def _judged(held: Held) -> tuple[Standing, str, str]:
    kind = type_of(held.blob)
    detail = f"{kind or 'a key of no type'} {fingerprint(held.blob)} {held.comment}".strip()
    if plain_type(kind).startswith("sk-"):
        return WARN, detail, "A key in hardware: only the system's ssh can use it."
    return OK, detail, ""


def _identities(where: str, hop: Effective) -> Iterator[Check]:
    """Keys that would be offered, in their order; none is opened that is encrypted."""
    chosen = offers(hop, agent_of(hop), ask=lambda _: "")
    for offer in chosen.keys:
        yield Check(where, "offers", OK, str(offer))
    if not chosen.keys:
        named = ", ".join(str(path) for path in hop.identity_files) or "no identity file"
        yield Check(where, "offers", WARN, f"no key to offer: {named}", "Make one with ssh-keygen, or name one there.")
    for reason in chosen.skipped:
        yield Check(where, "not offered", WARN, reason)


def _known(where: str, hop: Effective) -> Iterator[Check]:
    files = (*hop.user_known_hosts_files, *hop.global_known_hosts_files)
    try:
        known = KnownHosts.from_files(files, hop.revoked_host_keys)
    except ReconError as error:
        yield Check(where, "known host", MISSING, error.message, error.hint)
        return
    lines = known.about(hop.known_as, hop.known_port)
    for line in lines:
        yield Check(where, "known host", WARN if line.marker == REVOKED else OK, _said(line))
    if not any(line.marker != REVOKED for line in lines):
        name = lookup_name(hop.known_as, hop.known_port)
        hint = "Connect once with ssh and compare the key, or add --accept-new to the scan."
        yield Check(where, "known host", MISSING, f"no key of {name} is known", hint)
    for each in known.unread:
        yield Check(where, "known host", WARN, f"not read: {each}")


def _said(line: Line) -> str:
    what = {AUTHORITY: "an authority for it, ", REVOKED: "revoked, "}.get(line.marker, "")
    return f"{what}{type_of(line.blob)} {fingerprint(line.blob)} ({line.place})"


def _gpus(where: str, gpus: tuple[Gpu, ...]) -> Iterator[Check]:
    if not gpus:
        yield Check(
            where,
            "GPU",
            WARN,
            "nvidia-smi is not there, or names no GPU",
            "Scans need none; recon probe-kernels does.",
        )
    for gpu in gpus:
        capability = ".".join(map(str, gpu.capability))
        memory = f", {size(gpu.memory_bytes)}" if gpu.memory_bytes else ""
        yield Check(where, "GPU", OK, f"{gpu.index}: {gpu.name}, sm {capability}{memory}, driver {gpu.driver}")


def _compiler(where: str, tools: Toolchain) -> Check:
    if tools.compiler:
        return Check(where, "C compiler", OK, tools.compiler)
    hint = "Triton compiles a launcher in C: install gcc, or name a compiler in CC. Scans need none."
    return Check(where, "C compiler", WARN, "neither gcc nor clang", hint)


def _lacks(where: str, tools: Toolchain, *, afar: bool) -> Iterator[Check]:
    """Programs for scans that are not there, or cannot do what scans ask of them."""
    needed = (*LOOKING_NEEDS, *READING_NEEDS) if afar else LOOKING_NEEDS
    lacking = [name for name in needed if name not in tools.programs]
    if lacking:
        hint = "Scans read files with them: install them there (coreutils, findutils, sed, grep, awk), or busybox."
        yield Check(where, "programs", MISSING, f"no {', '.join(lacking)}", hint)
    if not afar:
        return
    if not tools.lists:
        hint = (
            "Scans list files with one of them: GNU's findutils or coreutils, or busybox. BSD and macOS have neither."
        )
        yield Check(where, "programs", MISSING, "no find -printf and no stat -c", hint)
    if "sha256sum" not in tools.programs:
        others = "md5sum" in tools.programs
        hint = "md5sum takes its place." if others else "Each scan then lists all files, whether or not one changed."
        yield Check(where, "programs", WARN, "no sha256sum", hint)
    for names, hint in _GO_WITHOUT:
        without = [name for name in names if name not in tools.programs]
        if without:
            yield Check(where, "programs", WARN, f"no {', '.join(without)}", hint)


def _environments(where: str, listed: tuple[KernelEnv, ...], count: int, archs: tuple[int, ...]) -> Iterator[Check]:
    """Environments with torch and Triton; others are counted."""
    usable = False
    for each in listed:
        objected = objections(each.python, each.torch, each.triton, archs)
        detail = f"{each.prefix}: Python {each.python}, torch {each.torch or '-'}, triton {each.triton or '-'}"
        if objected:
            yield Check(where, "Python", WARN, detail, f"Not for probes: {'; '.join(objected)}.")
        elif not each.headers:
            yield Check(
                where, "Python", WARN, detail, f"Python.h of {each.python} is missing: Triton's launcher needs it."
            )
        else:
            yield Check(where, "Python", OK, detail)
        usable = usable or not objected
    if not usable:
        others = "1 environment" if count == 1 else f"{count} environments"
        detail = f"no torch and triton for probes in {others}"
        yield Check(where, "Python", WARN, detail, "Scans need neither; recon probe-kernels needs both.")


def _unlearned(where: str, unknown: "Unknown") -> Check:
    needed = unknown.what in {TOOLCHAIN.name, pythons().name}
    return Check(where, unknown.what, MISSING if needed else WARN, f"{unknown.where}: {unknown.why}")

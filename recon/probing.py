"""From what the user named to kernels that are checked and timed: which machine, which Python, what is known."""

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from recon.asking import NONCE, Step
from recon.errors import GpuBusy, NotFound, NoTorch, ReconError, Unreadable
from recon.facts.fact import quote
from recon.facts.gather import ask, script_of
from recon.facts.gpus import GPUS, HANGS
from recon.facts.installs import discover
from recon.facts.machine import MACHINE
from recon.facts.pythons import counted, pythons
from recon.facts.sites import sites
from recon.facts.toolchain import kernel_envs
from recon.hosts.audit import Audited, audit_for
from recon.hosts.exec_script import COMMAND, wrapped
from recon.hosts.limits import PHASE_S, PRELUDE, limited
from recon.hosts.local import LocalShell
from recon.ports import AttendingShell, Progress, Shell
from recon.probes.behaviour import behaved, behaviours_of
from recon.probes.engines import with_engines
from recon.probes.models import model_of
from recon.probes.needs import objections
from recon.probes.plan import ARCHS, LEVELS, LIBRARY_THERE, Plan, left_out, plan_compile, plan_gpu, plan_interpret
from recon.probes.run import ProbeResult, reusable, run_plan, told
from recon.probes.ship import files
from recon.probes.ship import script_of as journey_of
from recon.records.behaviour import Behaviour
from recon.records.cut import CutFunction
from recon.records.host import Gpu, Host, PythonEnv
from recon.records.measurement import Measurement
from recon.records.unknown import REST, Unknown
from recon.runs.files import listing, load
from recon.targets import NO_GPUS, THIS_MACHINE, Settings, surveyed

MOST_RUNS = 8
"""Newest probes of a machine in which is looked for what need not be measured again."""
_LOOK = """\
for each in @NAMES@; do
  found=$(command -v -- "$each") || continue
  case $found in /*) ;; */*) found=$(pwd)/$found;; esac
  [ -x "$found" ] && [ ! -d "$found" ] || continue
  printf '%s\\n' "$found"; break
done
:
"""
NAMED = (
    "--python PATH or --environment FOLDER names the Python of an environment with torch and triton;"
    " `pip install torch triton` fills one."
)


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What is to be probed, and how."""

    mode: str
    """`gpu`, `interpret` or `compile`."""
    level: str
    """`quick` or `full`."""
    gpu: str
    allow_busy: bool
    archs: tuple[int, ...]
    python: str
    environment: str = ""
    """Prefix of a Python environment, where that is named instead of a Python."""
    host: str = ""
    """As it was typed; empty for this machine."""
    model: str = ""
    """Whose shapes are taken: a preset, or a `config.json`."""
    tp: int = 1
    """GPUs that share the model."""
    max_memory_bytes: int = 0
    """0 for what the level allows."""
    fresh: bool = False
    """Measure again what an earlier run has."""
    engine_baselines: bool = False
    """Call the acceptance functions of the engines there."""
    engines: tuple[str, ...] = ()
    """Folders of the engines, as for a scan; empty for those of the machine."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What came of a request."""

    host: Host
    """With what its user should know of the run among its notes."""
    result: ProbeResult
    behaviours: tuple[Behaviour, ...] = ()


def plan_of(request: ProbeRequest) -> Plan:
    """What the payload would do.

    Raises:
        ReconError: the model cannot be found, read or divided.
    """
    model = model_of(request.model) if request.model else None
    if model:
        model.axes(request.tp)  # whether it can be divided
    if request.mode == "interpret":
        return plan_interpret()
    if request.mode == "compile":
        return plan_compile(request.archs or ARCHS)
    return plan_gpu(
        LEVELS[request.level],
        gpu=request.gpu,
        allow_busy=request.allow_busy,
        model=model,
        tp=request.tp,
        max_memory_bytes=request.max_memory_bytes,
        library=LIBRARY_THERE if request.engine_baselines else "",
    )


def probed(
    request: ProbeRequest,
    settings: Settings,
    progress: Progress,
    functions: Sequence[CutFunction] = (),
    standings: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Probed:
    """Find a Python with torch and triton on the machine, carry the plan out there, and call engines' functions.

    Args:
        request: What is asked for.
        settings: Where runs are kept, and how hosts are reached.
        progress: Told of every entry.
        functions: Acceptance functions that were cut out of the engines there.
        standings: What the scan said, by install and capability.

    Raises:
        ReconError: the machine, the Python or the GPU cannot be had, and nothing was measured.
    """
    plan = plan_of(request)
    with _shells(request, settings) as (asking, attending, host):
        if request.mode == "gpu" and not request.allow_busy and f"{NO_GPUS}{HANGS}" in host.notes:
            raise GpuBusy(
                f"{host.name}: {HANGS}", "Its driver hangs; it is not asked again. The host may need a restart."
            )
        chosen = _pythons(asking, host, request)
        known = {} if request.fresh else earlier(settings.state_dir, host)
        behaviours: tuple[Behaviour, ...] = ()
        told_of: ProbeResult | None = None
        if functions and request.mode != "compile":  # first, since what follows a rule is then timed with the rest
            told_of = behaved(
                functions,
                request.mode,
                lambda asked: run_plan(asked, attending, chosen, progress=progress),
                gpu=request.gpu,
                allow_busy=request.allow_busy,
            )
            behaviours = behaviours_of(functions, standings, request.mode, told_of.answers, told_of.failures)
            model = model_of(request.model) if request.model else None
            plan = with_engines(plan, functions, told_of.answers, LEVELS[request.level], model=model, tp=request.tp)
        if told_of is None:
            result = _worth_a_run(run_plan(plan, attending, chosen, known=known, progress=progress))
        elif told_of.stopped:
            result = told_of
        else:
            result = _behind(told_of, lambda: run_plan(plan, attending, chosen, known=known, progress=progress))
    notes = (*host.notes, *_notes(request, result))
    gpus = tuple(_numbered(gpu, host.gpus) for gpu in result.gpus) or host.gpus
    return Probed(replace(host, gpus=gpus, environments=(), notes=notes), result, behaviours)


def _numbered(gpu: Gpu, listed: Sequence[Gpu]) -> Gpu:
    """A GPU under the index that the host gives it: the payload sees one GPU alone, which is its first."""
    return next((replace(gpu, index=each.index) for each in listed if each.uuid and each.uuid == gpu.uuid), gpu)


def _worth_a_run(result: ProbeResult) -> ProbeResult:
    """The result, if a run can be made of it.

    Raises:
        Unreadable: its payload died before it had said anything of a kernel. A run of it would be the newest.
    """
    if result.complete or result.stopped or result.measurements or result.failures:
        return result
    raise Unreadable(result.unknowns[-1].why if result.unknowns else "nothing came of the payload")


def _behind(told_of: ProbeResult, measured: Callable[[], ProbeResult]) -> ProbeResult:
    """What is measured after engines' functions were called: what these did is kept, whatever happens then."""
    short = tuple(each for each in told_of.unknowns if each.what == REST)
    try:
        result = measured()
    except ReconError as error:
        unknown = Unknown(REST, error.word, error.sentence)
        return ProbeResult((), told_of.gpus, (*short, unknown), complete=False)
    return replace(
        result,
        complete=result.complete and told_of.complete,
        unknowns=(*short, *result.unknowns),
        seconds=told_of.seconds + result.seconds,
        processor_seconds=told_of.processor_seconds + result.processor_seconds,
    )


@contextmanager
def _shells(request: ProbeRequest, settings: Settings) -> Iterator[tuple[Shell, AttendingShell, Host]]:
    """What facts are asked by, what the payload runs by, and what the machine said of itself."""
    is_named = bool(request.python or request.environment)
    if not request.host:
        shell = LocalShell()
        host, _ = surveyed(shell, None if is_named else (sys.prefix,))
        yield shell, LocalShell(environment=dict(os.environ)), host  # CUDA_VISIBLE_DEVICES and its like hold
        return
    assert settings.access is not None, "a host is named, and nothing says how it is reached"
    began = time.monotonic()
    with (
        closing(audit_for(request.host, settings.state_dir)) as audit,
        settings.access.connect(request.host) as reached,
    ):
        way = {"user": reached.user, "transport": reached.transport, "line": reached.line}
        audited = Audited(reached, audit, way)
        asking = limited(audited, settings.access.budget_s, began)
        host, _ = surveyed(asking, None if is_named else (), reached.transport)
        yield asking, audited, replace(host, notes=(*reached.notes, *host.notes))


def earlier(state_dir: Path, host: Host) -> dict[str, Measurement]:
    """What earlier probes of a machine measured and need not be measured again, by key; the newest wins."""
    known: dict[str, Measurement] = {}
    runs = [saved for saved in listing(state_dir) if saved.kind == "probe"]
    looked = 0
    for saved in runs:
        if looked == MOST_RUNS:
            break
        try:
            run = load(saved.path)
        except ReconError:  # another recon's, or damaged: then it is measured
            continue
        if any(each.id == host.id for each in run.hosts):
            looked += 1
            known = reusable(run.measurements) | known
    return known


def _pythons(shell: Shell, host: Host, request: ProbeRequest) -> tuple[str, ...]:
    """Where the Python may lie that the payload runs under.

    Raises:
        NotFound: the one named is not there.
        NoTorch: none has torch and triton that it could use.
    """
    if request.python or request.environment:
        return (_named(shell, request),)
    fact = kernel_envs(host.environments)
    values, _ = ask(shell, [fact], timeout_s=PHASE_S)
    listed = values.of(fact) or ()
    archs = tuple(sorted({10 * gpu.capability[0] + gpu.capability[1] for gpu in host.gpus}))
    against = {each: objections(each.python, each.torch, each.triton, archs) for each in listed}
    usable = [each for each in listed if not against[each]]
    if not usable:
        tried = "; ".join(f"{each.prefix}: {', '.join(why)}" for each, why in against.items())
        raise NoTorch(
            f"no torch and triton in the {counted(host.environments)} of {host.name}" + f" ({tried})" * bool(tried),
            NAMED,
        )
    if len(usable) > 1:  # as a scan sees it: times are wanted of what the engine runs with
        found, _ = discover(shell, host.environments, timeout_s=PHASE_S)
        engines = {each.provenance.environment for each in found if not each.engine.is_companion}
        usable.sort(key=lambda each: each.prefix not in engines)
    return _executables(usable[0].prefix, usable[0].python)


def _found(shell: Shell, names: Sequence[str]) -> str:
    """The whole path of the first of some Pythons, or names on PATH, that is there; '' where none is."""
    path = shell.run(_LOOK.replace("@NAMES@", " ".join(map(quote, names)))).stdout.rstrip("\n")
    return path if path.startswith("/") else ""


def _named(shell: Shell, request: ProbeRequest) -> str:
    """The whole path of the Python that was named; whether it has torch it says itself.

    Raises:
        NotFound: it is not there.
    """
    names = (request.python,) if request.python else _executables(request.environment, "")[:-1]
    path = _found(shell, names)
    if path:
        return path
    if request.python:
        raise NotFound(
            f"there is no Python {request.python!r} on {shell.name}", "--python takes a path, or a name on PATH."
        )
    raise NotFound(f"there is no Python environment {request.environment} on {shell.name}", NAMED)


def _executables(prefix: str, version: str) -> tuple[str, ...]:
    names = [*([f"python{version}"] if version else []), "python3", "python"]
    return (*(f"{prefix}/bin/{name}" for name in names), names[0])  # packages of a user lie beside no Python


def _notes(request: ProbeRequest, result: ProbeResult) -> Iterator[str]:
    if result.processor_seconds:
        yield (
            f"the payload worked for {result.seconds:.0f} s there,"
            f" and took {result.processor_seconds:.0f} s of processor time"
        )
    if without := too_large(request):
        yield f"{without} cases were left out: each takes more memory than is allowed"
    if result.taken_over:
        yield (
            f"{result.taken_over} of {len(result.measurements)} measurements were taken over from an earlier run of the"
            " same payload on the same device: --fresh takes them anew"
        )
    if request.model and request.tp > 1:
        yield (
            f"shapes are those of one of {request.tp} GPUs that share {request.model};"
            " what these say to one another is not measured"
        )


def too_large(request: ProbeRequest) -> int:
    """How many cases are not in the plan of a request, for the memory that they take.

    Raises:
        ReconError: the model cannot be found, read or divided.
    """
    if request.mode != "gpu":
        return 0
    model = model_of(request.model) if request.model else None
    return left_out(LEVELS[request.level], model=model, tp=request.tp, max_memory_bytes=request.max_memory_bytes)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that would be written, in a private folder that is removed at the end."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Journey:
    """Everything that a probe would do on a machine."""

    digest: str
    """blake2b-128 over all of the following: equal journeys do alike."""
    line: str
    """The one command line of a host; empty on this machine, where sh is started."""
    wrapper: str
    """What goes around the script that ships the payload, `@SCRIPT@`."""
    prelude: str
    """What every other script begins with."""
    steps: tuple[Step, ...]
    """What is asked first, and nothing written."""
    script: str
    """Ships the payload and runs it; digests stand where files do."""
    files: tuple[PlannedFile, ...]
    sent_bytes: int
    plan: Plan
    left_out: int = 0
    """Cases that are not in the plan, for the memory that they take."""
    scans: tuple[str, ...] = ()
    """What is scanned for engines before, as it was named: folders, a host, or this machine. What is found of their
    acceptance is cut out, sent, called and timed as well."""


def journey(request: ProbeRequest) -> Journey:
    """What a probe would do, without asking anybody: what depends on answers stands between `@`.

    Raises:
        ReconError: the model cannot be found, read or divided.
    """
    plan = told(plan_of(request), {})
    sent = tuple(PlannedFile(each.name, each.size_bytes, each.sha256) for each in files(plan))
    script = journey_of(plan, (request.python or "@PYTHON@",), spelled=False)
    afar = bool(request.host)
    line, prelude = (COMMAND, PRELUDE) if afar else ("", "")
    wrapper = wrapped("@SCRIPT@", NONCE, plan.deadline_s, attended=True).decode() if afar else ""
    steps = tuple(_steps(request))
    total = hashlib.blake2b(digest_size=16)
    scans = _scans(request)
    for text in (line, prelude, wrapper, *(step.script for step in steps), script, *scans):
        total.update(text.encode() + b"\0")
    size = len(journey_of(plan, (request.python or "@PYTHON@",)).encode())
    without = too_large(request)
    return Journey(total.hexdigest(), line, wrapper, prelude, steps, script, sent, size, plan, without, scans)


def _scans(request: ProbeRequest) -> tuple[str, ...]:
    if not request.engine_baselines:
        return ()
    return request.engines or (request.host or THIS_MACHINE,)


def _steps(request: ProbeRequest) -> Iterator[Step]:
    if request.python or request.environment:
        yield Step("what the machine is", script_of((MACHINE,), NONCE))
        yield Step("its GPUs", script_of((GPUS,), NONCE))
        yield Step("where the Python is that was named", _LOOK)
    else:
        prefixes = () if request.host else (sys.prefix,)
        where = (MACHINE, pythons(prefixes))
        yield Step("what the machine is, and where its Python environments lie", script_of(where, NONCE))
        yield Step("its GPUs", script_of((GPUS,), NONCE))
        environments = (PythonEnv("@ENVIRONMENT@", "venv", "", ("@SITE_FOLDER@",)),)
        yield Step("which of them have torch and triton", script_of((kernel_envs(environments),), NONCE))
        yield Step("where several have: which holds an engine", script_of((sites(("@SITE_FOLDER@",)),), NONCE))

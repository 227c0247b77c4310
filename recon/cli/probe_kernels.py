"""`recon probe-kernels`: what does accepting a chain, and a tree, cost on this GPU?"""

import re
import socket
from typing import Annotated

import typer

from recon.cli.hosts import Transport, Ways, access_of, environments_of, refuse_empty, refuse_idle
from recon.cli.session import session_of, state_dir
from recon.errors import Exit, Interrupted, Usage


def probe_kernels(
    context: typer.Context,
    *,
    interpret: Annotated[
        bool, typer.Option("--interpret", help="Check the kernels in Triton's interpreter, on the CPU; time nothing.")
    ] = False,
    compile_only: Annotated[
        bool, typer.Option("--compile-only", help="Build the kernels and say what they need; run and time nothing.")
    ] = False,
    arch: Annotated[
        str,
        typer.Option("--arch", metavar="A,B,C", help="Targets of --compile-only, e.g. sm_90,sm_100,sm_120."),
    ] = "",
    full: Annotated[
        bool,
        typer.Option(
            "--full/--quick", help="All sizes and half of the free memory, or at most 2 GiB and about a minute."
        ),
    ] = False,
    gpu: Annotated[str, typer.Option("--gpu", metavar="N", help="Index or UUID of the GPU; else the first.")] = "",
    busy: Annotated[
        str,
        typer.Option(
            "--allow-busy",
            metavar="HOST",
            help="Measure although the GPU of this host is in use, in MPS or MIG mode, or given out by Slurm.",
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME|FILE", help="Take the shapes of a model: a preset, or a config.json."),
    ] = "",
    tp: Annotated[
        int, typer.Option("--tp", min=1, max=1024, metavar="N", help="Of one of N GPUs that share that model.")
    ] = 1,
    max_memory: Annotated[
        str,
        typer.Option("--max-memory", metavar="SIZE", help="Most memory of the GPU, e.g. 8GiB, below what is allowed."),
    ] = "",
    host: Annotated[str, typer.Option("--host", metavar="[USER@]HOST[:PORT]", help="Do it on a host, over SSH.")] = "",
    environment: Annotated[
        str,
        typer.Option(
            "--environment",
            metavar="FOLDER",
            help="The Python environment with torch and triton; else it is looked for.",
        ),
    ] = "",
    python: Annotated[
        str, typer.Option("--python", metavar="PATH", help="Likewise by its Python: a path, or a name on PATH.")
    ] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what an earlier run has of the same kernels and device.")
    ] = False,
    engine_baselines: Annotated[
        bool,
        typer.Option(
            "--engine-baselines",
            help="Also scan the engine there and call its acceptance functions on crafted chains and trees.",
        ),
    ] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine", metavar="FOLDER", help="The engine's source for --engine-baselines, as `scan --path`."
        ),
    ] = None,
    transport: Annotated[
        Transport, typer.Option("--transport", help="What carries SSH; auto takes the system's ssh where it must.")
    ] = Transport.AUTO,
    accept_new: Annotated[
        bool, typer.Option("--accept-new", help="Trust a host of which no key is known yet, and append its key.")
    ] = False,
    ssh_config: Annotated[
        str, typer.Option("--ssh-config", metavar="FILE", help="Read this configuration instead of ~/.ssh/config.")
    ] = "",
    batch: Annotated[bool, typer.Option("--batch", help="Ask nobody for a passphrase or a password; fail.")] = False,
    host_timeout: Annotated[
        float,
        typer.Option("--host-timeout", min=1.0, metavar="SECONDS", help="Longest that the host is asked beforehand."),
    ] = 300.0,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print every command, file and size of what would be done, and do nothing.")
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT=PATH",
            help="Also write a file: html, json, markdown, sarif, csv, text or tsv.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the run as JSON.")] = False,
) -> None:
    """Check kernels against their references, then time them beside the least that the hardware could take.

    A kernel that disagrees with its reference is not timed. A GPU that others use is refused. The payload lies in a
    private folder for as long as it runs, and each kernel has a process of its own. The run is saved, an interrupted
    one too, and what it has is not measured again; `recon report` joins it with the newest scan of the same machine.

    Exit codes: 0 done, 2 usage, 3 no GPU, a busy one, no torch, a host that failed, or a kernel that disagrees,
    130 interrupted and saved.
    """
    from recon import pipeline, probing
    from recon.cli.outputs import outputs_of, show_and_write, view_of
    from recon.cli.progress import progress_of
    from recon.cli.scan import exit_of, keep, keep_partial, leave, settings
    from recon.cli.stopping import stoppable
    from recon.report.view import Source
    from recon.runs.files import refuse_unwritable

    session = session_of(context)
    _refuse_contradictions(context, interpret=interpret, compile_only=compile_only, host=host)
    outputs = outputs_of(output or (), as_json=json)
    request = probing.ProbeRequest(
        mode="interpret" if interpret else "compile" if compile_only else "gpu",
        level="full" if full else "quick",
        gpu=gpu_of(gpu),
        allow_busy=may_disturb(busy, host),
        archs=archs_of(arch),
        python=python,
        environment="".join(environments_of((environment,) if environment else ())),
        host=host,
        model=model,
        tp=tp,
        max_memory_bytes=bytes_of(max_memory),
        fresh=fresh,
        engine_baselines=engine_baselines or bool(engine),
        engines=tuple(engine or ()),
    )
    ways = Ways(transport, accept_new, ssh_config, batch, host_timeout)
    access = access_of((host,) if host else (), ways)
    if plan:
        from recon.cli.journeys import shown

        session.data(shown(probing.journey(request), host, as_json=json))
        return
    refuse_unwritable(state_dir())
    try:
        with progress_of(session) as progress, stoppable(progress):  # a stop is answered there, with a last report
            run = pipeline.probe(request, settings(access=access), progress)
    except Interrupted as stopped:
        keep_partial(session, stopped)
    for note in run.hosts[0].notes if run.hosts else ():
        session.note(note)
    saved = keep(session, run)
    view = view_of(run, [Source("probe", saved.name if saved else "", run)], session.started)
    show_and_write(session, view, outputs, as_json=json)
    leave(exit_of(run) if saved else Exit.INCOMPLETE)


def archs_of(words: str) -> tuple[int, ...]:
    """Compute capabilities times ten, from `sm_90,100,12.0`.

    Raises:
        Usage: one of the words is no target, or none that is known.
    """
    from recon.probes.plan import KNOWN_ARCHS

    found = []
    for word in filter(None, (each.strip() for each in words.split(","))):
        digits = word.lower().removeprefix("sm_").replace(".", "").rstrip("a")
        if not (digits.isdecimal() and len(digits) in (2, 3)):
            raise Usage(f"{word!r} is no target", "For example: --arch sm_90,sm_100,sm_120")
        if int(digits) not in KNOWN_ARCHS:
            raise Usage(
                f"{word!r} is no target that recon knows", f"Known: {', '.join(f'sm_{a}' for a in KNOWN_ARCHS)}."
            )
        found.append(int(digits))
    if words and not found:
        raise Usage("--arch names no target", "For example: --arch sm_90,sm_100,sm_120")
    return tuple(dict.fromkeys(found))


def gpu_of(words: str) -> str:
    """The GPU that is named: an index or a UUID, one alone.

    Raises:
        Usage: that is neither.
    """
    if words and not re.fullmatch(r"[0-9]{1,3}|(GPU|MIG)-[0-9A-Za-z/-]{1,80}", words):
        raise Usage(
            f"--gpu {words!r} is no index and no UUID", "nvidia-smi -L lists them; one GPU is probed at a time."
        )
    return words


def may_disturb(typed: str, host: str) -> bool:
    """Whether a GPU may be measured on that others use: the name of its host was typed once more, for that.

    Args:
        typed: A name of the host; empty where nothing was allowed.
        host: The host that is probed, as it was typed; empty for this machine.

    Raises:
        Usage: it is the name of another one.
    """
    if not typed:
        return False
    if host:
        from recon.hosts.target import parse

        named, meant = {host, parse(host).host}, parse(host).host
    else:
        here = socket.gethostname()
        named, meant = {"localhost", here, here.partition(".")[0]}, "localhost"
    if typed not in named:
        raise Usage(
            f"--allow-busy {typed!r} is not the host that is probed",
            f"What runs on its GPU will be disturbed: --allow-busy {meant} says that you mean this one.",
        )
    return True


def bytes_of(words: str) -> int:
    """Bytes, from `8GiB`, `500M` or a plain number; 0 of nothing.

    Raises:
        Usage: that is no size.

    >>> bytes_of("1.5 GiB")
    1610612736
    """
    if not words:
        return 0
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?)(?:i?b)?", words.strip().lower())
    size = int(float(found[1]) * 1024 ** "_kmgt".index(found[2] or "_")) if found else 0
    if not size:
        raise Usage(f"--max-memory {words!r} is no size", "For example: --max-memory 8GiB")
    return size


def _refuse_contradictions(context: typer.Context, *, interpret: bool, compile_only: bool, host: str) -> None:
    """Refuse options that exclude each other, or would do nothing.

    Raises:
        Usage: one was typed.
    """
    refuse_empty(context)
    if interpret and compile_only:
        raise Usage("--interpret and --compile-only exclude each other")
    if not compile_only:
        refuse_idle(context, ("arch",), "belongs to --compile-only", "Timing needs no target: it is the GPU's own.")
    if interpret or compile_only:
        touching = ("gpu", "full", "busy", "model", "tp", "max_memory")
        refuse_idle(context, touching, "is about a GPU, and none is touched", "Leave one of them out.")
    if compile_only:
        calling = ("engine", "engine_baselines", "fresh")
        refuse_idle(context, calling, "is about kernels that run, and none is run", "Leave one of them out.")
    if not context.params["model"]:
        refuse_idle(context, ("tp",), "divides the shapes of a model, and none is named", "Add --model NAME.")
    if context.params["python"]:
        refuse_idle(context, ("environment",), "names a Python, as --python does", "Leave one of them out.")
    if not host:
        about = ("transport", "accept_new", "ssh_config", "batch", "host_timeout")
        refuse_idle(context, about, "is about hosts, and none is named", "Add --host HOST, or leave it out.")

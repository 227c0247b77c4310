"""`recon probe-kernels`: what does accepting a chain, and a tree, cost on this GPU?"""

from typing import TYPE_CHECKING, Annotated

import typer

from recon.cli.session import session_of
from recon.errors import Exit, Interrupted, Usage

if TYPE_CHECKING:
    from recon.probing import ProbeRequest


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
        bool, typer.Option("--allow-busy", help="Measure although the GPU is in use, in MPS or in MIG mode.")
    ] = False,
    python: Annotated[
        str,
        typer.Option("--python", metavar="PATH", help="The Python that has torch and triton; else it is looked for."),
    ] = "",
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Print what would be done, as JSON, and do nothing.")
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option("-o", "--output", metavar="FORMAT=PATH", help="Also write a file: html, json, text or tsv."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the run as JSON.")] = False,
) -> None:
    """Check kernels against their references, then time them beside the least that the hardware could take.

    A kernel that disagrees with its reference is not timed. A GPU that others use is refused. The run is saved;
    `recon report` joins it with the newest scan of the same machine.

    Exit codes: 0 done, 2 usage, 3 no GPU, a busy one, no torch, or a kernel that disagrees, 130 interrupted and saved.
    """
    from recon import pipeline, probing
    from recon.cli.outputs import outputs_of, show, view_of, write_outputs
    from recon.cli.progress import progress_of
    from recon.cli.scan import exit_of, keep, keep_partial, leave, settings
    from recon.cli.stopping import stoppable
    from recon.report.view import Source

    session = session_of(context)
    if interpret and compile_only:
        raise Usage("--interpret and --compile-only exclude each other")
    if arch and not compile_only:
        raise Usage("--arch belongs to --compile-only", "Timing needs no target: it is the GPU's own.")
    outputs = outputs_of(output or ())
    request = probing.ProbeRequest(
        mode="interpret" if interpret else "compile" if compile_only else "gpu",
        level="full" if full else "quick",
        gpu=gpu,
        allow_busy=busy,
        archs=archs_of(arch),
        python=python,
    )
    if plan_only:
        session.data(_plan(request))
        return
    try:
        with progress_of(session) as progress, stoppable(progress):  # a stop is answered there, with a last report
            run = pipeline.probe(request, settings(), progress)
    except Interrupted as stopped:
        keep_partial(session, stopped)
    saved = keep(session, run)
    view = view_of(run, [Source("probe", saved.name if saved else "", run)], session.started)
    show(session, view, as_json=json)
    write_outputs(session, outputs, view)
    leave(exit_of(run) if saved else Exit.INCOMPLETE)


def archs_of(words: str) -> tuple[int, ...]:
    """Compute capabilities times ten, from `sm_90,100,12.0`.

    Raises:
        Usage: one of the words is no target.
    """
    found = []
    for word in filter(None, (each.strip() for each in words.split(","))):
        digits = word.lower().removeprefix("sm_").replace(".", "").rstrip("a")
        if not (digits.isdecimal() and len(digits) in (2, 3)):
            raise Usage(f"{word!r} is no target", "For example: --arch sm_90,sm_100,sm_120")
        found.append(int(digits))
    return tuple(dict.fromkeys(found))


def _plan(request: "ProbeRequest") -> str:
    import msgspec

    from recon import probing

    return msgspec.json.format(msgspec.json.encode(probing.plan(request)), indent=1).decode() + "\n"

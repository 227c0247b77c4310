"""What is asked of the bundled kernels, and which probe answers it."""

from dataclasses import dataclass

from recon.ports import Progress
from recon.probes.plan import LEVELS, plan_compile, plan_gpu, plan_interpret
from recon.probes.run import ProbeResult, compile_only, probe_gpu, probe_interpret


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


def probed(request: ProbeRequest, progress: Progress) -> ProbeResult:
    """Run the kernels as a request says.

    Raises:
        NoGpu, NoTorch, GpuBusy: there is nothing to run on.
    """
    if request.mode == "interpret":
        return probe_interpret(python=request.python, progress=progress)
    if request.mode == "compile":
        return compile_only(request.archs, python=request.python, progress=progress)
    return probe_gpu(
        request.level, gpu=request.gpu, allow_busy=request.allow_busy, python=request.python, progress=progress
    )


def plan(request: ProbeRequest) -> object:
    """What a probe would do, as the payload would be told."""
    if request.mode == "interpret":
        return plan_interpret()
    if request.mode == "compile":
        return plan_compile(request.archs or (90, 100, 120))
    return plan_gpu(LEVELS[request.level], gpu=request.gpu, allow_busy=request.allow_busy)

"""What are the ceilings of this GPU: an empty launch, reading, copying, multiplying?"""

from recon.kernels.wire import Axes
from recon.probes.probe import Probe, Subject

NOP = Subject("nop", "triton")
READ = Subject("read", "triton")
COPY = Subject("copy", "triton")
COPY_TORCH = Subject("copy", "torch_add")
GEMM = Subject("gemm", "torch")

_ODD_BYTES: tuple[Axes, ...] = tuple({"bytes": 4 * elements} for elements in (1, 17, 1023, 65_537, 4_194_301))

LAUNCH = Probe(
    name="floors",
    question="How long does an empty launch take?",
    kernels=(NOP,),
    baselines=(),
    floors=(),
    cases=({},),
    quick=1,
    checks=(),
    interpreted=(),
)
READING = Probe(
    name="floors",
    question="How fast does a kernel read that only reads?",
    kernels=(READ,),
    baselines=(),
    floors=(),
    cases=({"bytes": 1 << 30}, {"bytes": 1 << 32}),
    quick=1,
    checks=_ODD_BYTES,
    interpreted=({"bytes": 4}, {"bytes": 68}, {"bytes": 40_004}),
)
COPYING = Probe(
    name="floors",
    question="How fast does a kernel copy?",
    kernels=(COPY, COPY_TORCH),
    baselines=(),
    floors=(),
    cases=({"bytes": 1 << 29}, {"bytes": 1 << 32}),
    quick=1,
    checks=_ODD_BYTES,
    interpreted=({"bytes": 4}, {"bytes": 68}, {"bytes": 40_004}),
)
MULTIPLYING = Probe(
    name="floors",
    question="How fast does the vendor's library multiply bf16 matrices of random numbers?",
    kernels=(GEMM,),
    baselines=(),
    floors=(),
    cases=({"m": 4096, "n": 8192, "k": 8192}, {"m": 8192, "n": 8192, "k": 8192}),
    quick=1,
    checks=({"m": 1, "n": 1, "k": 1}, {"m": 33, "n": 65, "k": 129}, {"m": 257, "n": 1031, "k": 513}),
    interpreted=(),
)
FLOORS = (LAUNCH, READING, COPYING, MULTIPLYING)

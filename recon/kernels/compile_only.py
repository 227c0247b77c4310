"""Build kernels for an architecture that is not here, and say what they would use of it.

Registers and stack are read from the cubin by cuobjdump. Spills come from a second run of the assembler over the same
PTX, with Triton's options where they are known, so they can differ by a few bytes from what Triton's own run had.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel

from .archs import SHARED_LIMIT_BYTES
from .op import Build, Op
from .wire import Axes, Compiled, Entry, Failed

FIRST_BLACKWELL = 100
_DEADLINE_S = 120.0
_TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"


def compile_all(entry: Entry, op: Op, archs: tuple[int, ...]) -> Iterator[Compiled | Failed]:
    """Build every production configuration of a kernel for every architecture; a failure does not stop the others."""
    for arch in archs:
        for build in (each for each in op.builds() if arch in (each.archs or archs)):
            try:
                yield compile_for(entry.id, build, arch)
            except Exception as error:  # noqa: BLE001, PERF203  a compiler may raise anything
                yield Failed(entry.id, "compile", f"sm_{arch} {_name(build)}: {type(error).__name__}: {error}"[:2000])


def compile_for(entry: int, build: Build, arch: int) -> Compiled:
    """Build one configuration for one architecture.

    Raises:
        Exception: whatever the compiler raises.
    """
    kernel = built(build, arch)
    cubin, ptx = kernel.asm["cubin"], kernel.asm["ptx"]
    usage, spills = _usage(cubin), _spills(ptx, arch)
    dynamic, limit = int(kernel.metadata.shared), SHARED_LIMIT_BYTES[arch]
    config: Axes = {**build.constants, "warps": build.warps}
    return Compiled(
        entry=entry,
        variant=build.variant,
        config=config,
        arch=f"sm_{arch}",
        target=_found(r"\.target\s+([^\s,]+)", ptx),
        ptx=_found(r"\.version\s+(\S+)", ptx),
        registers=usage["REG"],
        static_shared_bytes=usage["SHARED"],
        dynamic_shared_bytes=dynamic,
        stack_bytes=usage["STACK"],
        spill_store_bytes=spills["stores"],
        spill_load_bytes=spills["loads"],
        shared_limit_bytes=limit,
        fits=dynamic + usage["SHARED"] <= limit,
    )


def built(build: Build, arch: int) -> CompiledKernel:
    """What Triton's compiler makes of a build, every stage of it under `asm`.

    That products and sums are fused is said aloud: the default changes in Triton 3.10.
    """
    options = {"num_warps": build.warps, "enable_fp_fusion": True, **build.options}
    return triton.compile(_source(build), target=GPUTarget("cuda", arch, 32), options=options)


def _source(build: Build) -> ASTSource:
    names = list(build.function.arg_names)
    signature = {name: build.types.get(name, "constexpr") for name in names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if _aligned(build, name)}
    kind = ASTSource
    if getattr(build.function, "is_gluon", bool)():
        from triton.experimental.gluon import _runtime  # noqa: PLC0415  younger than the rest

        kind = _runtime.GluonASTSource
    constants = {(names.index(name),): value for name, value in build.constants.items()}
    return kind(fn=build.function, signature=signature, constexprs=constants, attrs=aligned)


def _aligned(build: Build, name: str) -> bool:
    return name in build.divisible or build.types.get(name, "").startswith("*")


def _usage(cubin: bytes) -> dict[str, int]:
    """Registers, stack and static shared memory of the one function of a cubin."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        text = _run("cuobjdump", "--dump-resource-usage", file.name)
    usage = {name: int(value) for name, value in re.findall(r"(REG|STACK|SHARED):(\d+)", text)}
    if set(usage) != {"REG", "STACK", "SHARED"}:
        raise ValueError(f"cuobjdump says nothing of resources: {text[:200]!r}")
    return usage


def _spills(ptx: str, arch: int) -> dict[str, int]:
    """Bytes of spill stores and loads, from another run of the assembler.

    Triton carries two, and which of them reads the PTX of an architecture differs from version to version.
    """
    target, complaint = _found(r"\.target\s+([^\s,]+)", ptx), ""
    tools = ("ptxas-blackwell", "ptxas") if arch >= FIRST_BLACKWELL else ("ptxas", "ptxas-blackwell")
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        for tool in tools:
            complaint = _run(tool, "-v", f"--gpu-name={target}", file.name, "-o", "/dev/null")
            spills = {name: int(value) for value, name in re.findall(r"(\d+) bytes spill (stores|loads)", complaint)}
            if set(spills) == {"stores", "loads"}:
                return spills
    raise ValueError(f"no ptxas of Triton's says anything of spills: {complaint[:200]!r}")


def _run(tool: str, *words: str) -> str:
    """Both streams of one of Triton's own tools, whatever its exit status."""
    if not (_TOOLS / tool).exists():
        return f"{tool} is not in {_TOOLS}"
    done = subprocess.run(
        [str(_TOOLS / tool), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    return done.stdout


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"{pattern} is not in the PTX")
    return match.group(1)


def _name(build: Build) -> str:
    words = [f"{name}={value}" for name, value in build.constants.items()]
    return " ".join([build.function.__name__, *words, f"warps={build.warps}"])

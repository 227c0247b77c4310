"""The distributions that recon knows by name, and the packages that they bring."""

import re
from dataclasses import dataclass

from recon.records.install import Engine


@dataclass(frozen=True, slots=True)
class Known:
    """One distribution."""

    engine: Engine
    distribution: str
    """Normalised as file names have it, e.g. `flashinfer_python`."""
    package: str
    """The import package that makes it what it is."""


KNOWN = (
    Known(Engine.VLLM, "vllm", "vllm"),
    Known(Engine.SGLANG, "sglang", "sglang"),
    Known(Engine.SGL_KERNEL, "sgl_kernel", "sgl_kernel"),
    Known(Engine.SGLANG_KERNEL, "sglang_kernel", "sgl_kernel"),
    Known(Engine.FLASHINFER, "flashinfer_python", "flashinfer"),
    Known(Engine.LMDEPLOY, "lmdeploy", "lmdeploy"),
    Known(Engine.TENSORRT_LLM, "tensorrt_llm", "tensorrt_llm"),
)

PACKAGES = tuple(dict.fromkeys(known.package for known in KNOWN))
PACKAGE_OF = {known.engine: known.package for known in KNOWN}
DISTRIBUTIONS = tuple(known.distribution for known in KNOWN)


def normalise(name: str) -> str:
    """The name of a distribution as its folder spells it.

    >>> normalise("SGLang.Kernel"), normalise("flashinfer-python")
    ('sglang_kernel', 'flashinfer_python')
    """
    return re.sub(r"[-_.]+", "_", name).lower()


def known_by_distribution(name: str) -> Known | None:
    """What recon knows of a distribution, whatever the spelling of its name."""
    return next((known for known in KNOWN if known.distribution == normalise(name)), None)


def engine_of_package(package: str) -> Engine:
    """The engine of an import package; of two that share one, the older."""
    return next((known.engine for known in KNOWN if known.package == package), Engine.OTHER)


def engine_named(distribution: str, package: str) -> Engine:
    """The engine that the name of a distribution says, else its package."""
    known = known_by_distribution(distribution)
    return known.engine if known and known.package == package else engine_of_package(package)

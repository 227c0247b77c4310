"""Installs: one engine tree in one environment, with what was judged of it."""

from dataclasses import dataclass
from enum import Enum

from recon.records.path import CallPath
from recon.records.verdict import Verdict


class Engine(Enum):
    """The distributions that recon knows by name; everything else is `other` and judged by the same rules."""

    VLLM = "vllm"
    SGLANG = "sglang"
    SGL_KERNEL = "sgl_kernel"
    SGLANG_KERNEL = "sglang_kernel"
    FLASHINFER = "flashinfer"
    LMDEPLOY = "lmdeploy"
    TENSORRT_LLM = "tensorrt_llm"
    OTHER = "other"

    @property
    def is_companion(self) -> bool:
        """Whether this is a kernel package that an engine calls, not an engine."""
        return self in (Engine.SGL_KERNEL, Engine.SGLANG_KERNEL, Engine.FLASHINFER)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an install comes from."""

    kind: str
    """`release` (read without installing), `wheel`, `editable`, `checkout` or `folder`."""
    environment: str
    """Prefix of the Python environment that holds it; empty if none does."""
    installer: str
    """What the distribution's INSTALLER file says; empty if there is none."""
    origin: str
    """Redacted URL of direct_url.json, or file name of the release; empty if unknown."""
    sha256: str
    """Of the release file; empty if unknown."""
    note: str
    """What else decides which tree is imported, e.g. `shadowed by /src/vllm`; may be empty."""


@dataclass(frozen=True, slots=True)
class Edits:
    """How the files differ from the RECORD that the installer wrote."""

    checked: int
    """Files compared with RECORD; 0 means that there was nothing to compare with."""
    modified: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A place where an engine's package lies, before its sources are read."""

    engine: Engine
    version: str
    """'' if neither the metadata nor the package says."""
    root: str
    """Folder that holds the package folders."""
    packages: tuple[str, ...]
    """Top-level import packages below `root`, e.g. ("vllm",)."""
    dist_info: str
    """Folder of the distribution's metadata; '' if there is none."""
    provenance: Provenance
    named: str = ""
    """Folder below `root` that holds all that is read, where the user named it or something in it: loose sources, or
    the package of an engine that is not known; else ''."""

    @property
    def location(self) -> str:
        """Where people find it."""
        return self.named or self.root


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A few lines of source around a place of evidence: at most six."""

    path: str
    line: int
    """Line of `text`'s first line, counted from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class Install:
    """One engine tree in one environment of one host."""

    id: str
    """Unique within a run, e.g. `vllm-0.20.1-3f2a91`; of an engine that is not known, with the name of its folder."""
    host: str
    engine: Engine
    version: str
    """As the distribution's metadata or `_version.py` says; empty if neither does."""
    location: str
    """Folder that holds the package, or the folder of loose sources itself, or the file name of the release."""
    source_digest: str
    provenance: Provenance
    companions: tuple[str, ...]
    """Ids of the kernel packages of the same environment."""
    edits: Edits
    verdicts: tuple[Verdict, ...]
    paths: tuple[CallPath, ...]
    excerpts: tuple[Excerpt, ...]
    """Source lines around the evidence, one per place."""
    read: str = ""
    """Digest of all that was read of it: sources, and the names in libraries. What is kept under it can be judged anew;
    empty in run files from before it was, and where no source was kept."""

    @property
    def label(self) -> str:
        """As people call it: `vllm 0.20.1`; where the engine is not known, by its id."""
        name = self.id if self.engine is Engine.OTHER else self.engine.value
        return f"{name} {self.version}".strip()

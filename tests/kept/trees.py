"""A small engine, and the parts that are kept of it."""

from collections.abc import Mapping
from pathlib import Path

from recon.detectors.testing import indexed
from recon.index.parts import parts_of
from recon.kept.parts import Parts
from recon.kept.store import path_of, write

ENGINE: Mapping[str, str] = {
    "engine/__init__.py": "",
    "engine/runner.py": """
from engine.spec.accept import Chain, register_method, verify


class ModelRunner:
    def execute_model(self, out):
        return self.sample(out)

    def sample(self, out):
        return verify(out)


class OtherRunner:
    def execute_model(self, out):
        return Chain().verify(out)


register_method("chain", "engine.spec.accept.Chain")
""",
    "engine/spec/__init__.py": "",
    "engine/spec/accept.py": """
import triton


def register_method(name, cls):
    METHODS[name] = cls


METHODS = {}


@triton.jit
def accept_kernel(out):
    helper(out)


@triton.jit
def helper(out):
    pass


def verify(out):
    accept_kernel[(1,)](out)


class Chain:
    def __init__(self):
        self.ready = True

    def verify(self, out):
        return self.unknown.verify_later(out)


class Later:
    def verify_later(self, out):
        return verify(out)


def lonely():
    pass
""",
    "engine/deep/accept.py": "def verify(out):\n    pass\n",
}


def parts(files: Mapping[str, str] = ENGINE) -> Parts:
    """What is kept of a tree."""
    return parts_of(indexed(files))


def keep(cache_dir: Path, digest: str, files: Mapping[str, str] = ENGINE) -> Path:
    """Keep the parts of a tree under a digest."""
    path = path_of(cache_dir, digest)
    write(path, parts(files))
    return path

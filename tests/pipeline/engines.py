"""Small engines on disk, and what is asked of their runs."""

from collections.abc import Mapping
from pathlib import Path

from recon.records.install import Install
from recon.records.verdict import Verdict

CHAIN = """
@triton.jit
def chain(out, draft, want, n):
    b = tl.program_id(0)
    bad = False
    for i in range(n):
        if not bad:
            w = tl.load(want + b * n + i)
            tl.store(out + b * n + i, w)
            if w != tl.load(draft + b * n + i + 1):
                bad = True
"""
WALK = """
def follow(children, posterior):
    node, path = 0, []
    token = posterior[node]
    while token in children[node]:
        node = children[node][token]
        path.append(node)
        token = posterior[node]
    return path, token
"""
RUNNER = """
from vllm.spec.accept import chain


class GPUModelRunner:
    def execute_model(self, out, draft, want, n):
        chain[(1,)](out, draft, want, n)
"""
VLLM: Mapping[str, str | bytes] = {
    "vllm/__init__.py": "",
    "vllm/_version.py": "__version__ = version = '9.8.7'\n",
    "vllm/spec/__init__.py": "",
    "vllm/spec/accept.py": CHAIN,
    "vllm/runner.py": RUNNER,
    "vllm/csrc/k.cu": "__global__ void k(int* p) { p[0] = 1; }\n",
}


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A source tree on disk."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def verdict(install: Install, capability: str) -> Verdict:
    """The verdict on one capability."""
    (found,) = (each for each in install.verdicts if each.capability == capability)
    return found

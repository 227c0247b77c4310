"""How much an index holds."""

from collections.abc import Mapping
from dataclasses import dataclass

from recon.index.records import Outline, ScopeKind
from recon.index.strings import file_of
from recon.index.tables import is_kernel, is_python


@dataclass(frozen=True, slots=True)
class Counts:
    """How much an index holds."""

    python_files: int
    cuda_files: int
    functions: int
    classes: int
    kernels: int
    libraries: int


def counted(files: Mapping[str, Outline], libraries: int) -> Counts:
    """What the outlines of files hold, by path, beside so many compiled libraries."""
    scopes = [scope for outline in files.values() for scope in outline.scopes]
    functions = [scope for scope in scopes if scope.kind is ScopeKind.FUNCTION]
    return Counts(
        python_files=sum(map(is_python, files)),
        cuda_files=len({file_of(path) for path in files}) - sum(map(is_python, files)),
        functions=len(functions),
        classes=sum(scope.kind is ScopeKind.CLASS for scope in scopes),
        kernels=sum(map(is_kernel, functions)),
        libraries=libraries,
    )

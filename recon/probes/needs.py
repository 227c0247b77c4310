"""What the payload needs of the environment that it runs in."""

import re

PYTHON = (3, 10)
TORCH = (2, 4)
TRITON = (3, 1)
TRITON_OF = {100: (3, 3, 1), 103: (3, 6), 120: (3, 3, 1), 121: (3, 6)}
"""The first Triton that builds for a compute capability, times ten, where the first of all does not."""


def objections(python: str, torch: str, triton: str, archs: tuple[int, ...] = ()) -> tuple[str, ...]:
    """Why an environment cannot run the payload; empty where nothing speaks against it.

    Args:
        python: Version, e.g. `3.12`.
        torch: Version; '' where it is missing.
        triton: Likewise.
        archs: Compute capabilities of the GPUs, times ten.

    >>> objections("3.12", "2.3.1+cu121", "3.1.0", (120,))
    ('torch 2.3.1+cu121 is older than 2.4', 'triton 3.1.0 is older than 3.3.1, the first for sm_120')
    """
    wanted: list[tuple[str, str, tuple[int, ...], str]] = [
        ("Python", python, PYTHON, ""),
        ("torch", torch, TORCH, ""),
        ("triton", triton, TRITON, ""),
    ]
    wanted += [("triton", triton, TRITON_OF[arch], f", the first for sm_{arch}") for arch in archs if arch in TRITON_OF]
    found = {f"there is no {name}" for name, version, _, _ in wanted if not version}
    old = [
        f"{name} {version} is older than {'.'.join(map(str, least))}{why}"
        for name, version, least, why in wanted
        if version and numbers(version) < least
    ]
    return (*sorted(found), *dict.fromkeys(old))


def numbers(version: str) -> tuple[int, ...]:
    """The release in a version, as numbers that can be compared.

    >>> numbers("3.6.0rc1+git1234")
    (3, 6, 0)
    """
    found = re.match(r"\d{1,6}(\.\d{1,6})*", version)
    return tuple(map(int, found[0].split("."))) if found else ()

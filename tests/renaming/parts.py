"""Which part of a tree is renamed: the files that speak for its verdicts, and what they import."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from recon.index.pool import CUDA
from recon.records.run import Run
from recon.records.verdict import Standing
from tests.renaming.naming import module_of, parsed

FAMILIES = ("accept.", "attn.", "tree.", "state.", "kv.", "pos.")
"""What is judged by what code does."""
SPEAKING = frozenset({Standing.PRESENT, Standing.PARTIAL})


def standings(run: Run) -> dict[str, Standing]:
    """What the only install of a run has of these families."""
    (install,) = run.installs
    return {each.capability: each.standing for each in install.verdicts if each.capability.startswith(FAMILIES)}


def lost(before: Mapping[str, Standing], after: Mapping[str, Standing]) -> list[str]:
    """Capabilities that spoke before and do not speak so any more."""
    return [name for name, standing in before.items() if standing in SPEAKING and after[name] is not standing]


def won(before: Mapping[str, Standing], after: Mapping[str, Standing]) -> list[str]:
    """Capabilities that did not speak before and do now."""
    return [name for name, standing in before.items() if standing not in SPEAKING and after[name] in SPEAKING]


def evidence_files(run: Run) -> dict[str, None]:
    """The files of a run's evidence for these families, those of members and of call paths after it."""
    (install,) = run.installs
    verdicts = [each for each in install.verdicts if each.capability.startswith(FAMILIES)]
    places = [place.path for each in verdicts for place in each.evidence]
    places += [place.path for each in verdicts for member in each.members for place in member.evidence]
    places += [hop.path for path in install.paths if path.capability.startswith(FAMILIES) for hop in path.hops]
    return dict.fromkeys(places)


def closure(files: Mapping[str, bytes], start: Iterable[str], most: int | None = None) -> dict[str, bytes]:
    """Some files and the Python that they import, over as many steps as it takes; the nearest if there are too many.

    C++ and CUDA are imported by nothing: without a limit all of it goes along.
    """
    modules = {module_of(path): path for path in files if path.endswith(".py")}
    found = dict.fromkeys(path for path in start if path in files)
    level = list(found)
    while level and (most is None or len(found) < most):
        level = [
            path
            for path in dict.fromkeys(target for each in level for target in _imports(files, each, modules))
            if path not in found
        ]
        found.update(dict.fromkeys(level))
    if most is None:
        found.update(dict.fromkeys(path for path in files if PurePosixPath(path).suffix in CUDA))
    return {path: files[path] for path in list(found)[:most]}


def _imports(files: Mapping[str, bytes], path: str, modules: Mapping[str, str]) -> Iterator[str]:
    """The files that one imports, and the packages around them."""
    around = PurePosixPath(path).parent.parts
    for node in ast.walk(parsed(files[path])) if path.endswith(".py") else ():
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (*around[: len(around) - node.level + 1], node.module) if node.level else (node.module,)
            module = ".".join(part for part in base if part)
            names = [f"{module}.{each.name}" for each in node.names]
        for name in names:
            parts = name.split(".")
            for end in range(len(parts), 0, -1):
                if (found := modules.get(".".join(parts[:end]))) is not None:
                    yield found

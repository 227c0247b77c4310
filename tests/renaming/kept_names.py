"""Writes kept_names.txt: the names that a renamed tree keeps, since they are not the tree's own to choose.

They belong to the language, numpy, torch and triton, or are methods of what the standard library makes. Run by hand,
where torch and triton are installed, when a newer torch has names that the list lacks:

    python tests/renaming/kept_names.py
"""

import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
WHOLE = (
    "builtins typing numpy numpy.linalg numpy.random numpy.typing torch torch.autograd torch.backends "
    "torch.backends.cuda torch.backends.cudnn torch.compiler torch.cuda torch.cuda.amp torch.cuda.nvtx "
    "torch.distributed torch.fft torch.fx torch.jit torch.library torch.linalg torch.multiprocessing torch.nn "
    "torch.nn.functional torch.nn.init torch.nn.parallel torch.nn.utils torch.optim torch.profiler torch.random "
    "torch.special torch.utils torch.utils.cpp_extension torch.utils.data triton triton.language "
    "triton.language.extra triton.language.math triton.runtime triton.testing"
)
"""Modules of which every public name is kept, and every name in their classes."""
OBJECTS = (
    "abc argparse array ast asyncio base64 collections concurrent.futures contextlib contextvars ctypes dataclasses "
    "datetime decimal enum functools hashlib inspect io itertools json logging multiprocessing "
    "multiprocessing.connection multiprocessing.shared_memory pathlib pickle queue random re select signal socket "
    "string struct subprocess tempfile threading time types urllib.parse urllib.request uuid weakref zipfile"
)
"""Modules of which only the attributes of instances are kept: their own names stay where they are imported."""
CONVENTIONS = ("self", "cls", "mcs")


def attributes(thing: object) -> Iterator[str]:
    """The names in a module or class that anybody may use."""
    return (name for name in dir(thing) if not name.startswith("_"))


def whole(library: str) -> Iterator[str]:
    """The names in a library, in the classes that it offers, and of what lies in it."""
    module = importlib.import_module(library)
    yield from library.split(".")
    for name in attributes(module):
        thing = getattr(module, name, None)
        if isinstance(thing, types.ModuleType) and thing.__name__ != f"{library}.{name}":
            continue  # what a module imports for itself is nothing that it offers
        yield name
        if inspect.isclass(thing):
            yield from attributes(thing)
    for each in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not each.name.startswith("_"):
            yield each.name


def objects(library: str) -> Iterator[str]:
    """The attributes of what the classes of a library make."""
    module = importlib.import_module(library)
    for name in attributes(module):
        thing = getattr(module, name, None)
        if inspect.isclass(thing):
            yield from (each for each in attributes(thing) if each.islower())


def every_name() -> set[str]:
    """All names, without those of parameters: functions of a tree may well be called with the same."""
    found = set(CONVENTIONS)
    for library in WHOLE.split():
        found.update(whole(library))
    for library in OBJECTS.split():
        found.update(objects(library))
    return {name for name in found if name.isidentifier()}


if __name__ == "__main__":
    (HERE / "kept_names.txt").write_text("".join(f"{name}\n" for name in sorted(every_name())), encoding="utf-8")

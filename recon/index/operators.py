"""Operators: which function of the tree runs for `torch.ops.ns.name`."""

from recon.index.names import Names
from recon.index.registrations import functions_by_name, registrations
from recon.index.tables import Ref, is_python

PREFIX = "torch.ops."


class Operators:
    """Functions by the operator that they were registered as, in Python and in C++."""

    def __init__(self, names: Names) -> None:
        self._python: dict[str, dict[Ref, None]] = {}
        self._compiled: dict[str, dict[Ref, None]] = {}
        self._compiled_functions = functions_by_name(names)
        for each in registrations(names, self._compiled_functions):
            if each.function is not None and not each.is_fake:
                side = self._python if is_python(each.home.path) else self._compiled
                side.setdefault(each.name, {})[each.function] = None

    def of(self, dotted: str) -> tuple[Ref, ...]:
        """Functions behind `torch.ops.ns.name`, those in Python before those in C++; () for any other name."""
        if not dotted.startswith(PREFIX):
            return ()
        parts = dotted[len(PREFIX) :].split(".")
        if len(parts) < 2:
            return ()
        name = parts[1]
        found = dict(self._python.get(name, {}))
        found.update(self._compiled.get(name, {}))
        return tuple(found) or self.compiled(name)

    def compiled(self, name: str) -> tuple[Ref, ...]:
        """Functions of C++ or CUDA sources that a name exports, or that have it."""
        return tuple(self._compiled.get(name, ())) or tuple(self._compiled_functions.get(name, ()))

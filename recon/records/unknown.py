"""What could not be learned."""

from dataclasses import dataclass

PACKAGE = "package"
"""`what` of functions of another distribution that was not scanned."""
LIBRARY = "compiled library"
"""`what` of compiled libraries whose names were not read: an operator may lie in them."""
TARGET = "target"
"""`what` of something that was named to be scanned, and was not judged because the scan was stopped."""
PARTLY = "CUDA source, partly"
"""`what` of sources that were examined as far as their grammar reads; they hide nothing that a caller does not show."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that recon wanted to know and could not: an unknown is a result, not an exception."""

    what: str
    """The thing that was asked for, e.g. `python source`."""
    where: str
    """Path, host, kernel or release that it was asked of."""
    why: str
    """One sentence: what stood in the way."""

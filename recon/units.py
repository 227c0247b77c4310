"""Units as types; text is made of them in `report/numbers.py` alone."""

from typing import NewType

Microseconds = NewType("Microseconds", float)
Bytes = NewType("Bytes", int)

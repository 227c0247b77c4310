"""Appending to a file that others read: the whole of it or nothing, on the disk before anything else happens."""

import os
from contextlib import suppress


def append_whole(handle: int, data: bytes) -> None:
    """Append bytes to a file that was opened for that; where there is no room for all of them, none stays.

    Args:
        handle: Opened with O_APPEND.
        data: A system may write a part of it and say so, which is gone on from.

    Raises:
        OSError: they cannot be written.
    """
    before = os.fstat(handle).st_size
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, before)
        raise

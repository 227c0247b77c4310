"""A bad line, as a ProxyCommand: carries standard input and output to HOST PORT, late, slowly, or not at all.

Needs nothing but Python and no privileges, where the kernel has no network emulation.

    --delay-ms N        each piece travels so long, in both directions
    --bytes-per-s N     no more than that, towards the client
    --cut-after-bytes N after so many bytes towards the client the line dies
    --cut-file PATH     the line dies as soon as that file exists
    --cut close|freeze  how it dies: connections closed, or nothing ever again with both ends held open (default freeze)
    --hold-banner-s N   says nothing for so long at first
    --pid-file PATH     writes its process id there
"""

import argparse
import os
import selectors
import socket
import time
from collections import deque
from pathlib import Path

CHUNK = 1 << 15


def main() -> None:
    """Carry until one end is done or the line dies."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--bytes-per-s", type=float, default=0.0)
    parser.add_argument("--cut-after-bytes", type=float, default=float("inf"))
    parser.add_argument("--cut-file", type=Path)
    parser.add_argument("--cut", choices=["close", "freeze"], default="freeze")
    parser.add_argument("--hold-banner-s", type=float, default=0.0)
    parser.add_argument("--pid-file", type=Path)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    if options.pid_file:
        options.pid_file.write_text(str(os.getpid()))
    with socket.create_connection((options.host, options.port)) as far:
        time.sleep(options.hold_banner_s)
        carry(far, options)


def carry(far: socket.socket, options: argparse.Namespace) -> None:
    """Move pieces both ways, each when its time has come."""
    to_far: deque[tuple[float, bytes]] = deque()
    to_near: deque[tuple[float, bytes]] = deque()
    said = 0
    free_at = 0.0  # when a line of limited rate has carried what it took
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(far, selectors.EVENT_READ)
        while True:
            if said >= options.cut_after_bytes or (options.cut_file and options.cut_file.exists()):
                if options.cut == "freeze":
                    hold(os.getppid())
                return
            now = time.monotonic()
            for key, _ in selector.select(0.02 if options.cut_file or to_far or to_near else 1.0):
                piece = os.read(key.fd, CHUNK)
                if not piece:
                    return
                due = time.monotonic() + options.delay_ms / 1000
                (to_far if key.fd == 0 else to_near).append((due, piece))
            now = time.monotonic()
            while to_far and to_far[0][0] <= now:
                far.sendall(to_far.popleft()[1])
            while to_near and max(to_near[0][0], free_at) <= now:
                piece = to_near.popleft()[1]
                said += len(piece)
                write(1, piece)
                if options.bytes_per_s:
                    free_at = max(free_at, now) + len(piece) / options.bytes_per_s


def hold(parent: int) -> None:
    """Neither say nor hear anything for as long as whoever started this lives."""
    while os.getppid() == parent:
        time.sleep(0.1)


def write(descriptor: int, piece: bytes) -> None:
    """Write all of a piece."""
    view = memoryview(piece)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()

"""The one door to CUDA's graphs and events."""

from collections.abc import Callable
from typing import Protocol

import torch


class Graph(Protocol):
    """Launches that were captured and can be replayed."""

    def replay(self) -> None:
        """Queue all of them."""
        ...


class Stream(Protocol):
    """Where work is queued and timed."""

    def capture(self, body: Callable[[], None]) -> Graph:
        """Capture what the body queues, without running it."""
        ...

    def waits(self, body: Callable[[], None]) -> bool:
        """Whether what the body queues makes the host wait, so that it cannot be captured; it is run for that."""
        ...

    def replay_us(self, graph: Graph) -> float:
        """Time of one replay between two events, in microseconds."""
        ...

    def synchronize(self) -> None:
        """Wait until all that was queued is done."""
        ...

    def free(self) -> None:
        """Give memory back that nothing uses."""
        ...


class Cuda:
    """The current CUDA device."""

    def capture(self, body: Callable[[], None]) -> Graph:
        """Capture what the body queues, without running it."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            body()
        captured: Graph = graph
        return captured

    def waits(self, body: Callable[[], None]) -> bool:
        """Whether torch sees the body wait for the device.

        A capture that fails leaves torch's random generators as if it went on, so it is not what is tried.
        """
        before = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("error")
        try:
            body()
        except RuntimeError as error:
            if "synchroniz" not in str(error):
                raise
            return True
        finally:
            torch.cuda.set_sync_debug_mode(before)
        return False

    def replay_us(self, graph: Graph) -> float:
        """Time of one replay between two events, in microseconds."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        return 1000.0 * float(begin.elapsed_time(end))

    def synchronize(self) -> None:
        """Wait until all that was queued is done."""
        torch.cuda.synchronize()

    def free(self) -> None:
        """Give memory back that nothing uses."""
        torch.cuda.empty_cache()

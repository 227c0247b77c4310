"""A stream without a GPU, and kernels that are right or wrong in one way each."""

import time
from collections.abc import Callable

import torch

from recon.kernels.op import Op, Variant, Work, compare_exactly
from recon.kernels.stream import Graph
from recon.kernels.wire import Axes


class FakeGraph:
    """Runs again what was captured."""

    def __init__(self, body: Callable[[], None]) -> None:
        self.replay = body


class FakeStream:
    """Captures by keeping the body and times by asking a clock that the launches turn."""

    def __init__(self) -> None:
        self.now_us = 0.0
        self.replays = 0
        self.captures = 0
        self.told = False
        """Whether a launch said that it waits, where that is asked."""

    def capture(self, body: Callable[[], None]) -> Graph:
        self.captures += 1
        return FakeGraph(body)

    def waits(self, body: Callable[[], None]) -> bool:
        self.told = False
        body()
        return self.told

    def replay_us(self, graph: Graph) -> float:
        before = self.now_us
        self.replays += 1
        graph.replay()
        return self.now_us - before

    def synchronize(self) -> None:
        time.sleep(0)

    def free(self) -> None:
        time.sleep(0)


def doubling(
    launch: Callable[[Work, Axes], None], configs: tuple[Axes, ...] = ({},), seeds: list[int] | None = None
) -> Op:
    """An operator that must double eight integers, done by the launch given; seeds asked for are noted."""

    def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
        if seeds is not None:
            seeds.append(seed)
        x = torch.arange(int(axes["size"]), dtype=torch.int32, device=device) + seed
        return Work({"x": x}, {"y": torch.empty_like(x)}, {"count": torch.zeros(1, dtype=torch.int32)})

    def compare(work: Work) -> str:
        return compare_exactly(work.outputs, {"y": work.inputs["x"] * 2}) or compare_exactly(
            work.scratch, {"count": torch.zeros(1)}
        )

    return Op(
        work=work_of,
        compare=compare,
        variants={"only": Variant(launch, lambda _axes, _card: configs)},
        bytes_of=lambda axes: 8 * int(axes["size"]),
        note=lambda work: f"{len(work.inputs['x'])} integers",
    )


def right(work: Work, _config: Axes) -> None:
    """Double."""
    torch.mul(work.inputs["x"], 2, out=work.outputs["y"])

"""Files that capture GPU graphs, told from whole outlines."""

import pytest

from recon.index.capturing import CAPTURES, captures
from recon.index.outline import outline_python
from recon.index.records import Feature


@pytest.mark.parametrize(
    "source",
    [
        "graph = torch.cuda.CUDAGraph()",
        "with torch.cuda.graph(g):\n    f()",
        "with graph_capture() as context:\n    f()",
        "self.capture_graph(n)",
        "runner._capture_cudagraphs(n)",
        "fast = torch.cuda.make_graphed_callables(f, x)",
        "class R:\n    def capture_model(self): pass",
    ],
)
def test_a_file_that_captures_is_known(source: str) -> None:
    """By torch's own names, by those around them, or by the method that a server calls for it."""
    assert captures(outline_python(source.encode()))


@pytest.mark.parametrize(
    "source",
    [
        "networkx.graph(edges)",
        "size = self._capture_graph_size(n)",
        "if can_use_captured_graph(n):\n    f()",
        "graph = build_graph(nodes)",
        "with capture_output() as out:\n    f()",
        "class R:\n    def capture_logs(self): pass",
    ],
)
def test_other_graphs_and_other_captures_are_not(source: str) -> None:
    """Neither word alone says it."""
    assert not captures(outline_python(source.encode()))


def test_the_sign_is_none_of_the_records() -> None:
    """It is told by the outline, and must not be taken for a sign of a scope."""
    assert not any(CAPTURES & sign for sign in Feature)

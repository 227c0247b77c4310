"""The writer of traces that runs beside an engine: what it writes is read, and replayed, as it happened."""

import io
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from recon.estimates.replay import Replay
from recon.estimates.trace import read
from recon.estimates.trees import Heap
from recon.recipes import trace_hook
from recon.recipes.trace_hook import Late, TraceWriter
from tests.estimates.traces import Text, best_prefixes, simulated, text

BLOCK, WIDTH = 3, 4


def texts(count: int) -> list[Text]:
    rng = random.Random(7)
    return [text(rng, 20, block=BLOCK, width=WIDTH, mood=0.5) for _ in range(count)]


def written(drawn: list[Text], *, undrafted: int = -1) -> list[str]:
    """All texts at once, token after token, as a batch of an engine is; one token may come without a draft."""
    file = io.StringIO()
    writer = TraceWriter(file, width=WIDTH, temperature=0.7, engine="by hand")
    for place in range(len(drawn[0].tokens)):
        for name, each in enumerate(drawn):
            if place != undrafted:
                writer.drafted(str(name), each.drafts[place].tokens, each.drafts[place].rows)
            writer.said(str(name), each.tokens[place])
    writer.close()
    return file.getvalue().splitlines()


def test_what_was_written_is_replayed_as_it_happened() -> None:
    """Beside a walk down trees of tokens."""
    drawn = texts(3)
    header, positions = read(written(drawn))
    replay = Replay(header, positions, Heap(), 12)

    assert (BLOCK, WIDTH, 0.7, "by hand") == (header.length, header.width, header.temperature, header.engine)
    for nodes in (1, 5, 12):
        assert [simulated(each, nodes, best_prefixes) for each in drawn] == replay.rounds(nodes)


def test_a_position_is_written_as_soon_as_its_tokens_are_known() -> None:
    """So that little is lost when an engine is killed."""
    file, (each,) = io.StringIO(), texts(1)
    writer = TraceWriter(file, width=WIDTH)
    for place in range(5):
        writer.drafted("a", each.drafts[place].tokens, each.drafts[place].rows)
        writer.said("a", each.tokens[place])

    assert [0, 1, 2] == [json.loads(line)["p"] for line in file.getvalue().splitlines()[1:]]


def test_after_a_token_without_a_draft_a_text_goes_on_under_another_number() -> None:
    """A trace has no gaps, and no rank that belongs to another place."""
    drawn = texts(1)
    header, positions = read(written(drawn, undrafted=8))
    found = list(positions)

    assert [(0, place) for place in range(8)] + [(1, place) for place in range(11)] == [
        (each.request, each.place) for each in found
    ]
    assert len(Replay(header, found, Heap(), 4).rounds(4)) == 2
    assert [3, 2, 1] == [len(each.ranks) for each in found[5:8]]


def test_a_token_that_the_drafter_cannot_say_is_written_as_hardly_ever() -> None:
    """Drafters have smaller vocabularies, and JSON has no infinity."""
    file = io.StringIO()
    writer = TraceWriter(file, width=2)
    writer.drafted("a", [[3, 4]], [[0.0, -math.inf]])
    writer.said("a", 4)
    (position,) = read(file.getvalue().splitlines())[1]

    assert ((1,), [[0.0, -99.0]]) == (position.ranks, position.rows)


def test_a_draft_that_no_token_followed_is_left_out() -> None:
    file, (each,) = io.StringIO(), texts(1)
    writer = TraceWriter(file, width=WIDTH)
    writer.drafted("a", each.drafts[0].tokens, each.drafts[0].rows)
    writer.close()

    assert 1 == len(file.getvalue().splitlines())


def test_an_engine_is_patched_when_it_is_imported_and_not_before(tmp_path: Path) -> None:
    """Plugins are loaded by processes that run no model, and before some that do are forked."""
    folder = tmp_path / "vllm" / "v1" / "worker"
    folder.mkdir(parents=True)
    for each in (folder, folder.parent, folder.parent.parent):
        (each / "__init__.py").touch()
    (folder / "gpu_model_runner.py").write_text(
        "class GPUModelRunner:\n    def propose_draft_token_ids(self): return None\n"
    )
    script = (
        "import sys; from recon.recipes.trace_hook import plug_in; plug_in(); plug_in()\n"
        "print([name for name in sys.modules if name.startswith('vllm')])\n"
        "print([type(each).__name__ for each in sys.meta_path].count('_Watch'))\n"
        "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n"
        "print(GPUModelRunner.propose_draft_token_ids.__name__)\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{Path.cwd()}", "RECON_TRACE": str(tmp_path / "trace")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)

    assert "[]\n3\npropose_and_write\n" == done.stdout


def test_an_engine_that_the_hook_does_not_know_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = ModuleType("vllm.v1.worker.gpu_model_runner")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    with pytest.raises(RuntimeError, match=r"no GPUModelRunner\.propose_draft_token_ids in vllm\.v1"):
        trace_hook.hook_vllm(Late(str(tmp_path / "trace")))


def test_without_its_variable_the_hook_leaves_the_engine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECON_TRACE", raising=False)
    monkeypatch.setattr(trace_hook, "hook_vllm", lambda late: pytest.fail("patched"))

    trace_hook.plug_in()


def test_no_file_is_made_by_a_process_that_has_nothing_to_write(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECON_TRACE", str(tmp_path / "trace"))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(trace_hook, "_PLUGGED", [])

    trace_hook.plug_in()

    assert not (tmp_path / "trace").exists()


def test_the_file_is_opened_once(tmp_path: Path) -> None:
    late = Late(str(tmp_path / "trace"))

    assert late.writer("a") is late.writer("b")


def test_the_hook_stands_alone() -> None:
    """Under Python without recon and without anything else: engines have their own dependencies."""
    source = Path(trace_hook.__file__).read_text()
    done = subprocess.run([sys.executable, "-I", "-S", "-c", source + "\nplug_in()"], capture_output=True, check=False)

    assert (0, b"") == (done.returncode, done.stderr)

"""No function of a release that would be chosen is passed over by its text."""

from pathlib import Path, PurePosixPath

import pytest

from recon.detectors.registry import choices
from recon.index.choosing import choosers, masks_of
from recon.index.cuda_outline import outline_cuda
from recon.index.cuda_triage import outline_asked
from recon.index.pool import CUDA
from recon.index.records import Outline, ScopeKind
from recon.ports import Silent
from recon.sources.release import open_release
from recon.sources.store import BlobStore

pytestmark = [pytest.mark.release, pytest.mark.slow]


@pytest.mark.parametrize("release", ["vllm==0.20.1", "sglang==0.5.23"])
def test_every_function_that_the_grammar_would_choose_is_chosen(release: str, tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    chosen, asked = choosers(choices()), masks_of(choices())
    files = open_release(release, store, Silent(), compiled=False).snapshot.files

    def spans(outline: Outline) -> set[tuple[int, int]]:
        functions = (scope for scope in outline.scopes if scope.kind is ScopeKind.FUNCTION)
        return {(scope.line, scope.end_line) for scope in functions if chosen(scope.features)}

    def missed(data: bytes) -> set[tuple[int, int]]:
        """The grammar may end a function a line early, or begin it late: what it sees must lie where the text chose."""
        found = spans(outline_asked(data, asked))
        return {(line, end) for line, end in spans(outline_cuda(data)) if not any(a <= end <= b for a, b in found)}

    sources = {file.path: store.get(file.digest) for file in files if PurePosixPath(file.path).suffix in CUDA}

    assert len(sources) > 100
    assert {} == {path: lost for path, data in sources.items() if (lost := missed(data))}

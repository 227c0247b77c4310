"""The sources of a published release, unpacked on a host: read there as they are read here."""

import os
import time
from pathlib import Path

import pytest

from recon.ports import Silent
from recon.records.install import Engine, Found, Provenance
from recon.sources.capture import capture
from recon.sources.local import LocalTree
from recon.sources.release import open_release
from recon.sources.remote import RemoteTree, look
from recon.sources.store import BlobStore
from tests.sources.made import library
from tests.sources.shells import Counted, busybox, posix

pytestmark = [pytest.mark.release, pytest.mark.system("busybox")]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The sources of a release as an installer would lay them out, with a library of ours for its own."""
    store = BlobStore(Path(os.environ["RECON_TEST_CACHE"]))
    read = open_release("vllm==0.20.1", store, Silent(), compiled=False)
    root = tmp_path_factory.mktemp("site")
    for file in read.snapshot.files:
        path = root / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store.get(file.digest))
    (root / "vllm" / "_C.abi3.so").write_bytes(library(gpu_bytes=30_000_000).data)
    wheel = Provenance("wheel", "", "", "", "", "")
    return Found(Engine.VLLM, read.found.version, str(root), ("vllm",), "", wheel)


def host_named(name: str, folder: Path) -> Counted:
    return busybox(folder / "applets") if name == "busybox" else posix()


@pytest.mark.parametrize("name", ["posix", "busybox"])
def test_a_release_on_a_host_is_the_release(unpacked: Found, tmp_path: Path, name: str) -> None:
    """The same snapshot in four round trips; the next scan takes one, and no more than some hundred bytes."""
    host, store = host_named(name, tmp_path), BlobStore(tmp_path / "cache")
    here = capture(LocalTree(Path(unpacked.root), unpacked.packages), BlobStore(tmp_path / "other"), Silent())
    (tree,) = look(host, [unpacked], store)
    assert isinstance(tree, RemoteTree)
    there = tree.capture(Silent())

    assert here == there
    assert len(here.files) > 1000
    assert 4 == host.execs
    assert host.received < sum(file.size_bytes for file in here.files) / 2

    host.reset()
    started = time.monotonic()
    (again,) = look(host, [unpacked], store)
    assert isinstance(again, RemoteTree)
    same = again.capture(Silent())

    assert here == same
    assert (1, True) == (host.execs, again.unchanged)
    assert host.received + host.sent < 10_000
    assert time.monotonic() - started < 20

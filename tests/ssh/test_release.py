"""A real release on a host and in a folder: the same answer, byte for byte; a second look costs next to nothing."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from recon import pipeline
from recon.hosts.connect import Options, connect
from recon.hosts.target import parse
from recon.index.cache import OutlineCache
from recon.pipeline import ScanTargets, Settings, scan
from recon.ports import Silent
from recon.records.run import Run
from recon.sources.release import open_release
from recon.sources.store import BlobStore
from recon.targets import Access
from tests.ssh.client import home
from tests.ssh.server import Yard

pytestmark = [pytest.mark.release, pytest.mark.system("sshd", "ssh", "ssh-keygen")]

Says = Callable[[str, object], None]

RELEASE = "vllm==0.20.1"
MOST_BYTES = 200_000
MOST_S = 3.0
"""Of work of this process; what it waits for the machine is no matter of the scan."""


def unpacked(account: Path) -> Path:
    """The members of the release that a scan reads, where pip would put them; gives the site folder."""
    store = BlobStore(Path(os.environ["RECON_TEST_CACHE"]))
    read = open_release(RELEASE, store, Silent(), compiled=False)
    site = account / "venv/lib/python3.11/site-packages"
    for file in read.snapshot.files:
        path = site / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store.get(file.digest))
    name, _, version = RELEASE.partition("==")
    dist = site / f"{name}-{version}.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (account / "venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    return site


def judged(run: Run) -> bytes:
    """`jq -S '.installs[] | select(.engine=="vllm") | {verdicts, paths, source_digest}'`."""
    installs = json.loads(msgspec.json.encode(run.installs))
    chosen = [
        {key: each[key] for key in ("verdicts", "paths", "source_digest")}
        for each in installs
        if each["engine"] == "vllm"
    ]
    return json.dumps(chosen, sort_keys=True, indent=2).encode()


def heard(state: Path) -> int:
    """Bytes that hosts sent in the newest scan, as its audit file counts them."""
    newest = max((state / "audit").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    return sum(json.loads(line).get("bytes_in", 0) for line in newest.read_text().splitlines())


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Digests under which answers are kept from now on: of each file that is parsed, and each function that is read.

    The cache itself is shared with other tests, which may add to it meanwhile.
    """
    kept: list[str] = []
    put = OutlineCache.put_blob_records

    def noted(cache: OutlineCache, kind: str, version: str, rows: Iterable[tuple[str, bytes]]) -> None:
        given = list(rows)
        kept.extend(digest for digest, _ in given)
        put(cache, kind, version, given)

    monkeypatch.setattr(OutlineCache, "put_blob_records", noted)
    return kept


def answers_alike(
    yard: Yard, account: Path, site: Path, state: Path, monkeypatch: pytest.MonkeyPatch, *, compiled: bool
) -> str:
    """Scan the site folder, then the host whose account it is of, judged anew, then the host again; gives figures."""
    yard.server(environment=home(account))
    options = Options(config=yard.config(*yard.servers), batch=True)
    access = Access(lambda typed: connect(parse(typed), options))
    cache = Path(os.environ["RECON_TEST_CACHE"])
    settings = Settings(cache, state, compiled=compiled, workers=2, access=access)
    on_host = ScanTargets((), (), local=False, hosts=("gpu1",))
    here = scan(ScanTargets((str(site),), (), local=False), settings, Silent())
    parsed = counting(monkeypatch)
    monkeypatch.setattr(pipeline, "_judging_version", lambda: f"asked anew in {state}")
    there = scan(on_host, settings, Silent())
    started, worked = time.monotonic(), time.process_time()
    again = scan(on_host, settings, Silent())
    seconds, cpu_s = time.monotonic() - started, time.process_time() - worked

    assert judged(here) == judged(there)
    assert len(judged(here)) > 100_000
    assert [] == parsed
    assert judged(there) == judged(again)
    assert heard(state) <= MOST_BYTES
    assert cpu_s <= MOST_S
    return (
        f"{RELEASE} on a host: {len(judged(here)):,} bytes of JSON equal those of its folder; "
        f"scanned again: {heard(state):,} bytes in {seconds:.1f} s, {cpu_s:.1f} of them work here, nothing parsed"
    )


def test_a_host_answers_as_a_folder_does_and_a_second_scan_brings_nothing(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Says
) -> None:
    account = tmp_path / "home"

    figures = answers_alike(yard, account, unpacked(account), tmp_path / "state", monkeypatch, compiled=False)
    record_property("says", figures)


@pytest.mark.slow
def test_a_wheel_that_pip_installed_answers_alike(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Says
) -> None:
    """Whole, with its libraries and RECORD."""
    environment = tmp_path / "home/venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    pip = [sys.executable, "-m", "pip", "-q", "--python", str(environment / "bin/python")]
    subprocess.run([*pip, "install", "--no-deps", "--no-compile", RELEASE], check=True)
    (site,) = environment.glob("lib/python*/site-packages")

    figures = answers_alike(yard, tmp_path / "home", site, tmp_path / "state", monkeypatch, compiled=True)
    record_property("says", f"installed by pip: {figures}")

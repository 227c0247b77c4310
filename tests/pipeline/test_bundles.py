"""Bundles and hosts through the whole pipeline: what a folder gives, no secret in anything that is shown or kept."""

import gzip
import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from recon import pipeline
from recon.collecting import collect_script
from recon.errors import NoEngine, Unreadable
from recon.pipeline import ScanTargets, Settings
from recon.ports import Reply, Silent
from recon.records.run import Run
from recon.report.html import render
from recon.report.packed import taken_out
from recon.report.view import Source, compose
from recon.runs.files import save
from recon.targets import Access
from tests.facts.trees import make_venv
from tests.pipeline.conftest import Scan
from tests.pipeline.engines import CHAIN, WALK, tree
from tests.pipeline.test_hosts import Hosts, Reached, environment
from tests.report.opened import scripts_of, unpacked

SECRETS = {
    "user": "canary-user-a81f",
    "password": "canary-password-b72e",
    "query": "canary-query-c63d",
    "escaped": "canary-escaped-d54c",
    "pth comment": "canary-comment-e45b",
    "pth code": "canary-code-f36a",
    "pth address": "canary-address-0a27",
    "pth line": "canary-line-b1c9",
    "egg-link line": "canary-token-c2d8",
    "link .pth": "canary-link-d3e7",
    "link .egg-link": "canary-link-e4f6",
    "link INSTALLER": "canary-link-f505",
    "link METADATA": "canary-link-0614",
    "link RECORD": "canary-link-1723",
    "link direct_url.json": "canary-link-2832",
    "link version.py": "9.9.9+canary.link.3941",
    "link redirecting module": "canary-link-4a50",
    "remote": "canary-remote-1b18",
    "pip": "canary-pip-2c09",
    "netrc": "canary-netrc-3dfa",
    "dotenv": "canary-dotenv-4eeb",
    "pyvenv": "canary-pyvenv-5fdc",
    "variable HF_TOKEN": "canary-variable-60cd",
    "variable API_KEY": "canary-variable-71be",
    "variable PIP_INDEX_URL": "canary-variable-82af",
    "source hf": "hf_CanaryCanaryCanary93a0",
    "source sk": "sk-CanaryCanaryCanaryA491",
    "source aws": "AKIACANARYCANARYB582",
    "source jwt": "eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJDNjczIn0.c2lnbmF0dXJlRDc2NA",
    "source userinfo": "canary-userinfo-E855",
    "source named": "Canary-named-F946",
}
ESCAPED = r'{"url": "https:\/\/me:@\u0040host.example/s.whl"}'


def home_with_secrets(home: Path) -> Path:
    """An environment whose files hold the secrets, each where such a thing is found."""
    said = SECRETS
    source = CHAIN
    for line, secrets in (
        ("w = tl.load(want + b * n + i)", said["source hf"]),
        ("tl.store(out + b * n + i, w)", f"{said['source sk']} {said['source aws']}"),
        ("if w != tl.load(draft + b * n + i + 1):", said["source jwt"]),
        ("bad = True", f"https://me:{said['source userinfo']}@x.example password = '{said['source named']}'"),
    ):
        assert line in source
        source = source.replace(line, f"{line}  # {secrets}")
    url = f"https://{said['user']}:{said['password']}@host.example/v.whl?token={said['query']}"
    more: Mapping[str, str | bytes] = {
        "vllm/spec/accept.py": source,
        "vllm-9.8.7.dist-info/direct_url.json": json.dumps({"url": url, "archive_info": {}}),
        "sgl_kernel-1.0.dist-info/METADATA": "Name: sgl-kernel\nVersion: 1.0\n",
        "sgl_kernel-1.0.dist-info/direct_url.json": ESCAPED.replace("@", said["escaped"]),
        "sgl_kernel/__init__.py": "",
        "a.pth": f"# {said['pth comment']}\nimport os; os.environ['K'] = '{said['pth code']}'\n"
        f"https://me:{said['pth address']}@host.example/x\npassword={said['pth line']}\n",
        "b.egg-link": f"token {said['egg-link line']}\n",
        "__editable__.lmdeploy.pth": "import __editable___lmdeploy_1_finder\n",
    }
    site = environment(home, more)
    others = {
        ".pth": ("evil.pth", "-----BEGIN KEY-----\n@\n"),
        ".egg-link": ("evil.egg-link", "@\n"),
        "INSTALLER": ("sgl_kernel-1.0.dist-info/INSTALLER", "@\n"),
        "METADATA": ("lmdeploy-1.0.dist-info/METADATA", "Name: @\nVersion: @\n"),
        "RECORD": ("sgl_kernel-1.0.dist-info/RECORD", "sgl_kernel/@.py,,\n@\n"),
        "direct_url.json": ("lmdeploy-1.0.dist-info/direct_url.json", '{"url": "file:///@"}'),
        "version.py": ("sgl_kernel/version.py", "version = '@'\n"),
        "redirecting module": ("__editable___lmdeploy_1_finder.py", "MAPPING = {'lmdeploy': '/@'}\n"),
    }
    for number, (kind, (name, text)) in enumerate(others.items()):
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).symlink_to(
            tree(home.parent / "others", {f"{number}": text.replace("@", said[f"link {kind}"])}) / f"{number}"
        )
    tree(
        home,
        {
            "venv/.git/config": f'[remote "origin"]\n\turl = https://me:{said["remote"]}@host.example/x.git\n',
            ".git/config": f'[remote "origin"]\n\turl = https://me:{said["remote"]}@host.example/x.git\n',
            ".config/pip/pip.conf": f"[global]\nindex-url = https://me:{said['pip']}@host.example/simple\n",
            "venv/pip.conf": f"[global]\nindex-url = https://me:{said['pip']}@host.example/simple\n",
            ".netrc": f"machine host.example password {said['netrc']}\n",
            ".env": f"HF_TOKEN={said['dotenv']}\n",
            "venv/pyvenv.cfg": f"home = /usr/bin\nprompt = {said['pyvenv']}\n",
        },
    )
    return site


@dataclass(frozen=True)
class Overheard(Reached):
    """A host of which everything that it says is kept."""

    said: bytearray = field(default_factory=bytearray)

    def stream(self, script: str, sink: Callable[[bytes], None], *, timeout_s: float, cap_bytes: int) -> Reply:
        def both(piece: bytes) -> None:
            self.said.extend(piece)
            sink(piece)

        return super().stream(script, both, timeout_s=timeout_s, cap_bytes=cap_bytes)


def variables(home: Path) -> dict[str, str]:
    told = {name.removeprefix("variable "): value for name, value in SECRETS.items() if name.startswith("variable")}
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "VIRTUAL_ENV": str(home / "venv"), **told}


def collected(home: Path) -> Path:
    """The bundle of a home."""
    (home.parent / "collect.sh").write_text(collect_script())
    with (home.parent / "bundle").open("wb") as file:
        subprocess.run(
            ["sh", "../collect.sh", "venv"],
            stdout=file,
            cwd=home,
            env=variables(home),
            check=True,
            stderr=subprocess.PIPE,
        )
    return home.parent / "bundle"


def scanned(settings: Settings, bundle: Path) -> Run:
    return pipeline.scan(ScanTargets((), (), local=False, bundles=(str(bundle),)), settings, Silent())


def shown(run: Run, folder: Path) -> str:
    """All that people and programs get to see of a run."""
    view = compose(run, [Source("scan", "run", run)], datetime.now(UTC))
    page = render(view)
    packed = "".join(map(json.dumps, unpacked(scripts_of(page)))) + taken_out(page).decode()
    return msgspec.json.encode(run).decode() + page + packed + save(run, folder).read_text()


def test_a_bundle_gives_the_verdicts_of_the_folder(scan: Scan, settings: Settings, tmp_path: Path) -> None:
    """Standings, places, paths, edits, excerpts and the digest of the sources."""
    home = tmp_path / "home"
    environment(home)
    run = scanned(settings, collected(home))
    there = scan(home / "venv")

    def same(run: Run) -> list[object]:
        return [
            (each.engine, each.version, each.source_digest, each.verdicts, each.paths, each.edits, each.excerpts)
            for each in run.installs
            if each.location.startswith(str(home))
        ]

    assert same(there) == same(run) != []


def test_no_secret_is_shown_or_kept(settings: Settings, tmp_path: Path) -> None:
    """Run file, page and JSON of a bundle; excerpts of sources lose what looks like a credential."""
    home = tmp_path / "home"
    home_with_secrets(home)
    run = scanned(settings, collected(home))
    text = shown(run, tmp_path / "state")

    assert any("tl.store" in each.text and each.text.count("[secret]") >= 5 for each in run.installs[0].excerpts)
    assert [] == [name for name, secret in SECRETS.items() if secret in text]


def test_no_secret_is_in_a_bundle_but_in_its_sources(tmp_path: Path) -> None:
    """It is carried about, and may be read by others than those who collected it."""
    home = tmp_path / "home"
    home_with_secrets(home)
    packed = collected(home).read_bytes()
    said = gzip.decompress(packed) if packed.startswith(b"\x1f\x8b") else packed

    assert b"vllm/spec/accept.py" in said
    assert [] == [name for name, secret in SECRETS.items() if not name.startswith("source") and secret.encode() in said]


def test_no_secret_leaves_a_host_but_in_its_sources(settings: Settings, tmp_path: Path) -> None:
    """Everything that a host says to any question, and what is written down of it."""
    hosts, home = Hosts(), tmp_path / "home"
    home_with_secrets(home)
    overheard = Overheard("gpu07", environment=variables(home))
    hosts.shells["gpu07"] = overheard
    access = Access(hosts.connect)
    run = pipeline.scan(ScanTargets((), (), local=False, hosts=("gpu07",)), replace(settings, access=access), Silent())
    written = "".join(path.read_text() for path in settings.state_dir.rglob("*") if path.is_file())
    text = shown(run, tmp_path / "runs") + written

    assert run.installs
    assert [] == [name for name, secret in SECRETS.items() if secret in text]
    assert [] == [
        name for name, secret in SECRETS.items() if not name.startswith("source") and secret.encode() in overheard.said
    ]


def test_without_sources_no_blob_stays(settings: Settings, tmp_path: Path) -> None:
    """The same verdicts and cited lines; nothing of the sources in the cache, and nothing left elsewhere."""
    home = tmp_path / "home"
    environment(home, {"vllm/walk.py": WALK})
    bundle = collected(home)
    kept = scanned(settings, bundle)
    spare = replace(settings, cache_dir=tmp_path / "spare", keeps_sources=False)
    run = scanned(spare, bundle)

    assert [each.verdicts for each in kept.installs] == [each.verdicts for each in run.installs]
    assert [each.excerpts for each in kept.installs] == [each.excerpts for each in run.installs]
    assert [] == list((tmp_path / "spare").glob("blobs/*/*"))
    assert [] != list((tmp_path / "cache").glob("blobs/*/*"))


def test_a_bundle_that_was_cut_off_fails_alone(settings: Settings, tmp_path: Path) -> None:
    """By itself it is the error; among others it is an unknown of the run."""
    home = tmp_path / "home"
    environment(home)
    whole = collected(home)
    cut = tmp_path / "cut"
    cut.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(Unreadable, match="cut off"):
        scanned(settings, cut)
    run = pipeline.scan(ScanTargets((), (), local=False, bundles=(str(cut), str(whole))), settings, Silent())

    assert run.installs
    assert str(cut) in [each.where for each in run.unknowns]


def test_a_bundle_without_an_engine_says_how_to_name_an_environment(settings: Settings, tmp_path: Path) -> None:
    make_venv(tmp_path / "home" / "venv")
    with pytest.raises(NoEngine) as raised:
        scanned(settings, collected(tmp_path / "home"))

    assert "`sh collect.sh ENVIRONMENT > bundle`" in raised.value.hint


def test_progress_of_a_bundle_ends_at_its_total(settings: Settings, tmp_path: Path) -> None:
    class Counted(Silent):
        def __init__(self) -> None:
            self.tasks: list[tuple[str, int | None, int]] = []

        def start(self, task: str, total: int | None) -> None:
            self.tasks.append((task, total, 0))

        def advance(self, amount: int = 1, note: str = "") -> None:
            task, total, done = self.tasks[-1]
            self.tasks[-1] = (task, total, done + amount)

    home = tmp_path / "home"
    environment(home)
    counted = Counted()
    targets = ScanTargets((), (), local=False, bundles=(str(collected(home)),))
    pipeline.scan(targets, settings, counted)
    (task,) = [each for each in counted.tasks if each[0].startswith("unpacking")]

    assert task[1]
    assert task[1] == task[2]

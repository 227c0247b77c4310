"""What a person collects by hand is read as if the host had been asked."""

import gzip
import os
import subprocess
from pathlib import Path

import pytest

from recon.collecting import Collected, collect_script, read_bundle
from recon.errors import NotFound, ReconError, Unreadable
from recon.facts.folder import find_in_folder
from recon.ports import Silent
from recon.records.unknown import Unknown
from recon.sources.bundle import open_bundle
from recon.sources.capture import capture
from recon.sources.edits import compare_with_record
from recon.sources.local import LocalTree
from recon.sources.store import BlobStore
from tests.sources.made import library
from tests.sources.shells import busybox

SHELLS = ["posix", pytest.param("busybox", marks=pytest.mark.system("busybox"))]


@pytest.fixture(scope="module", params=SHELLS)
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An environment, and the bundle that its host wrote of it."""
    folder = tmp_path_factory.mktemp("collected")
    environment = made_environment(folder)
    program: tuple[str, ...] = ("sh",)
    path = os.defpath
    if request.param == "busybox":
        shell = busybox(folder / "applets").shell
        program, path = shell.program[:-1], shell.environment["PATH"]
    home = folder / "home"
    home.mkdir()
    told = {"PATH": path, "HOME": str(home), "UNRELATED": "canary-in-the-environment-7f3a"}
    script = folder / "collect.sh"
    script.write_text(collect_script())
    with (folder / "bundle").open("wb") as file:
        subprocess.run(
            [*program, str(script), str(environment)],
            stdout=file,
            stderr=subprocess.PIPE,
            cwd=home,
            env=told,
            check=True,
        )
    return environment, folder / "bundle"


def made_environment(folder: Path) -> Path:
    """Two engines: one as its wheel leaves it, one that a link leads to."""
    environment = folder / "en v"
    site = environment / "lib" / "python3.11" / "site-packages"
    package = site / "vllm"
    (package / "spec").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (environment / "bin").mkdir()
    (package / "__init__.py").write_text("")
    (package / "_version.py").write_text("__version__ = version = '0.99.1'\n")
    (package / "spec" / "verify.py").write_text("def verify(tree):\n    return tree\n" * 100)
    (package / "spec" / "again.py").symlink_to("verify.py")
    (package / "_C.abi3.so").write_bytes(library(gpu_bytes=3_000_000).data)
    (package / "old.so").write_bytes(b"no library")
    (package / "passwd.py").symlink_to("/etc/passwd")
    info = site / "vllm-0.99.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.99.1\n")
    (info / "INSTALLER").write_text("uv\n")
    (info / "RECORD").write_text("vllm/spec/verify.py,sha256=AAAA,9\nvllm/gone.py,sha256=AAAA,9\n")
    (info / "direct_url.json").write_text(
        '{"url": "https://me:canary-pw-1@host.example/v.whl?t=canary-2", "archive_info": {}}'
    )
    checkout = folder / "src" / "sglang" / "python" / "sglang"
    checkout.mkdir(parents=True)
    (checkout / "__init__.py").write_text("__version__ = '0.77.0'\n")
    (checkout / "eagle.py").write_text("def build_tree():\n    return 1\n")
    (site / "sglang.pth").write_text(f"import os\n# https://me:canary-pw-3@host.example\n{checkout.parent}\n")
    return environment


def read(path: Path, store: BlobStore) -> tuple[list[Collected], list[Unknown]]:
    given = list(read_bundle(path, store, Silent()))
    return (
        [each for each in given if isinstance(each, Collected)],
        [each for each in given if isinstance(each, Unknown)],
    )


def test_a_bundle_gives_what_a_path_gives(bundle: tuple[Path, Path], tmp_path: Path) -> None:
    """Installs, snapshots with their digests, and edits."""
    environment, path = bundle
    store = BlobStore(tmp_path / "cache")
    collected, _ = read(path, store)
    mine = {each.found.engine: each for each in collected if str(environment.parent) in each.found.root}
    there = find_in_folder(environment)

    assert {found.engine for found in there} == set(mine)
    for found in there:
        given = mine[found.engine]
        tree = LocalTree(Path(found.root), found.packages)
        snapshot = capture(tree, BlobStore(tmp_path / "other"), Silent())

        assert found == given.found
        assert snapshot == given.snapshot
        assert compare_with_record(found, tree) == given.edits
        assert all(store.has(file.digest) for file in snapshot.files)


def test_a_bundle_holds_no_credentials_and_no_environment(bundle: tuple[Path, Path]) -> None:
    """Addresses lose them on the host; of variables only those go along that Python looks for packages by."""
    held = gzip.decompress(bundle[1].read_bytes())

    assert b"host.example/v.whl" in held
    assert b"canary" not in held


def test_a_bundle_that_was_cut_off_is_told(bundle: tuple[Path, Path], tmp_path: Path) -> None:
    """Whether packed or not, and wherever it ends."""
    whole = bundle[1].read_bytes()
    plain = gzip.decompress(whole)
    for number, data in enumerate([whole[:-30], whole[: len(whole) // 2], plain[:-5], plain[: len(plain) // 3], b""]):
        path = tmp_path / f"cut-{number}"
        path.write_bytes(data)
        with pytest.raises(Unreadable, match=r"cut off|is no bundle"):
            open_bundle(path)


def test_a_bundle_need_not_be_packed(bundle: tuple[Path, Path], tmp_path: Path) -> None:
    """A host may have no gzip."""
    plain = tmp_path / "plain"
    plain.write_bytes(gzip.decompress(bundle[1].read_bytes()))

    assert open_bundle(bundle[1]).facts == open_bundle(plain).facts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"vllm/spec/verify.py", b"../../../../etc/xyz"),
        (b"./vllm/spec/verify.py\0", b"/tmp/evil/of/xyz.pyy\0\0"),
        (b"\tvllm", b"\t\x1b[2J"),
        (b"//f|", b"//f|99999999999999999999|"),
        (b"fact\tsites\t0", b"fact\tsites\t7"),
        (b"./vllm/_C.abi3.so 0\n", b"./vllm/_C.abi3.so 9\n"),
        (b"./vllm/_C.abi3.so 0\n", b"./vllm/_C.abi3.so " + b"9" * 5000 + b"\n"),
        (b"fact\tgpus\t0", b"fact\tgpus\t" + b"9" * 5000),
    ],
)
def test_a_hostile_bundle_gives_no_file_that_lies_outside(
    bundle: tuple[Path, Path], tmp_path: Path, old: bytes, new: bytes
) -> None:
    """Names, sizes and frames changed: it is refused with a reason, or gives less."""
    path = tmp_path / "hostile"
    plain = gzip.decompress(bundle[1].read_bytes())
    path.write_bytes(plain.replace(old, new))
    try:
        collected, _ = read(path, BlobStore(tmp_path / "cache"))
    except ReconError:  # refused as a whole
        return

    names = [file.path for each in collected for file in each.snapshot.files]
    assert [] == [name for name in names if name.startswith("/") or ".." in name or "\x1b" in name]


def test_something_else_is_no_bundle(tmp_path: Path) -> None:
    """The error says what to give."""
    (tmp_path / "x").write_bytes(b"PK\3\4" * 1000)
    with pytest.raises(Unreadable, match="is no bundle"):
        open_bundle(tmp_path / "x")
    with pytest.raises(NotFound):
        open_bundle(tmp_path / "nothing")


@pytest.mark.parametrize("shell", ["sh", pytest.param("bash", marks=pytest.mark.system("bash"))])
def test_the_plan_is_printed_and_nothing_runs(tmp_path: Path, shell: str) -> None:
    """Whoever is to run it can ask first."""
    script = tmp_path / "collect.sh"
    script.write_text(collect_script())
    said = subprocess.run([shell, str(script), "--plan"], capture_output=True, text=True, check=True)

    assert "starts no Python" in said.stdout
    assert "recon bundle" not in said.stdout
    subprocess.run([shell, "-n", str(script)], check=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bogus"], "no option is called --bogus"),
        (["/nowhere"], "there is no folder '/nowhere'"),
        ([""], "there is no folder ''"),
        (["/tmp", "/usr"], "one environment at most, not 2 words"),
        (["--plan", "/usr"], "one environment at most, not 2 words"),
    ],
)
@pytest.mark.parametrize("shell", ["sh", pytest.param("busybox", marks=pytest.mark.system("busybox"))])
def test_words_that_it_does_not_know_are_refused_and_nothing_runs(
    tmp_path: Path, shell: str, words: list[str], said: str
) -> None:
    """In one line, with the status of a wrong usage: else a bundle of another environment comes of a typing error."""
    script = tmp_path / "collect.sh"
    script.write_text(collect_script())
    program = ["busybox", "sh"] if shell == "busybox" else [shell]
    ended = subprocess.run([*program, str(script), *words], capture_output=True, text=True, check=False)

    assert (2, "") == (ended.returncode, ended.stdout)
    assert [f"collect.sh: {said}; sh collect.sh --plan says how it is run"] == ended.stderr.splitlines()

"""A folder that a user points at: its content decides what it is."""

import errno
import os
from pathlib import Path

import pytest

from recon.errors import NoEngine, NotFound, Unreadable
from recon.facts import folder as folder_module
from recon.facts.folder import find_in_folder
from recon.records.install import Engine
from tests.facts.trees import editable, make_dist, make_package, make_venv

Row = tuple[Engine, str, str, tuple[str, ...], str]


def rows(folder: Path, below: Path) -> list[Row]:
    """What is found, roots relative to a folder."""
    return [
        (one.engine, one.version, os.path.relpath(one.root, below), one.packages, one.provenance.kind)
        for one in find_in_folder(folder)
    ]


def make_project(folder: Path, text: str = "") -> Path:
    """The root of a project."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return folder


def make_sources(folder: Path, name: str = "kernel.cu") -> None:
    """A folder with one native source."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("__global__ void f() {}\n")


def test_an_unpacked_wheel(tmp_path: Path) -> None:
    """Every folder that it brings, its own package first."""
    make_package(tmp_path, "sgl_kernel", "0.4.10")
    make_package(tmp_path, "deep_gemm")
    make_dist(tmp_path, "sglang-kernel", "0.4.10", RECORD="deep_gemm/__init__.py,,\nsgl_kernel/__init__.py,,\n")

    assert [(Engine.SGLANG_KERNEL, "0.4.10", ".", ("sgl_kernel", "deep_gemm"), "wheel")] == rows(tmp_path, tmp_path)


def test_an_unpacked_wheel_of_an_engine_that_recon_does_not_know(tmp_path: Path) -> None:
    """It is judged by the same rules."""
    make_package(tmp_path, "quick_llm")
    make_dist(tmp_path, "quick-llm", "3.1", RECORD="quick_llm/__init__.py,,\n")

    assert [(Engine.OTHER, "3.1", ".", ("quick_llm",), "wheel")] == rows(tmp_path, tmp_path)


def test_a_site_packages_folder_with_engines_companions_and_an_editable(tmp_path: Path) -> None:
    """The whole environment, and nothing but what is known."""
    env = make_venv(tmp_path / "env")
    src = make_package(tmp_path / "src" / "python", "sglang", "0.5.23").parent
    make_package(env.site, "vllm", "0.20.1")
    make_package(env.site, "flashinfer", "0.7")
    make_package(env.site, "requests", "2.0")
    make_dist(env.site, "vllm", "0.20.1")
    make_dist(env.site, "requests", "2.0")
    make_dist(env.site, "sglang", "0.5.23", direct_url=editable(tmp_path / "src"))
    (env.site / "__editable__.sglang-0.5.23.pth").write_text(f"{src}\n")
    site = os.path.relpath(env.site, tmp_path)
    expected = [
        (Engine.VLLM, "0.20.1", site, ("vllm",), "wheel"),
        (Engine.SGLANG, "0.5.23", "src/python", ("sglang",), "editable"),
        (Engine.FLASHINFER, "0.7", site, ("flashinfer",), "folder"),
    ]

    assert expected == rows(env.site, tmp_path)
    assert expected == rows(env.prefix, tmp_path)
    assert {str(env.prefix)} == {one.provenance.environment for one in find_in_folder(env.site)}


def test_a_package_folder_of_an_environment_brings_its_metadata(tmp_path: Path) -> None:
    """And nothing of its neighbours."""
    env = make_venv(tmp_path / "env")
    vllm = make_package(env.site, "vllm")
    make_package(env.site, "sglang", "0.5")
    info = make_dist(env.site, "vllm", "0.20.1")
    (found,) = find_in_folder(vllm)

    assert (Engine.VLLM, "0.20.1", str(env.site), str(info)) == (
        found.engine,
        found.version,
        found.root,
        found.dist_info,
    )


def test_a_folder_inside_a_package_means_the_package(tmp_path: Path) -> None:
    """Module names are only known from the top."""
    make_package(make_package(tmp_path, "vllm", "0.20.1"), "v1")
    (found,) = find_in_folder(tmp_path / "vllm" / "v1")

    assert (str(tmp_path), ("vllm",), f"{tmp_path}/vllm/v1 lies inside it") == (
        found.root,
        found.packages,
        found.provenance.note,
    )


def test_a_vllm_checkout_brings_its_native_sources(tmp_path: Path) -> None:
    """The version is a tag, since nothing was built."""
    make_project(tmp_path, '[project]\nname = "vllm"\ndynamic = ["version"]\n')
    make_package(tmp_path, "vllm")
    make_package(tmp_path / "tests", "vllm")
    make_sources(tmp_path / "csrc")
    git = tmp_path / ".git"
    (git / "refs" / "tags").mkdir(parents=True)
    (git / "HEAD").write_text("132765e356132765e356132765e356132765e356\n")
    (git / "packed-refs").write_text(
        "# pack-refs with: peeled fully-peeled sorted\n"
        "0000000000000000000000000000000000000001 refs/tags/v0.20.1\n"
        "^132765e356132765e356132765e356132765e356\n"
        "132765e356132765e356132765e356132765e356 refs/tags/nightly\n"
        "0000000000000000000000000000000000000002 refs/tags/v0.20.2\n"
    )

    assert [(Engine.VLLM, "0.20.1", ".", ("vllm", "csrc"), "checkout")] == rows(tmp_path, tmp_path)


def test_an_sglang_checkout_holds_engine_and_kernels(tmp_path: Path) -> None:
    """Each with its own project; a folder of checkouts shows both as well."""
    repo = tmp_path / "sglang"
    (repo / ".git").mkdir(parents=True)
    make_project(repo / "python", '[project]\nname = "sglang"\nversion = "0.5.3"\n')
    make_package(repo / "python", "sglang")
    make_project(repo / "sgl-kernel", '[project]\nname = "sglang-kernel"\nversion = "0.4.1"\n')
    make_package(repo / "sgl-kernel" / "python", "sgl_kernel")
    make_sources(repo / "sgl-kernel" / "csrc")
    make_project(tmp_path / "vllm")
    make_package(tmp_path / "vllm", "vllm", "0.21.0")
    kernels = (Engine.SGLANG_KERNEL, "0.4.1", "sglang/sgl-kernel", ("python/sgl_kernel", "csrc"), "checkout")
    engine = (Engine.SGLANG, "0.5.3", "sglang/python", ("sglang",), "checkout")
    vllm = (Engine.VLLM, "0.21.0", "vllm", ("vllm",), "checkout")

    assert [engine, kernels] == rows(repo, tmp_path)
    assert [kernels] == rows(repo / "sgl-kernel", tmp_path)
    assert [kernels] == rows(repo / "sgl-kernel" / "python" / "sgl_kernel", tmp_path)
    assert [vllm, engine, kernels] == rows(tmp_path, tmp_path)


@pytest.mark.parametrize("layout", ["", "src", "python", "server"])
def test_a_checkout_of_another_engine(layout: str, tmp_path: Path) -> None:
    """Named after its package, versioned by its pyproject; its tests are not part of it."""
    make_project(tmp_path, '[project]\nname = "quick-llm"\nversion = "1.2"\n')
    make_package(tmp_path / layout, "quick_llm")
    make_package(tmp_path / layout, "another")
    make_package(tmp_path, "tests")

    assert [(Engine.OTHER, "1.2", layout or ".", ("quick_llm", "another"), "checkout")] == rows(tmp_path, tmp_path)


def test_a_package_folder_of_another_engine(tmp_path: Path) -> None:
    """With the metadata beside it, if there is any."""
    make_package(tmp_path, "quick_llm")
    without = rows(tmp_path / "quick_llm", tmp_path)
    make_dist(tmp_path, "quick-llm", "3.1")
    make_dist(tmp_path, "quick-start", "9")

    assert [(Engine.OTHER, "", ".", ("quick_llm",), "folder")] == without
    assert [(Engine.OTHER, "3.1", ".", ("quick_llm",), "wheel")] == rows(tmp_path / "quick_llm", tmp_path)


def test_a_package_that_was_named_is_where_it_is(tmp_path: Path) -> None:
    """Known engines are where Python finds them, others in the folder that was named; several share their root."""
    for name in ("vllm", "quick_llm"):
        make_package(tmp_path, name)
    inside = tmp_path / "quick_llm" / "v1"
    inside.mkdir()
    (inside / "__init__.py").write_text("")
    make_package(tmp_path / "many", "a")
    make_package(tmp_path / "many", "b")
    places = {
        path: find_in_folder(tmp_path / path)[0].location for path in ("vllm", "quick_llm", "quick_llm/v1", "many")
    }

    assert {
        "vllm": str(tmp_path),
        "quick_llm": str(tmp_path / "quick_llm"),
        "quick_llm/v1": str(tmp_path / "quick_llm"),
        "many": str(tmp_path / "many"),
    } == places


@pytest.mark.parametrize("name", ["verify.cu", "tree.cuh", "sampler.py"])
def test_loose_sources_are_something_to_look_at(name: str, tmp_path: Path) -> None:
    """Kernels alone can hold speculative decoding."""
    make_sources(tmp_path / "kernels" / "spec", name)

    assert [(Engine.OTHER, "", ".", ("kernels",), "folder")] == rows(tmp_path / "kernels", tmp_path)


def test_a_name_alone_is_no_engine(tmp_path: Path) -> None:
    """A folder called vllm without anything in it."""
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "README.md").write_text("# vllm\n")
    with pytest.raises(NoEngine, match="holds no engine") as caught:
        find_in_folder(tmp_path / "vllm")

    assert caught.value.hint.startswith("Looked for: a site-packages folder")


def test_sources_left_out_for_their_names_are_told(tmp_path: Path) -> None:
    """There is Python, and still nothing that could be reported."""
    (tmp_path / "eng").mkdir()
    (tmp_path / "eng" / "a\x1b[31m.py").write_text("")
    with pytest.raises(NoEngine) as caught:
        find_in_folder(tmp_path)

    assert "whose names hold control characters" in caught.value.hint


def test_an_environment_without_engines_is_none(tmp_path: Path) -> None:
    """Its other packages are not taken for engines; the hint says what is known."""
    env = make_venv(tmp_path / "env")
    make_package(env.site, "requests", "2.0")
    make_dist(env.site, "requests", "2.0")
    for folder in (env.prefix, env.site):
        with pytest.raises(NoEngine, match="no known engine is installed in") as caught:
            find_in_folder(folder)

        assert "vllm, sglang" in caught.value.hint


def test_a_broken_install_says_what_is_broken(tmp_path: Path) -> None:
    """There is metadata, and nothing else."""
    env = make_venv(tmp_path / "env")
    make_dist(env.site, "vllm", "0.20.1")

    with pytest.raises(NoEngine, match=r"there is metadata of vllm 0\.20\.1, and no package vllm"):
        find_in_folder(env.prefix)


@pytest.mark.parametrize("path", ["missing", "file/below", "a\0b", "~nobody-of-that-name/x"])
def test_a_path_that_does_not_exist(path: str, tmp_path: Path) -> None:
    """A usage error, whatever is odd about the name."""
    (tmp_path / "file").write_text("")

    with pytest.raises(NotFound):
        find_in_folder(path if path.startswith("~") else f"{tmp_path}/{path}")


def test_a_release_that_is_named_as_a_folder_is_told_its_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFound) as release:
        find_in_folder("vllm==0.20.1")
    with pytest.raises(NotFound) as folder:
        find_in_folder("src/vllm")

    assert release.value.hint.endswith("A published release: --release vllm==0.20.1")
    assert "--release" not in folder.value.hint


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """It exists, so it is not a usage error."""
    (tmp_path / "vllm.tar").write_text("")

    with pytest.raises(NoEngine, match="is a file"):
        find_in_folder(tmp_path / "vllm.tar")


def test_a_folder_that_cannot_be_listed_is_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may run as root, so the refusal is played."""
    real = Path.iterdir

    def refuse(self: Path) -> object:
        if self == tmp_path:
            raise PermissionError(13, "Permission denied")
        return real(self)

    monkeypatch.setattr(Path, "iterdir", refuse)

    with pytest.raises(Unreadable, match="cannot be listed: Permission denied"):
        find_in_folder(tmp_path)


def test_links_in_a_circle_and_pipes_do_no_harm(tmp_path: Path) -> None:
    """What is found below is bounded, and only regular files are opened."""
    make_project(tmp_path)
    make_package(tmp_path, "vllm")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "pyproject.toml").unlink()
    os.mkfifo(tmp_path / "pyproject.toml")
    os.mkfifo(tmp_path / "vllm" / "version.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/../../../../etc/hostname\n")

    assert [(Engine.VLLM, "", ".", ("vllm",), "checkout")] == rows(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("pyproject.toml", '[tool.poetry]\nversion = "1.4"\n', "1.4"),
        ("pyproject.toml", "not = [toml", ""),
        ("PKG-INFO", "Name: vllm\nVersion: 1.5\n\nVersion: 2\n", "1.5"),
        ("VERSION", "v1.6.0rc1\n", "1.6.0rc1"),
        ("VERSION", "see the manual of the project\n", ""),
        (".git_archival.txt", "node: 1a\ndescribe-name: v1.7-12-g1a2b3c4\n", "1.7.dev12"),
        (".git_archival.txt", "describe-name: $Format:%(describe)$\n", ""),
    ],
)
def test_versions_of_checkouts(name: str, text: str, version: str, tmp_path: Path) -> None:
    """From what stands in files; git is never started."""
    make_project(tmp_path)
    make_package(tmp_path, "vllm")
    (tmp_path / name).write_text(text)

    assert [version] == [one.version for one in find_in_folder(tmp_path)]


def test_what_the_kernel_makes_up_is_no_version(tmp_path: Path) -> None:
    """/proc/sys/kernel/osrelease looks like one; others of its kind wait for ever."""
    make_project(tmp_path)
    make_package(tmp_path, "vllm")
    (tmp_path / "VERSION").symlink_to("/proc/sys/kernel/osrelease")

    assert [""] == [one.version for one in find_in_folder(tmp_path)]


def test_the_version_of_a_branch_with_a_tag(tmp_path: Path) -> None:
    """HEAD names a branch, the branch a commit, and a loose tag the same commit."""
    make_package(tmp_path, "vllm")
    refs = tmp_path / ".git" / "refs"
    (refs / "heads").mkdir(parents=True)
    (refs / "tags").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (refs / "heads" / "main").write_text("aa" * 20 + "\n")
    (refs / "tags" / "v0.9").write_text("bb" * 20 + "\n")
    (refs / "tags" / "v1.0").write_text("aa" * 20 + "\n")

    assert ["1.0"] == [one.version for one in find_in_folder(tmp_path)]


def test_a_folder_that_may_be_listed_and_not_entered_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_package(tmp_path, "vllm")

    def refuse(folder: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder / "pyproject.toml"))

    monkeypatch.setattr(folder_module, "is_project", refuse)
    with pytest.raises(Unreadable, match=r"pyproject.toml cannot be read: Permission denied"):
        find_in_folder(tmp_path)


def test_a_current_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(NotFound, match="is gone"):
        find_in_folder("x")

"""One rule picks one wheel, whatever machine recon runs on, and a miss names what comes near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.errors import NotFound, Usage
from recon.sources.choose import choose, wanted_of
from recon.sources.simple import IndexFile

RELEASES = [
    ("vllm==0.6.6.post1", "vllm-0.6.6.post1-cp38-abi3-manylinux1_x86_64.whl"),
    ("vllm==0.11.0", "vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl"),
    ("vllm==0.20.1", "vllm-0.20.1-1-cp38-abi3-manylinux_2_35_x86_64.whl"),
    ("vllm==0.33.0", "vllm-0.33.0-cp38-abi3-manylinux_2_28_x86_64.whl"),
    ("sglang==0.3.6", "sglang-0.3.6-py3-none-any.whl"),
    ("sglang==0.4.6.post5", "sglang-0.4.6.post5-py3-none-any.whl"),
    ("sglang==0.5.23", "sglang-0.5.23-cp312-cp312-manylinux_2_34_x86_64.whl"),
    ("sgl-kernel==0.3.21", "sgl_kernel-0.3.21-cp310-abi3-manylinux2014_x86_64.whl"),
    ("sglang-kernel==0.4.10", "sglang_kernel-0.4.10-cp310-abi3-manylinux2014_x86_64.whl"),
    ("flashinfer-python==0.7.2.post1", "flashinfer_python-0.7.2.post1-py3-none-any.whl"),
]
BESIDE = [
    "vllm-0.11.0-cp38-abi3-manylinux2014_aarch64.whl",
    "vllm-0.20.1-1-cp38-abi3-manylinux_2_35_aarch64.whl",
    "vllm-0.20.1-cp38-abi3-manylinux_2_35_x86_64.whl",
    "vllm-0.20.1.tar.gz",
    "vllm-0.33.0-cp38-abi3-manylinux_2_28_aarch64.whl",
    "sglang-0.5.23-cp311-cp311-manylinux_2_34_x86_64.whl",
    "sglang-0.5.23-cp312-cp312-manylinux_2_34_aarch64.whl",
    "sglang-0.5.23-cp313-cp313-manylinux_2_34_x86_64.whl",
    "sgl_kernel-0.3.21-cp310-abi3-manylinux2014_aarch64.whl",
    "flashinfer_python-0.7.2.post1.tar.gz",
]
"""What stands beside them in the index."""


def listed(*names: str, yanked: tuple[str, ...] = ()) -> list[IndexFile]:
    return [IndexFile(name, "file:///" + name, "", None, yanked=name in yanked) for name in names]


def picked(requirement: str, *names: str, yanked: tuple[str, ...] = ()) -> str:
    return choose(wanted_of(requirement), listed(*names, yanked=yanked))[1].name


@pytest.mark.parametrize(("requirement", "name"), RELEASES)
@given(data=st.data())
def test_the_known_releases_are_the_known_files(requirement: str, name: str, data: st.DataObject) -> None:
    project = name.partition("-")[0]
    names = [other for other in (*BESIDE, *(file for _, file in RELEASES)) if other.partition("-")[0] == project]
    names = data.draw(st.permutations(names))

    assert name == picked(requirement, *names)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("a-1-cp312-cp312-manylinux_2_17_x86_64.whl", "a-1-cp310-abi3-manylinux_2_34_x86_64.whl"),
        ("a-1-cp310-abi3-manylinux_2_34_x86_64.whl", "a-1-cp310-abi3-manylinux_2_28_x86_64.whl"),
        ("a-1-cp310-abi3-manylinux_2_28_x86_64.whl", "a-1-cp310-abi3-manylinux2014_x86_64.whl"),
        ("a-1-cp310-abi3-manylinux2014_x86_64.whl", "a-1-cp310-abi3-manylinux1_x86_64.whl"),
        ("a-1-cp310-abi3-manylinux1_x86_64.whl", "a-1-py3-none-any.whl"),
        ("a-1-py3-none-manylinux2014_x86_64.whl", "a-1-py3-none-any.whl"),
        ("a-1-10-py3-none-any.whl", "a-1-9-py3-none-any.whl"),
        ("a-1-1-py3-none-any.whl", "a-1-py3-none-any.whl"),
        ("a-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "a-1-py3-none-any.whl"),
        ("a-1.post1-py3-none-any.whl", "a-1-cp312-cp312-manylinux_2_34_x86_64.whl"),
    ],
)
def test_the_better_of_two(better: str, worse: str) -> None:
    assert better == picked("a", better, worse)
    assert better == picked("a", worse, better)


@pytest.mark.parametrize(
    "name",
    [
        "a-1-cp313-cp313-manylinux_2_34_x86_64.whl",
        "a-1-cp311-cp311-manylinux_2_34_x86_64.whl",
        "a-1-cp312-cp312-musllinux_1_2_x86_64.whl",
        "a-1-cp312-cp312-manylinux_2_34_aarch64.whl",
        "a-1-cp312-cp312-macosx_14_0_arm64.whl",
        "a-1-cp312-cp312-win_amd64.whl",
        "a-1.tar.gz",
        "a-not a version-py3-none-any.whl",
        "a.whl",
    ],
)
def test_what_does_not_run_there_is_not_picked(name: str) -> None:
    with pytest.raises(NotFound):
        picked("a", name)


def test_withdrawn_files_count_where_their_version_was_named() -> None:
    names = ("a-1-py3-none-any.whl", "a-2-py3-none-any.whl")

    assert names[0] == picked("a", *names, yanked=names[1:])
    assert names[1] == picked("a==2", *names, yanked=names[1:])


def test_pre_releases_count_where_they_are_named_or_nothing_else_fits() -> None:
    names = ("a-1-py3-none-any.whl", "a-2rc1-py3-none-any.whl")

    assert names[0] == picked("a", *names)
    assert names[1] == picked("a==2rc1", *names)
    assert names[1] == picked("a", names[1])


def test_a_version_that_does_not_exist_names_its_neighbours() -> None:
    names = [f"a-0.{minor}.0-py3-none-any.whl" for minor in range(1, 9)]

    with pytest.raises(NotFound, match=r"there is no a==0\.4\.7") as caught:
        picked("a==0.4.7", *names)
    assert caught.value.hint == "the nearest that have wheels are 0.3.0, 0.4.0, 0.5.0, 0.6.0"


def test_a_version_without_a_wheel_is_told_from_one_that_does_not_exist() -> None:
    with pytest.raises(NotFound, match=r"a==2 has no wheel for CPython 3\.12"):
        picked("a==2", "a-2.tar.gz", "a-1-py3-none-any.whl")


def test_a_project_that_does_not_exist_names_one_that_sounds_like_it() -> None:
    with pytest.raises(NotFound, match="no package index knows sglangg") as caught:
        choose(wanted_of("sglangg==1"), [])
    assert "sglang" in caught.value.hint


@pytest.mark.parametrize("text", ["", "vllm=1", "vllm @ http://index.example/a.whl", "../vllm", "vllm==", "a b"])
def test_what_is_no_release_is_a_mistake_of_usage(text: str) -> None:
    with pytest.raises(Usage):
        wanted_of(text)


@pytest.mark.parametrize(
    ("text", "pinned"),
    [
        ("vllm==0.20.1", "0.20.1"),
        ("VLLM[x]==0.20.1", "0.20.1"),
        ("vllm", ""),
        ("vllm==0.20.*", ""),
        ("vllm==1,!=2", ""),
    ],
)
def test_only_one_exact_version_is_a_pin(text: str, pinned: str) -> None:
    assert ("vllm", pinned) == (wanted_of(text).project, wanted_of(text).pinned)

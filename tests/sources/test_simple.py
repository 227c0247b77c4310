"""Both forms of the simple API, folders of wheels, and several indexes at once."""

import json
from pathlib import Path

import pytest

from recon.errors import Unreachable
from recon.sources.pip_config import PackageIndexes
from recon.sources.simple import IndexFile, files_of, listing_of
from recon.sources.web import Client, Page
from tests.sources.made import Site, serving

JSON = "application/vnd.pypi.simple.v1+json"
HASH = "a" * 64


def page(body: bytes | str, media_type: str) -> list[IndexFile]:
    data = body if isinstance(body, bytes) else body.encode()
    return list(files_of(Page(data, media_type, "http://index.example/simple/vllm/")))


def test_json_lists_files_with_hash_size_and_withdrawal() -> None:
    files = [
        {"filename": "vllm-1-py3-none-any.whl", "url": "../../f/vllm-1.whl", "hashes": {"sha256": HASH}, "size": 5},
        {"filename": "vllm-2-py3-none-any.whl", "url": "http://files.example/2.whl", "hashes": {}, "yanked": "broken"},
        {
            "filename": "vllm-3.tar.gz",
            "url": "3",
            "hashes": {"sha256": "../x"},
            "size": None,
            "yanked": False,
            "extra": 1,
        },
    ]

    assert [
        IndexFile("vllm-1-py3-none-any.whl", "http://index.example/f/vllm-1.whl", HASH, 5, yanked=False),
        IndexFile("vllm-2-py3-none-any.whl", "http://files.example/2.whl", "", None, yanked=True),
        IndexFile("vllm-3.tar.gz", "http://index.example/simple/vllm/3", "", None, yanked=False),
    ] == page(json.dumps({"meta": {"api-version": "1.1"}, "name": "vllm", "files": files}), JSON)


def test_html_lists_the_same() -> None:
    text = f"""<!DOCTYPE html><html><head><base href="/other/"></head><body>
    <a href="f/vllm-1%2Bcu12-py3-none-any.whl#sha256={HASH.upper()}" data-requires-python="&gt;=3.9">vllm</a>
    <A HREF='http://files.example/vllm-2-py3-none-any.whl#md5=00' data-yanked>x</A> <a name="x">no link</a>"""

    assert [
        IndexFile(
            "vllm-1+cu12-py3-none-any.whl",
            "http://index.example/other/f/vllm-1%2Bcu12-py3-none-any.whl",
            HASH,
            None,
            yanked=False,
        ),
        IndexFile("vllm-2-py3-none-any.whl", "http://files.example/vllm-2-py3-none-any.whl", "", None, yanked=True),
    ] == page(text, "text/html")


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        ("{", JSON),
        ("[]", JSON),
        ('{"files": [{"filename": 3}]}', JSON),
        (b'{"files": [{"filename": "\xff"}]}', JSON),
        ("hello", "text/plain"),
        ("", ""),
    ],
)
def test_what_is_no_index_is_said(body: str | bytes, media_type: str) -> None:
    with pytest.raises(Unreachable, match=r"index\.example answered"):
        page(body, media_type)


def test_addresses_of_files_are_not_shown() -> None:
    assert "token" not in repr(IndexFile("a.whl", "http://x/token/a.whl", "", None, yanked=False))


def listing(*urls: str, find_links: tuple[str, ...] = (), project: str = "sgl_kernel") -> dict[str, str]:
    indexes = PackageIndexes(urls, find_links)
    found = listing_of(project, indexes, Client(indexes, sleep=lambda _: None))
    if found.silent and not found.files:
        raise found.silent
    return {file.name: file.url for file in found.files}


def test_the_first_place_that_has_a_file_wins_and_others_projects_are_left_out(tmp_path: Path) -> None:
    mine = tmp_path / "sgl_kernel-1-py3-none-any.whl"
    for path in (mine, tmp_path / "torch-1-py3-none-any.whl"):
        path.write_bytes(b"")
    body = b'<a href="sgl_kernel-1-py3-none-any.whl"></a><a href="sgl_kernel-2-py3-none-any.whl"></a>'
    with serving(Site(files={"/simple/sgl-kernel/": (body, "text/html")})) as site:
        found = listing(site.url + "/simple/", find_links=(str(tmp_path),))

        assert {
            "sgl_kernel-1-py3-none-any.whl": mine.as_uri(),
            "sgl_kernel-2-py3-none-any.whl": site.url + "/simple/sgl-kernel/sgl_kernel-2-py3-none-any.whl",
        } == found


def test_an_index_in_a_folder_is_a_page_or_a_listing(tmp_path: Path) -> None:
    (tmp_path / "a" / "sgl-kernel").mkdir(parents=True)
    (tmp_path / "a" / "sgl-kernel" / "index.html").write_text('<a href="../../f/sgl_kernel-1-py3-none-any.whl">x</a>')
    (tmp_path / "b" / "sgl-kernel").mkdir(parents=True)
    (tmp_path / "b" / "sgl-kernel" / "sgl_kernel-2-py3-none-any.whl").write_bytes(b"")

    found = listing((tmp_path / "a").as_uri(), str(tmp_path / "b"), (tmp_path / "missing").as_uri())

    assert {
        "sgl_kernel-1-py3-none-any.whl": (tmp_path / "f" / "sgl_kernel-1-py3-none-any.whl").as_uri(),
        "sgl_kernel-2-py3-none-any.whl": (tmp_path / "b" / "sgl-kernel" / "sgl_kernel-2-py3-none-any.whl").as_uri(),
    } == found


def test_a_project_that_no_index_has_has_no_files() -> None:
    with serving(Site()) as site:
        assert {} == listing(site.url)


def test_one_index_that_is_silent_does_not_hide_what_another_has(tmp_path: Path) -> None:
    (tmp_path / "sgl_kernel-1-py3-none-any.whl").write_bytes(b"")

    assert ["sgl_kernel-1-py3-none-any.whl"] == list(listing("http://127.0.0.1:9", find_links=(str(tmp_path),)))
    with pytest.raises(Unreachable, match="did not answer"):
        listing("http://127.0.0.1:9")

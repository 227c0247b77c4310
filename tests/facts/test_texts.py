"""Texts of strangers are read and never run."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.facts.secrets import HIDDEN
from recon.facts.texts import direct_url_in, pth_lines, redact, redirects_in, version_in

SCIKIT = """
def install(known_source_files, known_wheel_files, path=None): ...
install({'sgl_kernel': '/src/python/sgl_kernel/__init__.py', 'sgl_kernel.ops': '/src/python/sgl_kernel/ops.py'},
    {'sgl_kernel.common_ops': 'sgl_kernel/common_ops.abi3.so'}, None)
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "MAPPING: dict[str, str] = {'vllm': '/src/vllm'}\nNAMESPACES: dict[str, list[str]] = {}\n",
            {"vllm": "/src/vllm"},
        ),
        ("MAPPING = {'vllm': '/src/vllm', 'vllm.v1': '/x', 'rel': 'src'}", {"vllm": "/src/vllm"}),
        (SCIKIT, {"sgl_kernel": "/src/python/sgl_kernel"}),
        ("F.install()\nF.map_module('vllm', '/src/vllm/__init__.py')", {"vllm": "/src/vllm"}),
        ("MAPPING = dict(vllm=open('/tmp/x'))", {}),
        ("MAPPING = {'vllm': __import__('os').sep, **x, 3: '/y'}", {}),
        ("def f():\n    MAPPING = {'vllm': '/src/vllm'}", {}),
        ("MAPPING = {'vllm': '/src", {}),
        ("(" * 5000, {}),
        ("MAPPING = {'vllm': '/s\\d'}", {"vllm": "/s\\d"}),
    ],
)
def test_redirects_are_read_from_literals_alone(source: str, expected: dict[str, str]) -> None:
    """Three build backends; everything computed is left out."""
    assert expected == redirects_in(source)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["__version__ = version = '0.20.1'"], "0.20.1"),
        (["version: str", 'version: str = "0.5.3.post1+cu129"'], "0.5.3.post1+cu129"),
        (["__version__ = get()", "__version__ = '1.0'"], "1.0"),
        (["__version__ = '" + "1" * 200 + "'"], ""),
        (["__version__ = '<script>'"], ""),
        (["version = 3"], ""),
        ([], ""),
    ],
)
def test_versions_are_literal_and_look_like_versions(lines: list[str], expected: str) -> None:
    """What a file computes is not known."""
    assert expected == version_in(lines)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://user:pw@host:8080/a/x.whl", "https://host:8080/a/x.whl"),
        ("https://user:p@w@host/x", "https://host/x"),
        ("git+ssh://git@host/org/repo.git", "git+ssh://host/org/repo.git"),
        ("https://host/x.whl?X-Amz-Signature=abc#sha256=1", "https://host/x.whl"),
        ("file:///src/my%20vllm", "file:///src/my%20vllm"),
        ("https://[host/x", ""),
        ("https://user:p/w@host/x", f"https://{HIDDEN}@host/x"),
        ("https://user:p?w@host/x?token=1", f"https://{HIDDEN}@host/x"),
        ("https://user:p#w@host/x", f"https://{HIDDEN}@host/x"),
        ("https://user:p@w/x@host/y", f"https://{HIDDEN}@host/y"),
        ("https://host/@scope/x.whl", f"https://{HIDDEN}@scope/x.whl"),
        ("file:///src/a@b", "file:///src/a@b"),
        ("file:///src/http://me:pw@host/x", f"file://{HIDDEN}@host/x"),
        ("me:pw@host/x", ""),
    ],
)
def test_urls_lose_what_is_secret(url: str, expected: str) -> None:
    """User, password, query, fragment."""
    assert expected == redact(url)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["https", "git+ssh", "git+file", "s3"]))
def test_no_character_of_a_password_survives(password: str, scheme: str) -> None:
    """Whatever stands in it; and what was told once is told again."""
    told = redact(f"{scheme}://me:{password}@host/x?y#z")

    assert told in {f"{scheme}://host/x", f"{scheme}://{HIDDEN}@host/x"}
    assert told == redact(told)


def test_a_direct_url_is_read_whole() -> None:
    """Editable, archive digest in both spellings, commit."""
    editable = direct_url_in('{"url": "file:///src/my%20vllm", "dir_info": {"editable": true}}')
    digest = "ab" * 32
    archive = direct_url_in(json.dumps({"url": "https://h/x.whl", "archive_info": {"hash": f"sha256={digest}"}}))
    modern = direct_url_in(json.dumps({"url": "https://h/x.whl", "archive_info": {"hashes": {"sha256": digest}}}))
    commit = direct_url_in(json.dumps({"url": "https://h/r", "vcs_info": {"vcs": "git", "commit_id": "132765e35"}}))

    assert editable is not None
    assert archive is not None
    assert modern is not None
    assert commit is not None
    assert (True, "/src/my vllm") == (editable.editable, editable.folder)
    assert (digest, digest, "") == (archive.sha256, modern.sha256, archive.folder)
    assert "132765e35" == commit.commit


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner) | st.lists(inner)
    )
)
def test_any_json_is_a_direct_url_or_none(told: object) -> None:
    """Nothing that a file holds can stop a scan."""
    found = direct_url_in(json.dumps({"url": "x", "dir_info": told, "archive_info": told, "vcs_info": told}))

    assert found is not None
    assert direct_url_in(json.dumps(told)) is None or isinstance(told, dict)


def test_a_pth_is_read_as_site_reads_it() -> None:
    """Comments and empty lines do not count; a byte order mark does not hide the first line."""
    assert ["/src", "import x; x.y()", "lib"] == list(pth_lines("\ufeff/src  \n# /no\n\n  \nimport x; x.y()\nlib"))

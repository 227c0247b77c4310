"""Texts that machines hand over, read as text alone: nothing of them is imported or executed."""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from recon.facts.secrets import HIDDEN

VERSION_NAMES = frozenset({"__version__", "version", "VERSION"})
VERSION_LINE = re.compile(r"(__version__|version|VERSION)\b.*=")
"""At the start of a line: an assignment that stands in a block is a fallback, not the version."""
VERSION_FILES = ("_version.py", "version.py", "_build_meta.py", "__init__.py")
"""Where packages say their version, the surest place first."""

VALUE_CHARACTERS = 200

INSTALLER = r"[A-Za-z0-9._+-]{1,40}( [0-9][A-Za-z0-9._+-]{0,20})?"
"""Regular expression of sh's grep and of Python for what may stand in an INSTALLER: a name, and a version behind it."""

REDIRECTS = re.compile(r"\b(__editable___\w+_finder|_editable_(?:impl|skbc)_\w+|_\w+_editable)\b")
"""Modules by which build backends redirect imports: of setuptools, of hatch, of scikit-build-core."""


_ENDS_HOST, _ENDS_PATH = re.compile(r"[/?#]"), re.compile(r"[?#]")

_REDIRECTING = re.compile(r"__editable__|_editable_|\w+_editable$")


@dataclass(frozen=True, slots=True)
class DirectUrl:
    """What the installer wrote about where a distribution came from."""

    url: str
    """Without credentials, query and fragment."""
    editable: bool
    sha256: str
    """Of the archive; '' if there is none."""
    commit: str

    @property
    def folder(self) -> str:
        """The local folder that the URL names; '' if it names none."""
        return unquote(urlsplit(self.url).path) if self.url.startswith("file:") else ""


def direct_url_in(text: str) -> DirectUrl | None:
    """Read a direct_url.json; None where it is none.

    >>> direct_url_in('{"url": "https://me:pw@host/x.whl?token=1", "archive_info": {}}').url
    'https://host/x.whl'
    """
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("url"), str):
        return None
    archive, source = _mapping(told.get("archive_info")), _mapping(told.get("vcs_info"))
    digest = _mapping(archive.get("hashes")).get("sha256", archive.get("hash"))
    sha256 = re.fullmatch(r"(?:sha256=)?([0-9a-f]{64})", digest if isinstance(digest, str) else "")
    commit = source.get("commit_id")
    return DirectUrl(
        mended(redact(told["url"])),
        editable=_mapping(told.get("dir_info")).get("editable") is True,
        sha256=sha256[1] if sha256 else "",
        commit=commit if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{7,64}", commit) else "",
    )


def redact(url: str) -> str:
    """A URL without its user, password, query and fragment; '' where it cannot be taken apart.

    A password may hold any character, also those that end a host: all up to the last `@` goes. Where that may have been
    part of a path, what is left says that something was there. The host does the same before it tells of a URL: see
    `sites`.

    >>> redact("https://me:pw@host/x?token=1"), redact("https://me:p/w@host/x"), redact("file:///src/a@b")
    ('https://host/x', 'https://[secret]@host/x', 'file:///src/a@b')
    """
    url = url.replace("\\", "%5C").replace('"', "%22")
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "" if "@" in url else _ENDS_PATH.split(url, maxsplit=1)[0]
    told, _, place = rest.rpartition("@")
    if scheme.endswith("file") and rest.startswith("/") and "://" not in rest:
        told, place = "", rest
    elif told == HIDDEN or _ENDS_HOST.search(told):
        return f"{scheme}://{HIDDEN}@{_ENDS_PATH.split(place, maxsplit=1)[0]}"
    bare = f"{scheme}://{_ENDS_PATH.split(place, maxsplit=1)[0]}"
    try:
        urlsplit(bare)
    except ValueError:
        return ""
    return bare


def version_in(lines: Sequence[str]) -> str:
    """The version that lines of `_version.py` and its like assign; '' if none does.

    >>> version_in(["__version__: str", "__version__ = version = '0.20.1'"])
    '0.20.1'
    """
    for line in lines:
        for statement in _statements(line):
            if (value := _assigned(statement, VERSION_NAMES)) is None:
                continue
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and is_version(value.value):
                return value.value
    return ""


def is_version(text: str) -> bool:
    """Whether a text looks like a version: short, and made of what versions are made of."""
    return re.fullmatch(r"v?\d[\w.+!-]{0,80}", text) is not None


def is_plain(name: str) -> bool:
    """Whether a file name can stand in records and reports: it is UTF-8, and nothing in it acts on a terminal.

    Control characters do, of either set, and marks that turn the direction of text or end a line.
    """
    return name.isprintable()


def mended(text: str) -> str:
    r"""A text with a mark in the place of what no name may hold.

    >>> mended("a\x1b[2J\x9b\u202e")
    'a�[2J��'
    """
    return text if text.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in text)


def cleaned(value: str) -> str:
    """A short value of a stranger, fit for records and reports."""
    return mended(value.strip()[:VALUE_CHARACTERS])


def pth_lines(text: str) -> Iterator[str]:
    """The lines of a `.pth` that are not empty and not comments, as `site` reads them."""
    for line in text.removeprefix("\ufeff").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.rstrip()


def installer_in(line: str) -> str:
    """The program that installed a distribution, as INSTALLER names it; '' where that is no name.

    >>> installer_in("Poetry 1.8.2 "), installer_in("root:$6$salt$hash:19000::")
    ('Poetry 1.8.2', '')
    """
    name = line.strip(" ")
    return name if re.fullmatch(INSTALLER, name) else ""


def told_of_pth(text: str, is_folder: Callable[[str], bool]) -> str:
    r"""What a host tells of a `.pth`: folders, and of lines of code the names of redirecting modules.

    >>> text = "# token=x\nimport os, _x_editable; os.environ['K'] = 'v'\n/src/x\npassword=y\n"
    >>> told_of_pth(text, lambda line: line == "/src/x")
    'import _x_editable\n/src/x'
    """
    told = []
    for line in (each.rstrip(" ") for each in text.removeprefix("\ufeff").split("\n")):
        names = [word for word in re.findall(r"\w+", line, re.ASCII) if _REDIRECTING.match(word)]
        if line.startswith("import "):
            told += [" ".join(("import", *names))] if names else []
        elif line and not line.startswith("#") and "://" not in line and is_folder(line):
            told.append(line)
    return "\n".join(told)


def runs_code(pth_line: str) -> bool:
    """Whether Python would execute a line of a `.pth`; recon only looks for the names in it."""
    return pth_line.startswith(("import ", "import\t"))


def redirects_in(source: str) -> dict[str, str]:
    """Package to folder, as the text of a redirecting module has it; empty where it cannot be read.

    setuptools assigns a dict to MAPPING, scikit-build-core passes one to `install`, hatch calls `map_module`.
    """
    mapping: dict[str, str] = {}
    for statement in _statements(source):
        value = _assigned(statement, frozenset({"MAPPING"}))
        if value is not None:
            mapping.update(_dict_in(value))
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            mapping.update(_mapped_by(statement.value))
    return {name: path for name, path in mapping.items() if "." not in name and path.startswith("/")}


def _mapped_by(call: ast.Call) -> dict[str, str]:
    """What one call of a redirecting module maps; `__init__.py` stands for its folder."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name == "install" and call.args:
        found = _dict_in(call.args[0])
    elif name == "map_module" and len(call.args) == 2:
        found = _dict_in(ast.Dict([call.args[0]], [call.args[1]]))
    else:
        return {}
    tail = "/__init__.py"
    return {key: path.removesuffix(tail) for key, path in found.items() if path.endswith(tail)}


def _dict_in(node: ast.expr) -> dict[str, str]:
    """A literal dict of texts; what is not text is left out."""
    if not isinstance(node, ast.Dict):
        return {}
    pairs = zip(node.keys, node.values, strict=True)
    return {
        key.value: value.value
        for key, value in pairs
        if isinstance(key, ast.Constant)
        and isinstance(value, ast.Constant)
        and isinstance(key.value, str)
        and isinstance(value.value, str)
    }


def _assigned(statement: ast.stmt, names: frozenset[str]) -> ast.expr | None:
    """The value that a statement assigns to one of the names."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            targets = [target]
        case _:
            return None
    return value if any(isinstance(target, ast.Name) and target.id in names for target in targets) else None


def _statements(source: str) -> list[ast.stmt]:
    """The statements of a text at module level; none where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in somebody else's text
            return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}

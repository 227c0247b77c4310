"""Which package indexes this user's pip would ask, and how: read from pip's own configuration, never guessed.

Addresses and what they may carry (user names, passwords, tokens) stay out of `repr`, so that no log shows them.
"""

import ast
import configparser
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from recon.errors import Unreachable
from recon.sources.store import digest_of

_LINE = re.compile(r"(?P<section>:env:|[\w-]+)\.\.?(?P<key>[\w-]+)=(?P<value>.*)")
_DEFAULT = re.compile(r"\(default (?P<url>[a-z]+://[^\s)]+)\)")
_SECTIONS = ("global", "install", ":env:")
"""What `pip install` goes by; a later section wins."""
_TIMEOUT_S = 30.0
_TRUE = ("1", "true", "yes", "on", "y", "t")


@dataclass(frozen=True, slots=True)
class PackageIndexes:
    """Where releases are looked for."""

    urls: tuple[str, ...] = field(repr=False)
    """Simple indexes, in pip's order; may hold credentials."""
    find_links: tuple[str, ...] = field(repr=False)
    """Folders and pages with links to wheels; may hold credentials."""
    cert: str = ""
    """File or folder of certificate authorities; '' for the system's."""
    client_cert: str = ""
    proxy: str = field(default="", repr=False)
    trusted_hosts: tuple[str, ...] = ()
    """`host` or `host:port` whose certificate pip would not check."""
    timeout_s: float = _TIMEOUT_S

    @property
    def digest(self) -> str:
        """Tells one set of indexes from another without showing either."""
        return digest_of("\n".join([*self.urls, "", *self.find_links]).encode())


def package_indexes(environ: Mapping[str, str] | None = None, python: str = sys.executable) -> PackageIndexes:
    """What `pip install` would ask, in this environment.

    Args:
        environ: The environment's variables; None for this process's own.
        python: Interpreter whose pip is asked. Where it has none, pip's documented files and variables are read here.

    Raises:
        Unreachable: no index is configured, and there is no pip to name its own.
    """
    variables = dict(os.environ if environ is None else environ)
    options = _ask_pip(variables, python)
    asked = options is not None
    if options is None:
        options = read_files(variables)
    urls = [*_words(options, "index-url")[:1], *_words(options, "extra-index-url")]
    if _flag(options, "no-index"):
        urls = []
    elif "index-url" not in options:
        default = _default_index(variables, python) if asked else ""
        urls = [default, *urls] if default else urls
    find_links = _words(options, "find-links")
    if not urls and not find_links:
        raise Unreachable("no package index is configured", "set PIP_INDEX_URL, or name a wheel file instead")
    return PackageIndexes(
        urls=tuple(urls),
        find_links=tuple(find_links),
        cert=options.get("cert") or variables.get("REQUESTS_CA_BUNDLE", "") or variables.get("CURL_CA_BUNDLE", ""),
        client_cert=options.get("client-cert", ""),
        proxy=options.get("proxy", ""),
        trusted_hosts=tuple(_words(options, "trusted-host")),
        timeout_s=_seconds(options.get("timeout", options.get("default-timeout", ""))),
    )


def configuration_mark(environ: Mapping[str, str] | None = None) -> str:
    """Tells one configuration of pip from another, without starting pip, which takes a second."""
    options = read_files(os.environ if environ is None else environ)
    places = [f"{key}={options.get(key, '')}" for key in ("index-url", "extra-index-url", "no-index", "find-links")]
    return digest_of("\n".join(places).encode("utf-8", "surrogateescape"))


def parse_config_list(text: str) -> dict[str, str]:
    r"""Options out of what `pip config list` prints; a variable wins over a file, `install` over `global`.

    >>> parse_config_list(":env:.cert='/b'\nglobal.cert='/a'\nglobal.find-links='x\\ny'")
    {'cert': '/b', 'find-links': 'x\ny'}
    """
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or match["section"] not in found:
            continue
        try:
            value = ast.literal_eval(match["value"])
        except (ValueError, SyntaxError):
            continue
        found[match["section"]][match["key"]] = str(value)
    return {key: value for section in _SECTIONS for key, value in found[section].items()}


def read_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Options out of pip's documented files and variables, for a Python that has no pip."""
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for path in _files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                found[section].update({key.replace("_", "-"): value for key, value in parser.items(section)})
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            found[":env:"][name[4:].lower().replace("_", "-")] = value
    return {key: value for section in _SECTIONS for key, value in found[section].items()}


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Configuration files of pip, the weakest first."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:  # pip's way to say: no files at all
        return
    home = Path(environ.get("HOME", "") or Path.home())
    for folder in reversed((environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)):
        yield Path(folder, "pip", "pip.conf")
    yield Path("/etc/pip.conf")
    if sys.platform == "darwin":
        yield Path("/Library/Application Support/pip/pip.conf")
    yield home / ".pip" / "pip.conf"
    if sys.platform == "darwin":
        yield home / "Library" / "Application Support" / "pip" / "pip.conf"
    yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf")
    yield Path(sys.prefix, "pip.conf")
    if named:
        yield Path(named)


def _ask_pip(environ: dict[str, str], python: str) -> dict[str, str] | None:
    """What pip says of its configuration; None where there is no pip, or where it cannot say."""
    if python == sys.executable and find_spec("pip") is None:
        return None
    text = _pip(["config", "list"], environ, python)
    return None if text is None else parse_config_list(text)


def _default_index(environ: dict[str, str], python: str) -> str:
    """The index that pip itself falls back to, as its help names it; '' if the help does not."""
    text = _pip(["install", "--help"], {**environ, "COLUMNS": "400"}, python) or ""
    for line in text.splitlines():
        if "--index-url" in line and (match := _DEFAULT.search(line)):
            return match["url"]
    return ""


def _pip(arguments: list[str], environ: dict[str, str], python: str) -> str | None:
    command = [python, "-P", "-m", "pip", "--disable-pip-version-check", "--no-color", *arguments]  # -P: not ./pip.py
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _words(options: Mapping[str, str], key: str) -> list[str]:
    return options.get(key, "").split()


def _flag(options: Mapping[str, str], key: str) -> bool:
    return options.get(key, "").lower() in _TRUE


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return _TIMEOUT_S
    return value if 0 < value < 3600 else _TIMEOUT_S

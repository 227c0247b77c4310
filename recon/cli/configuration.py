"""Configuration: defaults, below the user's file, below that of the project, below the environment; options come first.

    user's file      recon.toml in the user's configuration folder
    project's file   recon.toml in the current folder, or the file that --config or RECON_CONFIG names

The file of a project may demand (`policy`) and speak of verdicts. It moves no folder and reaches no host; and where it
lies in a tree that is judged, it belongs to that tree and is not read at all, unless it was named.
"""

import os
import stat
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from recon.cli.keys import FILE, KEYS, WORDS, Key, key_of
from recon.cli.session import config_dir, path_of
from recon.errors import NotFound, Unreadable, Usage
from recon.records.verdict import OwnWord, Standing
from recon.verdicts.own_words import Said

DEFAULT = "default"
"""Origin of what nobody set."""
MOST_BYTES = 1 << 20
LONGEST_WORD = 4096
"""Characters of a text in a word on a verdict: it stands on one line of each answer that it is about."""
_ABOUT = ("engine", "version", "host", "source")
_NEEDED = ("capability", "standing", "reason")

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a key is set to."""

    key: Key
    value: Value
    origin: str
    """DEFAULT, the path of a file, or the variable of the environment."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """All keys, and the users' own words on verdicts."""

    settings: tuple[Setting, ...]
    words: tuple[Said, ...]
    """Of the user's file, then of the project's."""
    passed_over: Path | None = None
    """A file of a project that was not read, since it lies in a tree that is judged."""

    def of(self, name: str) -> Setting:
        """What the key of that name is set to."""
        return next(each for each in self.settings if each.key.name == name)


def configured(named: str = "", trees: Iterable[Path] = (), *, project: bool = True) -> Configuration:
    """What is configured, here and now.

    Args:
        named: The project's file, as --config names it; '' for RECON_CONFIG, or that of the current folder.
        trees: Folders that are judged.
        project: Whether the project's file counts.

    Raises:
        Usage: a file is no TOML, or holds what is no configuration.
        NotFound: there is no file of that name.
        Unreadable: one cannot be read.
    """
    found = {key.name: Setting(key, key.default, DEFAULT) for key in KEYS}
    words: list[Said] = []
    user = config_dir() / FILE
    path, passed_over = _project(named, trees) if project else (None, None)
    for file, is_project in ((user, False), (path, True)):
        if file is not None and os.path.lexists(file):
            settings, said = _read(file, is_project=is_project)
            found |= {each.key.name: each for each in settings}
            words += said
    found |= {each.key.name: each for each in _from_environment()}
    return Configuration(tuple(found.values()), tuple(words), passed_over)


def folder_of(name: str) -> str:
    """The folder that a key of the user's file names; '' where it names none.

    Raises:
        Usage, Unreadable: as `configured`.
    """
    file = config_dir() / FILE
    settings = _read(file, is_project=False)[0] if os.path.lexists(file) else ()
    return next((str(each.value) for each in settings if each.key.name == name), "")


def defaults_of(configuration: Configuration) -> dict[str, dict[str, Value]]:
    """What options of commands default to, by command and parameter, as far as it is configured."""
    table: dict[str, dict[str, Value]] = {}
    for each in configuration.settings:
        for command in each.key.commands if each.origin != DEFAULT else ():
            table.setdefault(command, {})[each.key.parameter] = each.value
    return table


def _project(named: str, trees: Iterable[Path]) -> tuple[Path | None, Path | None]:
    """The file of the project, and one that is none of it."""
    if named := named or os.environ.get("RECON_CONFIG", ""):
        path = path_of(named)
        if not path.exists():
            raise NotFound(f"there is no file {path}", "Name a file of configuration with --config or RECON_CONFIG.")
        return path, None
    path = Path.cwd() / FILE
    if not os.path.lexists(path):
        return None, None
    here, there = (Path(os.path.realpath(each)) for each in (path.parent, path))  # links in a circle are told later
    lies_in = {here, *here.parents, *there.parents}
    return (None, path) if any(Path(os.path.realpath(tree)) in lies_in for tree in trees) else (path, None)


def _read(file: Path, *, is_project: bool) -> tuple[tuple[Setting, ...], tuple[Said, ...]]:
    """The settings of a file, and the users' words in it."""
    try:
        table = tomllib.loads(_text_of(file))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise Usage(f"{file} is no TOML: {error}") from error
    said = tuple(_words(file, table.pop(WORDS, [])))
    settings = tuple(_settings(file, _flat(table)))
    for each in settings if is_project else ():
        if not each.key.in_project:
            raise Usage(
                f"{file}: {each.key.name} cannot be set by a project",
                f"Set it in {config_dir() / FILE}, by {each.key.variable}, or where there is one by an option.",
            )
    return settings, said


def _text_of(file: Path) -> str:
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:  # a pipe must not make us wait
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise Unreadable(f"{file} is no regular file", "Configuration is read from files of TOML.")
            content = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"cannot read {file}: {error.strerror or error}") from error
    if len(content) > MOST_BYTES:
        raise Unreadable(f"{file} is larger than {MOST_BYTES} bytes", "That is no configuration of recon.")
    return content.decode()


def _flat(table: dict[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{each}", one) for each, one in value.items())
        else:
            yield name, value


def _settings(file: Path, items: Iterable[tuple[str, object]]) -> Iterator[Setting]:
    for name, value in items:
        key = key_of(name)
        if key is None:
            raise Usage(f"{file}: there is no key {name!r}", _nearest(name, [*(each.name for each in KEYS), WORDS]))
        taken = _as(key, value)
        if type(taken) is not type(key.default):
            raise Usage(f"{file}: {name} is {value!r}, which is no {_TYPES[type(key.default)]}")
        yield Setting(key, _checked(key, taken, str(file)), str(file))


def _as(key: Key, value: object) -> object:
    """A value of TOML as a key holds it, where it is of its type."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    return float(value) if isinstance(key.default, float) and type(value) is int else value


_TYPES: dict[type, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    tuple: "list of texts",
}


def _from_environment() -> Iterator[Setting]:
    for key in KEYS:
        told = os.environ.get(key.variable)
        if told is None or (told == "" and not isinstance(key.default, tuple)):
            continue
        yield Setting(key, _checked(key, _converted(key, told), key.variable), key.variable)


def _converted(key: Key, told: str) -> Value:
    try:
        match key.default:
            case bool():
                return {"true": True, "1": True, "false": False, "0": False}[told.lower()]
            case int() | float():
                return type(key.default)(told)
            case tuple():
                return tuple(told.split())
            case _:
                return told
    except (ValueError, KeyError):
        raise Usage(f"{key.variable} is {told!r}, which is no {_TYPES[type(key.default)]}") from None


def _checked(key: Key, value: Value, origin: str) -> Value:
    if key.choices and value not in key.choices:
        raise Usage(f"{origin}: {key.name} is {value!r}", f"It is one of {', '.join(key.choices)}.")
    if key.least is not None and isinstance(value, int | float) and not key.least <= value < float("inf"):
        raise Usage(f"{origin}: {key.name} is {value}", f"It is {key.least:g} or more.")
    if key.name.endswith("-dir") and value and not str(value).startswith(("/", "~")) and origin != key.variable:
        raise Usage(f"{origin}: {key.name} is {value!r}", "It is a whole path, or begins with ~.")
    return value


def _words(file: Path, tables: object) -> Iterator[Said]:
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise Usage(f"{file}: {WORDS} is no list of tables", f"Each begins with a line [[{WORDS}]].")
    for number, table in enumerate(tables, 1):
        yield _word(f"{file}: {WORDS} {number}", table, str(file))


def _word(where: str, table: dict[str, object], origin: str) -> Said:
    for name, value in table.items():
        if name not in (*_NEEDED, *_ABOUT):
            raise Usage(f"{where}: there is no key {name!r}", _nearest(name, [*_NEEDED, *_ABOUT]))
        if not isinstance(value, str) or not value.strip():
            raise Usage(f"{where}: {name} is {value!r}, which is no text")
        if len(value) > LONGEST_WORD:
            raise Usage(f"{where}: {name} has {len(value):,} characters", f"At most {LONGEST_WORD:,} are kept.")
    texts = {name: str(value) for name, value in table.items()}
    if missing := [name for name in _NEEDED if name not in texts]:
        raise Usage(f"{where} has no {missing[0]}", f"Each needs {', '.join(_NEEDED)}.")
    standings = [each.value for each in Standing]
    if texts["standing"] not in standings:
        raise Usage(f"{where}: {texts['standing']!r} is no standing", _nearest(texts["standing"], standings))
    word = OwnWord(Standing(texts["standing"]), " ".join(texts["reason"].split()), origin)
    return Said(texts["capability"], word, **{name: texts[name] for name in _ABOUT if name in texts})


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}."


def with_option(configuration: Configuration, name: str, value: Value) -> Configuration:
    """The configuration with what an option of the command line said."""
    settings = (
        replace(each, value=value, origin=f"option --{name}") if each.key.name == name else each
        for each in configuration.settings
    )
    return replace(configuration, settings=tuple(settings))

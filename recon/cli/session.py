"""What one invocation was told about its surroundings: colour, noise, folders. And the only place that prints."""

import errno
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TextIO

import typer

from recon.cli.keys import FILE
from recon.errors import NotFound, Unreadable

WIDEST = 160
"""Columns beyond which a screen is not made wider: lines that long are not read."""


class Color(Enum):
    """Whether to colour what is printed."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class ProgressMode(Enum):
    """How to say how far long work is, on standard error."""

    AUTO = "auto"
    PLAIN = "plain"
    JSON = "json"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Session:
    """The global options, and the streams that they are about."""

    color: Color = Color.AUTO
    progress: ProgressMode = ProgressMode.AUTO
    quiet: bool = False
    verbose: bool = False
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    config: str = ""
    """The file of a project's configuration that was named; '' for the one of the current folder."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """Keys of configuration that options before the command set, with their values."""

    @property
    def colored(self) -> bool:
        """Whether standard output gets escape sequences; NO_COLOR and FORCE_COLOR speak where --color is auto."""
        if self.color is not Color.AUTO:
            return self.color is Color.ALWAYS
        if os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR"):
            return True
        return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def screen(self) -> bool:
        """Whether a person looks at standard output: a terminal, or a pager that was promised colour."""
        return sys.stdout.isatty() or self.colored

    @property
    def width(self) -> int:
        """Columns of the screen."""
        return min(shutil.get_terminal_size((100, 24)).columns, WIDEST)

    def data(self, text: str) -> None:
        """Write what was asked for to standard output; a reader who went away is no error.

        JSON holds names as they are, and a terminal would obey some of them: there they are escaped, as JSON may be.
        """
        write(sys.stdout, _ACTING.sub(_escaped, text) if sys.stdout.isatty() else text)

    def note(self, text: str) -> None:
        """Say something about the work on standard error, unless quiet."""
        if not self.quiet:
            write(sys.stderr, _safe(text))

    def detail(self, text: str) -> None:
        """Say something on standard error that only --verbose asks for."""
        if self.verbose:
            write(sys.stderr, _safe(text))


_ACTING = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""What a terminal obeys though no colour needs it; texts that are no JSON hold none."""


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _safe(text: str) -> str:
    """A note in its lines: what trees and run files say in it shows, and does not act."""
    from recon.report.text import visible  # not before there is something to say

    return visible(f"{text}\n", keep="\n")


def write(stream: TextIO, text: str) -> None:
    """Write and flush; after a failure the stream leads nowhere, and nothing complains at the end.

    Raises:
        Unreadable: standard output cannot be written, though somebody reads it: a full disk.
    """
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        lead_nowhere(stream)
    except OSError as error:
        lead_nowhere(stream)
        if stream is sys.stdout:  # what was asked for is lost; a note is only a note
            raise Unreadable(f"cannot write to standard output: {error.strerror or error}") from error


def open_streams() -> None:
    """Lead the standard streams that are closed nowhere, so that no file opened later takes their numbers."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode))


def path_of(words: str) -> Path:
    """A path that the user names, `~` being a home folder; whether anything lies there is not asked.

    Raises:
        NotFound: there is no such home folder, or nothing can be called so.
    """
    try:
        path = Path(words).expanduser()
    except RuntimeError as error:
        raise NotFound(f"{words} is no path: {error}") from error
    try:
        os.lstat(path)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            why = getattr(error, "strerror", None) or error
            raise NotFound(f"{words} is no path: {why}") from error
    return path


def lead_nowhere(stream: TextIO) -> None:
    """Let what a stream still holds, and all that follows, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def session_of(context: typer.Context) -> Session:
    """The session of a command."""
    found = context.find_object(Session)
    return found if found is not None else Session()


def cache_dir() -> Path:
    """Where blobs and outlines are kept: RECON_CACHE_DIR, else `cache-dir`, else the user's cache folder."""
    return _folder("RECON_CACHE_DIR", "user_cache_path", "cache-dir")


def state_dir() -> Path:
    """Where runs are kept: RECON_STATE_DIR, else `state-dir`, else the user's state folder."""
    return _folder("RECON_STATE_DIR", "user_state_path", "state-dir")


def config_dir() -> Path:
    """Where the user's configuration and own features lie: RECON_CONFIG_DIR, else the user's configuration folder."""
    return _folder("RECON_CONFIG_DIR", "user_config_path")


def _folder(variable: str, function: str, key: str = "") -> Path:
    """The folder that a variable names, else a key of the user's configuration, else the platform."""
    named = os.environ.get(variable)
    if not named and key and os.path.lexists(config_dir() / FILE):
        from recon.cli.configuration import folder_of

        named = folder_of(key)
    if named:
        return path_of(named).absolute()
    import platformdirs

    return Path(getattr(platformdirs, function)("recon"))

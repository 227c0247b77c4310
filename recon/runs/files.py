"""Run files: saved once, never changed, found again by kind and host.

A file is named `<utc>-<host>-<kind>-<6 hex>.json`, so that a listing needs no file opened. It may hold host names
and paths, hence mode 0600. What is read back is untrusted: it may come from elsewhere, or be half of a file.
"""

import hashlib
import os
import re
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import msgspec

from recon.errors import NotFound, Unreadable
from recon.folders import make_private
from recon.records.run import SCHEMA_VERSION, Run
from recon.records.unknown import REST, TARGET
from recon.runs.bounds import beyond, within
from recon.runs.upgrades import STEPS, Steps, upgraded

MAX_BYTES = 256 * 1024 * 1024
"""A run file larger than this is not ours: a scan of ten trees takes about 2 MB."""

_NAME = re.compile(r"(?P<started>\d{8}T\d{6}Z)-(?P<host>[A-Za-z0-9._+-]+)-(?P<kind>[a-z]+)-[0-9a-f]{6}\.json")
_HOST_CHARACTERS = 48
_LISTED = "`recon runs list` shows the saved runs."
_NEVER_REPAIRED = "Scan again; a run file is never repaired."


@dataclass(frozen=True, slots=True)
class Saved:
    """A run file, as its name describes it."""

    path: Path
    started: str
    """UTC, e.g. `20261130T101500Z`."""
    host: str
    kind: str
    """`scan`, `probe` or `estimate`."""
    size_bytes: int


class _Head(msgspec.Struct):
    schema_version: int


def kind_of(run: Run) -> str:
    """`probe` for a run that measured and scanned nothing, `estimate` for one that weighed alone, else `scan`."""
    if not run.installs and not run.measurements and any(each.outlooks for each in run.estimates):
        return "estimate"
    if not run.installs and (run.measurements or any(word.startswith("probe") for word in run.command)):
        return "probe"
    return "scan"


def host_in_name(host: str) -> str:
    """A host as file names of runs tell it.

    >>> host_in_name("me@gpu07:22")
    'me_gpu07_22'
    """
    return re.sub(r"[^A-Za-z0-9._+-]+", "_", host)[:_HOST_CHARACTERS].strip("-_.") or "host"


def name_of(run: Run, content: bytes) -> str:
    """File name of a run; equal content gives an equal name."""
    host = host_in_name(run.hosts[0].name if run.hosts else "nohost")
    if len(run.hosts) > 1:
        host += f"+{len(run.hosts) - 1}"
    started = re.sub(r"[^0-9TZ]", "", run.started_at.partition(".")[0].replace("+00:00", "Z"))
    started = started if started.endswith("Z") else f"{started}Z"
    if not re.fullmatch(r"\d{8}T\d{6}Z", started):
        started = "00000000T000000Z"
    digest = hashlib.blake2b(content, digest_size=3).hexdigest()
    return f"{started}-{host}-{kind_of(run)}-{digest}.json"


def encode(run: Run) -> bytes:
    r"""JSON of a run, indented so that people and `diff` can read it.

    A path may hold bytes that are no UTF-8; they are written as `\xNN`, since JSON cannot hold them. Texts that `load`
    would refuse are cut.
    """
    run = within(run)
    try:
        packed = msgspec.json.encode(run)
    except UnicodeEncodeError:
        packed = msgspec.json.encode(_without_surrogates(msgspec.to_builtins(run)))
    return msgspec.json.format(packed, indent=1) + b"\n"


def save(run: Run, state_dir: Path) -> Path:
    """Write a run below the state folder: whole or not at all, readable by its owner alone.

    Raises:
        Unreadable: the folder cannot be written.
    """
    content = encode(run)
    path = folder(state_dir) / name_of(run, content)
    try:
        make_private(path.parent)
        write_atomically(path, content)
    except OSError as error:
        raise _unsaved(path.parent, error) from error
    return path


def refuse_unwritable(state_dir: Path) -> None:
    """Refuse a state folder in which no run can be saved, before minutes of a GPU are spent on one.

    Raises:
        Unreadable: a file cannot be made there.
    """
    try:
        make_private(folder(state_dir))
        with tempfile.TemporaryFile(dir=folder(state_dir), prefix=".recon-"):
            pass
    except OSError as error:
        raise _unsaved(folder(state_dir), error) from error


def _unsaved(folder: Path, error: OSError) -> Unreadable:
    return Unreadable(
        f"cannot save the run in {folder}: {error.strerror or error}",
        "Set RECON_STATE_DIR to a folder that you may write.",
    )


def write_atomically(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file in one step, so that no reader ever sees half of it.

    Raises:
        OSError: the folder cannot be written.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".recon-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def write_named(path: Path, content: bytes) -> None:
    """Write to a path that the user named, whatever lies there.

    A file is replaced in one step and keeps its mode; through a link, the file that it leads to is. What is no regular
    file, a pipe or a device, is opened and written into.

    Raises:
        OSError: it cannot be written.
    """
    real = Path(os.path.realpath(path))
    try:
        status = path.stat()
    except FileNotFoundError:
        write_atomically(real, content, 0o644)
        return
    if stat.S_ISREG(status.st_mode) and real.exists() and real.samefile(path):
        write_atomically(real, content, stat.S_IMODE(status.st_mode))
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOCTTY), "wb") as file:
        file.write(content)


def load(path: Path, steps: Steps = STEPS) -> Run:
    """Read a run file; one of an older schema version is brought up to date in memory.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is no run file, is damaged, or was written by a newer recon.
    """
    return decoded(bytes_of(path), path, steps)


def decoded(content: bytes, path: Path, steps: Steps = STEPS) -> Run:
    """The run in some bytes.

    Args:
        content: Of a run file.
        path: Where they come from, for errors.
        steps: How older schema versions are brought up to date.

    Raises:
        Unreadable: as `load`.
    """
    try:
        version = msgspec.json.decode(content, type=_Head).schema_version
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(f"{path} is not a run file: {error}", _LISTED) from error
    if version > SCHEMA_VERSION:
        raise Unreadable(
            f"{path} has schema version {version}; this recon reads up to {SCHEMA_VERSION}",
            "It was written by a newer recon: upgrade this one.",
        )
    try:
        if version == SCHEMA_VERSION:
            run = msgspec.json.decode(content, type=Run)
        else:
            run = msgspec.convert(upgraded(msgspec.json.decode(content), version, steps), type=Run)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unlike(path, error) from error
    if why := beyond(run):
        raise Unreadable(f"{path} holds what no run file does: {why}", _NEVER_REPAIRED)
    return run


def _unlike(path: Path, error: Exception) -> Unreadable:
    """What is said of a file that is not as this recon writes it: whether it is whole, and merely of another recon."""
    if isinstance(error, msgspec.ValidationError):
        why = f"{path} was written by another version of recon, or changed: {error}"
        return Unreadable(why, "Scan again with this one; what it writes from now on stays readable.")
    return Unreadable(f"{path} is damaged: {error}", _NEVER_REPAIRED)


INTERRUPTED = "interrupted"
"""Said of a run that does not hold all that was asked for."""
UNREADABLE = "unreadable"
"""Said of a run file that this recon cannot answer from, whatever it lacks."""


@dataclass(frozen=True, slots=True)
class Gist:
    """What is to be said of a saved run in a list."""

    flaw: str
    """INTERRUPTED, UNREADABLE, or '' of a whole one."""
    why: str
    installs: tuple[str, ...] = ()
    """Their ids."""


def gist(path: Path) -> Gist:
    """What a saved run holds, and what it lacks."""
    try:
        run = load(path)
    except (NotFound, Unreadable) as error:
        return Gist(UNREADABLE, error.message)
    return Gist("" if run.complete else INTERRUPTED, shortfall(run), tuple(each.id for each in run.installs))


def shortfall(run: Run) -> str:
    """Why a run does not hold all that was asked for; empty where it does, or does not say."""
    causes = [each for each in run.unknowns if each.what in {REST, TARGET}] if not run.complete else []
    return "; ".join(each.why if each.what == REST else f"{each.where}: {each.why}" for each in causes)


def folder(state_dir: Path) -> Path:
    """Where run files lie."""
    return state_dir / "runs"


def listing(state_dir: Path) -> tuple[Saved, ...]:
    """The saved runs, newest first; other files of the folder are left out.

    Raises:
        Unreadable: the folder exists and cannot be listed.
    """
    found: list[tuple[str, int, Saved]] = []
    try:
        for entry in os.scandir(folder(state_dir)):
            match = _NAME.fullmatch(entry.name)
            if match is None or not entry.is_file(follow_symlinks=False):
                continue
            status = entry.stat(follow_symlinks=False)
            saved = Saved(Path(entry.path), match["started"], match["host"], match["kind"], status.st_size)
            found.append((saved.started, status.st_mtime_ns, saved))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise Unreadable(f"cannot list {folder(state_dir)}: {error.strerror or error}") from error
    return tuple(saved for *_, saved in sorted(found, key=lambda item: (item[0], item[1], item[2].path), reverse=True))


def newest(
    state_dir: Path,
    kind: str,
    host_id: str = "",
    gpu_uuids: frozenset[str] = frozenset(),
    *,
    option: str = "--run",
    timed: bool = False,
    unread: list[Saved] | None = None,
) -> Path | None:
    """The newest run of a kind; with a host id or GPU UUIDs, only a run of that machine counts.

    Runs that learned nothing, since they were stopped or all that was named failed, do not stand in the way of a good
    one. A file that cannot be read does: what it held is not known, and an older run may be of another tree.

    Args:
        state_dir: The state folder.
        kind: `scan`, `probe` or `estimate`.
        host_id: Of the machine; '' for any.
        gpu_uuids: Of the machine.
        option: The option that names another run, for the hint.
        timed: Whether only a run counts that holds times.
        unread: Takes files that may be the newest one and cannot be read; with it, an older one is found beyond them.

    Raises:
        Unreadable: a run that may be the newest one cannot be read, and `unread` was not given.
    """
    for saved in listing(state_dir):
        if saved.kind != kind:
            continue
        try:
            run = load(saved.path)
        except NotFound:  # removed since it was listed
            continue
        except Unreadable as error:
            if unread is not None:
                unread.append(saved)
                continue
            raise Unreadable(
                f"the newest {kind} cannot be read: {error.message}",
                f"Name another run of `recon runs list` with {option}, or remove this one: "
                f"recon runs rm {saved.path.name}",
            ) from error
        if not (is_timed(run) if timed else run.installs or run.measurements or kind == "estimate"):
            continue
        if not host_id and not gpu_uuids:
            return saved.path
        if any(host.id == host_id or gpu_uuids & {gpu.uuid for gpu in host.gpus} for host in run.hosts):
            return saved.path
    return None


def is_timed(run: Run) -> bool:
    """Whether a run holds times, which only a GPU gives."""
    return any(each.spread is not None for each in run.measurements)


def resolve(name: str, state_dir: Path) -> Path:
    """Path of a run that the user names: a file, or the name (or its unique part) of a saved run.

    Raises:
        NotFound: nothing is called so, or several are.
    """
    path = Path(os.path.expanduser(name))  # noqa: PTH111  # leaves the home of nobody as it is written
    try:
        if path.is_file() or ("/" in name and path.exists()):  # what else lies there is told when it is read
            return path
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror or error}") from error
    return saved_as(name, state_dir)


def saved_as(name: str, state_dir: Path) -> Path:
    """Path of the saved run of that name, or of which it is a unique part; never another file.

    Raises:
        NotFound: nothing is called so, or several are.
    """
    names = [saved.path.name for saved in listing(state_dir)]
    matches = [each for each in names if name in each] if name else []
    if len(matches) == 1 or name in matches:
        return folder(state_dir) / (name if name in matches else matches[0])
    if matches:
        raise NotFound(f"{len(matches)} saved runs match {name!r}", f"The newest is {matches[0]}.")
    near = get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]}?" if near else _LISTED
    raise NotFound(f"no run file {name!r}", hint)


def remove(path: Path) -> None:
    """Delete one saved run.

    Raises:
        NotFound: it is gone already.
        Unreadable: it may not be deleted.
    """
    try:
        path.unlink()
    except FileNotFoundError as error:
        raise NotFound(f"no run file {path}") from error
    except OSError as error:
        raise Unreadable(f"cannot delete {path}: {error.strerror or error}") from error


def bytes_of(path: Path, what: str = "run file") -> bytes:
    """All of a file that may come from anywhere: a regular one, and no larger than a run file may be.

    Raises:
        NotFound: there is no such file.
        Unreadable: it is none, is too large, or cannot be read.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # a named pipe must not make us wait
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable(f"{path} is {_kind(os.fstat(file.fileno()).st_mode)}, not a {what}", _LISTED)
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(f"no {what} {path}", _LISTED) from error
    except IsADirectoryError as error:
        raise Unreadable(f"{path} is a folder, not a {what}", _LISTED) from error
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise Unreadable(f"{path} is larger than {MAX_BYTES} bytes", f"That is no {what} of recon.")
    return content


def _kind(mode: int) -> str:
    """What something is that is no regular file.

    >>> _kind(stat.S_IFDIR), _kind(stat.S_IFIFO)
    ('a folder', 'a named pipe')
    """
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _without_surrogates(value: object) -> object:
    match value:
        case str():
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case list() | tuple():
            return [_without_surrogates(item) for item in value]
        case _:
            return value

"""Hosts on the command line: how they are reached, and what they would be asked to run."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from recon.cli.session import path_of
from recon.errors import NotFound, Usage

if TYPE_CHECKING:
    import typer

    from recon.asking import Plan
    from recon.targets import Access


class Transport(Enum):
    """What carries SSH."""

    AUTO = "auto"
    PARAMIKO = "paramiko"
    OPENSSH = "openssh"


@dataclass(frozen=True, slots=True)
class Ways:
    """The options about hosts, as they were typed."""

    transport: Transport = Transport.AUTO
    accept_new: bool = False
    ssh_config: str = ""
    batch: bool = False
    host_timeout_s: float = 300.0
    max_load: float = 0.0
    environments: tuple[str, ...] = ()


def is_typed(context: "typer.Context", name: str) -> bool:
    """Whether a parameter was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_idle(context: "typer.Context", names: Collection[str], why: str, hint: str) -> None:
    """Refuse options that were typed and would do nothing.

    Args:
        context: Of the command.
        names: The parameters.
        why: How the sentence goes on behind the option.
        hint: What to do.

    Raises:
        Usage: one of them was typed.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in names and is_typed(context, name):
            typed = next((each for each in parameter.opts if each.startswith("--")), "PATH")
            raise Usage(f"{typed} {why}", hint)


def refuse_empty(context: "typer.Context") -> None:
    """Refuse options that were typed with an empty value: a variable of a shell that was not set stands behind them.

    Raises:
        Usage: there is one.
    """
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        empty = value == "" or (isinstance(value, list | tuple) and "" in value)
        if empty and is_typed(context, parameter.name or ""):
            typed = next((each for each in parameter.opts if each.startswith("--")), parameter.human_readable_name)
            raise Usage(f"{typed} is given nothing", "Leave it out, or name something. Is a variable not set?")


def config_of(typed: str) -> Path | None:
    """The configuration of ssh that was named; None for the usual one.

    Raises:
        NotFound: there is no such file.
    """
    config = path_of(typed) if typed else None
    if config is not None and not config.is_file():
        raise NotFound(f"there is no file {config}", "Name the configuration of ssh with --ssh-config FILE.")
    return config


def environments_of(typed: tuple[str, ...]) -> tuple[str, ...]:
    """The environments that were named, on whatever host.

    Raises:
        Usage: one is no folder that a host could know by this name.
    """
    for each in typed:
        if not each.startswith("/") or not each.isprintable():
            raise Usage(f"--environment {each!r} is no whole path", "For example: --environment /srv/envs/serve")
    return tuple(each.rstrip("/") or "/" for each in typed)


def access_of(hosts: tuple[str, ...], ways: Ways) -> "Access | None":
    """How hosts are reached; None where there is none.

    Raises:
        Usage: a word names no host.
        NotFound: there is no such configuration.
    """
    if not hosts:
        return None
    from recon.hosts.connect import CONNECT_S, Options, connect
    from recon.hosts.target import parse
    from recon.targets import Access

    for host in hosts:  # before the first of them is reached
        parse(host)
    environments = environments_of(ways.environments)
    options = Options(
        transport=ways.transport.value,
        accept_new=ways.accept_new,
        config=config_of(ways.ssh_config),
        batch=ways.batch,
        connect_timeout_s=min(CONNECT_S, ways.host_timeout_s),
    )
    return Access(
        lambda typed: connect(parse(typed), options),
        budget_s=ways.host_timeout_s,
        max_load=ways.max_load,
        environments=environments,
    )


def planned(hosts: tuple[str, ...], ways: Ways, *, as_json: bool) -> str:
    """Every command that hosts would be asked to run, for a person or as JSON.

    Raises:
        Usage: no host is named, or a word names none.
        NotFound: there is no such configuration.
    """
    from recon.asking import plan
    from recon.hosts.target import parse

    if not hosts:
        raise Usage("--plan says what a host would be asked, and none is named", "For example: --host gpu07 --plan")
    for host in hosts:
        parse(host)
    config_of(ways.ssh_config)
    made = plan(load=bool(ways.max_load), environments=environments_of(ways.environments))
    return _json(made) if as_json else _text(made, hosts)


def _json(made: "Plan") -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n"


def _text(made: "Plan", hosts: tuple[str, ...]) -> str:
    from recon.report.text import visible

    parts = [
        f"Each of {', '.join(map(visible, hosts))} would be asked to run this command line and no other:",
        f"    {made.line}",
        "with these scripts on its standard input, one after the other, over one connection. Nothing was run yet.",
        f"Plan {made.digest}. {made.note}",
        f"=== around each script (@SCRIPT@)\n{made.wrapper}",
        f"=== before each script\n{made.prelude}",
    ]
    parts += [f"=== {number}. {step.what}\n{step.script}" for number, step in enumerate(made.steps, 1)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)

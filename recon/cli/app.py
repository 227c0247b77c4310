"""The command `recon`: its commands, its global options, and its door.

Nothing heavy is imported here nor by the command modules when they load: `recon --version` and `--help` are typed
often, and completion runs them at every key.
"""

import os
import sys
from inspect import cleandoc
from typing import Annotated

import typer

from recon import __version__
from recon.cli import (
    cache,
    callgraph,
    collect,
    config,
    diff,
    doctor,
    estimate,
    explain,
    find,
    gap,
    mcp,
    new,
    paths,
    probe_kernels,
    report,
    runs,
    scan,
    schema,
    show,
    trace,
)
from recon.cli.hosts import is_typed
from recon.cli.keys import FILE, KEYS
from recon.cli.outcome import ended
from recon.cli.session import Color, ProgressMode, Session, config_dir, open_streams, write

app = typer.Typer(
    name="recon",
    help=(
        "Does the vLLM or SGLang tree on this machine verify draft trees, and would that pay on this GPU?\n\n"
        "Results go to standard output; progress, notes and errors go to standard error.\n\n"
        "Exit codes: 0 done, 1 a policy failed, 2 usage, or something named does not exist, 3 incomplete, 4 a fault of"
        " recon, 130 interrupted and saved."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(asked: bool) -> None:
    """Print the version and leave, where `--version` stands among other words.

    Raises:
        typer.Exit: if it was asked for.
    """
    if asked:
        write(sys.stdout, _version(as_json=False))
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    *,
    color: Annotated[
        Color, typer.Option("--color", help="Colour; auto heeds NO_COLOR, FORCE_COLOR and whether it is a terminal.")
    ] = Color.AUTO,
    progress: Annotated[
        ProgressMode, typer.Option("--progress", help="How to say on standard error how far work is.")
    ] = ProgressMode.AUTO,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress and no notes, only errors.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="More notes, and tracebacks of faults.")] = False,
    named: Annotated[
        str,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Read this configuration of a project, not recon.toml in the current folder.",
        ),
    ] = "",
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version; with --json, more of it."
        ),
    ] = False,
) -> None:
    """Keep the global options for the command."""
    del version  # spoken of before anything else
    words = {"color": color.value, "progress": progress.value}
    typed = {name: word for name, word in words.items() if is_typed(context, name)}
    if any(key.variable in os.environ for key in KEYS) or os.path.lexists(config_dir() / FILE):
        from recon.cli.configuration import configured, defaults_of  # what reads TOML loads where there is any

        found = configured(project=False)
        context.default_map = defaults_of(found)
        words = {name: typed.get(name, str(found.of(name).value)) for name in words}
    context.obj = Session(
        color=Color(words["color"]),
        progress=ProgressMode(words["progress"]),
        quiet=quiet,
        verbose=verbose,
        config=named,
        typed=typed,
    )


app.command("scan")(scan.scan)
app.command("probe-kernels")(probe_kernels.probe_kernels)
app.command("report")(report.report)
app.command("show")(show.show)
app.command("explain")(explain.explain)
app.command("find")(find.find)
app.command("paths")(paths.paths)
app.command("gap")(gap.gap)
app.command("callgraph")(callgraph.callgraph)
app.command("diff")(diff.diff)
app.command("estimate")(estimate.estimate)
app.command("collect")(collect.collect)
app.add_typer(trace.app, name="trace")
app.add_typer(runs.app, name="runs")
app.add_typer(new.app, name="new")
app.add_typer(cache.app, name="cache")
app.add_typer(config.app, name="config")
app.command("mcp")(mcp.mcp)
app.command("doctor")(doctor.doctor)
app.command("schema")(schema.schema)


def _unwrap(commands: typer.Typer) -> None:
    """Make a line of each paragraph of help: the lines of a docstring fit no screen but the editor's."""
    for command in commands.registered_commands:
        paragraphs = cleandoc(getattr(command.callback, "__doc__", None) or "").split("\n\n")
        command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)


for _commands in (app, runs.app, new.app, cache.app, config.app):
    _unwrap(_commands)


def main() -> None:
    """Run the command line and leave with its exit code."""
    open_streams()
    words = sys.argv[1:]
    if "--version" in words and not set(words) - {"--version", "--json"}:
        sys.exit(ended(lambda: write(sys.stdout, _version(as_json="--json" in words)), words))
    sys.exit(ended(app, words))


def _version(*, as_json: bool) -> str:
    if not as_json:
        return f"recon {__version__}\n"
    import json
    import platform

    from recon.records.run import SCHEMA_VERSION

    about = {
        "recon": __version__,
        "schema_version": SCHEMA_VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }
    return json.dumps(about) + "\n"

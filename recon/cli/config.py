"""`recon config`: what is set, and by whom."""

from typing import Annotated

import typer

from recon.cli.session import session_of

app = typer.Typer(help="Show what is configured, and where.", no_args_is_help=True)


@app.command("show")
def show_config(
    context: typer.Context,
    *,
    origin: Annotated[
        bool, typer.Option("--origin", help="Also say where each comes from: a default, a file, a variable, an option.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print keys, values and origins as JSON.")] = False,
) -> None:
    """Print every key with its value, and the words of your own on verdicts.

    Options come before variables of the environment, those before recon.toml in the current folder, that before
    recon.toml in the user's configuration folder, and that before defaults.

    Exit codes: 0 done, 2 a file holds what is no configuration, 3 one cannot be read.
    """
    from recon.cli.configuration import configured, with_option
    from recon.cli.lines import aligned, tabbed

    session = session_of(context)
    found = configured(session.config)
    for name, value in session.typed.items():
        found = with_option(found, name, value)
    if json:
        import msgspec

        rows = [
            {"key": each.key.name, "value": each.value, "origin": each.origin, "variable": each.key.variable}
            for each in found.settings
        ]
        told = msgspec.json.encode({"settings": rows, "verdicts": found.words})
        session.data(msgspec.json.format(told, indent=1).decode() + "\n")
        return
    lines = [(each.key.name, _toml(each.value), each.origin) for each in found.settings]
    lines += [
        ("verdicts", f"{each.capability} is {each.word.standing.value}: {each.word.reason}", each.word.origin)
        for each in found.words
    ]
    shown = [line if origin else line[:2] for line in lines]
    session.data(aligned(shown) if session.screen else tabbed(shown))


def _toml(value: object) -> str:
    """A value as TOML writes it."""
    from json import dumps

    return dumps(value, ensure_ascii=False)

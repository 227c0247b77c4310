"""`recon explain`: what a capability is, what counts as having it, and what its detector cannot see."""

from difflib import get_close_matches
from typing import Annotated

import typer

from recon.cli.session import session_of
from recon.errors import NotFound, Usage


def explain(
    context: typer.Context,
    capability: Annotated[
        str | None,
        typer.Argument(metavar="[CAPABILITY]", help="Its id, e.g. accept.tree.greedy; without it, all are listed."),
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print ids, titles and pages as JSON.")] = False,
) -> None:
    """Print the page of a detector: what the capability is, what counts, blind spots, sources.

    Exit codes: 0 done, 2 no such capability.
    """
    import msgspec

    from recon import pipeline
    from recon.cli.lines import folded
    from recon.report.text import visible

    if capability == "":
        raise Usage("an empty word names no capability", "`recon explain` without one lists them all.")
    session = session_of(context)
    for unknown in pipeline.detectors_unheard():
        session.note(f"warning: {unknown.what} ({unknown.where}): {unknown.why}")
    known = {each.id: each for each in pipeline.capabilities()}
    if capability and capability not in known:
        near = get_close_matches(capability, known, n=1, cutoff=0.5)
        raise NotFound(
            f"no capability {capability!r}",
            f"Did you mean {near[0]}?" if near else "`recon explain` lists them all.",
        )
    chosen = [known[capability]] if capability else list(known.values())
    if json:
        session.data(msgspec.json.format(msgspec.json.encode(chosen), indent=1).decode() + "\n")
    elif capability:
        page = chosen[0]
        title, told = visible(page.title), visible(page.help, keep=chr(10)).strip()
        head = "" if told.startswith(title) else f"{title}\n\n"  # pages of detectors begin with it
        text = f"{page.id}\n{head}{told}\n"
        session.data(folded(text, session.width) if session.screen else text)
    else:
        width = max(map(len, known), default=0)
        gap = "\t" if not session.screen else "  "
        session.data("".join(f"{each.id.ljust(width if session.screen else 0)}{gap}{each.title}\n" for each in chosen))

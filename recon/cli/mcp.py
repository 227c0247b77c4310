"""`recon mcp`: saved runs as tools of an agent."""

from recon.errors import NotFound


def mcp() -> None:
    """Serve questions on saved runs over standard input and output, by the Model Context Protocol; read-only.

    Tools: list (runs and their installs), verdicts, evidence, find, paths. Each answers with the JSON of `recon runs
    list`, `show`, `find` or `paths`. Nothing is scanned, probed, changed or removed.

    Needs the extra: pip install 'recon-llm[mcp]'

    Exit codes: 0 done, when standard input ends, 2 the package mcp is not installed, 130 interrupted.
    """
    try:
        from recon.cli.agents import serve
    except ImportError as error:
        raise NotFound(
            f"the package mcp, or a part of it, is not installed: {error}", "pip install 'recon-llm[mcp]'"
        ) from error
    serve()

"""The run as JSON: the same bytes as its run file, in the words of the records."""

from recon.report.format import Format
from recon.report.view import View
from recon.runs.files import encode


def render(view: View) -> str:
    """JSON of the run, indented, with a newline at its end."""
    return encode(view.run).decode()


FORMAT = Format("json", "application/json", render)

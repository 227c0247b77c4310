"""One page, one file, offline: no request, no frame, no script but its own.

Everything that a tree or a host could have chosen is text here: characters that act are written out, Jinja escapes the
rest, and the policy in the page's head lets only the script of this package run, by its digest.
"""

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape
from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, String

from recon.report.findings import Place
from recon.report.format import Format
from recon.report.text import clipped, visible
from recon.report.view import View
from recon.report.words import STANDINGS
from recon.runs.files import encode

LINE = 240
"""Characters of a source line that are shown; a longer one is cut."""

_CLASSES = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "m"), (Name.Decorator, "d"), (Name.Function, "f"))


def render(view: View) -> str:
    """The page of a view."""
    script = _part("page.js")
    return _template().render(
        view=view,
        words=STANDINGS.values(),
        css=Markup(_part("page.css")),  # noqa: S704  # ours, from this package
        script=Markup(script),  # noqa: S704  # likewise
        digest=b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=data_of(view),
    )


def data_of(view: View) -> Markup:
    """JSON of the run, in which nothing can end the element that holds it."""
    text = encode(view.run).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  # what HTML could read as markup was written out above


def code(place: Place) -> list[Markup]:
    """Lines of an excerpt, coloured, each complete in itself."""
    lines = [clipped(visible(line.text.expandtabs(4)), LINE) for line in place.excerpt]
    made = [Markup()]
    for token, text in lex("\n".join(lines), _lexer(place.path)):
        style = next((style for kind, style in _CLASSES if token in kind), "")
        for index, part in enumerate(text.split("\n")):
            if index:
                made.append(Markup())
            if part:
                made[-1] += Markup('<span class="t{}">{}</span>').format(style, part) if style else escape(part)
    return made[: len(lines)]


def _lexer(path: str) -> Lexer:
    options = {"stripnl": False, "ensurenl": False}
    suffix = path.rpartition(".")[2]
    if suffix in ("py", "pyi"):
        return PythonLexer(**options)
    if suffix in ("cu", "cuh", "h", "hpp", "cpp", "cc", "c"):
        return CudaLexer(**options)
    return TextLexer(**options)


def _shown(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["code"] = code
    return environment.from_string(_part("page.html.j2"))


@cache
def _part(name: str) -> str:
    return files("recon.report").joinpath(name).read_text(encoding="utf-8")


FORMAT = Format("html", "text/html", render)

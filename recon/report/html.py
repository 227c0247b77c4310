"""One page, one file, offline: no request, no frame, no script but its own.

Everything that a tree or a host could have chosen is text here: characters that act are written out, Jinja escapes the
rest, and the policy in the page's head lets only two scripts run, by their digests: that of this package, and what it
draws charts with. The evidence is packed, and the script writes it as text, never as markup.
"""

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from recon.report.charts import charts_of
from recon.report.format import Format
from recon.report.packed import drawn, kept, packed
from recon.report.speedups import speedups_of
from recon.report.text import slug, visible
from recon.report.view import View
from recon.report.words import STANDINGS

COLUMNS = 16
"""Installs that the matrix shows at once."""


def render(view: View) -> str:
    """The page of a view."""
    charts = charts_of(view.run.measurements, view.run.estimates)
    scripts = [*([_part("vendored/plot.min.js")] if charts else []), _part("page.js")]
    return _template().render(
        view=view,
        words=STANDINGS.values(),
        css=Markup(_part("page.css")),  # noqa: S704  # ours, from this package
        scripts=[Markup(script) for script in scripts],  # noqa: S704  # likewise, and what is vendored in it
        digests=[b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
        columns=COLUMNS,
        charts=charts,
        drawn=drawn(charts),
        speedups=speedups_of(view),
        packed=packed(view),
        data=kept(view.run),
    )


def _shown(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _soft(name: str) -> Markup:
    """A name that may wrap behind its slashes, and behind dots and underscores in it, and is copied as it is."""
    return Markup("<wbr>").join(re.split(r"(?<=/)|(?<=[A-Za-z0-9][._])(?=[A-Za-z0-9])", visible(name)))


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["slug"] = slug
    environment.filters["soft"] = _soft
    return environment.from_string(_part("page.html.j2"))


@cache
def _part(name: str) -> str:
    return files("recon.report").joinpath(name).read_text(encoding="utf-8")


FORMAT = Format("html", "text/html", render)

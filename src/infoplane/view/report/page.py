"""One HTML file from its parts: markup, style, Vega, the page's own script, and the contents as JSON.

Labels come from users' data. They enter the file at one place only, a JSON text in a script element of type
application/json, in ASCII with every < escaped; the page's script writes them as text nodes. A content security policy names the
two scripts by their hashes, so that no other runs, and forbids every request.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from ...checks import extra
from ...errors import InvalidOptionError
from ...frontier.frontier import Frontier
from ...information import bits
from ...storage.files import whole_file
from ..drawing import groups
from .contents import Allowance, contents, plane_of, y_name

LARGEST_PAGE = 1_500_000
"""Bytes: what a mail server takes, and a browser opens at once; of larger frontiers fewer rows and encoders are shown."""


def write_report(
    frontier: Frontier,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    traces: bool = True,
    notation: str = "gamma",
) -> None:
    """Write the page of a frontier; see `Frontier.report`. The file appears only once it is whole."""
    text = report_page(frontier, title=title, traces=traces, notation=notation)
    with whole_file(Path(path)) as file:
        file.write(text)


def report_page(frontier: Frontier, *, title: str | None = None, traces: bool = True, notation: str = "gamma") -> bytes:
    """The page itself: the same frontier gives the same bytes."""
    if not frontier.runs:
        raise InvalidOptionError("a frontier without runs has nothing to report.")
    library = vega_library()
    from .charts import charts  # after vega_library, which says what is missing

    title = _default_title(frontier) if title is None else title
    drawn = charts(
        plane_of(frontier),
        [bits(run.plane.ixz) for run in frontier.runs],
        list(dict.fromkeys(groups(frontier))),
    )
    allowance = Allowance()
    while True:
        held = contents(frontier, title, traces, allowance, notation)
        page = _assembled(title, library, {**held, "charts": drawn})
        if len(page) <= LARGEST_PAGE or allowance == allowance.smaller():
            return page
        allowance = allowance.smaller()


@cache
def vega_library() -> str:
    """Vega and Vega-Embed as one script, from vl-convert."""
    _, vl_convert = (extra(name, "reports need altair and vl-convert", "report") for name in ("altair", "vl_convert"))
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def as_json(values: Any) -> str:
    """JSON in ASCII that no HTML parser takes for markup and no JavaScript engine for the end of a line."""
    return json.dumps(values, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _default_title(frontier: Frontier) -> str:
    families = dict.fromkeys(run.problem.family.replace("_", " ") for run in frontier.runs)
    joint = frontier.joint
    return f"{', '.join(families).capitalize()} frontier of {', '.join(joint.x_names)} and {y_name(joint)}"


def _assembled(title: str, library: str, held: Mapping[str, Any]) -> bytes:
    script = _asset("page.js")
    scripts = " ".join(f"'sha256-{_digest(text)}'" for text in (library, script))
    page = Template(_asset("page.html")).substitute(
        policy=f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        title=html.escape(title),
        style=_asset("page.css"),
        contents=as_json(held),
        library=library,
        script=script,
    )
    return page.encode("utf-8", "backslashreplace")  # a label may hold half a surrogate pair, which has no UTF-8


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")

"""One HTML file from its parts: markup, style, Vega, the page's own script, and the contents as JSON.

Labels come from users' data. They enter the file at one place only, a JSON text in a script element of type
application/json, in ASCII with every < escaped; the page's script writes them as text nodes. A content security policy names the
two scripts by their hashes, so that no other runs, and forbids every request.

Altair says what a chart draws, vl-convert compiles it to Vega here, so that the page need not. No chart holds data or labels: the page
hands them over as values, never as expressions or names of fields. Colours of axes, solvers and heat maps come from Vega's configuration,
which the page takes from its style sheet, light or dark.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Mapping
from contextlib import suppress
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
from .contents import GIVEN, Allowance, Plane, contents, groups, plane_of, y_name

with suppress(ImportError):  # `vega_library` says that it is missing
    import altair as alt

LARGEST_PAGE = 1_500_000
"""Bytes: what a mail server takes, and a browser opens at once; of larger frontiers fewer rows and encoders are shown."""


def write_report(frontier: Frontier, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the page of a frontier, with the options of `report_page`; the file appears only once it is whole."""
    page = report_page(frontier, **options)
    with whole_file(Path(path)) as file:
        file.write(page)


def report_page(frontier: Frontier, *, title: str | None = None, traces: bool = True, notation: str = "gamma") -> bytes:
    """The page itself: the same frontier gives the same bytes."""
    if not frontier.runs:
        raise InvalidOptionError("a frontier without runs has nothing to report.")
    library = vega_library()
    title = _default_title(frontier) if title is None else title
    drawn = charts(
        plane_of(frontier), [bits(run.plane.ixz) for run in frontier.runs], list(dict.fromkeys(groups(frontier)))
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


# -- charts ------------------------------------------------------------------------------------------------------------

SHAPES = ["circle", "square", "triangle-up", "triangle-down", "cross", "triangle-right", "triangle-left"]

OWN = 7
"""Colours for solvers; systems that were given have one that no solver has, and a shape of their own."""


def charts(drawn: Plane, ixz_bits: list[float], solvers: list[str]) -> dict[str, Any]:
    """Every chart of the page as a Vega specification, by name."""
    made = {"plane": plane(drawn, ixz_bits, solvers), "masses": masses(), "heat": heat_map(), "trace": trace()}
    return {name: {**chart.to_dict(format="vega"), "background": None} for name, chart in made.items()}


def plane(drawn: Plane, ixz_bits: list[float], solvers: list[str]) -> Any:
    """The plane: the band that encloses the frontier, bounds, Pareto set, every run, and a ring around the chosen one."""
    left, right = drawn.ends(ixz_bits, 1.04)
    top = max(drawn.bound_bits, 1e-3) * 1.08
    domains = [left or -0.015 * right, right], [-0.02 * top, top]
    across, up = (alt.Scale(domain=ends, nice=False, zero=False) for ends in domains)
    x = alt.X("x:Q", title=f"{drawn.names[0]}  [bits]", scale=across, axis=_sparse())
    y = alt.Y("y:Q", title=f"{drawn.names[1]}  [bits]", scale=up)
    legend = _legend(symbolOpacity=1, symbolSize=60, labelLimit=180) if len(solvers) > 1 else None
    own = [alt.ExprRef(f"solver{i}") for i in range(OWN)]
    colours = alt.Scale(domain=solvers, range=_cycled(solvers, own, alt.ExprRef("given")))
    shapes = alt.Scale(domain=solvers, range=_cycled(solvers, SHAPES, "diamond"))
    bounds = _layer("bounds", "line", strokeWidth=1, strokeDash=[4, 3], clip=True, color=alt.ExprRef("muted"))
    # An area is sorted by x as it is; with an order it would fall apart into one area for every x.
    enclosed = _layer("enclosed", "area", opacity=0.3, clip=True, line=False, color=alt.ExprRef("accent"))
    pareto = _layer("pareto", "line", strokeWidth=1.2, opacity=0.8, color=alt.ExprRef("ink"))
    runs = _layer("runs", "point", strokeWidth=1.2).encode(
        x=x,
        y=y,
        fill=alt.Fill("solver:N", scale=colours, legend=legend),
        stroke=alt.Stroke("solver:N", scale=colours, legend=legend),
        shape=alt.Shape("solver:N", scale=shapes, legend=legend),
        size=alt.Size("size:Q", scale=None),
        opacity=alt.Opacity("opacity:Q", scale=None),
        fillOpacity=alt.FillOpacity("filled:Q", scale=None),
    )
    chosen = _layer("chosen", "point", size=260, strokeWidth=2, color=alt.ExprRef("ink")).encode(x=x, y=y)
    layers = (
        enclosed.encode(x=x, y=y, y2="y2:Q"),
        *(line.encode(x=x, y=y, order="x:Q") for line in (bounds, pareto)),
        *(runs, chosen),
    )
    greys = dict.fromkeys((*COLOURS, *(f"solver{i}" for i in range(OWN)), "given"), "grey")
    return _sized(alt.layer(*layers), 600, 420, "fit", **greys, columns=3)


def masses() -> Any:
    """p(z), one bar per cluster, above the heat maps."""
    extent = alt.ExprRef("extent")
    bars = _layer("masses", "bar", color=alt.ExprRef("accent")).encode(
        x=alt.X("z:O", axis=None, scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06)),
        y=alt.Y("v:Q", title=None, axis=alt.Axis(tickCount=3, minExtent=extent, maxExtent=extent, grid=False)),
    )
    return _sized(bars, 400, 64, "fit-x", **dict.fromkeys(COLOURS, "grey"), extent=120)


def heat_map() -> Any:
    """One column per cluster, one row per x or y; rows and columns are numbers here, and their labels are looked up."""
    extent = alt.ExprRef("extent")
    across = alt.Axis(labelExpr="columns[datum.value]", labelAngle=0, labelOverlap=False)
    down = alt.Axis(
        labelExpr="rows[datum.value]",
        labelLimit=alt.ExprRef("extent - 8"),
        minExtent=extent,
        maxExtent=extent,
        ticks=False,
        labelPadding=6,
    )
    cells = _layer("cells", "rect").encode(
        x=alt.X("z:O", title="cluster", axis=across),
        y=alt.Y("row:O", title=None, axis=down),
        color=alt.Color("v:Q", scale=alt.Scale(domain=[0, 1]), legend=None),
    )
    return _sized(cells, 400, alt.Step(18), "fit-x", rows=[], columns=[], extent=120)


def trace() -> Any:
    """|loss - final loss| and the residuals against the iteration, on a logarithmic scale: a straight line is linear convergence."""
    falling: dict[str, Any] = {"scale": alt.Scale(type="log"), "axis": alt.Axis(format=".0e", tickCount=6)}
    lines = _layer("trace", "line", strokeWidth=1.6).encode(
        x=alt.X("iteration:Q", title="iteration", axis=_sparse()),
        y=alt.Y("v:Q", title="distance to the end", **falling),
        color=alt.Color("line:N", sort=None, legend=_legend(labelLimit=200, symbolStrokeWidth=3)),
    )
    return _sized(lines, 600, 260, "fit", columns=2)


COLOURS = ("ink", "muted", "accent")
"""What the page's style sheet calls them."""


def _layer(data: str, mark: str, **style: Any) -> Any:
    """Marks for some of the page's data; the page itself says what they show to those who do not see them."""
    return getattr(alt.Chart(alt.NamedData(name=data)), f"mark_{mark}")(aria=False, **style)


def _sized(chart: Any, width: int, height: Any, fit: Any, **parameters: Any) -> Any:
    """A chart that takes the width that it is given, with parameters that the page sets."""
    named = [alt.param(name=name, value=value) for name, value in parameters.items()]
    autosize = alt.AutoSizeParams(type=fit, contains="padding")
    return chart.add_params(*named).properties(width=width, height=height, autosize=autosize)


def _sparse() -> Any:
    return alt.Axis(tickCount=alt.ExprRef("ceil(width / 90)"), labelFlush=False)


def _legend(**style: Any) -> Any:
    return alt.Legend(orient="bottom", title=None, columns=alt.ExprRef("columns"), **style)


def _cycled(solvers: list[str], items: list[Any], given: Any) -> list[Any]:
    """One item for each solver, in turn, and the one of its own for given systems."""
    others = [solver for solver in solvers if solver != GIVEN]
    return [given if solver == GIVEN else items[others.index(solver) % len(items)] for solver in solvers]

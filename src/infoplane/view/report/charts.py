"""The charts of a page: Altair says what is drawn, vl-convert compiles it to Vega here, so that the page need not.

No chart holds data or labels: the page hands them over as values, never as expressions or names of fields. Colours of axes,
solvers and heat maps come from Vega's configuration, which the page takes from its style sheet, light or dark.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from ..drawing import GIVEN
from .contents import Plane

SHAPES = ["circle", "square", "triangle-up", "triangle-down", "cross", "triangle-right", "triangle-left"]

OWN = 7
"""Colours for solvers; systems that were given have one that no solver has, and a shape of their own."""


def charts(drawn: Plane, ixz_bits: list[float], solvers: list[str]) -> dict[str, Any]:
    """Every chart of the page as a Vega specification, by name."""
    made = {"plane": plane(drawn, ixz_bits, solvers), "masses": masses(), "heat": heat_map(), "trace": trace()}
    return {name: {**chart.to_dict(format="vega"), "background": None} for name, chart in made.items()}


def plane(drawn: Plane, ixz_bits: list[float], solvers: list[str]) -> Any:
    """The plane: the band that encloses the frontier, bounds, Pareto set, every run, and a ring around the chosen one."""
    right = max(*ixz_bits, drawn.corner_bits, 1e-3) * 1.04
    # Runs that all lie far out, as a funnel's do, get the room; the axis then does not begin at 0.
    left = min(ixz_bits) - 0.3 * (max(ixz_bits) - min(ixz_bits))
    left = -0.015 * right if left < 0.4 * right or max(ixz_bits) - min(ixz_bits) < 1e-3 * right else left
    top = max(drawn.bound_bits, 1e-3) * 1.08
    across, up = (alt.Scale(domain=ends, nice=False, zero=False) for ends in ([left, right], [-0.02 * top, top]))
    x = alt.X("x:Q", title=f"{drawn.names[0]}  [bits]", scale=across, axis=_sparse())
    y = alt.Y("y:Q", title=f"{drawn.names[1]}  [bits]", scale=up)
    legend = None
    if len(solvers) > 1:
        legend = _legend(symbolOpacity=1, symbolSize=60, labelLimit=180)
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

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
    sparse = alt.Axis(tickCount=alt.ExprRef("ceil(width / 90)"), labelFlush=False)
    x = alt.X(
        "x:Q",
        title=f"{drawn.names[0]}  [bits]",
        scale=alt.Scale(domain=[left, right], nice=False, zero=False),
        axis=sparse,
    )
    y = alt.Y(
        "y:Q", title=f"{drawn.names[1]}  [bits]", scale=alt.Scale(domain=[-0.02 * top, top], nice=False, zero=False)
    )
    legend = None
    if len(solvers) > 1:
        legend = alt.Legend(
            orient="bottom", title=None, columns=alt.ExprRef("columns"), symbolOpacity=1, symbolSize=60, labelLimit=180
        )
    colours = alt.Scale(
        domain=solvers, range=_cycled(solvers, [alt.ExprRef(f"solver{i}") for i in range(OWN)], alt.ExprRef("given"))
    )
    shapes = alt.Scale(domain=solvers, range=_cycled(solvers, SHAPES, "diamond"))
    bounds = (
        alt.Chart(alt.NamedData(name="bounds"))
        .mark_line(aria=False, strokeWidth=1, strokeDash=[4, 3], clip=True, color=alt.ExprRef("muted"))
        .encode(x=x, y=y, order="x:Q")
    )
    # An area is sorted by x as it is; with an order it would fall apart into one area for every x.
    enclosed = (
        alt.Chart(alt.NamedData(name="enclosed"))
        .mark_area(aria=False, opacity=0.3, clip=True, line=False, color=alt.ExprRef("accent"))
        .encode(x=x, y=y, y2="y2:Q")
    )
    pareto = (
        alt.Chart(alt.NamedData(name="pareto"))
        .mark_line(aria=False, strokeWidth=1.2, opacity=0.8, color=alt.ExprRef("ink"))
        .encode(x=x, y=y, order="x:Q")
    )
    runs = (
        alt.Chart(alt.NamedData(name="runs"))
        .mark_point(aria=False, strokeWidth=1.2)
        .encode(
            x=x,
            y=y,
            fill=alt.Fill("solver:N", scale=colours, legend=legend),
            stroke=alt.Stroke("solver:N", scale=colours, legend=legend),
            shape=alt.Shape("solver:N", scale=shapes, legend=legend),
            size=alt.Size("size:Q", scale=None),
            opacity=alt.Opacity("opacity:Q", scale=None),
            fillOpacity=alt.FillOpacity("filled:Q", scale=None),
        )
    )
    chosen = (
        alt.Chart(alt.NamedData(name="chosen"))
        .mark_point(aria=False, size=260, strokeWidth=2, color=alt.ExprRef("ink"))
        .encode(x=x, y=y)
    )
    return (
        alt.layer(enclosed, bounds, pareto, runs, chosen)
        .add_params(
            *_colours(),
            *(alt.param(name=name, value="grey") for name in (*(f"solver{i}" for i in range(OWN)), "given")),
            alt.param(name="columns", value=3),
        )
        .properties(width=600, height=420, autosize=alt.AutoSizeParams(type="fit", contains="padding"))
    )


def masses() -> Any:
    """p(z), one bar per cluster, above the heat maps."""
    return (
        alt.Chart(alt.NamedData(name="masses"))
        .mark_bar(aria=False, color=alt.ExprRef("accent"))
        .encode(
            x=alt.X("z:O", axis=None, scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06)),
            y=alt.Y(
                "v:Q", title=None, axis=alt.Axis(tickCount=3, minExtent=_extent(), maxExtent=_extent(), grid=False)
            ),
        )
        .add_params(*_colours(), alt.param(name="extent", value=120))
        .properties(width=400, height=64, autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    )


def heat_map() -> Any:
    """One column per cluster, one row per x or y; rows and columns are numbers here, and their labels are looked up."""
    return (
        alt.Chart(alt.NamedData(name="cells"))
        .mark_rect(aria=False)
        .encode(
            x=alt.X(
                "z:O",
                title="cluster",
                axis=alt.Axis(labelExpr="columns[datum.value]", labelAngle=0, labelOverlap=False),
            ),
            y=alt.Y(
                "row:O",
                title=None,
                axis=alt.Axis(
                    labelExpr="rows[datum.value]",
                    labelLimit=alt.ExprRef("extent - 8"),
                    minExtent=_extent(),
                    maxExtent=_extent(),
                    ticks=False,
                    labelPadding=6,
                ),
            ),
            color=alt.Color("v:Q", scale=alt.Scale(domain=[0, 1]), legend=None),
        )
        .add_params(
            alt.param(name="rows", value=[]), alt.param(name="columns", value=[]), alt.param(name="extent", value=120)
        )
        .properties(width=400, height=alt.Step(18), autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    )


def trace() -> Any:
    """|loss - final loss| and the residuals against the iteration, on a logarithmic scale: a straight line is linear convergence."""
    return (
        alt.Chart(alt.NamedData(name="trace"))
        .mark_line(aria=False, strokeWidth=1.6)
        .encode(
            x=alt.X(
                "iteration:Q",
                title="iteration",
                axis=alt.Axis(tickCount=alt.ExprRef("ceil(width / 90)"), labelFlush=False),
            ),
            y=alt.Y(
                "v:Q",
                title="distance to the end",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format=".0e", tickCount=6),
            ),
            color=alt.Color(
                "line:N",
                sort=None,
                legend=alt.Legend(
                    orient="bottom", title=None, columns=alt.ExprRef("columns"), labelLimit=200, symbolStrokeWidth=3
                ),
            ),
        )
        .add_params(alt.param(name="columns", value=2))
        .properties(width=600, height=260, autosize=alt.AutoSizeParams(type="fit", contains="padding"))
    )


def _colours() -> list[Any]:
    return [alt.param(name=name, value="grey") for name in ("ink", "muted", "accent")]


def _extent() -> Any:
    return alt.ExprRef("extent")


def _cycled(solvers: list[str], items: list[Any], given: Any) -> list[Any]:
    """One item for each solver, in turn, and the one of its own for given systems."""
    others = [solver for solver in solvers if solver != GIVEN]
    return [given if solver == GIVEN else items[others.index(solver) % len(items)] for solver in solvers]

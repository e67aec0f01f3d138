"""The information plane and the trace of a run, in matplotlib: Axes in, Axes out.

Figures are made without pyplot, so that nothing global is touched: they work without a display and in threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import positive_number
from ..errors import InvalidOptionError
from ..formatting import counted, label_text
from ..frontier.frontier import Frontier
from ..frontier.geometry import is_enclosed
from ..information import NATS_PER_BIT, bits
from ..problem import bottleneck
from ..sampling.held_out import chance_of
from ..solution import Solution
from .drawing import COLOURS, GREY, INK, MARKERS, SIZES, finish, name_points, new_axes, side_by_side
from .report.contents import best_rows_among, groups, plane_of, rows_by, trace_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..frontier.transitions import Transition
    from ..sweep.records import Bands

GIVEN_COLOUR = COLOURS[1]
"""Of systems from elsewhere: no solver has it on a plane with systems."""


MARKED = 12
"""Phase transitions up to which each has its letters: more texts than that would hide the curve."""

MANY = 200
"""Parameters from which the best runs are drawn as a line, since their markers would hide each other."""


def plot_plane(
    frontier: Frontier,
    ax: Axes | None = None,
    transitions: Sequence[Transition] | Literal["grid"] = (),
    *,
    labels: Mapping[str, str] | None = None,
    colours: Sequence[str] | Mapping[str, str] | None = None,
    legend: Literal["inside", "outside"] | None = "inside",
    title: str | None = None,
    size: str | tuple[float, float] = "page",
    enclosure: bool | None = None,
    bands: Bands | None = None,
    systems: Any = None,
    line: bool | None = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    notation: str = "gamma",
) -> Axes:
    """I(Y;Z) against I(X;Z) in bits: every run, the best of each parameter, the Pareto set, and the bounds on I(Y;Z).

    A filled marker is a run that converged, a hollow one a run that did not. Several solvers on one plane
    (``frontier + frontier``) get a colour and a marker each. Grey lines are I(Y;Z) <= min(I(X;Z), I(X;Y)).

    Parameters
    ----------
    frontier
        At least one run.
    ax
        Where to draw; a new figure, ``ax.figure``, by default.
    transitions
        What `infoplane.transitions` found: each is a line from the optimum on one side to that on the other, with its gamma. Or
        ``"grid"``: every change in the number of clusters between neighbouring parameters. Many have no letters.
    labels
        What the legend calls a solver, by the solver's name; ``"best found"`` are the runs of a search with many ways, such as the
        portfolio, and ``"frontier"`` and ``"systems"`` are the line and the systems.
    colours
        One colour per solver, in order, or by the names above; a system may have one by its own name. By default a palette for all kinds
        of colour vision, in which no solver has the colour of the systems.
    legend
        ``"inside"`` the axes, ``"outside"`` to the right of them, or None.
    title
        Above the axes; ``""`` for none.
    size
        Of a new figure: ``"page"``, ``"column"`` (3.4 inches, small letters), or its width and height in inches.
    enclosure
        Whether to draw the band between which the frontier is proven to lie (`Frontier.enclosure`); by default, if it can be.
    bands
        What `Frontier.bands` returned: a second band, in which the population's frontier lies.
    systems
        What `infoplane.efficiency` or `Frontier.place` returned: each is a labelled point; a thin line shows its epsilon, up
        to the best encoder with the same I(X;Z), or down to it where Y is hidden.
        Labels do not overlap (textalloc places them; without it they stand to the right of their points).
    line
        Whether the frontier is drawn as one line, the Pareto set, without the runs; by default, if there are ``systems``.
    xlabel, ylabel
        What the axes are called, such as ``"complexity [bits]"`` and ``"accuracy [bits]"``.
    notation
        ``"beta"`` calls a transition by beta = 1/gamma.

    With more than 200 parameters the best runs are a line instead of markers. Where points have a caution (`Frontier.caution`), a dotted
    line is what chance alone shows at this number of records, or, of a funnel, about what it leaks in the population. In a notebook the
    Axes is shown as its picture.

    Examples
    --------
    >>> import infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], starts=2, rng=0)
    >>> plot_plane(f).get_xlabel()
    'I(X;Z)  [bits]'
    """
    if not frontier.runs:
        raise InvalidOptionError("a frontier without runs cannot be drawn.")
    if legend not in ("inside", "outside", None):
        raise InvalidOptionError(f'legend must be "inside", "outside" or None; found {legend!r}.')
    if ax is None:
        width, height = _inches(size)
        ax = new_axes(width + (1.6 if legend == "outside" else 0.0), height)
    if transitions == "grid":
        from ..frontier.summary import cluster_counts, transitions_on_the_grid

        best = frontier.best_answers()
        transitions = transitions_on_the_grid(best, cluster_counts(frontier.joint, best))
    plane = _Plane(ax, frontier, systems, colours, dict(labels or {}), is_small=size == "column")
    plane.frame(title, xlabel, ylabel)
    if is_enclosed(frontier.runs) if enclosure is None else enclosure:
        plane.enclosure("" if bands is None else "the frontier of this table, ")
    plane.bands(bands)
    plane.chance()
    solvers = 0 if (systems is not None if line is None else line) else plane.runs()
    plane.pareto(alone=solvers == 0)
    plane.transitions(transitions, notation)
    plane.given()
    if legend is not None:
        plane.legend(legend == "outside", "best of each parameter" if solvers > 1 else None)
    plane.names()  # last, since where they fit depends on all else
    return ax


def _inches(size: str | tuple[float, float]) -> tuple[float, float]:
    if isinstance(size, str):
        if size not in SIZES:
            raise InvalidOptionError(
                f"size must be {' or '.join(map(repr, SIZES))}, or two numbers of inches; found {size!r}."
            )
        return SIZES[size]
    width, height = size
    return positive_number("the width", width), positive_number("the height", height)


@dataclass
class _Plane:
    """A plane that is being drawn, and the parts of its picture."""

    ax: Axes
    frontier: Frontier
    systems: Any
    colours: Sequence[str] | Mapping[str, str] | None
    called: dict[str, str]
    """What the legend calls solvers, the frontier and the systems."""
    is_small: bool
    """In small letters, for a column of text."""

    def __post_init__(self) -> None:
        self.ixz, self.iyz = (np.array([bits(run.plane[axis]) for run in self.frontier.runs]) for axis in (0, 1))
        self.scale = SIZES["column"][0] / SIZES["page"][0] if self.is_small else 1.0
        """Of markers and lines."""
        self.taken: set[str] = set()
        """Colours that were used."""

    def colour_of(self, *names: str) -> str | None:
        """The colour that was asked for by the first of these names that has one."""
        if not isinstance(self.colours, Mapping):
            return None
        return next((self.colours[name] for name in names if name in self.colours), None)

    def entry(self, label: str, **style: Any) -> None:
        """A line of the legend."""
        self.ax.plot([], [], linestyle="none", label=label, **style)

    def frame(self, title: str | None, xlabel: str | None, ylabel: str | None) -> None:
        """Limits, labels, title and the bounds I(Y;Z) <= min(I(X;Z), I(X;Y)); of tasks, I(U;Z) <= I(U;X)."""
        ax, frontier = self.ax, self.frontier
        x = self.ixz if self.systems is None else np.append(self.ixz, self.systems["ixz_bits"])
        plane = plane_of(frontier)
        bound = plane.bound_bits
        left, right = plane.ends(x.tolist(), 1.06)
        style: dict[str, Any] = {"color": GREY, "fontsize": "small", "va": "bottom", "clip_on": True}
        if frontier.runs[0].problem.single_target:
            ax.plot([0.0, bound, right], [0.0, bound, bound], color=GREY, linewidth=0.8, zorder=1, label="_bounds")
            # Above the bounds there is nothing to cover.
            ax.text(max(left, bound) + 0.02 * (right - left), bound * 1.015, "I(Y;Z) = I(X;Y)", ha="left", **style)
            along: dict[str, Any] = {"rotation": 45, "rotation_mode": "anchor", "transform_rotates_text": True}
            ax.text(0.48 * bound, 0.5 * bound, "I(Y;Z) = I(X;Z)", ha="center", **along, **style)
            names = "I(X;Z)  [bits]", "I(Y;Z)  [bits]"
        else:
            ax.axhline(bound, color=GREY, linewidth=0.8, zorder=1, label="_bounds")
            ax.text(left, bound * 1.015, "I(U;Z) = I(U;X)", **style)
            names = "told of what is hidden, I(S;Z)  [bits]", "kept, I(U;Z)  [bits]"
        top = max(bound, 1e-3) * 1.14
        ax.set_xlim(left - 0.02 * (right - left), right)
        ax.set_ylim(-0.03 * top, top)
        families = ", ".join(dict.fromkeys(run.problem.record.title for run in frontier.runs))
        title = f"Information plane: {families}" if title is None else title
        finish(ax, title, names[0] if xlabel is None else xlabel, names[1] if ylabel is None else ylabel)
        if self.is_small:
            ax.tick_params(labelsize="small")
            for label in (ax.xaxis.label, ax.yaxis.label):
                label.set_fontsize("small")

    def enclosure(self, about: str) -> None:
        """Where the table's frontier is proven to lie."""
        found = self.frontier.enclosure()
        edges = found.low_bits, found.high_bits
        self.ax.fill_between(found.ixz_bits, *edges, color=COLOURS[5], alpha=0.45, linewidth=0, zorder=1.5)
        # The proven edge is drawn too: a band of a thousandth of a bit is thinner than a pixel.
        label = f"{about}proven to {found.gap_bits:.1g} bits"
        edge = edges[not found.hides_y]
        self.ax.plot(found.ixz_bits, edge, color=COLOURS[5], linewidth=1.0, zorder=1.6, label=label)

    def bands(self, bands: Bands | None) -> None:
        """What is known of the population's frontier; a constant tells nothing, in every population."""
        if bands is None:
            return
        ixz, low, high = (np.concatenate([[0.0], one]) for one in (bands.ixz_bits, bands.low_bits, bands.high_bits))
        label = f"the population's frontier: {100 * bands.confidence:g}% at each rate, {bands.records:,} records"
        self.ax.fill_between(ixz, low, high, color=COLOURS[4], alpha=0.3, linewidth=0, zorder=1.2, label=label)
        self.ax.plot(bands.ixz_bits, bands.centre_bits, color=COLOURS[4], linewidth=1.0, zorder=1.3)

    def chance(self) -> None:
        """Where some points have a caution, what chance shows at this size: a level of a bottleneck, what is added to a funnel's."""
        if self.frontier.caution is None:
            return
        joint = self.frontier.joint
        records = counted(joint.records or 0, "record")
        style: dict[str, Any] = {"color": INK, "linestyle": (0, (1, 2)), "zorder": 1.8, "linewidth": 1.2}
        if not self.frontier.hides_y:
            level = bits(chance_of(joint, None) or 0.0)
            self.ax.axhline(level, label=f"chance alone, {records}: up to {level:.2g} bits", **style)
            return
        best = sorted((answer.run for answer in self.frontier.best_answers()), key=lambda run: run.ixz)
        leaked = [bits(run.iyz + (chance_of(joint, run.encoder) or 0.0)) for run in best]
        label = f"about what leaks in the population, {records}"
        self.ax.plot([bits(run.ixz) for run in best], leaked, label=label, **style)

    def runs(self) -> int:
        """Every run, and larger the best of each parameter, solver by solver; how many there are."""
        by_solver = rows_by(groups(self.frontier))
        free = [colour for colour in COLOURS if self.systems is None or colour != GIVEN_COLOUR]
        if self.colours and not isinstance(self.colours, Mapping):
            free = list(self.colours)
        alone, bests, scale = len(by_solver) == 1, 0, self.scale
        for index, (solver, rows) in enumerate(by_solver.items()):
            colour, marker = self.colour_of(solver) or free[index % len(free)], MARKERS[index % len(MARKERS)]
            self.taken.add(colour)
            best = best_rows_among(self.frontier, rows)
            bests += len(best)
            label = self.called.get(solver, solver)
            if alone:
                label = f"{label}: best of each parameter" if solver in self.called else "best of each parameter"
            if len(best) > MANY:
                self.scatter([row for row in rows if row not in set(best)], colour, ".", 3, alpha=0.3, zorder=2)
                along = sorted(best, key=lambda row: (self.ixz[row], self.iyz[row]))
                style: dict[str, Any] = {"color": colour, "linewidth": 1.8 * scale, "zorder": 4 + index}
                self.ax.plot(self.ixz[along], self.iyz[along], label=label, **style)
                continue
            self.scatter(rows, colour, marker, 12 * scale, alpha=0.45, zorder=2)
            # Solvers that end at the same point are drawn one inside the other, so that none is hidden.
            area = (40.0 if alone else max(90.0 * 0.7**index, 14.0)) * scale
            self.scatter(best, colour, marker, area, alpha=1.0, zorder=4 + index)
            self.entry(label, color=colour, marker=marker, markersize=6 * scale)
        look: dict[str, Any] = {"color": colour if alone else GREY, "marker": MARKERS[0] if alone else "o"}
        if len(self.ixz) > bests:
            self.entry("every other run", markersize=3.5, alpha=0.5, **look)
        if not all(run.status.converged for run in self.frontier.runs):
            self.entry("hollow: not converged", markersize=6, markerfacecolor="none", **look)
        return len(by_solver)

    def scatter(self, rows: list[int], colour: str, marker: str, size: float, **style: Any) -> None:
        """Markers of runs: filled where converged, hollow elsewhere."""
        width = max(math.sqrt(size) / 6, 0.8)
        for converged in (True, False):
            some = [row for row in rows if self.frontier.runs[row].status.converged is converged]
            face = colour if converged else "white"
            look: dict[str, Any] = {"facecolors": face, "edgecolors": colour, "linewidths": width, **style}
            self.ax.scatter(self.ixz[some], self.iyz[some], s=size, marker=marker, **look)

    def pareto(self, alone: bool) -> None:
        """The Pareto set: a thin line among the runs, or ``alone`` the frontier."""
        style: dict[str, Any] = {"color": INK, "linewidth": 1.1, "alpha": 0.75, "label": "Pareto set"}
        if alone:
            colour = self.colour_of("frontier") or COLOURS[0]
            style = {"color": colour, "linewidth": 1.8 * self.scale, "label": self.called.get("frontier", "frontier")}
        self.taken.add(style["color"])
        rows = self.frontier.pareto_rows()
        self.ax.plot(self.ixz[rows], self.iyz[rows], zorder=3, **style)

    def transitions(self, transitions: Sequence[Transition] | Literal["grid"], notation: str) -> None:
        """Phase transitions: what changes, at which gamma, between which points; more than `MARKED` are strokes alone."""
        if isinstance(transitions, str):
            raise InvalidOptionError(f'transitions must be a list of them or "grid"; found {transitions!r}.')
        middle, written = sum(self.ax.get_ylim()) / 2, bottleneck.notation(notation)
        stroke: dict[str, Any] = {"color": COLOURS[4], "marker": "|", "zorder": 30, "label": "_transition"}
        for transition in transitions:
            ends = np.array([transition.below, transition.above]) / NATS_PER_BIT
            x, y = ends.mean(axis=0)
            if len(transitions) > MARKED:
                self.ax.plot(x, y, linestyle="none", markersize=7, **stroke)
                continue
            self.ax.plot(*ends.T, linewidth=1.6, markersize=11, **stroke)
            # Upright, since several may be close; towards the middle, away from the edge.
            self.ax.annotate(
                f"{written.symbol} = {written.of(transition.gamma):.3g}: {transition.clusters_above} to "
                f"{counted(transition.clusters_below, 'cluster')}",
                (x, y),
                xytext=(0, -9 if y > middle else 9),
                textcoords="offset points",
                rotation=90,
                ha="center",
                va="top" if y > middle else "bottom",
                fontsize="x-small",
                color=INK,
                zorder=31,
            )
        if transitions:
            self.entry("phase transition", color=COLOURS[4], marker="|", markersize=10)

    def given(self) -> None:
        """Systems, each with its epsilon: what the best encoder with the same I(X;Z) has over it; all of that is shown."""
        systems = self.systems
        if systems is None:
            return
        x, y = systems["ixz_bits"].to_numpy(), systems["iyz_bits"].to_numpy()
        end = y + (-1.0 if self.frontier.hides_y else 1.0) * systems["epsilon_bits"].to_numpy()
        # Their own colour, or the first that nothing else has.
        own = next((one for one in (GIVEN_COLOUR, *COLOURS) if one not in self.taken), GIVEN_COLOUR)
        drawn = [self.colour_of(str(name), "systems") or own for name in systems["system"]]
        for at, colour in enumerate(drawn):
            self.ax.plot((x[at], x[at]), (y[at], end[at]), color=colour, linewidth=0.7, alpha=0.8, zorder=20)
        self.ax.scatter(x, end, s=8 * self.scale, color=drawn, zorder=21, linewidths=0.0)
        shape: dict[str, Any] = {"marker": "D", "facecolors": drawn, "edgecolors": "white", "linewidths": 0.6}
        self.ax.scatter(x, y, s=26 * self.scale, zorder=22, **shape)
        self.ax.set_xlim(right=1.06 * max(float(self.ixz.max()), float(x.max()), 1e-3))
        top = 1.12 * max(float(self.iyz.max()), float(y.max()), float(end.max()), 1e-3)
        self.ax.set_ylim(-0.03 * top, top)
        label = self.called.get("systems", "given, with its epsilon")
        self.entry(label, color=self.colour_of("systems") or own, marker="D", markersize=5 * self.scale)

    def legend(self, outside: bool, heading: str | None) -> None:
        """What was drawn, inside the axes or to the right of them."""
        where: dict[str, Any] = {"loc": "best" if self.frontier.hides_y else "lower right"}
        if outside:
            where = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
        text = "x-small" if self.is_small else "small"
        self.ax.legend(**where, title=heading, title_fontsize=text, alignment="left", fontsize=text, frameon=False)

    def names(self) -> None:
        """Those of the systems; more than 40 would hide the plane."""
        if self.systems is not None and len(self.systems) <= 40:
            names = [label_text(name, 24) for name in self.systems["system"]]
            points = self.systems[["ixz_bits", "iyz_bits"]].to_numpy()
            name_points(self.ax, points, names, 8.0 * math.sqrt(self.scale))


def plot_planes(
    planes: Sequence[tuple[str, Frontier]],
    path: str | os.PathLike[str] | None = None,
    transitions: Sequence[Transition] | Literal["grid"] = (),
    **options: Any,
) -> Figure:
    """Several information planes side by side, each with its title; written to ``path`` if given (.png, .svg, .pdf).

    ``options`` are those of `plot_plane`.
    """

    def draw(frontier: Frontier, ax: Axes, title: str) -> None:
        plot_plane(frontier, ax, transitions, **{**options, "title": title})

    return side_by_side("plane", draw, planes, path, columns=len(planes), size=(6.2, 4.6))


def plot_trace(solution: Solution, ax: Axes | None = None) -> Axes:
    """|loss - final loss| in nats and the residuals against the iteration, on a logarithmic scale.

    A straight line is linear convergence; `Solution.rate` fits it.
    """
    if solution.trace is None:
        raise InvalidOptionError("this run kept no trace; solve() records one, sweep() those of the best runs only.")
    if ax is None:
        ax = new_axes(6.4, 4.2)
    iterations, lines = trace_lines(solution.trace)
    for (label, values), colour, width in zip(lines.items(), COLOURS, (1.8, 1.0, 1.0, 1.0), strict=False):
        if np.isfinite(values).any():
            ax.plot(iterations, values, color=colour, linewidth=width, label=label)
    ax.set_yscale("log")
    finish(ax, f"{solution.problem.said}, {solution.solver}", "iteration", "distance to the end  [loss in nats]")
    ax.grid(axis="y", color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)
    if ax.lines:
        ax.legend(fontsize="small", frameon=False)
    return ax

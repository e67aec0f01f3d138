"""The information planes of funnel and bottleneck, on the paper's 3 x 3 data and on the heart data; and iterations along one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..drawing import COLOUR, LINE, Drawing, Row, dress, legend, logarithmic, panels, plain_numbers
from ..pieces import BASELINE, KINDS, PAPERS, Piece
from ..planes import (
    Plane,
    are_comparable,
    asked,
    asked_of_losses,
    higher,
    is_best,
    is_lower_somewhere,
    leaks_less,
    less_than_merging,
    more_points,
    moved,
    plane_figure,
    recovers,
    run_of,
    spans_more,
    stuck_on,
    trapped,
)
from ..settings import FUNNEL_PENALTY, HEART_BETAS, VISIBLE, Scale
from ..verdict import Claim, Figure, Finding, Runs, all_of
from .shares import fewest_iterations, median_iterations

TITLES = {"uniform": "paper_uniform", "non-uniform": "paper_nonuniform"}
"""The 3 x 3 data, by what a plane calls them."""

# -- the funnel: pf-2, pf-2v and Merge-Two -----------------------------------------------------------------------------

FUNNELS = {"pf-2": (FUNNEL_PENALTY, 1.618), "pf-2v": (FUNNEL_PENALTY, 1.0)}
"""Penalty, which is open, and relaxation."""

BETAS = (0.5, 20.0, 20)
FUNNEL_PLANES = {
    title: Plane(
        title, joint, "funnel", FUNNELS, clusters=4, trials=10, grid=BETAS, less=5, others=(2, 3), open_penalty=True
    )
    for title, joint in TITLES.items()
}
"""By title; Section V's clusters, trials and grid of beta."""

FUNNEL = plane_figure(
    [*FUNNEL_PLANES.values()],
    name="funnel-planes",
    title="Information planes of the funnel, 3 x 3 data",
    paper="On the uniform data pf-2 (alpha 1.618) leaks less than pf-2v (alpha 1); on the non-uniform data pf-2v does, for I(X;Z) in [0.8, "
    "1.2] bits. Against Merge-Two the better solver has its points and leaks less between them; on the uniform data pf-2 has a "
    "local minimum near 0.9 bits.",
    where="Section V-B",
    claims=(
        Claim(
            "pf-2-leaks-less-uniform",
            "pf-2 leaks less than pf-2v on the uniform data",
            asked(leaks_less, "uniform", ("pf-2", "pf-2v")),
        ),
        Claim(
            "pf-2v-leaks-less-nonuniform",
            "pf-2v leaks less than pf-2 on the non-uniform data for I(X;Z) in [0.8, 1.2] bits",
            asked(leaks_less, "non-uniform", ("pf-2v", "pf-2"), low=0.8, high=1.2),
        ),
        Claim(
            "funnel-below-merging-uniform",
            "pf-2 leaks less than Merge-Two in [0, 0.9] bits on the uniform data",
            asked(less_than_merging, "uniform", ("pf-2",), "Merge-Two", low=0.0, high=0.9),
        ),
        Claim(
            "funnel-recovers-nonuniform",
            "pf-2v recovers Merge-Two's points on the non-uniform data and leaks less elsewhere",
            asked(recovers, "non-uniform", ("pf-2v",), "Merge-Two"),
        ),
        Claim(
            "pf-2-stuck-uniform",
            "pf-2 is stuck in a local minimum near I(X;Z) = 0.9 bits on the uniform data",
            partial(stuck_on, plane=FUNNEL_PLANES["uniform"], solver="pf-2", low=0.8, high=1.0),
        ),
        Claim(
            "funnel-more-points-uniform",
            "pf-2 has more points than Merge-Two in [0, 0.9] bits on the uniform data",
            asked(more_points, "uniform", ("pf-2",), "Merge-Two", low=0.0, high=0.9),
        ),
    ),
)

HEART_FUNNELS = {"pf-2": (7000.0, 1.618), "pf-2v": (128.0, 1.0)}
"""Penalty, which the paper gives, and relaxation, which are those of its other funnel planes."""

HEART_GRID = (1.0, 10.0, HEART_BETAS)
HEART_FUNNEL = Plane(
    "heart", "heart", "funnel", HEART_FUNNELS, clusters=17, trials=20, grid=HEART_GRID, less=2, others=(16,)
)


def perfectly_private(runs: Runs, way: str) -> Finding:
    """Whether both solvers have a converged run that leaks less than every random start, and tells more than all of them.

    A random start has little of both informations, so that a small leakage alone says nothing; nor do runs that never left theirs.
    """
    said: list[str] = []
    answers: list[bool | None] = []
    starts = runs["heart: starts"]
    begun, leaking = float(starts["ixz"].max()), min(VISIBLE, float(starts["iyz"].min()))
    names = {solver: run_of("heart", solver, way) for solver in HEART_FUNNELS}
    for solver, name in names.items():
        left = moved(runs, "heart", name)
        private = left.where((left.iyz <= leaking) & (left.ixz > begun + VISIBLE))
        answers.append(len(private) > 0 if len(left) else None)
        least = f"; the least leakage of those is {left.iyz.min():.4f} bits" if len(left) else ""
        said.append(
            f"{solver}: of {len(runs.points(name).ended())} converged runs {len(left)} have left their start, {len(private)} of which leak "
            f"at most {leaking:.4f} bits with more utility than a start, up to {private.ixz.max(initial=0.0):.3f} bits{least}"
        )
    said.append(
        f"random starts themselves have utility {starts['ixz'].mean():.3f} (at most {begun:.3f}) and leakage "
        f"{starts['iyz'].mean():.4f} bits; with no "
        f"leakage at all {runs['heart: without leakage']['utility'][0]:.4f} bits are possible, and proven"
    )
    return Finding(all_of(answers), "; ".join(said)).on(*names.values())


STOPPED = (
    "In the authors' way nearly all runs of the heart's funnel stop where they began: random starts would be compared."
)

FUNNEL_HEART = plane_figure(
    [HEART_FUNNEL],
    name="funnel-heart",
    title="Information plane of the funnel, heart data",
    paper="pf-2 (c 7000) leaks less than pf-2v (c 128); both reach perfect privacy, I(X;Z) > 0 with I(Y;Z) near 0; against Merge-Two the "
    "same trend as on the synthetic data: its points are recovered, and less leaks between them.",
    where="Section V-B",
    claims=(
        Claim(
            "pf-2-leaks-less-heart",
            "pf-2 performs better than pf-2v on the heart data",
            asked(leaks_less, "heart", ("pf-2", "pf-2v")),
            stuck=STOPPED,
        ),
        Claim(
            "perfect-privacy",
            "pf-2 and pf-2v both reach perfect privacy with positive utility on the heart data",
            perfectly_private,
            stuck=STOPPED,
        ),
        Claim(
            "funnel-recovers-heart",
            "pf-2 recovers Merge-Two's points on the heart data and leaks less elsewhere",
            asked(recovers, "heart", ("pf-2",), "Merge-Two"),
            stuck=STOPPED,
        ),
    ),
)

# -- the bottleneck: ib-1, ib-2, ib-1v and Blahut-Arimoto --------------------------------------------------------------

BOTTLENECKS = {"ib-1": (16.0, 1.618), "ib-2": (64.0, 1.0), "ib-1v": (64.0, 1.0)}
"""Penalty and relaxation; the paper gives ib-1v no relaxation, 1 is ADMM."""

PLANES = {
    title: Plane(
        title, joint, "bottleneck", BOTTLENECKS, clusters=4, trials=16, grid=(0.1, 1.0, 16), less=4, others=(2, 3)
    )
    for title, joint in TITLES.items()
}
"""By title; Section V's clusters, trials and grid of gamma."""

OPTIMAL = 1e-4
"""Bits within which a loss counts as the optimum: about a hundred times the gap of the certificates."""


def is_trapped(runs: Runs, way: str) -> Finding:
    """Blahut-Arimoto against ib-1 at every gamma of the non-uniform data."""
    names = [f"non-uniform: {one}" for one in (BASELINE, f"ib-1, {way}", "certified")]
    theirs, ours, certified = (runs.points(name) for name in names)
    return trapped(theirs, ours, certified, (BASELINE, "ib-1"), OPTIMAL).on(*names)


BOTTLENECK = plane_figure(
    [*PLANES.values()],
    name="bottleneck-planes",
    title="Information planes of the bottleneck, 3 x 3 data",
    paper="ib-1 (c 16, alpha 1.618), ib-2 (c 64, alpha 1) and ib-1v (c 64) mostly reach comparable points near the frontier; ib-1v has a "
    "local minimum near 0.8 bits (uniform) and in [0.85, 1.2] (non-uniform), ib-2 lies slightly low in [0.2, 0.6] (non-uniform). "
    "Blahut-Arimoto has points at local minima on the non-uniform data, and fewer points in [0, 0.4] bits.",
    where="Section V-C",
    claims=(
        Claim(
            "comparable-frontiers",
            "ib-1, ib-2 and ib-1v mostly obtain comparable frontiers on the uniform data",
            asked_of_losses(are_comparable, "uniform", ("ib-1", "ib-2", "ib-1v")),
        ),
        Claim(
            "ib-1-best-nonuniform",
            "ib-1 is the best of the three on the non-uniform data",
            asked_of_losses(is_best, "non-uniform", ("ib-1", "ib-2", "ib-1v"), "ib-1"),
        ),
        Claim(
            "ba-better-in-places",
            "Blahut-Arimoto is slightly better than ib-1 in places, non-uniform data",
            asked_of_losses(is_lower_somewhere, "non-uniform", (BASELINE, "ib-1"), BASELINE, "ib-1"),
        ),
        Claim(
            "mean-subtraction",
            "the mean-subtracted gradient is more efficient than other projections",
            lambda _runs, _way: Finding(None, "no number is given"),
            PAPERS,
            where="Section V",
            undecidable="The paper names neither the other projections nor a measure of efficiency.",
        ),
        Claim(
            "ib-1v-stuck-uniform",
            "ib-1v is stuck near 0.8 bits on the uniform data, where ib-1 and ib-2 are not",
            partial(stuck_on, plane=PLANES["uniform"], solver="ib-1v", low=0.7, high=0.9, others=("ib-1", "ib-2")),
        ),
        Claim(
            "ib-1v-stuck-nonuniform",
            "ib-1v is suboptimal in [0.85, 1.2] bits on the non-uniform data, where ib-1 is not",
            partial(stuck_on, plane=PLANES["non-uniform"], solver="ib-1v", low=0.85, high=1.2, others=("ib-1",)),
        ),
        Claim(
            "ib-2-slightly-low",
            "ib-2 is slightly suboptimal in [0.2, 0.6] bits on the non-uniform data, where ib-1 is not",
            partial(stuck_on, plane=PLANES["non-uniform"], solver="ib-2", low=0.2, high=0.6, others=("ib-1",)),
        ),
        Claim(
            "ba-trapped",
            "Blahut-Arimoto is trapped in local minima on the non-uniform data where ib-1 is not",
            is_trapped,
        ),
        *(
            Claim(
                f"ib-1-explores-{title.replace('-', '')}",
                f"ib-1 finds more of the frontier than Blahut-Arimoto in [0, 0.4] bits, {title} data",
                asked(spans_more, title, ("ib-1", BASELINE), "certified", low=0.0, high=0.4),
            )
            for title in PLANES
        ),
        Claim(
            "ib-1-higher-near-one-bit",
            "ib-1 finds points above Blahut-Arimoto's near I(X;Z) = 1 bit on the uniform data",
            asked(higher, "uniform", ("ib-1", BASELINE), low=0.9, high=1.1),
        ),
    ),
)

HEART_GAMMAS, HEART_SOLVERS = (0.01, 1.0, 64), {"ib-1v": (128.0, 1.0)}
HEART = Plane(
    "heart", "heart", "bottleneck", HEART_SOLVERS, clusters=17, trials=16, grid=HEART_GAMMAS, less=2, others=(16,)
)

BOTTLENECK_HEART = plane_figure(
    [HEART],
    name="bottleneck-heart",
    title="Information plane of the bottleneck, heart data",
    paper="ib-1v (c 128) spans the plane with more points of the frontier than Blahut-Arimoto, to be seen in [0, 0.5] bits.",
    where="Section V-C",
    claims=(
        Claim(
            "ib-1v-best-heart",
            "ib-1v performs best among the proposed solvers on the heart data",
            lambda _runs, _way: Finding(None, "only ib-1v is shown, and only ib-1v was run"),
            PAPERS,
            undecidable="The paper gives neither runs nor settings (c, alpha) of ib-1 and ib-2 on these data.",
        ),
        Claim(
            "ib-1v-spans-heart",
            "ib-1v spans more of the heart frontier than Blahut-Arimoto in [0, 0.5] bits",
            asked(spans_more, "heart", ("ib-1v", BASELINE), "certified", low=0.0, high=0.5),
        ),
    ),
)

# -- iterations to convergence against gamma, uniform data -------------------------------------------------------------

LOOSE = f"uniform: {BASELINE}, tol 1e-6"
"""Blahut-Arimoto with the tolerance at which the paper stops its solvers, 1e-6."""


def _pieces(scale: Scale) -> Sequence[Piece]:
    """The sweeps of the bottleneck plane, which are shared with that figure, and Blahut-Arimoto with the paper's threshold."""
    base = PLANES["uniform"].sweeps(scale)
    exact = base[-1]
    return [*base, replace(exact, name=LOOSE, method=replace(exact.method, tol=1e-6))]


def counted(kind: str) -> dict[str, str]:
    """The sweeps that are compared in one way of running, by solver."""
    names = {solver: run_of("uniform", solver, kind) for solver in (*BOTTLENECKS, BASELINE)}
    return names | {BASELINE: LOOSE} if kind == "gradient" else names


def _draw(runs: Runs) -> Drawing:
    """Median iterations of converged runs."""
    figure, axes = panels(2, height=5.0)
    top, bottom = 1.0, np.inf
    for kind in KINDS:
        for solver, name in counted(kind).items():
            if kind == "auto" and solver == BASELINE:
                continue
            points = runs.points(name)
            medians, gammas = median_iterations(points), np.unique(points.parameter)
            # No line across a gamma without a converged run.
            shown = [medians.get(float(gamma), np.nan) for gamma in gammas]
            style = {"color": COLOUR[solver], "markersize": 3.5, "label": name.partition(": ")[2]}
            axes[kind != "gradient"].plot(gammas, shown, f"o{LINE[kind]}", **style)  # type: ignore[arg-type]
            top, bottom = max([top, *medians.values()]), min([bottom, *medians.values()])
    for ax, words in zip(axes, ("(a) the authors' way", "(b) our steps"), strict=True):
        logarithmic(ax, x=True)
        plain_numbers(ax.xaxis)
        ax.set_ylim(min(bottom, top) / 1.4, top * 1.4)
        dress(ax, words, "gamma", "median iterations of converged runs")
        legend(ax, ncols=2, handlelength=4)
    return figure


def _table(runs: Runs) -> list[Row]:
    """One row per method and gamma."""
    rows: list[Row] = []
    for name in runs.pieces:
        points = runs.points(name)
        for gamma, median in median_iterations(points).items():
            converged = float(points.converged[points.parameter == gamma].mean())
            rows.append({"runs": name, "gamma": gamma, "converged": converged, "median_iterations": median})
    return rows


def is_fastest(runs: Runs, way: str) -> Finding:
    """Blahut-Arimoto against the three solvers."""
    names = counted(way)
    return fewest_iterations({solver: runs.points(name) for solver, name in names.items()}, BASELINE).on(
        *names.values()
    )


ITERATIONS = Figure(
    name="iterations",
    title="Iterations to convergence, uniform data",
    paper="Over gamma in [0.1, 1], Blahut-Arimoto needs the fewest iterations, ib-1, ib-2 and ib-1v more.",
    where="Section V-C",
    pieces=_pieces,
    draw=_draw,
    table=_table,
    claims=(
        Claim("ba-fewest-iterations", "Blahut-Arimoto needs fewer iterations than ib-1, ib-2 and ib-1v", is_fastest),
    ),
    see="Both panels have the same axis: the black lines are Blahut-Arimoto's, and the lower, the fewer iterations. A gap in a line is a "
    "gamma at which no run converged.",
)

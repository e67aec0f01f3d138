"""The theorems on rates: w^k converges locally linearly, Q-linearly for alpha in [1, 2] and R-linearly for alpha in (0, 1).

The paper's proof bounds Delta_k = sum_{l >= k} ||w^{l+1} - w^l|| by Delta_k <= Q Delta_{k-1}: Q-linear here means that this ratio stays
below 1 over the whole tail. R-linear: Delta_k, and with it the distance to the limit, lies below a geometric sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

import infoplane as ip

from ..drawing import COLOUR, GREY, Drawing, Row, dress, legend, logarithmic, panels
from ..methods import Method
from ..pieces import Piece, Trajectory
from ..points import Array
from ..rates import STRAIGHT, straightness, worst_ratio
from ..runs import Runs
from ..settings import Scale
from ..verdict import Claim, Figure, Finding, all_of

JOINT, CLUSTERS = "paper_uniform", 4
SOLVERS = {
    "ib-1": ("bottleneck", 0.2, 16.0),
    "ib-2": ("bottleneck", 0.2, 64.0),
    "ib-1v": ("bottleneck", 0.2, 64.0),
    "pf-2": ("funnel", 2.5, 64.0),
    "pf-2v": ("funnel", 2.5, 64.0),
}
"""Family, parameter and the scalar c."""
UNDER, OVER = (0.25, 0.5, 0.75), (1.0, 1.25, 1.5, 1.618, 1.75, 2.0)
ALPHAS = (*UNDER, *OVER)
INNER = 30
"""Majorise-minimise steps per argmin, at most: many, because the theorems speak of exact argmins."""
BELOW_ONE = 1.0 - 1e-6
NEAR = 0.05
"""How far a fitted exponent may lie from 1/2."""


def name(solver: str, alpha: float) -> str:
    """The name of a piece."""
    return f"{solver}, alpha {alpha:g}"


def pieces(scale: Scale) -> Sequence[Piece]:
    """One run per formulation and relaxation, from one random start, until rounding errors end it."""
    return [
        Trajectory(
            name(solver, alpha),
            JOINT,
            family,
            parameter,
            Method(solver, "exact", c, alpha, tol=1e-13, inner=INNER).within(scale.limit),
            CLUSTERS,
        )
        for solver, (family, parameter, c) in SOLVERS.items()
        for alpha in ALPHAS
    ]


def draw(runs: Runs) -> Drawing:
    """One minus the worst ratio Delta_{k+1} / Delta_k in the tail, against alpha."""
    figure, (ax,) = panels(1, width=7.4)
    for solver in SOLVERS:
        # No line across an alpha at which the run has not settled.
        settled = _settled(runs, solver, ALPHAS)
        worst = [worst_ratio(settled[alpha]) if alpha in settled else np.nan for alpha in ALPHAS]
        style = "s--" if solver.startswith("pf") else "o-"
        label = solver if np.isfinite(worst).any() else f"{solver}: not settled"
        ax.plot(ALPHAS, 1.0 - np.array(worst), style, color=COLOUR[solver], label=label)
    logarithmic(ax)
    ax.axvline(1.0, color=GREY, linewidth=0.8)
    title = "Worst contraction in the tail, exact steps, uniform data"
    dress(ax, title, "relaxation alpha", "1 - max Delta(k+1) / Delta(k)")
    legend(ax, ncols=5, handlelength=4)
    return figure


def _settled(runs: Runs, solver: str, alphas: Sequence[float]) -> dict[float, Array]:
    """The steps of the runs, by alpha, whose steps shrank by six decades, enough to judge their tails."""
    steps = {alpha: runs[name(solver, alpha)]["step"] for alpha in alphas}
    return {alpha: step for alpha, step in steps.items() if step[-1] <= 1e-6 * step.max()}


def table(runs: Runs) -> list[Row]:
    """One row per run."""
    return [_row(runs, solver, alpha) for solver in SOLVERS for alpha in ALPHAS]


def _row(runs: Runs, solver: str, alpha: float) -> Row:
    step, (theta, r_squared) = runs[name(solver, alpha)]["step"], _exponent(runs, solver, alpha)
    return {
        "runs": name(solver, alpha),
        "iterations": len(step),
        "settled": float(alpha in _settled(runs, solver, [alpha])),
        "worst_ratio": worst_ratio(step),
        "r_squared": straightness(step),
        "exponent": theta,
        "exponent_r_squared": r_squared,
    }


def _at_every(alphas: Sequence[float], answers: Mapping[float, bool]) -> bool | None:
    """One no decides; yes needs every alpha, those at which the run has not settled leave it open."""
    return all_of([answers.get(alpha) for alpha in alphas])


def _unsettled(alphas: Sequence[float], settled: Mapping[float, object]) -> str:
    missing = [f"{alpha:g}" for alpha in alphas if alpha not in settled]
    return f"; not settled at alpha {', '.join(missing)}" if missing else ""


def q_linear(runs: Runs, solver: str, alphas: Sequence[float]) -> Finding:
    """Whether Delta shrinks by a factor below 1 in every iteration of every tail."""
    worst = {alpha: worst_ratio(step) for alpha, step in _settled(runs, solver, alphas).items()}
    said = ", ".join(f"{ratio:.4f} at {alpha:g}" for alpha, ratio in worst.items())
    holds = _at_every(alphas, {alpha: ratio < BELOW_ONE for alpha, ratio in worst.items()})
    return Finding(holds, f"{solver}: worst Delta ratio {said or 'none'}{_unsettled(alphas, worst)}")


def r_linear(runs: Runs, solver: str, alphas: Sequence[float]) -> Finding:
    """Whether log Delta falls along a straight line."""
    fits = {alpha: straightness(step) for alpha, step in _settled(runs, solver, alphas).items()}
    said = ", ".join(f"r^2 {fit:.4f} at {alpha:g}" for alpha, fit in fits.items())
    holds = _at_every(alphas, {alpha: fit >= STRAIGHT for alpha, fit in fits.items()})
    return Finding(holds, f"{solver}: {said or 'none'}{_unsettled(alphas, fits)}")


def _exponent(runs: Runs, solver: str, alpha: float) -> tuple[float, float]:
    """The slope of log |grad L_c| against log(L_c - L_c*) over the tail, and the r^2 of its fit; NaN if the tail is too short."""
    one = runs[name(solver, alpha)]
    try:
        fit = ip.fit_exponent(one["augmented"], one["gradient"])
    except ValueError:
        return float("nan"), float("nan")
    return fit.theta, fit.r_squared


def half(runs: Runs, solver: str) -> Finding:
    """Whether the Lojasiewicz exponent is 1/2: the slope at every alpha within 0.05 of it, with a straight fit."""
    fits = {alpha: _exponent(runs, solver, alpha) for alpha in _settled(runs, solver, ALPHAS)}
    fits = {alpha: fit for alpha, fit in fits.items() if np.isfinite(fit[0])}
    said = ", ".join(f"{slope:.3f} (r^2 {fit:.3f}) at {alpha:g}" for alpha, (slope, fit) in fits.items())
    return Finding(
        all(abs(slope - 0.5) <= NEAR and fit >= STRAIGHT for slope, fit in fits.values()) if fits else None,
        f"{solver}: slope of log |grad L_c| against log(L_c - L_c*) {said or 'not measured, the tails are too short'}",
    )


def every(runs: Runs, _way: str, ask: Callable[[Runs, str], Finding]) -> Finding:
    """One answer for all formulations: one no decides, and so do all yes; formulations that have not settled leave it open."""
    found = [ask(runs, solver) for solver in SOLVERS]
    return Finding(all_of([one.holds for one in found]), "; ".join(one.said for one in found))


WAY = {"exact": "exact steps, which the theorems speak of"}
"""The theorems assume exact argmins, so that these are the paper's own way here."""

NOT_ALWAYS = (
    "Said of every convex-weakly convex pair: refuted by a pair of one dimension, and on the paper's own data at the critical gamma "
    "(docs/explanation/theory.md). At the limits run here, non-degenerate minima, it is proven and seen."
)

FIGURE = Figure(
    name="linear-rates",
    title="Rates of the iterates, against alpha",
    paper="Theorems 1-6: the iterates converge locally linearly for c above a threshold; Q-linearly for alpha in [1, 2] (Solver II: "
    "below 2), R-linearly for alpha in (0, 1).",
    where="Theorems 1-6",
    pieces=pieces,
    draw=draw,
    table=table,
    claims=(
        Claim(
            "q-linear",
            "the iterates converge locally Q-linearly for alpha in [1, 2]",
            partial(every, ask=partial(q_linear, alphas=OVER)),
            WAY,
            theorem=NOT_ALWAYS,
        ),
        Claim(
            "r-linear",
            "the iterates converge locally R-linearly for alpha in (0, 1)",
            partial(every, ask=partial(r_linear, alphas=UNDER)),
            WAY,
            theorem=NOT_ALWAYS,
        ),
        Claim(
            "exponent-one-half",
            "the augmented Lagrangian has the Lojasiewicz exponent 1/2 around its limits",
            partial(every, ask=half),
            WAY,
            where="Section III, Lemmas on the K-L exponent",
            theorem=NOT_ALWAYS,
        ),
    ),
    see="The higher, the faster: Delta(k) is the length of the path left after iteration k, and what is drawn is one minus the worst "
    "factor by which it shrinks in the tail. Left of the line at alpha = 1 the paper claims R-linear rates, right of it Q-linear ones.",
)

"""The paper's theorems: how fast the iterates converge, and how the threshold of c depends on gamma.

w^k converges locally linearly, Q-linearly for alpha in [1, 2] and R-linearly for alpha in (0, 1). The paper's proof bounds
Delta_k = sum_{l >= k} ||w^{l+1} - w^l|| by Delta_k <= Q Delta_{k-1}: Q-linear here means that this ratio stays below 1 over the whole tail.
R-linear: Delta_k, and with it the distance to the limit, lies below a geometric sequence.

Theorem 5's threshold does not contain gamma, so one c should serve a whole plane of ib-2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import infoplane as ip

from ..drawing import COLOUR, GREY, Drawing, Row, dress, legend, logarithmic, panels, plain_numbers
from ..pieces import Method, Piece, Sweep, Trajectory, load, no_penalty_warnings, random_starts
from ..points import Array, Arrays
from ..settings import LONG_LIMIT, Scale
from ..verdict import Claim, Figure, Finding, Runs, all_of
from .rates import STRAIGHT
from .shares import smallest_penalty

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


def remaining(steps: Array, floor: float = 1e-12) -> Array:
    """Delta_k = sum_{l >= k} ||w^{l+1} - w^l||, the length of the path that is left, for every k in the tail of a run.

    The tail is where log Delta is in the lower half of its range, from the first Delta down to where rounding errors begin.
    """
    delta: Array = np.cumsum(steps[::-1])[::-1]
    last = int(np.flatnonzero(delta > max(floor * delta[0], 1e3 * steps[-1])).max(initial=0)) + 1
    middle = np.sqrt(delta[0] * delta[last - 1])
    return delta[int(np.flatnonzero(delta[:last] >= middle).max(initial=0)) : last]


def worst_ratio(steps: Array) -> float:
    """The largest Delta_{k+1} / Delta_k over the tail: below 1 is the paper's Q-linear rate."""
    delta = remaining(steps)
    return float((delta[1:] / delta[:-1]).max(initial=0.0))


def straightness(steps: Array) -> float:
    """r^2 of a straight line through log Delta_k over the tail: near 1 is an R-linear rate; NaN if the tail is too short."""
    delta = remaining(steps)
    if len(delta) < 5:
        return float("nan")
    k, y = np.arange(len(delta)), np.log(delta)
    slope, intercept = np.polyfit(k, y, 1)
    return 1.0 - float(((y - slope * k - intercept) ** 2).sum()) / float(((y - y.mean()) ** 2).sum())


def path(solver: str, alpha: float) -> str:
    """The name of a run of exact steps."""
    return f"{solver}, alpha {alpha:g}"


def rate_pieces(scale: Scale) -> Sequence[Piece]:
    """One run per formulation and relaxation, from one random start, until rounding errors end it."""
    found: list[Piece] = []
    for solver, (family, parameter, c) in SOLVERS.items():
        for alpha in ALPHAS:
            method = Method(solver, "exact", c, alpha, tol=1e-13, inner=INNER).within(scale.limit)
            found.append(Trajectory(path(solver, alpha), JOINT, family, parameter, method, CLUSTERS))
    return found


def draw_rates(runs: Runs) -> Drawing:
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
    steps = {alpha: runs[path(solver, alpha)]["step"] for alpha in alphas}
    return {alpha: step for alpha, step in steps.items() if step[-1] <= 1e-6 * step.max()}


def rate_table(runs: Runs) -> list[Row]:
    """One row per run."""
    rows: list[Row] = []
    for solver in SOLVERS:
        settled = _settled(runs, solver, ALPHAS)
        for alpha in ALPHAS:
            step, (theta, r_squared) = runs[path(solver, alpha)]["step"], _exponent(runs, solver, alpha)
            rows.append(
                {
                    "runs": path(solver, alpha),
                    "iterations": len(step),
                    "settled": float(alpha in settled),
                    "worst_ratio": worst_ratio(step),
                    "r_squared": straightness(step),
                    "exponent": theta,
                    "exponent_r_squared": r_squared,
                }
            )
    return rows


def _at_every(alphas: Sequence[float], begins: str, answers: Mapping[float, tuple[bool, str]]) -> Finding:
    """One no decides; yes needs every alpha, those at which the run has not settled leave it open."""
    holds = all_of([answers[alpha][0] if alpha in answers else None for alpha in alphas])
    said = ", ".join(f"{words} at {alpha:g}" for alpha, (_, words) in answers.items()) or "none"
    missing = ", ".join(f"{alpha:g}" for alpha in alphas if alpha not in answers)
    return Finding(holds, f"{begins}{said}" + (f"; not settled at alpha {missing}" if missing else ""))


def q_linear(runs: Runs, solver: str, alphas: Sequence[float]) -> Finding:
    """Whether Delta shrinks by a factor below 1 in every iteration of every tail."""
    worst = {alpha: worst_ratio(step) for alpha, step in _settled(runs, solver, alphas).items()}
    answers = {alpha: (ratio < BELOW_ONE, f"{ratio:.4f}") for alpha, ratio in worst.items()}
    return _at_every(alphas, f"{solver}: worst Delta ratio ", answers)


def r_linear(runs: Runs, solver: str, alphas: Sequence[float]) -> Finding:
    """Whether log Delta falls along a straight line."""
    fits = {alpha: straightness(step) for alpha, step in _settled(runs, solver, alphas).items()}
    answers = {alpha: (fit >= STRAIGHT, f"r^2 {fit:.4f}") for alpha, fit in fits.items()}
    return _at_every(alphas, f"{solver}: ", answers)


def _exponent(runs: Runs, solver: str, alpha: float) -> tuple[float, float]:
    """The slope of log |grad L_c| against log(L_c - L_c*) over the tail, and the r^2 of its fit; NaN if the tail is too short."""
    one = runs[path(solver, alpha)]
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

RATES = Figure(
    name="linear-rates",
    title="Rates of the iterates, against alpha",
    paper="Theorems 1-6: the iterates converge locally linearly for c above a threshold; Q-linearly for alpha in [1, 2] (Solver II: "
    "below 2), R-linearly for alpha in (0, 1).",
    where="Theorems 1-6",
    pieces=rate_pieces,
    draw=draw_rates,
    table=rate_table,
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

# -- the threshold of c against gamma ----------------------------------------------------------------------------------

ENOUGH, PENALTIES = 0.9, tuple(2.0**k for k in range(9))
RELAXATIONS = {"ib-1": 1.618, "ib-2": 1.0}
THEOREM = {"ib-1": "Theorem 4 as printed, which is false", "ib-2": "Theorem 5"}
SAME = 2.0
"""Thresholds count as the same if the largest is at most so many times the smallest: one step of the grid of c."""


@dataclass(frozen=True)
class Formula(Piece):
    """The theorems' thresholds at one random start, against gamma."""

    gammas: tuple[float, ...]
    clusters: int

    def run(self) -> Arrays:
        """One array per formulation, one entry per gamma."""
        joint = load(self.joint)
        (encoder,) = random_starts(1, self.clusters, joint.shape[0])

        def threshold(gamma: float, solver: str, alpha: float) -> float:
            named: dict[str, Any] = {"formulation": solver, "relaxation": alpha, "printed": True}
            with no_penalty_warnings():
                return ip.penalty_threshold(joint, ip.bottleneck(gamma), encoder, **named).c

        found = RELAXATIONS.items()
        return {one: np.array([threshold(gamma, one, alpha) for gamma in self.gammas]) for one, alpha in found}


def sweep(solver: str, c: float) -> str:
    """The name of a sweep over gamma."""
    return f"{solver}, c {c:g}"


def threshold_pieces(scale: Scale) -> Sequence[Piece]:
    """The theorems' thresholds, and one sweep over gamma per solver and c, of 10 trials."""
    grid, trials = scale.grid(0.1, 0.8, 8, JOINT), min(10, scale.trials)
    found: list[Piece] = [Formula("formula", JOINT, grid, CLUSTERS)]
    for solver, alpha in RELAXATIONS.items():
        for c in scale.some(PENALTIES):
            method = Method(solver, "majorise", c, alpha).within(min(scale.limit, LONG_LIMIT))
            found.append(Sweep(sweep(solver, c), JOINT, "bottleneck", grid, method, CLUSTERS, trials))
    return found


def thresholds(runs: Runs, solver: str) -> dict[float, float]:
    """The smallest c at which enough trials converge, for every gamma."""
    sweeps = {c: runs.points(sweep(solver, c)) for c in PENALTIES if sweep(solver, c) in runs.pieces}
    found = {}
    for gamma in np.unique(next(iter(sweeps.values())).parameter).tolist():
        shares = {c: float(points.converged[points.parameter == gamma].mean()) for c, points in sweeps.items()}
        found[gamma] = smallest_penalty(shares, ENOUGH)
    return found


def draw_thresholds(runs: Runs) -> Drawing:
    """Measured thresholds, and the theorems' formula."""
    figure, (ax,) = panels(1, width=7.4)
    for solver in RELAXATIONS:
        measured = thresholds(runs, solver)
        gammas, colour, words = list(measured), COLOUR[solver], f"{THEOREM[solver]}, at one start's masses"
        ax.plot(gammas, list(measured.values()), "o-", color=colour, label=f"{solver}: smallest c, measured")
        ax.plot(gammas, runs["formula"][solver], "--", color=colour, label=f"{solver}: {words}")
    logarithmic(ax, x=True)
    plain_numbers(ax.xaxis)
    dress(ax, "Smallest penalty against gamma, our steps, uniform data", "gamma", "penalty c")
    legend(ax, ncols=2)
    return figure


def threshold_table(runs: Runs) -> list[Row]:
    """One row per solver and gamma."""
    return [
        {"runs": solver, "gamma": gamma, "smallest_c": c, "theorem_c": float(runs["formula"][solver][row])}
        for solver in RELAXATIONS
        for row, (gamma, c) in enumerate(thresholds(runs, solver).items())
    ]


def independent(runs: Runs, way: str) -> Finding:
    """Whether ib-2's threshold is the same at every gamma: in the theorem's formula, and as measured."""
    if way == "formula":
        values = runs["formula"]["ib-2"]
        other = runs["formula"]["ib-1"]
        spread = float(values.max() / values.min())
        return Finding(
            bool(np.isclose(spread, 1.0)),
            f"the formula's largest over smallest c is {spread:.6f} for ib-2 (ib-1: {other.max() / other.min():.4f}) at fixed masses",
        )
    smallest = np.array(list(thresholds(runs, "ib-2").values()))
    values = smallest[np.isfinite(smallest)]
    never = len(smallest) - len(values)
    more = f"; at {never} of {len(smallest)} gammas they never do" if never else ""
    if not len(values):
        return Finding(None, f"{ENOUGH:.0%} of trials converge at no c and no gamma")
    same = bool(values.max() <= SAME * values.min())
    return Finding(
        None if same and never else same,
        f"the smallest c at which {ENOUGH:.0%} of trials converge lies in [{values.min():g}, {values.max():g}] over gamma{more}",
    )


THRESHOLD = Figure(
    name="penalty-threshold",
    title="The threshold of c against gamma",
    paper="ib-2's threshold (Theorem 5) does not depend on gamma, which allows one c for a whole plane.",
    where="Section IV-A, Theorem 5",
    pieces=threshold_pieces,
    draw=draw_thresholds,
    table=threshold_table,
    claims=(
        Claim(
            "threshold-independent",
            "ib-2's smallest penalty does not depend on gamma",
            independent,
            {"formula": "the theorem's formula at fixed masses", "measured": "the penalties measured"},
        ),
    ),
    see="Dashed: the paper's thresholds, at the masses of one random start; marks: the smallest c at which 90% of trials converge. Where "
    "there is no mark, no c of the grid was enough.",
)

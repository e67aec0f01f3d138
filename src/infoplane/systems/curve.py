"""The frontier as a concave curve of which points and slopes are known.

Put u = I(X;Z), and w = I(Y;Z), t = gamma for the bottleneck, w = -I(Y;Z), t = -1/beta for the funnel. In both the frontier w*(u) is
concave, and a problem is a slope: its loss is a positive multiple of t u - w, so that its optimum is the point of slope t.

Every encoder that is known is a point on or below the frontier; the corners of their hull are kept, and the slopes at which an optimum has
been looked for. The two ends need no solver:

==========  ========================================  ================================================================
family      u = 0                                     the other end
==========  ========================================  ================================================================
bottleneck  constant Z, t = 1: I(Y;Z) <= I(X;Z)       letters of equal p(y|x) joined, t = 0: it keeps all of I(X;Y)
funnel      constant Z, t = 0: nothing leaks less     Z = X, t = -1: optimal for beta <= 1
==========  ========================================  ================================================================
"""

from __future__ import annotations

import math
import time
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..frontier.geometry import FrontierPoint, Line, corners, known_lines, supporting_line
from ..information import Array, PlanePoint
from ..joint.joint import Joint, Support
from ..posterior.form import Letters
from ..problem import Family, MarkovLagrangian
from ..results import STATIONARY_TOL, Residuals, Status, judge
from ..runtime.budget import Budget
from ..runtime.threads import one_blas_thread
from ..solution import Solution, finished
from ..solve import solve
from ..solvers.annealing import Annealing
from ..solvers.job import Job, RunOptions
from ..solvers.shared.starts import make_starts, seed_sequence

TIE = 1e-12
"""Nats within which two encoders are equally good at a slope: rounding of I(X;Z) and I(Y;Z), with three digits to spare."""

SMALLEST = 1e-12
"""Where the slope 0 stands in a problem, which needs a positive gamma and a finite beta."""


class EncoderLine(NamedTuple):
    """Where an encoder lies, and its straight line w - t u over the slopes t."""

    u: float
    w: float

    def at(self, slope: float) -> float:
        """w - t u: the larger the better."""
        return self.w - slope * self.u


class KnownCurve:
    """What is known of a frontier."""

    def __init__(self, joint: Joint, family: Family) -> None:
        self.joint, self.family, self.hides_y = joint, family, family.hides_y
        self.support = Support(joint)
        self.corners: list[FrontierPoint] = []
        self.lines: list[EncoderLine] = []
        """Of the corners, by u."""
        self.solved: list[float] = []
        """Slopes at which an optimum has been looked for, ascending."""
        self.runs: list[Solution] = []
        """What was found there."""
        self.proven: list[Line] = []
        """Lines that no encoder crosses, one for each bound that was proven."""
        letters = joint.shape[0]
        constant, everything = (0.0, -1.0) if self.hides_y else (1.0, 0.0)
        self._keep(constant, self.made(constant, np.ones((1, letters)), "constant"))
        full = np.eye(letters) if self.hides_y else _sufficient(self.support)
        self._keep(everything, self.made(everything, full, "everything"))

    # -- letters -------------------------------------------------------------------------------------------------------

    def line(self, point: PlanePoint | Solution) -> EncoderLine:
        """A point of the plane in the letters of the curve."""
        return EncoderLine(point.ixz, -point.iyz if self.hides_y else point.iyz)

    def slope(self, parameter: float) -> float:
        """t: gamma, or -1/beta."""
        return -1.0 / parameter if self.hides_y else parameter

    def parameter(self, slope: float) -> float:
        """Gamma, or beta = -1/t; 0 or infinity where the slope is 0."""
        if not self.hides_y:
            return slope
        return math.inf if slope == 0.0 else -1.0 / slope

    def problem(self, slope: float) -> MarkovLagrangian:
        """The problem whose optimum has this slope."""
        inside = min(slope, -SMALLEST) if self.hides_y else max(slope, SMALLEST)
        return self.family(self.parameter(inside))

    # -- what is known -------------------------------------------------------------------------------------------------

    def made(self, slope: float, W: Array, name: str) -> Solution:
        """An encoder that no solver has found, as the answer at a slope."""
        problem = self.problem(slope)
        residuals = Residuals(0.0, 0.0, problem.stationarity(self.joint, W))
        return Solution(
            joint=self.joint,
            problem=problem,
            encoder=W,
            status=judge(residuals, STATIONARY_TOL, Status.STALLED),
            solver=name,
            iterations=0,
            seconds=0.0,
            residuals=residuals,
            parameter=self.parameter(slope),
        )

    def add(self, slope: float, run: Solution) -> bool:
        """The answer at a slope; whether the hull has changed."""
        self.runs.append(run)
        if run.lower_bound is not None:
            self.proven.append(supporting_line(run.problem, run.lower_bound))
        if self.line(run).at(slope) <= self.best_at(slope) + TIE:
            self.solved = sorted({*self.solved, slope})
            return False
        self._keep(slope, run)
        return True

    def admit(self, run: Solution) -> bool:
        """An encoder that may be no optimum at any slope; whether it lies above the hull, which then has it as a corner."""
        line = self.line(run)
        if line.w <= self.height(line.u) + TIE:
            return False
        self._keep(None, run)
        return True

    def _keep(self, slope: float | None, run: Solution) -> None:
        if slope is not None:
            self.solved = sorted({*self.solved, slope})
        self.corners = corners([*self.corners, FrontierPoint(run, run.parameter)], self.hides_y)
        self.lines = [self.line(corner.run) for corner in self.corners]

    def best_at(self, slope: float) -> float:
        """The largest w - t u of all that is known."""
        return max(line.at(slope) for line in self.lines)

    def optimal_at(self, slope: float) -> list[Solution]:
        """What is best at a slope, by I(X;Z): one encoder, or the two ends of a straight piece."""
        best = self.best_at(slope) - TIE
        return [corner.run for corner, line in zip(self.corners, self.lines, strict=True) if line.at(slope) >= best]

    def bracket(self, u: float) -> tuple[EncoderLine, EncoderLine]:
        """The neighbouring corners between which, or at one of which, I(X;Z) = u lies; beyond the end, the last two."""
        after = next((at for at, line in enumerate(self.lines) if line.u >= u), len(self.lines) - 1)
        after = max(after, 1)
        return self.lines[after - 1], self.lines[after]

    def height(self, u: float) -> float:
        """The largest w at I(X;Z) = u that time sharing between known encoders achieves."""
        left, right = self.bracket(u)
        share = min(max((u - left.u) / (right.u - left.u), 0.0), 1.0)
        return (1.0 - share) * left.w + share * right.w

    def nearest(self, line: EncoderLine) -> tuple[float, float]:
        """The solved slope t at which the best w' - t u' exceeds w - t u least, and by how much."""
        u, w = np.array(self.lines).T
        slopes = np.array(self.solved)
        excess = (w[:, None] - slopes * u[:, None]).max(axis=0) - (line.w - slopes * line.u)
        at = int(excess.argmin())
        return float(slopes[at]), float(excess[at])

    def slopes_around(self, u: float) -> tuple[float, float]:
        """The largest solved slope whose optimum has I(X;Z) >= u, and the smallest whose optimum has I(X;Z) <= u."""
        us, w = np.array(self.lines).T
        slopes = np.array(self.solved)
        value = w[:, None] - slopes * us[:, None]
        best = value >= value.max(axis=0) - TIE
        most, least = np.where(best, us[:, None], -np.inf).max(axis=0), np.where(best, us[:, None], np.inf).min(axis=0)
        return float(slopes[most >= u - TIE].max(initial=slopes[0])), float(
            slopes[least <= u + TIE].min(initial=slopes[-1])
        )

    def proven_excess(self, line: EncoderLine) -> float:
        """The smallest proven bound on how far a point lies below the frontier; there are some that need no proof."""
        return min(float(one.at(np.array(line.u))) for one in (*self.proven, *self._always)) - line.w

    @cached_property
    def _always(self) -> list[Line]:
        return known_lines(self.joint, self.hides_y)

    # -- where to look next --------------------------------------------------------------------------------------------

    def chord(self, u: float) -> float:
        """The slope of the hull at u: the corners on both sides are equally good there."""
        left, right = self.bracket(u)
        return (right.w - left.w) / (right.u - left.u)

    def guess(self, u: float) -> float:
        """The slope at u of the cubic through the corners on both sides with their own slopes (Hermite)."""
        left, right = self.bracket(u)
        low, high = self.slopes_around(u)
        s = min(max((u - left.u) / (right.u - left.u), 0.0), 1.0)
        bent = high * (1.0 - s) * (1.0 - 3.0 * s) + low * s * (3.0 * s - 2.0) + 6.0 * self.chord(u) * s * (1.0 - s)
        inside = 0.02 * (high - low)  # away from the ends, of which the optimum is known
        return float(np.clip(bent, low + inside, high - inside))

    def middle(self, u: float) -> float:
        """Halfway between the solved slopes on both sides."""
        return 0.5 * sum(self.slopes_around(u))


def _sufficient(support: Support) -> Array:
    """The hard map that joins letters of equal p(y|x)."""
    classes = Letters(support).classes
    letters = np.arange(len(support.p_x))
    return support.lift(
        np.eye(len(letters) if classes is None else int(classes.max()) + 1)[:, letters if classes is None else classes]
    )


def optimum(curve: KnownCurve, slope: float, options: RunOptions, init: Array | None = None) -> Solution:
    """The best encoder found at one more slope, begun from what is known beside it, or from ``init``, if given.

    The bottleneck is annealed upwards: from the optimum at the nearest smaller gamma, whose clusters can only merge; where none is known,
    from (almost) Z = X. The funnel has no such order: its default solver runs, with few starts.
    """
    if curve.hides_y:
        return _funnel(curve, slope, options, init)
    problem, support, began = curve.problem(slope), curve.support, time.perf_counter()
    if init is None:
        init = _known_below(curve, slope)
    if init is None:
        path, starts = Annealing(), make_starts(curve.joint, None, 1, seed_sequence(0), "identity")
    else:
        path, starts = Annealing(rungs=0), np.ascontiguousarray(init[None][:, :, support.x])
    clusters = None if init is None else len(init)
    job = Job(support, problem, starts, options.tol, clusters, budget=Budget(iterations=options.max_iter))
    with one_blas_thread():
        run = path.run(job)[0]
    return finished(support, problem, run, seconds=time.perf_counter() - began)


def _known_below(curve: KnownCurve, slope: float) -> Array | None:
    """The optimum at the nearest smaller slope that was solved; None if only the end is known."""
    below = [one for one in curve.solved if 0.0 < one < slope]
    return curve.optimal_at(max(below))[-1].encoder if below else None


def _funnel(curve: KnownCurve, slope: float, options: RunOptions, init: Array | None) -> Solution:
    # Few starts: one that misses the optimum is mended by its neighbours, since all slopes share one hull.
    starts = {"starts": 6, "rng": 0} if init is None else {"init": init}
    return solve(curve.joint, curve.problem(slope), max_iter=options.max_iter, tol=options.tol, **starts)

"""The frontier as a concave curve of which points and slopes are known, and where an encoder lies against it.

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

    epsilon(W) = min over gamma of  L_gamma(W) - L*_gamma  =  I*(Y;Z) at the same I(X;Z), minus I(Y;Z) of W

L*_gamma is a concave conjugate, so the minimum is where the frontier has the slope gamma at I_W(X;Z): one root of a decreasing function,
I*_gamma(X;Z) - I_W(X;Z), found by solving at a few slopes. Two neighbouring optima bound epsilon from both sides: their time sharing,
which exists, from below, and L_gamma(W) - L*_gamma at either of their gammas from above. On a straight piece both meet at the
slope of the chord; elsewhere the slope is guessed from a cubic. For the funnel epsilon is the leakage I(Y;Z) above the least possible
at the same I(X;Z), and the slope is 1/beta.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import FarSideWarning
from ..frontier.geometry import FrontierPoint, Line, corners, judged, known_lines, supporting_line
from ..information import Array, PlanePoint
from ..joint.joint import Joint, Support
from ..posterior.form import Letters
from ..problem import Family, MarkovLagrangian
from ..runtime.budget import Budget, one_blas_thread
from ..solution import Solution, finished
from ..solve import solve
from ..solvers.annealing import Annealing
from ..solvers.base import make_starts, seed_sequence
from ..solvers.job import Job, ProofOptions, RunOptions
from ..solvers.shared.partitions import encoder_of
from .given import System
from .measures import gnid

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

    def line(self, point: PlanePoint | Solution) -> EncoderLine:
        """A point of the plane in the letters of the curve."""
        return EncoderLine(point.ixz, -point.iyz if self.hides_y else point.iyz)

    def slope(self, parameter: float) -> float:
        """t: gamma, or -1/beta."""
        return -1.0 / parameter if self.hides_y else parameter

    def parameter(self, slope: float) -> float:
        """Gamma, or beta = -1/t; 0 or infinity where the slope is 0."""
        return slope if not self.hides_y else math.inf if slope == 0.0 else -1.0 / slope

    def problem(self, slope: float) -> MarkovLagrangian:
        """The problem whose optimum has this slope."""
        inside = min(slope, -SMALLEST) if self.hides_y else max(slope, SMALLEST)
        return self.family(self.parameter(inside))

    def made(self, slope: float, W: Array, name: str) -> Solution:
        """An encoder that no solver has found, as the answer at a slope."""
        return judged(self.joint, self.problem(slope), W, name, parameter=self.parameter(slope))

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

    def _between(self, u: float) -> tuple[EncoderLine, EncoderLine, float]:
        """The neighbouring corners between which, or at one of which, I(X;Z) = u lies, and how far on the way from one to the other.

        Beyond the end they are the last two.
        """
        after = next((at for at, line in enumerate(self.lines) if line.u >= u), len(self.lines) - 1)
        left, right = self.lines[max(after, 1) - 1], self.lines[max(after, 1)]
        return left, right, min(max((u - left.u) / (right.u - left.u), 0.0), 1.0)

    def height(self, u: float) -> float:
        """The largest w at I(X;Z) = u that time sharing between known encoders achieves."""
        left, right, share = self._between(u)
        return (1.0 - share) * left.w + share * right.w

    def _values(self) -> tuple[Array, Array, Array]:
        """u of every corner, the solved slopes, and w - t u of every corner at each of them."""
        u, w = np.array(self.lines).T
        slopes = np.array(self.solved)
        return u[:, None], slopes, w[:, None] - slopes * u[:, None]

    def nearest(self, line: EncoderLine) -> tuple[float, float]:
        """The solved slope t at which the best w' - t u' exceeds w - t u least, and by how much."""
        _, slopes, values = self._values()
        excess = values.max(axis=0) - (line.w - slopes * line.u)
        at = int(excess.argmin())
        return float(slopes[at]), float(excess[at])

    def slopes_around(self, u: float) -> tuple[float, float]:
        """The largest solved slope whose optimum has I(X;Z) >= u, and the smallest whose optimum has I(X;Z) <= u."""
        us, slopes, values = self._values()
        best = values >= values.max(axis=0) - TIE
        most, least = np.where(best, us, -np.inf).max(axis=0), np.where(best, us, np.inf).min(axis=0)
        low = slopes[most >= u - TIE].max(initial=slopes[0])
        return float(low), float(slopes[least <= u + TIE].min(initial=slopes[-1]))

    def proven_excess(self, line: EncoderLine) -> float:
        """The smallest proven bound on how far a point lies below the frontier; there are some that need no proof."""
        return min(float(one.at(np.array(line.u))) for one in (*self.proven, *self._always)) - line.w

    @cached_property
    def _always(self) -> list[Line]:
        return known_lines(self.joint, self.hides_y)

    def chord(self, u: float) -> float:
        """The slope of the hull at u: the corners on both sides are equally good there."""
        left, right, _ = self._between(u)
        return (right.w - left.w) / (right.u - left.u)

    def guess(self, u: float) -> float:
        """The slope at u of the cubic through the corners on both sides with their own slopes (Hermite)."""
        _, _, s = self._between(u)
        low, high = self.slopes_around(u)
        bent = high * (1.0 - s) * (1.0 - 3.0 * s) + low * s * (3.0 * s - 2.0) + 6.0 * self.chord(u) * s * (1.0 - s)
        inside = 0.02 * (high - low)  # away from the ends, of which the optimum is known
        return float(np.clip(bent, low + inside, high - inside))

    def middle(self, u: float) -> float:
        """Halfway between the solved slopes on both sides."""
        return 0.5 * sum(self.slopes_around(u))


def _sufficient(support: Support) -> Array:
    """The hard map that joins letters of equal p(y|x)."""
    classes = Letters(support).classes
    return support.lift(np.eye(len(support.p_x)) if classes is None else encoder_of(classes))


def optimum(curve: KnownCurve, slope: float, init: Array | None = None) -> Solution:
    """The best encoder found at one more slope, begun from what is known beside it, or from ``init``, if given.

    The bottleneck is annealed upwards: from the optimum at the nearest smaller gamma, whose clusters can only merge; where none is known,
    from (almost) Z = X. The funnel has no such order: its default solver runs, with few starts.
    """
    if curve.hides_y:
        # Few starts: one that misses the optimum is mended by its neighbours, since all slopes share one hull.
        starts = {"starts": 6, "rng": 0} if init is None else {"init": init}
        return solve(curve.joint, curve.problem(slope), max_iter=ENOUGH.max_iter, tol=ENOUGH.tol, **starts)
    problem, support, began = curve.problem(slope), curve.support, time.perf_counter()
    below = [one for one in curve.solved if 0.0 < one < slope]  # not the end
    if init is None and below:
        init = curve.optimal_at(max(below))[-1].encoder
    if init is None:
        path, first, clusters = Annealing(), make_starts(curve.joint, None, 1, seed_sequence(0), "identity"), None
    else:
        path, first, clusters = Annealing(rungs=0), np.ascontiguousarray(init[None][:, :, support.x]), len(init)
    job = Job(support, problem, first, ENOUGH.tol, clusters, budget=Budget(iterations=ENOUGH.max_iter))
    with one_blas_thread():
        run = path.run(job)[0]
    return finished(support, problem, run, seconds=time.perf_counter() - began)


ENOUGH = RunOptions(tol=1e-7, max_iter=4000)
"""What an optimum needs: its loss is then exact to far less than `TOL`, also beside a transition, where the last digits of the encoder
take tens of thousands of iterations."""

ON_THE_CURVE = 1e-9
"""Nats by which an encoder may lie above all that is known and still be said to lie on it: less than `ENOUGH` resolves."""


class TrialNoise(NamedTuple):
    """What the trials of one system leave open; intervals of 95%, nats."""

    trials: int
    ixz_corrected: float
    ixz: tuple[float, float]
    epsilon: tuple[float, float]
    parameter: tuple[float, float]
    gnid: tuple[float, float]
    on_bound_p: float
    """Share of simulated optimal subjects whose epsilon is at least this one's."""


@dataclass(frozen=True)
class Placement:
    """Where an encoder lies against the frontier; nats."""

    system: System = field(repr=False)
    ixz: float
    iyz: float
    parameter: float
    """The gamma (or beta) at which it comes closest; gamma = 0, beta = infinite, beyond the frontier's last slope."""
    epsilon: float
    """L(encoder) - L(optimum) at `parameter`, in nats of I(Y;Z)."""
    low: float
    """Achieved: some encoder has the same I(X;Z) and is better by this much."""
    high: float
    """Proven: no encoder of the same I(X;Z) is better by more; infinite if nothing was proven."""
    gnid: float
    """Generalised normalised information distance to `optimum`."""
    optimum: Solution = field(repr=False)
    """The optimum at `parameter`; on a straight piece the end that is nearer in I(X;Z)."""
    solves: int
    """Slopes that were solved for this encoder, beside those that were known."""
    noise: TrialNoise | None = field(default=None, repr=False)
    """What its trials leave open, if that was asked for (`efficiency`)."""


class Search:
    """The slope at which one encoder after another comes closest to a curve."""

    def __init__(self, curve: KnownCurve, tol: float, max_solves: int) -> None:
        self.curve, self.tol, self.max_solves, self.solves = curve, tol, max_solves, 0

    def place(self, system: System, line: EncoderLine, proof: ProofOptions) -> Placement:
        """Narrow epsilon, and prove it if asked to; a proof that finds a better encoder narrows it again."""
        curve, asked = self.curve, proof.certify is not False
        self.solves = 0
        self._narrow(system, line)
        while asked and self.solves <= self.max_solves:
            slope, _ = curve.nearest(line)
            if slope == 0.0 or any(one.slope == slope for one in curve.proven) or not self._proven(slope, proof):
                break
            self._narrow(system, line)
        return self._placement(system, line, proven=asked or bool(curve.proven))

    def _narrow(self, system: System, line: EncoderLine) -> None:
        """Solve slopes until both sides of epsilon meet."""
        curve, before = self.curve, math.inf
        # A cubic is the best guess where the curve is smooth, the chord decides whether it is straight, and halves always end.
        ways = (curve.guess, curve.chord, curve.middle)
        way = 0
        while self.solves < self.max_solves:
            nearest, excess = curve.nearest(line)
            if excess < -ON_THE_CURVE:  # an optimum was missed: the encoder is known now, and so is what lies beyond it
                curve.admit(curve.made(nearest, system.encoder, system.name))
                self._solve(nearest, system.encoder)
                continue
            gap = excess - (curve.height(line.u) - line.w)
            if gap <= self.tol:
                return
            # A solve that leaves more than a fifth of the gap was slow: the next slope is found another way.
            way = 0 if gap <= 0.2 * before else (way + 1) % len(ways)
            slope = ways[way](line.u)
            if slope in curve.solved:
                return
            before = gap
            self._solve(slope)

    def slopes_at(self, u: float) -> tuple[float, float]:
        """Between which slopes that of the frontier at I(X;Z) = u lies."""
        self.solves = 0
        at = EncoderLine(u, self.curve.height(u))
        self._narrow(System("", np.ones((1, self.curve.joint.shape[0])), (0,)), at)
        return self.curve.slopes_around(u)

    def _solve(self, slope: float, init: Array | None = None) -> None:
        self.solves += 1
        self.curve.add(slope, optimum(self.curve, slope, init))

    def _proven(self, slope: float, proof: ProofOptions) -> bool:
        """A bound at a slope; whether the proof has found a better encoder."""
        curve = self.curve
        warm = curve.optimal_at(slope)[-1].encoder
        found = solve(curve.joint, curve.problem(slope), init=warm, **vars(proof))
        before = curve.best_at(slope)
        curve.add(slope, found)
        return curve.best_at(slope) > before + self.tol

    def _placement(self, system: System, line: EncoderLine, proven: bool) -> Placement:
        curve = self.curve
        slope, excess = curve.nearest(line)
        best = min(curve.optimal_at(slope), key=lambda run: abs(run.ixz - line.u))
        achieved = max(curve.height(line.u) - line.w, 0.0)  # it achieves itself
        if excess < -ON_THE_CURVE:
            warnings.warn(
                f"system {system.name!r} lies {-excess:.1e} nats beyond every optimum that was found: the frontier is not optimal there. "
                "Raise max_solves, or certify.",
                FarSideWarning,
                stacklevel=4,
            )
        return Placement(
            system=system,
            ixz=line.u,
            iyz=-line.w if curve.hides_y else line.w,
            parameter=curve.parameter(slope),
            epsilon=excess,
            low=achieved,
            high=curve.proven_excess(line) if proven else math.inf,
            gnid=gnid(curve.joint, system.encoder, best.encoder, axes="zx"),
            optimum=best,
            solves=self.solves,
        )

"""Runs as lines and points: the best encoder of each parameter, the Pareto set, the hull, and the certified information plane.

**Lines.** L = S H(Z) - rho_zx I(X;Z) - rho_zy I(Y;Z), S = rho_z + rho_zx + rho_zy, is linear in rho: an encoder is a straight line in the
parameter, known from three numbers, and where another run's line lies below the best of a parameter's own, that encoder is the better
answer there. Stored runs stay as they are: a frontier looks when read.

**Hull.** Corners of a frontier are those of the concave hull of (I(X;Z), I(Y;Z)) for the bottleneck, of the convex one for the funnel: a
point inside is not on the frontier, since mixtures of the corners, by time sharing, are better.

**Enclosure**, between the points of a sweep too. A proven bound b <= gamma I(X;Z) - I(Y;Z) is a line that no bottleneck crosses,

    I(Y;Z)  <=  gamma I(X;Z) - b.

The lowest of these lines, of I(Y;Z) <= eta I(X;Z) (contraction, `certificate/bottleneck.py`) and of I(Y;Z) <= I(X;Y) lies above the
frontier; below it lies the hull of all runs, of a constant Z and of Z = the class of letters with equal p(y|x), which keeps all of I(X;Y).
For a funnel b <= beta I(Y;Z) - I(X;Z) says I(Y;Z) >= (I(X;Z) + b) / beta; with I(Y;Z) >= 0 and I(Y;Z) >= I(X;Z) - H(X|Y), as
I(X;Z|Y) <= H(X|Y), the highest of these lies below the least leakage, and the hull of all runs, of a constant Z and of Z = X above it.
Both are one computation: with v = I(Y;Z), or v = -I(Y;Z) for the funnel, lines bound v from above and runs from below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import NATS_PER_BIT, Array, Result, entropy, mutual_information
from ..joint.joint import Support
from ..kernels.common import UNIT
from ..posterior.form import Letters, dobrushin
from ..problem import MarkovLagrangian, is_bottleneck, is_funnel, siblings
from ..solution import STATIONARY_TOL, TIE, Residuals, Solution, Status, judge

if TYPE_CHECKING:
    import pandas as pd

    from ..joint.joint import Joint


class BestAnswer(NamedTuple):
    """The best encoder at a parameter: the row of the run that found it, and that run as an answer here."""

    row: int
    run: Solution
    found_at: float
    """The parameter of the run that found it."""

    @property
    def is_moved(self) -> bool:
        """Whether a run of another parameter found it."""
        return self.found_at != self.run.parameter and not (np.isnan(self.found_at) and np.isnan(self.run.parameter))


def best_answers(runs: Sequence[Solution], own: Sequence[int]) -> list[BestAnswer]:
    """For each of the rows ``own``, the best of their parameters, the best encoder of all runs of their family, within their cap on |Z|."""
    numbers, clusters = numbers_of(runs), np.array([run.clusters for run in runs])
    families: dict[tuple[object, ...], int] = {}
    family = np.array([families.setdefault(siblings(run.problem).key, len(families)) for run in runs], dtype=int)
    found = []
    for row in own:
        run = runs[row]
        losses = losses_at(numbers, weights_of(run.problem)[None])[:, 0]
        allowed = (family == family[row]) & (clusters <= (math.inf if run.cluster_cap is None else run.cluster_cap))
        lower = np.flatnonzero(allowed & (losses < run.loss - TIE))
        answer = BestAnswer(row, run, run.parameter)
        for other in lower[np.argsort(losses[lower], kind="stable")].tolist():
            moved = _moved(run, runs[other])
            if moved is not None:
                answer = BestAnswer(other, moved, runs[other].parameter)
                break
        found.append(answer)
    return found


def losses_at(numbers: Array, weights: Array) -> Array:
    """The losses of encoders, from their `numbers_of`, for problems of their family, by the `weights_of` each: (runs, problems)."""
    counted = weights.any(axis=0)
    losses: Array = numbers[:, counted] @ weights[:, counted].T
    return losses


def numbers_of(runs: Sequence[Solution]) -> Array:
    """What the losses of runs' encoders at other problems of their family follow from, a row each."""
    return np.array([_numbers(run) for run in runs]).reshape(-1, 3)


def weights_of(problem: Any) -> Array:
    """What the three `numbers_of` an encoder are multiplied with in the loss."""
    rho = np.array(problem.rho)
    if not problem.single_target:
        return -rho
    total = rho.sum()
    return np.array([total if abs(total) > 1e-12 else 0.0, -rho[1], -rho[2]])


def _numbers(run: Solution) -> tuple[float, float, float]:
    """H(Z), NaN where the loss does not tell it, I(X;Z) and I(Y;Z); of a problem of tasks I(X;Z), I(U;Z) and I(S;Z)."""
    if not run.problem.single_target:
        return run.ixz, run.iuz, run.isz
    total, zx, zy = weights_of(run.problem).tolist()
    return (run.loss - zx * run.ixz - zy * run.iyz) / total if total else math.nan, run.ixz, run.iyz


def _moved(run: Solution, other: Solution) -> Solution | None:
    """Another run's encoder as an answer to a run's problem, with its proven bound; None if the encoder was not kept, or is no better.

    A smaller loss under the same bound is no less certified. Otherwise it is STATIONARY only if it is, at this parameter.
    """
    if not other.has_encoder:
        return None
    moved = judged(
        run.joint,
        run.problem,
        other.encoder,
        other.solver,
        iterations=other.iterations,
        seconds=other.seconds,
        parameter=run.parameter,
        start=other.start,
        died=other.died,
        lower_bound=run.lower_bound,
        multipliers=run.multipliers,
        advice=f"found at {other.parameter:.4g}: solve(joint, problem, init=solution.encoder) goes on from here",
        cluster_cap=run.cluster_cap,
    )
    if moved.loss >= run.loss - TIE:
        return None
    return replace(moved, status=Status.CERTIFIED) if run.status is Status.CERTIFIED else moved


def judged(
    joint: Joint,
    problem: Any,
    W: Array,
    solver: str,
    tol: float = STATIONARY_TOL,
    otherwise: Status = Status.STALLED,
    **known: Any,
) -> Solution:
    """An encoder that no solver has found for a problem, as an answer to it: STATIONARY if it is, to ``tol``."""
    residuals = Residuals(0.0, 0.0, problem.stationarity(joint, W))
    status = judge(residuals, tol, otherwise)
    return Solution(joint, problem, W, status, solver, residuals=residuals, **{"iterations": 0, "seconds": 0.0} | known)


@dataclass(frozen=True)
class FrontierPoint:
    """A run on the frontier and a parameter that it is optimal for."""

    run: Solution
    parameter: float

    def along(self, axis: str) -> float:
        """I(X;Z) or I(Y;Z), in nats."""
        return float(getattr(self.run, axis))


def corners(points: Iterable[FrontierPoint], hides_y: bool) -> list[FrontierPoint]:
    """The corners of the hull by I(X;Z): up to the largest I(Y;Z), or with ``hides_y`` from the smallest on."""
    found, sign = list(points), -1.0 if hides_y else 1.0
    at = concave_hull([point.run.ixz for point in found], [sign * point.run.iyz for point in found])
    hull = [found[i] for i in at]
    iyz = [point.run.iyz for point in hull]
    return hull[int(np.argmin(iyz)) :] if hides_y else hull[: 1 + int(np.argmax(iyz))]


def concave_hull(across: Sequence[float], up: Sequence[float]) -> list[int]:
    """The points that are corners of the least concave curve above all, from left to right.

    Examples
    --------
    >>> concave_hull([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 1.0, 3.0])
    [0, 1, 3]
    """

    def turn(a: int, b: int, c: int) -> float:
        """Positive if the path a, b, c turns left."""
        return (across[b] - across[a]) * (up[c] - up[a]) - (across[c] - across[a]) * (up[b] - up[a])

    hull: list[int] = []
    # Of two points above each other the higher one comes last, and the other is removed.
    for c in sorted(range(len(across)), key=lambda i: (across[i], up[i])):
        while hull and up[c] >= up[hull[-1]] and across[c] - across[hull[-1]] <= 1e-12:
            hull.pop()
        while len(hull) > 1 and turn(hull[-2], hull[-1], c) >= 0.0:
            hull.pop()
        hull.append(c)
    return hull


def bracket(hull: list[FrontierPoint], axis: str, target: float) -> tuple[FrontierPoint, FrontierPoint]:
    """The neighbouring corners between which a target lies."""
    after = next((i for i, point in enumerate(hull) if point.along(axis) >= target), len(hull) - 1)
    return hull[max(after - 1, 0)], hull[after]


def pareto_rows(runs: Sequence[Solution], hides_y: bool) -> list[int]:
    """The runs that no other dominates on their plane: more I(Y;Z) at no more I(X;Z), or for ``hides_y`` less at no less."""
    sign = -1.0 if hides_y else 1.0
    points = [run.plane for run in runs]
    order = sorted(range(len(runs)), key=lambda row: (sign * points[row].ixz, -sign * points[row].iyz))
    kept, best = [], -math.inf
    for row in order:
        if sign * points[row].iyz > best + 1e-12:
            kept.append(row)
            best = sign * points[row].iyz
    return sorted(kept, key=lambda row: points[row].ixz)


class Line(NamedTuple):
    """v <= slope I(X;Z) + height for every encoder; nats."""

    slope: float
    height: float

    def at(self, ixz: Array) -> Array:
        """Its value at some I(X;Z), rounded up."""
        product = self.slope * ixz
        return np.asarray(product + self.height + 4.0 * UNIT * (np.abs(product) + abs(self.height)))


def supporting_line(problem: MarkovLagrangian, lower_bound: float) -> Line:
    """What a proven bound of a bottleneck or a funnel says of the plane.

    Examples
    --------
    >>> import infoplane as ip
    >>> supporting_line(ip.bottleneck(0.25), -0.5), supporting_line(ip.funnel(4.0), -0.5)
    (Line(slope=0.25, height=0.5), Line(slope=-0.25, height=0.125))
    """
    if is_bottleneck(problem):
        return Line(-problem.rho_zx / problem.rho_zy, -lower_bound / problem.rho_zy)
    return Line(problem.rho_zx / problem.rho_zy, lower_bound / problem.rho_zy)


def has_plane(problem: MarkovLagrangian) -> bool:
    """Whether a bound of the problem is a line on the plane: a bottleneck, or a funnel whose I(Y;Z) counts."""
    return is_bottleneck(problem) or (is_funnel(problem) and problem.rho_zy < 0.0)


def known_lines(joint: Joint, hides_y: bool) -> list[Line]:
    """What holds without any proof by search: data processing, contraction, and that no more than all can be told."""
    if hides_y:
        return [Line(0.0, 0.0), Line(-1.0, joint.entropy_x - joint.mutual_information)]
    T = Support(joint).T
    contraction = min(dobrushin(T) + 4.0 * (len(T) + 4.0) * UNIT, 1.0)
    return [Line(contraction, 0.0), Line(0.0, joint.mutual_information)]


def known_points(joint: Joint, hides_y: bool) -> list[tuple[float, float]]:
    """I(X;Z), I(Y;Z) of two encoders that need no search: a constant Z, and the cheapest Z that tells all of Y (funnel: Z = X)."""
    everything = joint.entropy_x, joint.mutual_information
    if not hides_y:
        support = Support(joint)
        classes = Letters(support).classes
        if classes is not None:
            table = np.zeros((classes.max() + 1, len(support.p_y)))
            np.add.at(table, classes, support.P)
            everything = entropy(table.sum(axis=1)), mutual_information(table)
    return [(0.0, 0.0), everything]


def lowest(lines: Sequence[Line], end: float) -> Array:
    """Where the lowest of some lines changes, from 0 to ``end``, both included."""
    slopes, heights = (np.array(column) for column in zip(*lines, strict=True))
    kinks, on = [0.0], int(np.lexsort((slopes, heights))[0])
    while True:
        flatter = np.flatnonzero(slopes < slopes[on])
        meet = (heights[flatter] - heights[on]) / (slopes[on] - slopes[flatter])
        if not flatter.size or not meet.min() < end:
            return np.array([*kinks, end])
        first = flatter[meet == meet.min()]
        kinks.append(max(float(meet.min()), kinks[-1]))
        on = int(first[slopes[first].argmin()])


@dataclass(frozen=True, eq=False)
class Enclosure(Result):
    """The frontier lies between two curves, straight between their corners; bits.

    Of the bottleneck it is the most I(Y;Z) that an encoder with at most so much I(X;Z) has, of the funnel (``hides_y``) the least that
    one with at least so much has. One of the curves is reached, by runs and their mixtures; the other one is proven never to be crossed.
    """

    ixz_bits: Array
    """Corners of either curve, from 0 to H(X)."""
    low_bits: Array
    """I(Y;Z) of the lower curve there: reached by a bottleneck, proven for a funnel."""
    high_bits: Array
    """I(Y;Z) of the upper curve there: proven for a bottleneck, reached by a funnel."""
    hides_y: bool
    proven: int
    """How many parameters have a proven bound."""

    @property
    def gap_bits(self) -> float:
        """The largest distance of the two curves, upwards: how well I(Y;Z) is known where it is known least."""
        return float((self.high_bits - self.low_bits).max())

    @property
    def widest_bits(self) -> float:
        """The I(X;Z) at which the two curves are farthest apart."""
        return float(self.ixz_bits[(self.high_bits - self.low_bits).argmax()])

    def at(self, ixz_bits: float) -> tuple[float, float]:
        """I(Y;Z) of the lower and of the upper curve at some I(X;Z), in bits."""
        if not 0.0 <= ixz_bits <= self.ixz_bits[-1]:
            raise InvalidOptionError(f"ixz_bits must lie in [0, H(X) = {self.ixz_bits[-1]:.6g}]; found {ixz_bits!r}.")
        low, high = (float(np.interp(ixz_bits, self.ixz_bits, v)) for v in (self.low_bits, self.high_bits))
        return low, high

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame, one row per corner: ``ixz_bits``, ``iyz_low_bits``, ``iyz_high_bits``, ``gap_bits``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "ixz_bits": self.ixz_bits,
                "iyz_low_bits": self.low_bits,
                "iyz_high_bits": self.high_bits,
                "gap_bits": self.high_bits - self.low_bits,
            }
        )

    def __str__(self) -> str:
        return (
            f"I(Y;Z) is known to {self.gap_bits:.2g} bits along the whole curve, least well at I(X;Z) = {self.widest_bits:.4g} bits "
            f"({counted(self.proven, 'proven bound')})"
        )


def is_enclosed(runs: Sequence[Solution]) -> bool:
    """Whether runs enclose a curve: bottlenecks alone or funnels alone, one of them with a proven bound."""
    kinds = {is_funnel(run.problem) for run in runs}
    return (
        len(kinds) == 1
        and all(has_plane(run.problem) for run in runs)
        and any(run.lower_bound is not None for run in runs)
    )


def hides_y(runs: Sequence[Solution]) -> bool:
    """Whether low I(Y;Z) is good (the funnel) rather than bad (the bottleneck)."""
    return bool(runs) and runs[0].problem.single_target and runs[0].problem.rho_zy < 0


def enclosure(joint: Joint, runs: Sequence[Solution]) -> Enclosure:
    """The two curves of runs with proven bounds; see `Frontier.enclosure`."""
    if not is_enclosed(runs):
        raise InvalidOptionError(
            "an enclosure needs bottlenecks alone or funnels alone, and a proven bound: sweep with certify=True, or a gap in nats."
        )
    hidden = hides_y(runs)
    sign = -1.0 if hidden else 1.0
    bounds: dict[MarkovLagrangian, float] = {}
    for run in runs:
        if run.lower_bound is not None:
            bounds[run.problem] = max(run.lower_bound, bounds.get(run.problem, run.lower_bound))
    lines = known_lines(joint, hidden) + [supporting_line(problem, bound) for problem, bound in bounds.items()]
    points = np.array(known_points(joint, hidden) + [(run.ixz, run.iyz) for run in runs])
    end = max(joint.entropy_x, float(points[:, 0].max()))
    points = np.vstack([points, [end, joint.mutual_information]]) * [1.0, sign]
    reached = points[concave_hull(*points.T.tolist())]
    ixz = np.union1d(lowest(lines, end), reached[:, 0])
    inside = np.interp(ixz, *reached.T)
    # No run lies beyond a line; where both curves meet, rounding must not say so.
    outside = np.maximum(np.min([line.at(ixz) for line in lines], axis=0), inside)
    low, high = (-outside, -inside) if hidden else (inside, outside)
    ixz_bits, low_bits, high_bits = (v / NATS_PER_BIT for v in (ixz, low, high))
    return Enclosure(ixz_bits, low_bits, high_bits, hidden, proven=len(bounds))

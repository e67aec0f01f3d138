"""Which parameters a sweep has: the range that the joint's trade-off spans, and where more are inserted.

**Range.** From where the trade-off begins to where nearly all of it is done.

*Bottleneck.* Above the onset max_q D(Tq || p_y) / D(q || p_x) a constant Z is optimal. Against Z = X, an optimum has
gamma I(X;Z) - I(Y;Z) <= gamma H(X) - I(X;Y), hence I(Y;Z) >= I(X;Y) - gamma H(X): from gamma = (1 - `KEPT`) I(X;Y) / H(X) downwards it
keeps at least the share `KEPT` of I(X;Y).

*Funnel.* Up to beta = 1 releasing Z = X is optimal. Against a constant Z, an optimum has beta I(Y;Z) <= I(X;Z) <= H(X): from
beta = H(X) / ((1 - `KEPT`) I(X;Y)) upwards it leaks at most the share 1 - `KEPT` of I(X;Y).

These ends are safe but wide. A few brief runs between them show where the share is really met.

**Refinement.** Parameters are inserted evenly along the curve, or, with proven bounds, where the curve is least well enclosed.

*Evenly.* The distance of neighbours is their chord's length on the plane of I(X;Z) and I(Y;Z), each scaled to its range. A round cuts
the longest chords, by as many equal ratios of the parameter as there are pieces; the next one measures anew. At a jump of the curve, where
no parameter leads in between, cutting ends once the parameters are close.

*Enclosed.* Between two neighbours the frontier lies in a triangle: above the chord of their runs, below the two lines that their bounds
prove (`frontier/geometry.py`). Its height is what is not known there. A round inserts, in the highest triangles, the parameter whose
line is parallel to the chord: it cuts off the corner, so that heights fall by about a factor of four per round, and on a straight piece of
the frontier it closes the triangle at once. It ends once no height is above what the proofs themselves leave open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from ..frontier.geometry import Line
from ..frontier.transitions import local_onset
from ..information import Array, plane_points
from ..joint.joint import Joint, Support
from ..problem import MarkovLagrangian, ProblemFamily, record_for_grid
from ..runtime.budget import Budget, Watch, attended, one_blas_thread
from ..solvers.annealing import Annealing
from ..solvers.base import Callback, default_init, make_starts, seed_sequence, together
from ..solvers.fixed_point import Accelerated
from ..solvers.job import Job

FINEST = 1 / 64
"""Smallest distance of two parameters, as a share of what it would be if all were spaced geometrically: a jump of the curve would take
all of the points otherwise."""


def inserted(parameters: Array, plane: Array, points: int) -> list[float]:
    """The parameters of the next round, in ascending order; none once there are ``points``, or no chord can be cut.

    ``parameters`` ascend; ``plane`` (n, 2) has the best run of each.
    """
    missing = points - len(parameters)
    if missing <= 0 or not parameters[-1] > parameters[0]:
        return []
    span = np.ptp(plane, axis=0)
    chords = np.linalg.norm(np.diff(plane / np.where(span > 0.0, span, 1.0), axis=0), axis=1)
    scale = np.log(parameters) if parameters[0] > 0.0 else parameters
    gaps = np.diff(scale)
    finest = FINEST * (scale[-1] - scale[0]) / (points - 1)
    pieces = np.ones(len(chords))
    for _ in range(min(missing, max(len(parameters) // 2, 1))):
        left = np.where(gaps / (pieces + 1) >= finest, chords / pieces, 0.0)
        longest = int(left.argmax())
        if left[longest] == 0.0:
            break
        pieces[longest] += 1
    found: list[float] = []
    for at, count in enumerate(pieces.astype(int)):
        low, high = parameters[at : at + 2]
        share = np.arange(1, count) / count
        found += (low * (high / low) ** share if parameters[0] > 0.0 else low + share * (high - low)).tolist()
    return found


def enclosing(parameters: Array, plane: Array, lines: Sequence[Line], points: int, tol: float) -> list[float]:
    """The parameters of the next round, in ascending order; none once there are ``points``, or no height is above ``tol`` nats.

    ``parameters`` ascend and are positive; ``plane`` (n, 2) has I(X;Z) and v of the best run of each, ``lines`` what was proven there.
    """
    missing = points - len(parameters)
    if missing <= 0 or not parameters[-1] > parameters[0]:
        return []
    finest = FINEST * math.log(parameters[-1] / parameters[0]) / (points - 1)
    heights: list[tuple[float, float]] = []
    for at in range(len(parameters) - 1):
        low, high = parameters[at : at + 2]
        if math.log(high / low) >= 2.0 * finest:
            heights.append(_corner(low, high, plane[at], plane[at + 1], lines[at], lines[at + 1]))
    highest = sorted(heights, reverse=True)[: min(missing, max(len(parameters) // 2, 1))]
    return sorted(parameter for height, parameter in highest if height > tol)


def _corner(low: float, high: float, one: Array, other: Array, first: Line, second: Line) -> tuple[float, float]:
    """How high the corner of two lines is above the chord of two runs; and the parameter, between the two, of the chord's slope."""
    steps = other - one
    chord = float(steps[1] / steps[0]) if steps[0] != 0.0 else math.nan
    meet = (second.height - first.height) / (first.slope - second.slope)
    left, right = sorted([float(one[0]), float(other[0])])
    meet = min(max(meet, left), right)
    height = min(line.slope * meet + line.height for line in (first, second)) - (
        float(one[1]) + (chord * (meet - float(one[0])) if steps[0] != 0.0 else max(float(steps[1]), 0.0))
    )
    share = (
        math.log(chord / first.slope) / math.log(second.slope / first.slope) if chord / first.slope > 0.0 else math.nan
    )
    # Bounds that are not tight may ask for a parameter outside: the middle is as good then.
    return height, low * (high / low) ** (share if 0.05 < share < 0.95 else 0.5)


KEPT = 0.99
"""Share of I(X;Y) that the range spans: beyond it a picture shows nothing of the curve."""

SCANNED = 14
"""Brief runs between the safe ends: neighbours on the grid then differ by a factor of 2 where the ends are a factor of 10,000 apart."""


def natural_range(joint: Joint, family: ProblemFamily, callback: Callback | None = None) -> tuple[float, float]:
    """The lowest and the highest parameter worth sweeping; the whole range where independent x and y leave nothing to trade.

    The callback hears of the brief runs, as that of `solve` does; Ctrl-C, or a true result, is a KeyboardInterrupt.

    Examples
    --------
    >>> import infoplane as ip
    >>> low, high = natural_range(ip.datasets.heart(), ip.bottleneck)
    >>> 0.001 < low < 0.05, round(high, 2)
    (True, 0.3)
    """
    support = Support(joint)
    hides_y = record_for_grid(family).hides_y
    information, entropy = joint.mutual_information, joint.entropy_x
    if information <= 1e-9 or entropy <= 1e-9:
        return (1.0, 10.0) if hides_y else (0.1, 1.0)
    if hides_y:
        low, high = 1.0, entropy / ((1.0 - KEPT) * information)
    else:
        low, high = (1.0 - KEPT) * information / entropy, max(local_onset(support), 1e-6)
        low = min(low, high / 2.0)
    grid = np.geomspace(low, high, SCANNED)
    kept = _kept(support, [family(float(parameter)) for parameter in grid], callback) / information
    first = min(int(np.flatnonzero(kept >= KEPT).max(initial=0)), SCANNED - 2)
    last = int(np.flatnonzero(kept <= 1.0 - KEPT).min(initial=SCANNED - 1)) if hides_y else SCANNED - 1
    return float(grid[first]), float(grid[max(last, first + 1)])


def default_grid(joint: Joint, family: ProblemFamily, points: int, callback: Callback | None = None) -> Array:
    """A quarter of ``points`` parameters, at least three, spaced geometrically over the natural range; refinement adds the others."""
    return np.geomspace(*natural_range(joint, family, callback), min(points, max(3, points // 4)))


def _kept(support: Support, problems: Sequence[MarkovLagrangian], callback: Callback | None) -> Array:
    """I(Y;Z) of a brief run of each problem, in nats: one annealed path of a bottleneck, else the better of a few starts."""
    annealing = Annealing()
    on_a_path = annealing.refusal(problems[0]) is None
    W = make_starts(
        support.joint,
        None,
        2,
        seed_sequence(0),
        default_init(problems[0]),
        first_only=annealing.deterministic and on_a_path,
    )
    # A tolerance of 1e-4 and 200 iterations are enough to know a point of the plane to a percent.
    budget = Budget(iterations=200, watch=None if callback is None else Watch(callback, together))
    job = Job(support, problems[0], W, 1e-4, budget=budget)

    def path() -> list[Array]:
        return [run.encoder for run in annealing.follow(job, problems)]

    def brief(problem: MarkovLagrangian) -> list[Array]:
        one = job.but(problem=problem)
        return [one.best_run(Accelerated().run(one)).encoder]

    with one_blas_thread():
        works = [path] if on_a_path else [partial(brief, problem) for problem in problems]
        encoders = [W for some in attended(works, budget) for W in some]
    if budget.stopped:
        raise KeyboardInterrupt  # half a search has no range
    points = [point for some in support.lifted(encoders) for point in plane_points(support.joint, some)]
    return np.array([point.iyz for point in points])

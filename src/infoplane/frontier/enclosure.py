"""The certified information plane: two curves that enclose the frontier, between the points of a sweep too.

Bottleneck. A proven bound b <= gamma I(X;Z) - I(Y;Z) of all encoders is a line that none of them crosses,

    I(Y;Z)  <=  gamma I(X;Z) - b.

The lowest of these lines, of I(Y;Z) <= eta I(X;Z) (contraction, `certificate/bottleneck/bounds.py`) and of I(Y;Z) <= I(X;Y) lies above the
frontier. Time sharing reaches every mixture of two encoders' points: the concave hull of all runs, of a constant Z and of Z = the class of
letters with equal p(y|x), which keeps all of I(X;Y), lies below it.

Funnel. b <= beta I(Y;Z) - I(X;Z) says I(Y;Z) >= (I(X;Z) + b) / beta; with I(Y;Z) >= 0 and I(Y;Z) >= I(X;Z) - H(X|Y), as I(X;Z|Y) <= H(X|Y),
the highest of these lies below the least leakage, and the convex hull of all runs, of a constant Z and of Z = X above it.

Both are one computation: with v = I(Y;Z), or v = -I(Y;Z) for the funnel, lines bound v from above and runs from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import NATS_PER_BIT, Array, entropy, mutual_information
from ..joint.support import Support
from ..kernels.common.numerics import UNIT
from ..posterior.form import dobrushin
from ..posterior.letters import Letters
from ..problem import MarkovLagrangian, is_bottleneck, is_funnel
from ..results import Result
from .hull import concave_hull

if TYPE_CHECKING:
    import pandas as pd

    from ..joint.joint import Joint
    from ..solution import Solution
    from .frontier import Frontier


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
    place, on = 0.0, int(np.lexsort((slopes, heights))[0])
    kinks = [place]
    while True:
        flatter = np.flatnonzero(slopes < slopes[on])
        meet = (heights[flatter] - heights[on]) / (slopes[on] - slopes[flatter])
        if not flatter.size or not meet.min() < end:
            return np.array([*kinks, end])
        first = flatter[meet == meet.min()]
        place, on = max(float(meet.min()), place), int(first[slopes[first].argmin()])
        kinks.append(place)


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
        """The largest distance of the two curves, upwards: how well I(Y;Z) is known in the worst place."""
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


def enclosure(frontier: Frontier) -> Enclosure:
    """The two curves of a frontier with proven bounds; see `Frontier.enclosure`."""
    if not is_enclosed(frontier.runs):
        raise InvalidOptionError(
            "an enclosure needs bottlenecks alone or funnels alone, and a proven bound: sweep with certify=True, or a gap in nats."
        )
    joint, hides_y = frontier.joint, frontier.hides_y
    sign = -1.0 if hides_y else 1.0
    bounds: dict[MarkovLagrangian, float] = {}
    for run in frontier.runs:
        if run.lower_bound is not None:
            bounds[run.problem] = max(run.lower_bound, bounds.get(run.problem, run.lower_bound))
    lines = known_lines(joint, hides_y) + [supporting_line(problem, bound) for problem, bound in bounds.items()]
    points = known_points(joint, hides_y) + [(run.ixz, run.iyz) for run in frontier.runs]
    end = max(joint.entropy_x, max(ixz for ixz, _ in points))
    across, up = (
        [ixz for ixz, _ in points] + [end],
        [sign * iyz for _, iyz in points] + [sign * joint.mutual_information],
    )
    corners = concave_hull(across, up)
    reached = np.array([(across[i], up[i]) for i in corners])
    ixz = np.union1d(lowest(lines, end), reached[:, 0])
    inside = np.interp(ixz, *reached.T)
    # No run lies beyond a line; where both curves meet, rounding must not say so.
    outside = np.maximum(np.min([line.at(ixz) for line in lines], axis=0), inside)
    low, high = (-outside, -inside) if hides_y else (inside, outside)
    ixz_bits, low_bits, high_bits = (v / NATS_PER_BIT for v in (ixz, low, high))
    return Enclosure(ixz_bits, low_bits, high_bits, hides_y, proven=len(bounds))

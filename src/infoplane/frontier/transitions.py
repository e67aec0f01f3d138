"""Where the optimal bottleneck changes its form as gamma moves.

Move a posterior off p_x by a small d: I(X;Z) rises by sum_x d^2 / p(x) / 2 and I(Y;Z) by sum_y (Td)^2 / p(y) / 2. The largest ratio of the
two is the squared maximal correlation of X and Y, the second singular value of p(x,y) / sqrt(p(x) p(y)), squared: below this *critical*
gamma a constant Z is no local minimum of gamma I(X;Z) - I(Y;Z). Above it a constant Z is a local minimum, not always the global one:
a cluster of vanishing weight far from p_x pays from the *onset* on, which is never smaller,

    max_q D(Tq || p_y) / D(q || p_x),

the strong data-processing constant. Later transitions are changes of the number of clusters of certified optima, found by bisection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..certificate.bottleneck import Proof
from ..checks import positive_number, whole_number
from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import Array, PlanePoint, divergence, plane_point
from ..joint.joint import Support, check_joint
from ..posterior.form import Mixture, climb, cover, posterior
from ..problem import bottleneck
from ..runtime.budget import Limits
from ..solution import Run, Status
from ..solvers.envelope import Envelope
from ..solvers.job import Job

if TYPE_CHECKING:
    from ..joint.joint import Joint

MOST_POINTS = 100_000
"""Points of the grid, at most: each is an optimum that has to be certified, which takes a millisecond or more:
minutes for so many."""


@dataclass(frozen=True)
class Transition:
    """Between two parameters, gamma = low and gamma = high, the optimum changes its number of clusters; nats.

    What `transitions` finds are certified optima; `Frontier.suggest` looks at the best runs of neighbours on a grid, of betas too.
    """

    low: float
    high: float
    clusters_below: int
    """At gamma = low."""
    clusters_above: int
    """At gamma = high."""
    below: PlanePoint
    """I(X;Z), I(Y;Z) of the optimum at gamma = low."""
    above: PlanePoint
    """I(X;Z), I(Y;Z) of the optimum at gamma = high."""
    found: str
    """How it was found, and what is in doubt."""

    @property
    def gamma(self) -> float:
        """The geometric mean of low and high."""
        return float(np.sqrt(self.low * self.high))

    def __str__(self) -> str:
        return (
            f"gamma {self.gamma:.6g} (within {self.low:.8g} .. {self.high:.8g}): {counted(self.clusters_below, 'cluster')} below, "
            f"{self.clusters_above} above, I(X;Z) {self.below.ixz:.4g} and {self.above.ixz:.4g} nats; {self.found}"
        )


def critical_gamma(joint: Joint) -> float:
    """The gamma below which a constant Z is no local minimum of the bottleneck: the squared maximal correlation of X and Y.

    Examples
    --------
    >>> import infoplane as ip
    >>> from infoplane.frontier.transitions import critical_gamma
    >>> round(critical_gamma(ip.datasets.paper_uniform()), 6)
    0.660967
    """
    check_joint(joint)
    return _critical(Support(joint))


def _critical(support: Support) -> float:
    root_x, root_y = np.sqrt(support.p_x), np.sqrt(support.p_y)
    # The largest singular value is 1, with the roots as its vectors; once it is subtracted, the largest that is left is the second.
    B = support.P / root_x[:, None] / root_y - np.outer(root_x, root_y)
    return min(float(np.linalg.norm(B, 2) ** 2), 1.0)


def onset_gamma(joint: Joint, tol: float = 1e-9) -> float:
    """The largest gamma at which some encoder beats a constant Z: max_q D(Tq || p_y) / D(q || p_x).

    Dinkelbach's iteration: the q that gains most at one gamma has a ratio that is the next gamma. In the end branch and bound proves that
    a millionth above it no encoder is better than -tol nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> from infoplane.frontier.transitions import critical_gamma, onset_gamma
    >>> joint = ip.datasets.heart()
    >>> round(critical_gamma(joint), 4), round(onset_gamma(joint), 4)
    (0.2305, 0.3043)
    """
    check_joint(joint)
    support = Support(joint)
    constant = Mixture(np.ones(1), support.p_y[None])
    gamma = 0.0
    while True:
        gamma = local_onset(support, at_least=gamma)
        if not 0.0 < gamma < 1.0:
            return gamma
        above = Proof(support, bottleneck(min(gamma * (1.0 + 1e-6), 1.0)), constant, tol, Limits(tol).budget())
        above.search()
        if above.violation is None or (best := _ratio(support, above.violation)) <= gamma:
            return gamma
        gamma = min(best, 1.0)


def local_onset(support: Support, at_least: float = 0.0) -> float:
    """The onset that local searches from single letters find: a lower bound, without the proof of `onset_gamma`."""
    constant = Mixture(np.ones(1), support.p_y[None])
    starts, gamma = cover(support), max(_critical(support), at_least)
    while 0.0 < gamma < 1.0:
        lam = constant.multipliers(support, gamma)
        peaks, _ = climb(support, gamma, lam, starts)
        best = max(_ratio(support, posterior(support, gamma, lam, peak)) for peak in peaks)
        if best <= gamma * (1.0 + 1e-9):
            break
        gamma = min(best, 1.0)
    return gamma


def _ratio(support: Support, q: Array) -> float:
    """D(Tq || p_y) / D(q || p_x); 0 where q is too close to p_x for the ratio to mean anything."""
    cost = divergence(q, support.p_x)
    return divergence(support.T @ q, support.p_y) / cost if cost > 1e-9 else 0.0


def transitions(
    joint: Joint,
    low: float | None = None,
    high: float = 1.0,
    *,
    points: int = 32,
    width: float = 1e-3,
    tol: float = 1e-9,
) -> list[Transition]:
    """The changes of the number of clusters along certified optima of bottleneck(gamma), gamma rising.

    Parameters
    ----------
    joint
        p(x, y).
    low, high
        The range of gamma; low is a twentieth of the critical gamma by default.
    points
        Optima certified on a geometric grid first, from 2 to 100,000; two changes that cancel between neighbours of the grid go unseen.
    width
        Relative width to which each is bracketed.
    tol
        Gap in nats to which every optimum is certified. Clusters whose joining costs less than a hundredth of it count as one, so that
        a continuous split is seen where it first costs that much.

    Examples
    --------
    >>> import infoplane as ip
    >>> [(one.clusters_below, one.clusters_above) for one in ip.transitions(ip.datasets.paper_uniform(), points=8)]
    [(3, 2), (2, 1)]
    """
    check_joint(joint)
    critical = critical_gamma(joint)
    low = 0.05 * critical if low is None else positive_number("low", low)
    high, points, width = positive_number("high", high), whole_number("points", points), positive_number("width", width)
    if not 0.0 < low < high <= 1.0:
        raise InvalidOptionError(f"expected 0 < low < high <= 1, found low = {low!r}, high = {high!r}.")
    if not 2 <= points <= MOST_POINTS:
        raise InvalidOptionError(
            f"expected from 2 to {MOST_POINTS:,} points, each an optimum to certify; found {points:,}."
        )
    support, solver = Support(joint), Envelope(tol=tol)

    def along(gammas: list[float], begun: Array) -> list[_Optimum]:
        """Certified optima, each proof begun from its neighbour's decoders."""
        problems = [bottleneck(gamma) for gamma in gammas]
        runs = solver.follow(Job(support, problems[0], begun[None], tol=1e-10), problems)
        return [_Optimum(gamma, run, len(run.encoder)) for gamma, run in zip(gammas, runs, strict=True)]

    def between(one: _Optimum, two: _Optimum) -> Iterator[Transition]:
        """Every change of the number of clusters between two optima that bisection can separate."""
        if one.clusters == two.clusters:
            return
        if two.gamma <= one.gamma * (1.0 + width):
            below, above = (plane_point(joint, support.lift(optimum.run.encoder)) for optimum in (one, two))
            found = _how(one, two, 2.0 * width, critical)
            yield Transition(one.gamma, two.gamma, one.clusters, two.clusters, below, above, found)
            return
        (middle,) = along([float(np.sqrt(one.gamma * two.gamma))], one.run.encoder)
        yield from between(one, middle)
        yield from between(middle, two)

    grid = np.geomspace(low, high, points)
    grid[-1] = high
    optima = along(grid.tolist(), np.ones((1, support.p_x.size)))
    return [found for one, two in pairwise(optima) for found in between(one, two)]


class _Optimum(NamedTuple):
    gamma: float
    run: Run
    clusters: int


def _how(one: _Optimum, two: _Optimum, slack: float, critical: float) -> str:
    """How a transition was found, and whether the second variation predicts it."""
    certified = one.run.status is Status.CERTIFIED is two.run.status
    said = "bisection on certified optima" if certified else "bisection; not every optimum on the way was certified"
    if two.clusters > 1:
        return said
    if one.gamma * (1.0 - slack) <= critical <= two.gamma * (1.0 + slack):
        return f"{said}, and the second variation: the critical gamma is {critical:.9g}"
    return (
        f"{said}: a cluster far from p(x) pays where a constant Z is still a local minimum; "
        f"it ceases to be one at the critical gamma {critical:.9g}"
    )

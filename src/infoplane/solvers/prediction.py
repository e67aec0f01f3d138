"""Where the next gamma's encoder will be: log p(z|x) continued along the secant of the last two, in log gamma.

    log W(gamma'')  ~  log W(gamma') + t (log W(gamma') - log W(gamma)),    t = log(gamma'' / gamma') / log(gamma' / gamma)

Between two transitions the stationary encoders are a smooth curve in gamma, and the secant misses it by O(t^2): a warm start from there
needs a few iterations where one from W(gamma') needs many. Clusters that have merged on the way are added up first. The prediction is
taken only if its loss is below that of W(gamma') at the new gamma.
"""

from __future__ import annotations

import math

import numpy as np

from ..certificate.bottleneck.proof import gamma_of
from ..information import Array
from ..joint.support import Support
from ..problem import MarkovLagrangian
from .base import losses_of

LEAST_WORK = 1_000_000
"""|X| |Y| |Z| above which a prediction is worth its arithmetic; small problems take no longer without."""

LARGEST_ENCODER = 4_000_000
"""Entries of an encoder above which no second one is kept for it."""

FARTHEST = 2.0
"""Most that t may be: beyond, the secant says nothing."""

FLOOR = 1e-30
"""Probabilities below this count as this: they go on shrinking at their own pace."""


def predictable(support: Support, W: Array) -> bool:
    """Whether the next encoder is worth predicting from this one."""
    return W.size * len(support.p_y) >= LEAST_WORK and W.size <= LARGEST_ENCODER and len(W) > 1


class Path:
    """The last two encoders of a path."""

    def __init__(self, support: Support) -> None:
        self.support = support
        self.points: list[tuple[float, Array]] = []

    def passed(self, gamma: float, W: Array) -> None:
        """One more point of the path."""
        self.points = [*self.points[-1:], (gamma, W)]

    def predicted(self, problem: MarkovLagrangian, W: Array) -> Array:
        """Where to begin a problem: the secant's point if that is better than W, the last encoder."""
        if len(self.points) < 2:
            return W
        (first, before), (second, now) = self.points
        gamma = gamma_of(problem)
        if not (first < second < gamma and now is W):
            return W
        t = min(math.log(gamma / second) / math.log(second / first), FARTHEST)
        log_now = np.log(np.maximum(now, FLOOR))
        score = log_now + t * (log_now - np.log(np.maximum(self._matched(before, now), FLOOR)))
        ahead = np.exp(score - score.max(axis=0))
        ahead /= ahead.sum(axis=0)
        there, here = losses_of(self.support, problem, [ahead, W])
        return ahead if there < here else W

    def _matched(self, before: Array, now: Array) -> Array:
        """The encoder before with a row for every cluster of now: each of its clusters goes to the one most like it.

        Alike is what has a large sum_x sqrt(p(x|z) p(x|z')).
        """
        roots = [np.sqrt(W * self.support.p_x) for W in (before, now)]
        to = (roots[0] @ (roots[1] / np.sqrt((roots[1] ** 2).sum(axis=1, keepdims=True))).T).argmax(axis=1)
        matched = np.zeros_like(now)
        np.add.at(matched, to, before)
        missing = np.setdiff1d(np.arange(len(now)), to)
        matched[missing] = now[missing]
        return matched

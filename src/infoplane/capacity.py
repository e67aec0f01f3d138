"""Channel capacity: the most that Z can say about X, over all priors p(x), and the prior that achieves it.

    C = max over p(x) of I(X;Z) = min over p(z) of max over x of D(p(z|x) || p(z))

Blahut (1972) and Arimoto (1972): p(x) <- p(x) exp(D(p(z|x) || p(z))) / normaliser. Whatever the prior,
I(X;Z) <= C <= max_x D(p(z|x) || p(z)), so the difference of the two is a proven gap, and that is when to stop. The map converges like
1/k at worst: two steps of it are extrapolated (SQUAREM, Varadhan and Roland 2008) in log p(x), and the extrapolation is kept only if
I(X;Z) does not fall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .checks import listed, positive_number, whole_number
from .errors import InvalidEncoderError
from .information import Array, bits, entr
from .results import Result
from .systems import encoder_of

FLOOR = 1e-300
"""Where a probability of 0 stands in a logarithm: its letter or word is multiplied by 0 anyway."""


@dataclass(frozen=True, eq=False)
class Capacity(Result):
    """The capacity of a channel p(z|x), with a proven gap; nats."""

    nats: float
    """I(X;Z) at `prior`: a lower bound of the capacity that this prior achieves."""
    gap: float
    """max_x D(p(z|x) || p(z)) - I(X;Z) >= 0, rounding included: the capacity is at most `nats` + `gap`."""
    prior: Array = field(repr=False)
    """The p(x) that achieves it."""
    iterations: int
    converged: bool
    """Whether the gap is as small as was asked for."""

    @property
    def bits(self) -> float:
        """The capacity in bits."""
        return bits(self.nats)


def capacity(p_z_given_x: Any, *, counts: bool = False, tol: float = 1e-9, max_iter: int = 100_000) -> Capacity:
    """The capacity of a channel, to a proven gap, and the prior that achieves it.

    Parameters
    ----------
    p_z_given_x
        One system: an encoder (|Z|, |X|) whose columns sum to 1, a frame with a row for each x, or hard labels.
    counts
        Whether the table holds counts of words per item.
    tol
        Gap in nats at which to stop.
    max_iter
        Most steps; then `Capacity.converged` is False, and the gap says how far it came.

    Examples
    --------
    A binary symmetric channel with error 0.1 has 1 - H(0.1) bits:

    >>> found = capacity([[0.9, 0.1], [0.1, 0.9]])
    >>> round(found.bits, 6), found.prior.round(6).tolist()
    (0.531004, [0.5, 0.5])
    """
    tol, max_iter = positive_number("tol", tol), whole_number("max_iter", max_iter)
    W = encoder_of(p_z_given_x, counts)
    log_p = np.full(W.shape[1], -np.log(W.shape[1]))
    here = _At(W, log_p)
    steps = 1
    while here.gap > tol and steps < max_iter:
        one = _At(W, here.step())
        two = _At(W, one.step())
        steps += 2
        best = two
        if two.gap > tol:
            r, v = one.log_p - here.log_p, (two.log_p - one.log_p) - (one.log_p - here.log_p)
            bent = float(np.sqrt((here.p * v * v).sum()))
            length = float(np.sqrt((here.p * r * r).sum())) / bent if bent > 0.0 else 1.0
            if length > 1.0:
                ahead = _At(W, _normalised(here.log_p + 2.0 * length * r + length * length * v))
                steps += 1
                best = ahead if ahead.value >= two.value else two
        here = best
    rounding = 8.0 * np.finfo(float).eps * (W.shape[0] + W.shape[1]) * (1.0 + abs(here.most))
    return Capacity(float(here.value), float(max(here.gap, 0.0) + rounding), here.p, steps, here.gap <= tol)


def capacity_prior(
    systems: Iterable[Any], *, counts: bool = False, tol: float = 1e-9, max_iter: int = 100_000
) -> Array:
    """The average of the capacity-achieving priors of several systems over the same x.

    Zaslavsky, Kemp, Regier, Tishby (PNAS 2018) take it for p(x) of colours, over the languages of the World Color Survey.

    Examples
    --------
    >>> capacity_prior([["a", "a", "b"], ["a", "b", "b"]]).round(3).tolist()
    [0.375, 0.25, 0.375]
    """
    given = listed("systems", systems.values() if isinstance(systems, Mapping) else systems, "systems, or a mapping")
    priors = [capacity(system, counts=counts, tol=tol, max_iter=max_iter).prior for system in given]
    if not priors:
        raise InvalidEncoderError("an average needs at least one system; found none.")
    for number, prior in enumerate(priors):
        if len(prior) != len(priors[0]):
            raise InvalidEncoderError(
                f"all systems must name the same x; the first has {len(priors[0])}, number {number} has {len(prior)}."
            )
    mean: Array = np.mean(priors, axis=0)
    return mean


class _At:
    """A prior, the D(p(z|x) || p(z)) there, their mean I(X;Z) and their largest."""

    def __init__(self, W: Array, log_p: Array) -> None:
        self.log_p, self.p = log_p, np.exp(log_p)
        p_z = W @ self.p
        self.D: Array = -entr(W).sum(axis=0) - W.T @ np.log(np.maximum(p_z, FLOOR))
        self.value, self.most = max(float(self.p @ self.D), 0.0), float(self.D.max())

    @property
    def gap(self) -> float:
        return self.most - self.value

    def step(self) -> Array:
        """log of p(x) exp(D_x) / normaliser."""
        return _normalised(self.log_p + self.D)


def _normalised(log_p: Array) -> Array:
    # Below e^-700 a letter has no mass, and must not come back as NaN.
    above: Array = np.maximum(log_p - log_p.max(), -700.0)
    above -= np.log(np.exp(above).sum())
    return above

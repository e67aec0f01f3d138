"""Measures of systems by themselves: what each can say about X at most, and how alike two of them are.

**Channel capacity** is the most that Z can say about X, over all priors p(x):

    C = max over p(x) of I(X;Z) = min over p(z) of max over x of D(p(z|x) || p(z))

Blahut (1972) and Arimoto (1972): p(x) <- p(x) exp(D(p(z|x) || p(z))) / normaliser. Whatever the prior,
I(X;Z) <= C <= max_x D(p(z|x) || p(z)), so the difference of the two is a proven gap, and that is when to stop. The map converges like
1/k at worst: two steps of it are extrapolated (SQUAREM, Varadhan and Roland 2008) in log p(x), and the extrapolation is kept only if
I(X;Z) does not fall.

**The generalised normalised information distance** (gNID) of two encoders of the same X is

    gNID(W, V) = 1 - I(W;V) / max(I(W;W'), I(V;V')),    p(w, v) = sum_x p(x) W[w, x] V[v, x]

W' is an independent copy of W given x: p(w, w') = sum_x p(x) W[w, x] W[w', x]. For hard maps I(W;W') = H(W), and this is the normalised
information distance of two partitions (Vinh, Epps, Bailey, JMLR 2010); the generalisation to soft ones is of Zaslavsky, Kemp, Regier,
Tishby, *Efficient compression in color naming and its evolution*, PNAS 115 (2018), supporting information.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import listed, positive_number, whole_number
from ..errors import InvalidEncoderError, InvalidJointError
from ..information import Array, Result, bits, entr, mutual_information
from ..joint.joint import Joint, check_joint
from ..joint.tables import aligned
from .given import read_system

if TYPE_CHECKING:
    import pandas as pd


def gnid(joint: Joint, W: Any, V: Any, *, counts: bool = False, axes: Literal["zx", "xz"] | None = None) -> float:
    """gNID of two encoders: 0 if they say the same of X whatever their z are called, near 1 if they have nothing in common.

    Parameters
    ----------
    joint
        p(x, y), of which p(x) counts here.
    W, V, counts, axes
        Systems as `infoplane.efficiency` takes them; whether tables hold counts, and which axis of an array is which.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> joint = ip.datasets.paper_uniform()
    >>> round(gnid(joint, np.eye(3), ["b", "c", "a"]), 12)
    0.0
    """
    check_joint(joint)
    W, V = (read_system(given, joint, counts, axes, name).encoder for given, name in ((W, "W"), (V, "V")))
    own = max(_shared(joint, W, W), _shared(joint, V, V))
    if own <= 1e-12:  # rounding: neither says anything, and two of those are alike
        return 0.0
    return float(np.clip(1.0 - _shared(joint, W, V) / own, 0.0, 1.0))


def _shared(joint: Joint, W: Array, V: Array) -> float:
    """I(W;V), both drawn from x independently of each other."""
    return mutual_information(W * joint.p_x @ V.T)


@dataclass(frozen=True, eq=False)
class Capacity(Result):
    """The capacity of a channel p(z|x), with a proven gap; nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.capacity([[0.9, 0.1], [0.1, 0.9]])
    >>> round(found.bits, 4), found.gap < 1e-6, found.converged
    (0.531, True, True)
    """

    nats: float
    """I(X;Z) at `prior`: a lower bound of the capacity that this prior achieves."""
    gap: float
    """max_x D(p(z|x) || p(z)) - I(X;Z) >= 0, rounding included: the capacity is at most `nats` + `gap`."""
    masses: Array = field(repr=False)
    """The p(x) that achieves it, in the order of the system's x,"""
    x_labels: tuple[Hashable, ...] | None = field(repr=False)
    """whose labels these are; None if it has none."""
    iterations: int
    """Steps of Blahut-Arimoto."""
    converged: bool
    """Whether the gap is as small as was asked for."""

    @property
    def prior(self) -> pd.Series:
        """The p(x) that achieves it, as a pandas Series with the labels of x; `Joint.with_prior` goes by them."""
        return _series(self.masses, self.x_labels)

    @property
    def bits(self) -> float:
        """The capacity in bits."""
        return bits(self.nats)


def capacity(
    p_z_given_x: Any,
    *,
    counts: bool = False,
    axes: Literal["zx", "xz"] | None = None,
    tol: float = 1e-9,
    max_iter: int = 100_000,
) -> Capacity:
    """The capacity of a channel, to a proven gap, and the prior that achieves it.

    Parameters
    ----------
    p_z_given_x
        One system: an encoder (|Z|, |X|) whose columns sum to 1, a frame with a row for each x, or hard labels.
    counts, axes
        As in `infoplane.efficiency`; of an array of counts ``axes`` must be said.
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
    read = read_system(p_z_given_x, None, counts, axes)
    W = read.encoder
    log_p = np.full(W.shape[1], -np.log(W.shape[1]))
    here, steps = _At(W, log_p), 1
    while here.gap > tol and steps < max_iter:
        one = _At(W, here.step())
        two = _At(W, one.step())
        steps += 2
        r, v = one.log_p - here.log_p, (two.log_p - one.log_p) - (one.log_p - here.log_p)
        bent = float(np.sqrt((here.p * v * v).sum()))
        length = float(np.sqrt((here.p * r * r).sum())) / bent if bent > 0.0 else 1.0
        far = here.log_p + 2.0 * length * r + length * length * v
        here = two
        if two.gap > tol and length > 1.0:
            ahead = _At(W, _normalised(far))
            steps += 1
            here = ahead if ahead.value >= two.value else two
    rounding = 8.0 * np.finfo(float).eps * (W.shape[0] + W.shape[1]) * (1.0 + abs(here.most))
    gap = float(max(here.gap, 0.0) + rounding)
    return Capacity(float(here.value), gap, here.p, read.x_labels, steps, here.gap <= tol)


def capacity_prior(
    systems: Iterable[Any],
    *,
    counts: bool = False,
    axes: Literal["zx", "xz"] | None = None,
    tol: float = 1e-9,
    max_iter: int = 100_000,
) -> pd.Series:
    """The average of the capacity-achieving priors of several systems over the same x: a pandas Series with the labels of x.

    Systems with labels are matched by them, and so is the Series wherever a prior is taken (`Joint.with_prior`, `datasets.colours`).
    Zaslavsky, Kemp, Regier, Tishby (PNAS 2018) take it for p(x) of colours, over the languages of the World Color Survey.

    Examples
    --------
    >>> capacity_prior([["a", "a", "b"], ["a", "b", "b"]]).round(3).tolist()
    [0.375, 0.25, 0.375]
    """
    given = listed("systems", systems.values() if isinstance(systems, Mapping) else systems, "systems, or a mapping")
    found = [capacity(system, counts=counts, axes=axes, tol=tol, max_iter=max_iter) for system in given]
    if not found:
        raise InvalidEncoderError("an average needs at least one system; found none.")
    labels, letters, priors = found[0].x_labels, len(found[0].masses), []
    for number, one in enumerate(found):
        if len(one.masses) != letters:
            raise InvalidEncoderError(
                f"all systems must name the same x; the first has {letters}, number {number} has {len(one.masses)}."
            )
        if (one.x_labels is None) is not (labels is None):
            raise InvalidEncoderError(
                f"either all systems have labels of x or none; found the first {'without' if labels is None else 'with'} them, and number "
                f"{number} otherwise."
            )
        try:
            same = aligned(one.x_labels or (), labels or (), "the first system")
        except InvalidJointError as error:
            raise InvalidEncoderError(f"system number {number}: {error}") from None
        priors.append(one.masses if labels is None else one.masses[same])
    return _series(np.mean(priors, axis=0), labels)


def _series(masses: Array, labels: tuple[Hashable, ...] | None) -> pd.Series:
    import pandas as pd

    several = labels is not None and all(isinstance(label, tuple) for label in labels)
    index = None if labels is None else pd.Index(labels, tupleize_cols=several)
    return pd.Series(masses.copy(), index=index, name="prior")


class _At:
    """A prior, the D(p(z|x) || p(z)) there, their mean I(X;Z) and their largest."""

    def __init__(self, W: Array, log_p: Array) -> None:
        self.log_p, self.p = log_p, np.exp(log_p)
        # A word of probability 0 is multiplied by 0.
        self.D: Array = -entr(W).sum(axis=0) - W.T @ np.log(np.maximum(W @ self.p, 1e-300))
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

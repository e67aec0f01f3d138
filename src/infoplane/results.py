"""What results have in common, and one run of a solver: how it ended, what each iteration measured, at which rate it converged.

A result cannot be changed, and is equal to itself only. It records one run, with the time that it took. Two of them are never "the same",
however alike their numbers are: ``==`` asks whether both are one object, ``hash`` agrees with it, and whoever means equal numbers compares
those (``np.array_equal(a.encoder, b.encoder)``). A `Joint` is no record but a value: two are equal if their probabilities, labels and
names are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from .errors import InvalidOptionError
from .information import Array


class Result:
    """A record whose arrays are read-only, and are nobody else's; its subclasses are frozen dataclasses with ``eq=False``."""

    def __post_init__(self) -> None:
        self.__setstate__(vars(self).copy())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What was pickled comes back writable.
        kept = {name: read_only(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}
        self.__dict__.update(kept)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array if nobody can write to it, else a copy to which nobody can."""
    owner = array if array.base is None else array.base
    if not array.flags.writeable and not (isinstance(owner, np.ndarray) and owner.flags.writeable):
        return array
    kept = array.copy(order="K")
    kept.flags.writeable = False
    return kept


STATIONARY_TOL = 1e-8
"""Residuals that count as stationary, unless the caller says otherwise."""


class Status(Enum):
    """How a run ended; the value is the sentence that the user reads.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.Status.STATIONARY.converged, ip.Status.STALLED.converged
    (True, False)
    >>> ip.Status.ITERATION_LIMIT.value
    'stopped at a limit on its work before it reached a stationary point'
    """

    CERTIFIED = "certified: a lower bound proves the loss globally optimal to the tolerance asked for"
    STATIONARY = "stationary: primal, dual and stationarity residuals are all below tol"
    ALMOST = "almost stationary: all residuals are below sqrt(tol), not below tol"
    ITERATION_LIMIT = "stopped at a limit on its work before it reached a stationary point"
    STALLED = "ended away from a stationary point, by its own rule or without moving on"
    INTERRUPTED = "interrupted: this is the best iterate so far"

    @property
    def remedy(self) -> str:
        """What to do about it, unless the solver knows better; "" if nothing is to be done."""
        if self in (Status.ALMOST, Status.ITERATION_LIMIT):
            return "raise max_iter"
        return "give its encoder as init to another solver" if self is Status.STALLED else ""

    @property
    def converged(self) -> bool:
        """CERTIFIED or STATIONARY, and nothing else."""
        return self in (Status.CERTIFIED, Status.STATIONARY)


class Residuals(NamedTuple):
    """Primal, dual and stationarity residual of the returned iterate; the first two are 0 for a method that splits nothing.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-1", rng=0)
    >>> s.residuals.largest <= 1e-8
    True
    """

    primal: float
    """How far the blocks of a splitting disagree, |Ap - Bq|."""
    dual: float
    """How far the last iteration has moved them, c |B(q - q_old)|."""
    stationarity: float
    """How far the encoder is from a fixed point, max |W - map(W)|."""

    @property
    def largest(self) -> float:
        """The largest of the three."""
        return max(self)


def judge(residuals: Residuals, tol: float, otherwise: Status) -> Status:
    """STATIONARY or ALMOST if the residuals are that small, whatever ended the run; else ``otherwise``."""
    if residuals.largest <= tol:
        return Status.STATIONARY
    if residuals.largest <= math.sqrt(tol):
        return Status.ALMOST
    return otherwise


def proven(gap: float | None, tol: float, residuals: Residuals, otherwise: Status) -> Status:
    """CERTIFIED if there is a gap and it is at most the tolerance *asked for*; else ``otherwise``.

    A bound above the loss by more than that, or than 1e-9, refutes itself and proves nothing.

    The only rule by which a run becomes CERTIFIED, in `solve`, sweeps, stores and files. A run that its solver called so by a
    wider tolerance is no more than its residuals show.
    """
    # Rounding may put a bound 1e-9 nats above a loss, at a beta of a million.
    if gap is not None and -max(tol, 1e-9) <= gap <= tol:
        return Status.CERTIFIED
    return judge(residuals, STATIONARY_TOL, Status.ITERATION_LIMIT) if otherwise is Status.CERTIFIED else otherwise


TIE = 1e-9
"""Losses this close, in nats, count as equal, as those of starts that end at one point; then a run that converged is better than one that
did not."""


def contenders(losses: Sequence[float], converged: Sequence[bool]) -> list[int]:
    """Indices of the runs that are the best, or may be once a proof has changed a status; the best at present comes last.

    They are the run with the lowest loss and, if it is another, the lowest of those that converged within `TIE` of it. Of runs of equal
    loss the first counts. The best of several groups of runs is among the contenders of its own group.
    """
    lowest = min(range(len(losses)), key=lambda index: losses[index])
    near = [index for index, loss in enumerate(losses) if converged[index] and loss <= losses[lowest] + TIE]
    return list(dict.fromkeys([lowest, *([min(near, key=lambda index: losses[index])] if near else [])]))


def best_of(losses: Sequence[float], converged: Sequence[bool]) -> int:
    """The index of the best run: the lowest loss; among losses within `TIE` of it, the lowest that converged; then the first."""
    return contenders(losses, converged)[-1]


class Rate(NamedTuple):
    """A linear rate fitted to the tail of a trace: |L_k - L_end| ~ C factor^k.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-1", starts=1, rng=0)
    >>> s.rate().factor < 1, s.rate().r_squared > 0.99
    (True, True)
    """

    factor: float
    """Contraction per iteration; below 1 means linear convergence."""
    r_squared: float
    """Share of the variance of log |L_k - L_end| that the straight line explains."""
    first: int
    """First iteration of the tail that was fitted."""
    last: int
    """Last iteration of the tail that was fitted."""


class Exponent(NamedTuple):
    """The exponent of the Lojasiewicz inequality |grad L_c| >= C (L_c - L*)^theta, fitted to the tail of a trace.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-1", starts=1, rng=0)
    >>> round(s.exponent().theta, 2)
    0.5
    """

    theta: float
    """Slope of log |grad L_c| against log (L_c - L*); 1/2 goes with a linear rate, more with a sublinear one."""
    r_squared: float
    """Share of the variance of log |grad L_c| that the straight line explains."""
    first: int
    """First iteration of the tail that was fitted."""
    last: int
    """Last iteration of the tail that was fitted."""


@dataclass(frozen=True, eq=False)
class Trace(Result):
    """What each iteration measured; read-only arrays of equal length, nats. ``augmented`` is L_c (NaN where a method has none).

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-1", starts=1, rng=0)
    >>> len(s.trace) == s.iterations, bool(abs(s.trace.loss[-1] - s.loss) < 1e-6)
    (True, True)
    """

    loss: Array
    """L."""
    augmented: Array
    """L_c; NaN where a method has none."""
    primal: Array
    """|Ap - Bq|, as in `Residuals`."""
    dual: Array
    """|B(q - q_old)| c."""
    stationarity: Array
    """max |W - map(W)|."""
    penalty: Array
    """c, the largest where rows have their own; NaN where a method has none."""
    iteration: Array | None = None
    """The numbers of the iterations that were kept, from 1; None if all were."""

    def __len__(self) -> int:
        return len(self.loss)

    @classmethod
    def from_columns(cls, table: Array) -> Trace:
        """From a table with one row per iteration, columns in the order of the fields."""
        return cls(*np.ascontiguousarray(table.T))

    def columns(self) -> Array:
        """The table again, one row per iteration kept; a last column has the iterations' numbers if some were left out."""
        kept = (self.loss, self.augmented, self.primal, self.dual, self.stationarity, self.penalty)
        return np.column_stack(kept if self.iteration is None else (*kept, self.iteration))

    def thinned(self, most: int) -> Trace:
        """About ``most`` iterations, evenly spaced, with the first and the last; the same trace if it has no more than that."""
        if len(self) <= most:
            return self
        kept = np.unique(np.linspace(0, len(self) - 1, most).round().astype(int))
        numbers = kept + 1.0 if self.iteration is None else self.iteration[kept]
        return Trace.from_columns(np.column_stack([replace(self, iteration=None).columns()[kept], numbers]))


@dataclass(frozen=True, eq=False)
class Run:
    """How the run from one start ended; its encoder is that of the letters of positive mass (`Support`).

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.joint import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> run = ip.BlahutArimoto().run(job)[0]
    >>> run.status.name, run.encoder.shape
    ('STATIONARY', (3, 3))
    """

    encoder: Array
    """p(z|x) of these letters, (|Z|, |X|)."""
    status: Status
    """How it ended."""
    iterations: int
    """How many it took."""
    residuals: Residuals
    """At the end."""
    died: int = 0
    """Clusters that lost all their mass."""
    trace: Trace | None = None
    """What each iteration measured; None if none was kept."""
    found_by: str = ""
    """The solver's name; "" leaves it to the caller."""
    lower_bound: float | None = None
    """A proven lower bound of the problem's optimum, in nats; None if nothing was proven."""
    multipliers: Array | None = None
    """As in `Solution`, of the letters of positive mass."""
    seconds: float | None = None
    """Its own time, if the solver measured it; None leaves it to the caller."""
    advice: str = ""
    """As in `Solution`."""


class StartSummary(NamedTuple):
    """How one start ended."""

    loss: float
    status: Status
    iterations: int


def fit_rate(loss: Array, floor: float = 1e-12) -> Rate:
    """The linear rate of a sequence of losses, in nats; see `Solution.rate`.

    Examples
    --------
    >>> import numpy as np
    >>> round(fit_rate(-1.0 + 0.9 ** np.arange(200)).factor, 6)
    0.9
    """
    distance, first, last = _tail(loss, floor)
    slope, r_squared = _line(np.arange(first, last, dtype=float), np.log(distance[first:last]))
    return Rate(float(np.exp(slope)), r_squared, first, last - 1)


def fit_exponent(augmented: Array, gradients: Array, floor: float = 1e-12) -> Exponent:
    """The Lojasiewicz exponent of a sequence of values L_c with their |grad L_c|; the tail is that of `fit_rate`.

    Examples
    --------
    >>> import numpy as np
    >>> k = np.arange(200)
    >>> round(fit_exponent(0.81**k, 0.9**k).theta, 6)
    0.5
    """
    distance, first, last = _tail(augmented, floor)
    kept = first + np.flatnonzero(gradients[first:last] > 0.0)
    if kept.size < 5:
        raise InvalidOptionError(
            f"only {kept.size} iterations of the tail have a gradient: too few to fit an exponent."
        )
    theta, r_squared = _line(np.log(distance[kept]), np.log(gradients[kept]))
    return Exponent(theta, r_squared, first, last - 1)


def _tail(loss: Array, floor: float) -> tuple[Array, int, int]:
    """|L_k - L*| and the range of iterations of its tail: those after half of the decades, and more than ``floor`` from the limit."""
    distance = np.abs(loss - _limit(loss))
    close = np.flatnonzero(distance <= floor)
    last = int(close[0]) if close.size else len(loss)
    if last < 5:
        raise InvalidOptionError(
            f"only {last} iterations lie more than {floor:g} nats from the end of the trace: too few to fit a rate."
        )
    # The tail begins once half of the decades between the largest distance and the last one are done.
    middle = np.sqrt(distance[:last].max() * distance[last - 1])
    first = min(int(np.flatnonzero(distance[:last] > middle).max(initial=-1)) + 1, last - 5)
    return distance, first, last


def _line(x: Array, y: Array) -> tuple[float, float]:
    """Slope of the straight line through (x, y) by least squares, and the share of the variance of y that it explains."""
    slope, intercept = np.polyfit(x, y, 1)
    total = float(((y - y.mean()) ** 2).sum())
    unexplained = float(((y - slope * x - intercept) ** 2).sum())
    return float(slope), 1.0 - unexplained / total if total > 0 else 0.0


def _limit(loss: Array) -> float:
    """The limit of a sequence: its last value, corrected by Aitken's extrapolation if it still moves geometrically.

    On a log axis, distances to the last value itself would bend downwards, since that value is not the limit yet.
    """
    stride = max(len(loss) // 20, 1)
    if len(loss) <= 2 * stride:
        return float(loss[-1])
    before, now = loss[-1 - stride] - loss[-1 - 2 * stride], loss[-1] - loss[-1 - stride]
    if abs(now) <= 1e-14 or not 0.0 < now / before < 0.99:
        return float(loss[-1])
    return float(loss[-1] + now * now / (before - now))

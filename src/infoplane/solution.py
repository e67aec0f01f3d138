"""What a solver returns: an encoder and how it was found; whatever follows from them is a property that names its formula.

A run of a solver comes first: how it ended, what each iteration measured, at which rate it converged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .encoder.encoder import EncoderView, by_mass, predicted
from .errors import InvalidOptionError
from .formatting import SHOWN_ROWS, counted, html_facts, html_note, html_page, html_table, label_text, rounded
from .information import Array, PlanePoint, Result, bits
from .joint.joint import Joint, Support
from .joint.tables import sealed
from .sampling.held_out import caution_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .problem import MarkovLagrangian
    from .systems.evaluation import CrossFitted

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
    """Its last one."""


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
    """Its last one."""


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
        return np.column_stack([column for column in vars(self).values() if column is not None])

    def thinned(self, most: int) -> Trace:
        """About ``most`` iterations, evenly spaced, with the first and the last; the same trace if it has no more than that."""
        if len(self) <= most:
            return self
        kept = np.unique(np.linspace(0, len(self) - 1, most).round().astype(int))
        numbered = self if self.iteration is not None else replace(self, iteration=np.arange(1.0, len(self) + 1.0))
        return Trace.from_columns(numbered.columns()[kept])


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
    return float(np.polyfit(x, y, 1)[0]), float(np.corrcoef(x, y)[0, 1]) ** 2 if np.ptp(y) > 0.0 else 0.0


def _limit(loss: Array) -> float:
    """The limit of a sequence: its last value, corrected by Aitken's extrapolation if it still moves geometrically.

    On a log axis, distances to the last value itself would bend downwards, since that value is not the limit yet.
    """
    stride = max(len(loss) // 20, 1)  # twentieths of the sequence are compared: single steps would be lost in rounding
    if len(loss) <= 2 * stride:
        return float(loss[-1])
    before, now = loss[-1 - stride] - loss[-1 - 2 * stride], loss[-1] - loss[-1 - stride]
    # A move by rounding, or one that hardly shrinks, says nothing of the limit.
    if abs(now) <= 1e-14 or not 0.0 < now / before < 0.99:
        return float(loss[-1])
    return float(loss[-1] + now * now / (before - now))


@dataclass(frozen=True, eq=False)
class Solution(Result, EncoderView):
    """An encoder p(z|x) and what is known of it; nats throughout.

    Its arrays are read-only, and it is equal to itself only (`information.Result`).

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), starts=4, rng=0)
    >>> s.status.name, round(s.loss, 6)
    ('STATIONARY', -0.24076)
    """

    joint: Joint = field(repr=False)
    """What it was solved for."""
    problem: MarkovLagrangian
    """What was minimised."""
    encoder: Array = field(repr=False)
    """p(z|x), a row for each cluster and a column for each letter x; columns sum to 1. Letters of zero mass have p(z)."""
    status: Status
    """How the run ended: a sentence, with what to do."""
    solver: str
    """The name of the solver that found it."""
    iterations: int
    """Of the run that found it."""
    seconds: float
    """Of the clock, for all starts together."""
    residuals: Residuals
    """How far the encoder is from satisfying the conditions of optimality."""
    trace: Trace | None = field(default=None, repr=False)
    """What each iteration measured; None if no trace was kept."""
    parameter: float = math.nan
    """gamma, beta, or whatever else the sweep varied; NaN if the problem has none."""
    start: int = 0
    """Which start found it."""
    died: int = 0
    """Clusters that lost all their mass on the way; the encoder no longer has them."""
    starts: tuple[StartSummary, ...] = field(default=(), repr=False)
    """How every start ended, in order."""
    lower_bound: float | None = None
    """Proven for all encoders, however many clusters they have."""
    multipliers: Array | None = field(default=None, repr=False)
    """lambda_x, from which the bound follows: f(q) = rho_zx H(q) + rho_zy H(Tq) is nowhere below lambda.q by more than

        m = lower_bound + rho_zx H(X) + rho_zy H(Y) - lambda.p_x

    (m < 0 up to rounding), q any distribution of X and T = p(y|x). 0 for letters of zero mass; None if the bound came otherwise. Where
    the bound is that of a problem below this one (`posterior_form_below`), rho_zx is that problem's.
    """
    advice: str = field(default="", repr=False)
    """What to do if it did not converge: the limit that has ended it, or the call that goes on from here; "" leaves it to the status."""
    cluster_cap: int | None = None
    """The most clusters that it could have, by the user's choice or for want of memory; None if every letter could have its own."""

    @cached_property
    def loss(self) -> float:
        """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) at the encoder."""
        return self.problem.value(self.joint, self.encoder)

    @property
    def gap(self) -> float | None:
        """Loss - lower_bound, None unless certified."""
        return None if self.lower_bound is None else self.loss - self.lower_bound

    @property
    def plane(self) -> PlanePoint:
        """Where it is drawn: (I(X;Z), I(Y;Z)); where one target is kept and another hidden, (I(S;Z), I(U;Z)). Nats."""
        return self._point if self.problem.single_target else PlanePoint(self.isz, self.iuz)

    @property
    def plane_names(self) -> tuple[str, str]:
        """What these two are called."""
        return ("I(X;Z)", "I(Y;Z)") if self.problem.single_target else ("I(S;Z)", "I(U;Z)")

    @property
    def converged(self) -> bool:
        """Whether the status is CERTIFIED or STATIONARY."""
        return self.status.converged

    @property
    def message(self) -> str:
        """How it ended and, if it did not converge, what to do about it: what the solver advises, else what the status does."""
        remedy = "" if self.converged else self.advice or self.status.remedy
        return f"{self.status.value}: {remedy}" if remedy else self.status.value

    @property
    def at_cap(self) -> bool:
        """Whether it has as many clusters as it could: more of them may have a lower loss."""
        return self.cluster_cap is not None and self.clusters >= self.cluster_cap

    def bounded(self, lower_bound: float | None, tol: float, multipliers: Array | None = None) -> Solution:
        """The same solution with a proven lower bound, and what it follows from; CERTIFIED if, and only if, the gap is at most ``tol``."""
        lower_bound = beneath(lower_bound, self.loss)
        gap = None if lower_bound is None else self.loss - lower_bound
        status = proven(gap, tol, self.residuals, self.status)
        return self._but(lower_bound=lower_bound, multipliers=multipliers, status=status)

    def _but(self, **changes: Any) -> Solution:
        """The same, with some fields changed."""
        return replace(self, **changes)

    def rate(self, floor: float = 1e-12) -> Rate:
        """Fit log |L_k - L_end| by a straight line over the second half of the decades that this distance falls by.

        The tail begins where the loss has come within the geometric mean of its first and last distances to the end, and stops
        where |L_k - L_end| falls below ``floor`` (rounding). ``r_squared`` says how straight it is; judge the rate by it.
        """
        return fit_rate(self._whole_trace("a rate").loss, floor)

    def exponent(self, floor: float = 1e-12) -> Exponent:
        """The local exponent theta of the Lojasiewicz inequality, over the tail that `rate` fits: 1/2 goes with a linear rate.

        The slope of log |r_k| against log |L_k - L_end|: L is L_c, or the loss of a method that splits nothing, and r the primal, dual and
        stationarity residuals together, which vanish as the gradient does, up to a factor.
        """
        trace = self._whole_trace("an exponent")
        values = trace.augmented if trace.primal.any() else trace.loss
        return fit_exponent(values, np.sqrt(trace.primal**2 + trace.dual**2 + trace.stationarity**2), floor)

    def interval(self, *, parts: int = 5, rng: int | np.random.Generator = 0, confidence: float = 0.95) -> CrossFitted:
        """What of I(X;Z) and I(Y;Z) is left in the population that the joint's records were drawn from, with intervals.

        By cross-fitting: the records are dealt into ``parts``, the problem is solved without each, and that encoder is measured on the part
        that it has not seen. No interval from the solution's own records would hold; for other records see `infoplane.evaluate`. Needs a
        joint of records; a denoised one is denoised anew without each part.

        Examples
        --------
        >>> import infoplane as ip
        >>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(0.2), rng=0)
        >>> found = s.interval()
        >>> found.iyz.low < found.iyz.corrected < s.iyz  # part of what 299 records show is chance
        True
        """
        from .systems.evaluation import cross_fitted

        return cross_fitted(self, parts, rng, confidence)

    def plot_trace(self, ax: Axes | None = None) -> Axes:
        """|loss - final loss| and the residuals against the iteration, on a logarithmic axis; needs the extra [plot].

        A straight line is linear convergence. Without ``ax`` a figure of its own is drawn, which a notebook shows.
        """
        from .view.plot import plot_trace

        return plot_trace(self, ax)

    def _whole_trace(self, what: str) -> Trace:
        """The trace, if all of its iterations were kept; ``what`` is to be fitted to it."""
        if self.trace is None:
            raise InvalidOptionError(
                "this run kept no trace; solve() records one, sweep() those of the best runs only."
            )
        if self.trace.iteration is not None:
            raise InvalidOptionError(
                f"the sweep kept {len(self.trace)} of the {self.trace.iteration[-1]:.0f} iterations of this run's trace: too few to fit "
                f"{what}. solve() keeps all."
            )
        return self.trace

    @cached_property
    def caution(self) -> str | None:
        """A sentence, if chance shows half of I(Y;Z) or more at this number of records, or adds as much to a leakage; else None."""
        if self.joint.counts is None:
            return None
        return caution_of(self.joint, self.iyz, self.encoder if self.problem.rho_zy < 0 else None)

    def __str__(self) -> str:
        caution = "" if self.caution is None else f". Caution: {self.caution}"
        return (
            f"{self.problem.family}: {self._numbers}; {self.solver}, {counted(self.iterations, 'iteration')}, {self.seconds:.2f} s; "
            f"{self.message}{caution}"
        )

    def __repr__(self) -> str:
        return f"Solution({self.problem.said}: {self._numbers}; {self.status.name}, {self.solver})"

    @property
    def _numbers(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.1e} nats"
        clusters = counted(self.clusters, "cluster")
        if self.at_cap:
            clusters = f"best found with {clusters}, the cap"
        about = {"I(X;Z)": self.ixz, "I(Y;Z)": self.iyz}
        if not self.problem.single_target:
            about = {"I(U;Z)": self.iuz, "I(S;Z)": self.isz, "I(X;Z)": self.ixz}
        where = ", ".join(f"{name} {rounded(bits(nats))} bits" for name, nats in about.items())
        return f"loss {rounded(self.loss)} nats{gap}, {where}, {clusters}"

    def _repr_html_(self) -> str:
        joint, about = self.joint, {"I(X;Z)": (self.ixz, f" of H(X) = {rounded(bits(self.joint.entropy_x))}")}
        if not self.problem.single_target:
            about |= {"I(U;Z)": (self.iuz, " kept"), "I(S;Z)": (self.isz, " not hidden")}
        else:
            about["I(Y;Z)"] = self.iyz, f" of I(X;Y) = {rounded(bits(joint.mutual_information))}"
            if joint.is_mixed and self.has_encoder:
                about |= {f"I({name};Z)": (nats, "") for name, nats in self.by_target.items()}
        rows = [
            ("loss", f"{rounded(self.loss)} nats"),
            *([] if self.gap is None else [("gap to the proven bound", f"{self.gap:.1e} nats")]),
            *((name, f"{rounded(bits(nats))} bits{of}") for name, (nats, of) in about.items()),
            ("status", self.message),
            ("found by", f"{self.solver}, {counted(self.iterations, 'iteration')}, {self.seconds:.2f} s"),
        ]
        said = "" if self.caution is None else html_note(f"Caution: {self.caution}.")
        return html_page(self.problem.said, html_facts(rows), said, self._clusters_html())

    @property
    def has_encoder(self) -> bool:
        """Whether the encoder was kept: stored sweeps keep those of the best runs."""
        return True

    def _clusters_html(self) -> str:
        joint, header = self.joint, ("z", "p(z)", "p(y|z), largest first", "typical x")
        listed = [
            (
                str(one.z),
                f"{one.mass:.4f}",
                predicted(one, joint.y_labels, 4),
                "; ".join(label_text(joint.x_labels[x], 40) for x in one.typical),
            )
            for one in by_mass(joint, self.encoder, 5, SHOWN_ROWS)
        ]
        more = self.clusters - SHOWN_ROWS
        said = html_note(f"{counted(more, 'smaller cluster')} not shown; clusters_frame() has all.") if more > 0 else ""
        return html_table(header, listed, left=header[2:]) + said


def beneath(bound: float | None, loss: float) -> float | None:
    """A lower bound, lowered to the loss where rounding alone put it above; never -0.0."""
    if bound is None:
        return None
    # A loss may lie 1e-12 nats below a proven bound because either is rounded; the certificates' own margins are of this size.
    return (loss if loss < bound <= loss + 1e-12 else bound) + 0.0


def finished(
    support: Support,
    problem: MarkovLagrangian,
    run: Run,
    *,
    seconds: float,
    parameter: float | None = None,
    start: int = 0,
    starts: tuple[StartSummary, ...] = (),
    cluster_cap: int | None = None,
) -> Solution:
    """The solution of a run, on the full alphabet; the parameter is the problem's own unless a sweep varied another."""
    parameter = problem.parameter if parameter is None else parameter
    same = {
        name: getattr(run, name)
        for name in ("status", "iterations", "residuals", "trace", "died", "advice", "lower_bound")
    }
    found = Solution(
        joint=support.joint,
        problem=problem,
        encoder=sealed(support.lift(run.encoder)),  # its own already, and large: not to be copied
        solver=run.found_by,
        seconds=seconds,
        parameter=math.nan if parameter is None else parameter,
        start=start,
        starts=starts,
        multipliers=None if run.multipliers is None else support.spread(run.multipliers),
        cluster_cap=cluster_cap,
        **same,
    )
    return found if run.lower_bound is None else replace(found, lower_bound=beneath(run.lower_bound, found.loss))

"""What a solver returns: an encoder and how it was found; whatever follows from them is a property that names its formula."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .encoder.encoder import EncoderView, by_mass, predicted
from .errors import InvalidOptionError
from .formatting import SHOWN_ROWS, counted, html_facts, html_note, html_page, html_table, label_text, rounded
from .information import Array, PlanePoint, bits
from .joint.joint import Joint, Support
from .joint.mixing import is_mixed
from .joint.tables import sealed
from .results import Exponent, Rate, Residuals, Result, Run, StartSummary, Status, Trace, fit_exponent, fit_rate, proven
from .sampling.held_out import caution_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .problem import MarkovLagrangian
    from .systems.evaluation import CrossFitted


@dataclass(frozen=True, eq=False)
class Solution(Result, EncoderView):
    """An encoder p(z|x) and what is known of it; nats throughout.

    Its arrays are read-only, and it is equal to itself only: see `infoplane.results`.

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
        return replace(self, lower_bound=lower_bound, multipliers=multipliers, status=status)

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
        about = [("I(X;Z)", self.ixz), ("I(Y;Z)", self.iyz)]
        if not self.problem.single_target:
            about = [("I(U;Z)", self.iuz), ("I(S;Z)", self.isz), ("I(X;Z)", self.ixz)]
        where = ", ".join(f"{name} {rounded(bits(nats))} bits" for name, nats in about)
        return f"loss {rounded(self.loss)} nats{gap}, {where}, {clusters}"

    def _repr_html_(self) -> str:
        joint = self.joint
        rows = [
            ("loss", f"{rounded(self.loss)} nats"),
            *([] if self.gap is None else [("gap to the proven bound", f"{self.gap:.1e} nats")]),
            ("I(X;Z)", f"{rounded(bits(self.ixz))} bits of H(X) = {rounded(bits(joint.entropy_x))}"),
            *self._of_y(),
            ("status", self.message),
            ("found by", f"{self.solver}, {counted(self.iterations, 'iteration')}, {self.seconds:.2f} s"),
        ]
        said = "" if self.caution is None else html_note(f"Caution: {self.caution}.")
        return html_page(self.problem.said, html_facts(rows), said, self._clusters_html())

    def _of_y(self) -> list[tuple[str, str]]:
        """What is said of Y, or of each target if it is a mixture of several."""
        joint = self.joint
        if not self.problem.single_target:
            return [
                ("I(U;Z)", f"{rounded(bits(self.iuz))} bits kept"),
                ("I(S;Z)", f"{rounded(bits(self.isz))} bits not hidden"),
            ]
        whole = ("I(Y;Z)", f"{rounded(bits(self.iyz))} bits of I(X;Y) = {rounded(bits(joint.mutual_information))}")
        if not is_mixed(joint) or not self.has_encoder:
            return [whole]
        return [whole, *((f"I({name};Z)", f"{rounded(bits(nats))} bits") for name, nats in self.by_target.items())]

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
    found = Solution(
        joint=support.joint,
        problem=problem,
        encoder=sealed(support.lift(run.encoder)),  # its own already, and large: not to be copied
        status=run.status,
        solver=run.found_by,
        iterations=run.iterations,
        seconds=seconds,
        residuals=run.residuals,
        trace=run.trace,
        parameter=math.nan if parameter is None else parameter,
        start=start,
        died=run.died,
        starts=starts,
        lower_bound=run.lower_bound,
        multipliers=None if run.multipliers is None else support.spread(run.multipliers),
        advice=run.advice,
        cluster_cap=cluster_cap,
    )
    return found if run.lower_bound is None else replace(found, lower_bound=beneath(run.lower_bound, found.loss))

"""What a solver returns: an encoder and how it was found; whatever follows from them is a property that names its formula."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from .checks import check_one_of
from .encoder.encoder import by_mass, cluster_names, predicted
from .errors import InvalidOptionError
from .formatting import SHOWN_ROWS, counted, html_facts, html_note, html_page, html_table, label_text, rounded
from .information import Array, IntArray, PlanePoint, bits, plane_point
from .joint.joint import Support
from .joint.mixing import is_mixed, roles, target_informations
from .joint.tables import sealed
from .results import Exponent, Rate, Residuals, Result, Run, StartSummary, Status, Trace, fit_exponent, fit_rate, proven
from .sampling.held_out import caution_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .joint.joint import Joint
    from .problem import MarkovLagrangian
    from .systems.evaluation import CrossFitted


UNSEEN_RULES = ("error", "marginal", "suppress")
"""What may become of a record whose x the joint has never met."""


class EncoderView:
    """What follows from a joint and an encoder p(z|x), which a subclass has as ``joint`` and ``encoder``; nats."""

    if TYPE_CHECKING:

        @property
        def joint(self) -> Joint: ...  # noqa: D102
        @property
        def encoder(self) -> Array: ...  # noqa: D102

    @cached_property
    def _point(self) -> PlanePoint:
        return plane_point(self.joint, self.encoder)

    @property
    def ixz(self) -> float:
        """I(X;Z)."""
        return self._point.ixz

    @property
    def iyz(self) -> float:
        """I(Y;Z)."""
        return self._point.iyz

    @cached_property
    def by_target(self) -> dict[str, float]:
        """I(S_j;Z) by the name of each target of a mixture (`Joint.mixed`); of any other joint I(Y;Z) by the name of Y."""
        return target_informations(self.joint, self.encoder)

    @cached_property
    def _tasks(self) -> tuple[float, float]:
        """I(U;Z) of what is kept, and I(S;Z) of what is hidden."""
        kept, hidden = roles(self.joint)
        return self.by_target[kept.name], self.by_target[hidden.name]

    @property
    def iuz(self) -> float:
        """I(U;Z) of what a `TaskJoint` keeps; an error for any other joint."""
        return self._tasks[0]

    @property
    def isz(self) -> float:
        """I(S;Z) of what a `TaskJoint` hides; an error for any other joint."""
        return self._tasks[1]

    @property
    def clusters(self) -> int:
        """|Z|: rows of the encoder."""
        return int(self.encoder.shape[0])

    @property
    def p_z(self) -> Array:
        """p(z) = sum_x p(z|x) p(x)."""
        return self.encoder @ self.joint.p_x

    def encoder_frame(self) -> pd.DataFrame:
        """The encoder as a pandas frame: one row per letter x with the joint's labels, one column per cluster."""
        import pandas as pd

        columns = [f"z{z}" for z in range(self.clusters)]
        return pd.DataFrame(self.encoder.T.copy(), index=self._index(), columns=columns)

    def labels(self) -> Any:
        """The cluster z with the largest p(z|x) of every letter x, as a pandas Series by the joint's labels; the first, if several have it.

        It is a system of hard labels: `infoplane.efficiency` and `infoplane.gnid` take it as it is.

        Examples
        --------
        >>> import infoplane as ip
        >>> ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), rng=0).labels().nunique()
        3
        """
        import pandas as pd

        return pd.Series(self.encoder.argmax(axis=0), index=self._index(), name="cluster")

    def cluster_names(self, letters: int = 3) -> Any:
        """What each cluster stands for, as a pandas Series by z: the x that set it apart, at most ``letters``, and how many more.

        Examples
        --------
        >>> import infoplane as ip
        >>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(0.2), rng=0)
        >>> print(s.labels().map(s.cluster_names(1)).value_counts().to_string())
        cluster
        none; 15 more      12
        smoking; 7 more     4
        """
        import pandas as pd

        held = cluster_names(self.joint, self.encoder, letters)
        return pd.Series(held, index=pd.RangeIndex(self.clusters, name="z"), name="stands_for")

    def assign(
        self,
        labels: Any,
        *,
        rng: int | np.random.Generator | None = None,
        ids: Any = None,
        key: bytes | None = None,
        unseen: Literal["error", "marginal", "suppress"] = "error",
    ) -> IntArray:
        """A released value z for each record, drawn from p(z|x) of its label x.

        **Without ids every call draws anew**, and two draws for one record may tell together what each hides alone
        (docs/howto/release.md): release once, or give ``ids`` and ``key``.

        Parameters
        ----------
        labels
            The label x of each record, as ``joint.x_labels`` has them: tuples if there are several columns.
        rng
            Seed of the draws, if there are no ids.
        ids, key
            An id for each record and a secret key of 16 to 64 random bytes: the same record, by the text of its id, always gets the same z.
        unseen
            Labels that the joint has never met: ``"error"`` refuses them, by how many there are; ``"marginal"`` draws from p(z), which
            tells nothing of them; ``"suppress"`` gives -1.

        Examples
        --------
        >>> import infoplane as ip
        >>> kept = ip.perfect_privacy(ip.datasets.paper_uniform())
        >>> key = bytes(range(32))
        >>> kept.assign([0, 1, 2], ids=["a", "b", "c"], key=key).tolist() == kept.assign([0, 1, 2], ids=["a", "b", "c"], key=key).tolist()
        True
        """
        from .encoder.applying import drawn, letters_of_labels

        check_one_of("unseen", unseen, UNSEEN_RULES)
        letters = letters_of_labels(self.joint, labels, refuse_unseen=unseen == "error")
        return drawn(self.encoder, self.p_z, letters, rng, ids, key, suppress=unseen == "suppress")

    def transform(
        self,
        frame: Any,
        *,
        rng: int | np.random.Generator | None = None,
        ids: Any = None,
        key: bytes | None = None,
        unseen: Literal["error", "marginal", "suppress"] = "error",
    ) -> Any:
        """A released value z for each row, as a pandas Series ``z`` on the frame's index; the joint's bins are applied.

        The frame, of pandas, polars or pyarrow, has the joint's columns of x; other columns play no part. **Without ids every call draws
        anew**, see `assign`, which explains the options; ``ids`` may name a column of the frame. With ``unseen="suppress"`` the Series is
        of pandas' Int64, and missing where the joint has never met the row.

        Examples
        --------
        >>> import infoplane as ip, pandas as pd
        >>> rows = pd.DataFrame({"age": [31, 40, 52, 67], "ill": [0, 0, 1, 1]})
        >>> joint = ip.Joint.from_frame(rows, "age", "ill", bins={"age": 2})
        >>> z = ip.solve(joint, ip.bottleneck(0.1), rng=0).transform(pd.DataFrame({"age": [18, 99, 20]}), rng=0)
        >>> bool(z[0] == z[2] != z[1])
        True
        """
        import pandas as pd

        from .encoder.applying import column_of, drawn, letters_of_rows

        check_one_of("unseen", unseen, UNSEEN_RULES)
        letters = letters_of_rows(self.joint, frame, refuse_unseen=unseen == "error")
        if isinstance(ids, str):
            ids = column_of(frame, ids).tolist()
        z = drawn(self.encoder, self.p_z, letters, rng, ids, key, suppress=unseen == "suppress")
        index = frame.index if isinstance(frame, pd.DataFrame) else None
        made = pd.Series(z, index=index, name="z")
        return made.astype("Int64").mask(made < 0) if unseen == "suppress" else made

    def _index(self) -> Any:
        import pandas as pd

        joint = self.joint
        if len(joint.x_names) > 1:
            return pd.MultiIndex.from_tuples(cast(Any, joint.x_labels), names=joint.x_names)
        return pd.Index(joint.x_labels, name=joint.x_names[0], tupleize_cols=False)

    def clusters_frame(self, letters: int = 5) -> pd.DataFrame:
        """What each cluster holds, as a pandas frame: one row per cluster, largest p(z) first.

        Columns: ``p_z``; ``letters``, how many x have p(z|x) >= 0.005; ``typical``, the labels of the x that add most to
        what the cluster says of y, D(p(y|z) || p(y)), at most ``letters`` of them (`infoplane.encoder.encoder`); and p(y|z), one column
        per y, named ``p(y|z)`` with y's label for y.

        Examples
        --------
        >>> import infoplane as ip
        >>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(0.2), rng=0)
        >>> s.clusters_frame().p_z.round(3).tolist()
        [0.785, 0.215]
        """
        import pandas as pd

        joint = self.joint
        held = list(by_mass(joint, self.encoder, letters))
        index = pd.Index([one.z for one in held], name="z")
        facts = {
            "p_z": [one.mass for one in held],
            "letters": [one.letters for one in held],
            "typical": [tuple(joint.x_labels[x] for x in one.typical) for one in held],
        }
        names = [f"p({label_text(label)}|z)" for label in joint.y_labels]
        posteriors = pd.DataFrame(np.array([one.p_y for one in held]), index=index, columns=names)
        return pd.concat([pd.DataFrame(facts, index=index), posteriors], axis=1)


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

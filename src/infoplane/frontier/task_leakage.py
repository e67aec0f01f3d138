"""The most that may be kept within a cap on what is told of the secret: the largest I(U;Z) with I(S;Z) <= r, with a bound that proves it.

One row, sum_z p(z) D(T_s q_z || p_s) <= r, joins the linear programme over posteriors; its multiplier is the hide of the Lagrangian that
proves the bound, I(U;Z) <= hide r - (lower bound of hide I(S;Z) - I(U;Z)). The frontier rises like a square root from r = 0: caps are
swept, not weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..certificate.funnel.generation import cut_short
from ..certificate.funnel.leakage import LeakageLine, time_shared
from ..certificate.funnel.privacy import ConstrainedFunnel
from ..certificate.tasks.columns import MOST_LETTERS, TaskOutcome, generate, generate_columns, seeded
from ..certificate.tasks.private import PrivateRelease, private_columns, private_posteriors
from ..checks import cap_in_nats, listed, whole_number
from ..errors import InfoplaneError
from ..information import Array, bits
from ..joint.joint import Joint, Support
from ..joint.task_joint import TaskJoint
from ..posterior.task_form import TaskColumns, TaskForm
from ..problem import as_joint
from ..runtime.budget import Budget, Limits, Stopped, attended_alone
from ..sampling.intervals import LeakageBound, leakage_bound
from ..solution import Residuals, Run, Status, finished, proven
from ..solvers.base import make_starts, seed_sequence
from ..solvers.job import Job
from ..solvers.shared.resizing import merged
from ..solvers.task_portfolio import TaskPortfolio
from ..task_problem import TaskLagrangian
from .leakage import rest_of


class CapEffort(NamedTuple):
    """How the time is shared out before caps are solved."""

    hiding: float = 0.1
    solving: float = 0.1
    """Shares of the time, if the secret is not binary: the release that tells nothing, and the default solver at the multiplier of the
    largest cap."""
    starts: int = 2
    steps: int = 500
    """Of the default solver, there, and iterations of each: descents soon find more."""
    gamma: float = 3e-4
    """What I(X;Z) counts for it: few clusters, and multipliers near those without one."""
    roughly: float = 1e-2
    """Nats to which the release that tells nothing is solved if no cap is 0: its posteriors are columns for the caps."""
    share_of_privacy: float = 0.1
    """Of the tolerance, to which the release that tells nothing is solved on edges."""
    generated: float = 0.9
    """Of the tolerance, to which columns are generated: to meet a cap to the last digit costs the answer some of the rest."""


EFFORT = CapEffort()


@dataclass(frozen=True, eq=False)
class CappedTask(ConstrainedFunnel):
    """The encoder of largest I(U;Z) with I(S;Z) <= max_isz; nats. ``solution`` is the encoder as one of beta I(S;Z) - I(U;Z).

    Examples
    --------
    >>> import infoplane as ip, pandas as pd
    >>> rows = pd.DataFrame({"job": ["a", "a", "b", "c"], "pay": [0, 1, 1, 0], "sex": ["f", "m", "m", "f"]})
    >>> joint = ip.TaskJoint.from_frame(rows, x="job", keep="pay", hide="sex")
    >>> found = ip.task_at_leakage(joint, max_isz=0.1)
    >>> found.isz <= 0.1 + 1e-9, found.iuz <= found.upper_bound
    (True, True)
    """

    max_isz: float
    """The cap on I(S;Z)."""
    beta: float
    """The slope of the largest I(U;Z) as a function of the cap; infinite at a cap of 0."""
    cells: int = field(repr=False)
    """Intervals of edges that were bounded."""
    secret: Joint | None = field(default=None, repr=False)
    """p(x, s) with its records, as `TaskJoint.hide` has it."""

    @property
    def utility(self) -> float:
        """What is maximised: I(U;Z)."""
        return self.iuz

    @cached_property
    def leakage_bound(self) -> LeakageBound | None:
        """What I(S;Z) may be in the population, at 95%; None unless the secret is a table of records. See `infoplane.leakage_bound`."""
        return None if self.secret is None or self.secret.counts is None else leakage_bound(self, self.secret)

    @property
    def about(self) -> str:
        """What the cap is about, as of a capped funnel."""
        return super().about.replace("I(Y;Z)", "I(S;Z)")

    @property
    def status(self) -> Status:
        """CERTIFIED if a gap of at most the tolerance was proven under the cap; else how the search ended."""
        return Status.CERTIFIED if self.certified else self.solution.status

    @property
    def lower_bound(self) -> float | None:
        """Of beta I(S;Z) - I(U;Z), for every encoder."""
        return self.solution.lower_bound

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        about = f"{self.about}.\n" if self.about else ""
        return (
            f"{about}{said}: I(U;Z) {bits(self.iuz):.6f} bits with I(S;Z) {bits(self.isz):.6g} <= {bits(self.max_isz):.6g} bits, at most "
            f"{bits(self.gap):.1e} bits below the optimum; beta {self.beta:.4g}, {self.clusters} clusters"
        )


def task_at_leakage(
    joint: TaskJoint,
    max_isz: float,
    *,
    clusters: int | None = None,
    tol: float = 1e-6,
    max_cells: int = 1_000_000_000,
    max_seconds: float = 60.0,
) -> CappedTask:
    """The largest I(U;Z) with I(S;Z) <= max_isz, and an upper bound that says how far it can be from the best.

    Parameters
    ----------
    joint
        What to keep and what to hide, a secret of any size.
    max_isz
        The cap in **nats**, 0 or more; at 0 nothing at all is told of the secret. It is never exceeded but by rounding (about 1e-28 nats
        at 0).
    clusters
        The most clusters that the answer may have: those that cost least are joined, which can only lower I(S;Z). The bound is of all
        encoders, so that the gap then says what the fewer clusters cost, too. By default as many as the best has: hundreds.
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop; the answer and the bound are valid whenever it ends.

    Examples
    --------
    >>> import infoplane as ip
    >>> keep = ip.Joint.from_counts([[8, 2], [5, 5], [4, 6], [1, 9]], y_names="rich")
    >>> hide = ip.Joint.from_counts([[7, 3], [2, 8], [6, 4], [4, 6]], y_names="sex")
    >>> found = ip.task_at_leakage(ip.TaskJoint(keep, hide), max_isz=0.01)
    >>> found.certified, round(found.iuz, 5), found.isz <= 0.01
    (True, 0.12465, True)
    """
    return task_curve(joint, [max_isz], clusters=clusters, tol=tol, max_cells=max_cells, max_seconds=max_seconds)[0]


def task_curve(
    joint: TaskJoint,
    leakages: Iterable[float],
    *,
    clusters: int | None = None,
    tol: float = 1e-6,
    max_cells: int = 1_000_000_000,
    max_seconds: float = 60.0,
) -> list[CappedTask]:
    """`task_at_leakage` for many caps in nats, which share their columns and their bounds; one answer per cap, in the order given.

    Examples
    --------
    >>> import infoplane as ip, pandas as pd
    >>> rows = pd.DataFrame({"job": ["a", "a", "b", "c"], "pay": [0, 1, 1, 0], "sex": ["f", "m", "m", "f"]})
    >>> joint = ip.TaskJoint.from_frame(rows, x="job", keep="pay", hide="sex")
    >>> [round(one.iuz, 4) for one in ip.task_curve(joint, [0.0, 0.1])]
    [0.0, 0.1]
    """
    caps = [cap_in_nats("max_isz", cap) for cap in listed("leakages", leakages, "caps in nats")]
    if clusters is not None:
        clusters = whole_number("clusters", clusters)
    limits = Limits(tol, max_cells, max_seconds)
    support = Support(as_joint(joint, tasks=True))
    if not caps:
        return []
    found = attended_alone(lambda budget: _curve(support, caps, clusters, limits, budget))
    return [replace(one, secret=joint.hide) for one in found] if isinstance(joint, TaskJoint) else found


def has_edges(secrets: int, letters: int) -> bool:
    """Whether pairs of letters suffice for the proof under a cap on the average, and can be gone through."""
    return secrets <= 2 and letters <= MOST_LETTERS


def _curve(
    support: Support, caps: Sequence[float], clusters: int | None, limits: Limits, budget: Budget
) -> list[CappedTask]:
    form = TaskForm(support, TaskLagrangian(0.0))
    whole = budget.part(seconds=limits.max_seconds * len(caps))
    by_edges = has_edges(len(form.T_s), len(form.p_x))
    generation, private = (_by_edges if by_edges else _by_columns)(form, caps, limits, whole)
    hidden = np.ones((1, len(form.p_x))) if private is None else private.encoder
    everything = form.keep * _informations(form, np.eye(len(form.p_x)))[0]
    lines = [LeakageLine(0.0, -everything * (1.0 + 1e-12) - 1e-12, np.zeros(len(form.p_x)))]
    rest = rest_of(limits, whole.seconds_spent / len(caps))

    def capped(cap: float) -> CappedTask:
        """One cap; lines are those of larger ones, and this one's is added."""
        own, W, upper, rounds = rest.budget(budget), hidden, math.inf, 0
        if cap > 0.0 or private is None:
            with suppress(InfoplaneError, Stopped):  # then nothing is better than what tells nothing
                outcome = generation(max(cap, 1e-12), EFFORT.generated * limits.tol, own)
                lines.append(LeakageLine(outcome.hide, outcome.lower, outcome.lam))
                W, rounds = _within(form, outcome.encoder, cap, hidden), outcome.rounds
        else:
            upper, rounds = private.upper, private.rounds
        line = min(reversed(lines), key=lambda one: one.at(cap))
        upper = min(upper, line.at(cap))
        hide = max(line.beta, 1e-12)
        problem = TaskLagrangian(0.0, 1.0, hide, "task_funnel", hide)
        encoder = form.expanded(W)
        if clusters is not None and len(W) > clusters:
            encoder = merged(form.whole, problem, encoder, most=clusters)
        asked = form.whole.joint, form.whole.lift(encoder)
        residuals = Residuals(0.0, 0.0, problem.stationarity(*asked))
        # Of the Lagrangian, which is what a file says of it; the cap's own bound may be better (`CappedTask.status`).
        certified = proven(problem.value(*asked) - line.lower, limits.tol, residuals, cut_short(own))
        run = Run(
            encoder, certified, rounds, residuals, found_by="columns",
            lower_bound=line.lower, multipliers=None if line.lam is None else form.letters.spread(line.lam, 0.0),
            advice="raise max_seconds, or clusters",
        )  # fmt: skip
        solution = finished(form.whole, problem, run, seconds=own.seconds_spent)
        return CappedTask(solution, upper, limits.tol, cap, line.beta if cap > 0.0 else math.inf, own.cells_spent)

    found = {cap: capped(cap) for cap in sorted(set(caps), reverse=True)}
    return [found[cap] for cap in caps]


Generation = Callable[[float, float, Budget], TaskOutcome]
"""Of columns, for a cap in nats, to a tolerance, within a budget."""


def _by_edges(
    form: TaskForm, _caps: Sequence[float], limits: Limits, whole: Budget
) -> tuple[Generation, PrivateRelease | None]:
    """A binary secret: columns of two letters, transport where nothing is told."""
    private = private_posteriors(form, EFFORT.share_of_privacy * limits.tol, limits.budget(whole))
    columns = seeded(form, None if private is None else private.posteriors)
    return lambda cap, tol, budget: generate(form, columns, tol, budget, cap), private


def _by_columns(
    form: TaskForm, caps: Sequence[float], limits: Limits, whole: Budget
) -> tuple[Generation, PrivateRelease | None]:
    """Any secret: columns of the release that tells nothing, of the default solver, and of descents."""
    share = 1.0 if max(caps) == 0.0 else EFFORT.hiding
    private = private_columns(
        form,
        EFFORT.generated * limits.tol if min(caps) == 0.0 else EFFORT.roughly,
        whole.part(seconds=share * whole.seconds),
    )
    n = len(form.p_x)
    columns = TaskColumns(form, np.column_stack([private.posteriors, np.eye(n)]))
    solving = whole.part(seconds=(share + EFFORT.solving) * whole.seconds - whole.seconds_spent)
    if max(caps) > 0.0 and not solving.over:
        hide = min(max(columns.solve(max(caps), solving).hide, 1e-3), 1e3)  # below, nothing is hidden; above, all is
        problem = TaskLagrangian(EFFORT.gamma, 1.0, hide, "task_funnel", hide)
        starts = make_starts(form.whole.joint, None, EFFORT.starts, seed_sequence(0), "mixed")
        job = Job(form.whole, problem, starts, budget=solving.part(iterations=EFFORT.steps))
        W = form.condensed(job.best_run(TaskPortfolio().run(job)).encoder)
        columns.add(form.posteriors(W))
        columns.near = TaskForm(form.whole, problem).multipliers(W), hide
    return lambda cap, tol, budget: generate_columns(form, columns, tol, budget, cap), private


def _informations(form: TaskForm, W: Array) -> tuple[float, float]:
    """I(U;Z) and I(S;Z) of an encoder of the classes, as they are reported."""
    found = list(form.whole.joint.target_informations(form.whole.lift(form.expanded(W))).values())
    return found[0], found[1]


def _within(form: TaskForm, W: Array, cap: float, hidden: Array) -> Array:
    """The encoder, if I(S;Z) is within the cap; else time-shared with one that tells nothing, until it is; never worse than that one."""
    mixed = time_shared(lambda one: _informations(form, one)[1], W, hidden, cap)
    return mixed if _informations(form, mixed)[0] >= _informations(form, hidden)[0] else hidden

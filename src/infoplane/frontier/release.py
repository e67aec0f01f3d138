"""A release that keeps its promise for every released value, not only on average.

I(S;Z) <= r caps what a release tells about the secret S *on average*: a few released values may still tell a lot. A cap on the lift,
log p(s|z)/p(s) <= eps for every z and s (pointwise maximal leakage, Saeidian et al. 2023; with two sides local information privacy), bounds
what any single value tells, and a smallest group what a value says about few people. The best release under any of these is computed with
a proven bound, see `certificate/funnel/release.py`. S is the joint's Y, or what a `TaskJoint` hides; then its U is kept, not X itself.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ..certificate.funnel.allowed import Caps, lift_caps
from ..certificate.funnel.generation import cut_short
from ..certificate.funnel.privacy import ConstrainedFunnel
from ..certificate.funnel.release import Terms, best_release, largest_terms_leakage, lifts, simple_upper_bound
from ..checks import cap_in_nats, check_flag, listed, positive_number
from ..errors import InvalidOptionError
from ..formatting import counted, label_text
from ..information import Array, bits, plane_point
from ..joint.joint import Joint, Support, check_joint
from ..joint.tables import aligned
from ..joint.task_joint import TaskJoint
from ..posterior.task_form import TaskForm
from ..problem import MarkovLagrangian, funnel
from ..runtime.budget import Budget, Limits, attended_alone
from ..solution import Residuals, Run, finished, proven
from ..solvers.job import Seed
from ..task_problem import TaskLagrangian
from .leakage import MAX_SECONDS, ConfidentFunnel, SearchOptions, funnel_at_leakage
from .task_leakage import has_edges, task_at_leakage


class Lift(NamedTuple):
    """What one released value tells about one value of the secret."""

    nats: float
    """log p(s|z)/p(s)."""
    z: int
    secret: Hashable
    """The label s."""


@dataclass(frozen=True, eq=False)
class Release(ConstrainedFunnel):
    """The encoder of largest I(X;Z), or I(U;Z) of a `TaskJoint`, under caps on what it tells about the secret S; nats.

    S is the Y of ``joint``. ``solution`` is the encoder as a solution of beta I(S;Z) - I(X;Z), or of beta I(S;Z) - I(U;Z), beta the
    multiplier of the average cap.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.release_mechanism(ip.datasets.paper_uniform(), max_lift=0.3)
    >>> found.worst_lift.nats <= 0.3 + 1e-9, found.ixz <= found.upper_bound
    (True, True)
    """

    max_leakage: float | None
    """The cap on I(S;Z), if there is one."""
    max_lift: float | None
    """The cap on log p(s|z)/p(s) for every z and every s in ``secrets``, if there is one."""
    two_sided: bool
    """Whether the cap on the lift holds below 0 too."""
    min_group: float | None
    """The least expected number of records for every released value, if there is one."""
    secrets: tuple[Hashable, ...]
    """The values of S whose lift is capped."""
    beta: float
    """The multiplier of the average cap: how much I(X;Z) rises with it; 0 if there is none, or if it is 0."""
    multipliers: Array | None = field(repr=False)
    """lambda_x, from which, with beta, the upper bound follows; None if it needed none."""
    cells: int = field(repr=False)
    """Cells that branch and bound opened."""
    left: int = field(repr=False)
    """Cells still open when the search ended; 0 if it ran to its end."""
    task: TaskJoint | None = field(default=None, repr=False)
    """What is kept and what is hidden, if that was asked for."""

    @property
    def joint(self) -> Joint:
        """p(x, s)."""
        return self.solution.joint if self.task is None else self.task.hide

    @property
    def iuz(self) -> float:
        """I(U;Z) of what a `TaskJoint` keeps; an error for any other joint."""
        return super().iuz if self.task is None else plane_point(self.task.keep, self.encoder).iyz

    @property
    def isz(self) -> float:
        """I(S;Z)."""
        return self.iyz

    @property
    def utility(self) -> float:
        """What is maximised: I(X;Z), or I(U;Z) of a `TaskJoint`."""
        return self.ixz if self.task is None else self.iuz

    @cached_property
    def _lifts(self) -> tuple[Lift, Lift]:
        """The largest and the smallest."""
        support = Support(self.joint)
        table, letters = lifts(support, self.encoder[:, support.x]), np.flatnonzero(support.y)

        def lift(cell: np.intp) -> Lift:
            z, y = np.unravel_index(cell, table.shape)
            return Lift(float(table[z, y]), int(z), self.joint.y_labels[letters[y]])

        return lift(table.argmax()), lift(table.argmin())

    @property
    def worst_lift(self) -> Lift:
        """The largest log p(s|z)/p(s): where a released value makes a secret most likelier."""
        return self._lifts[0]

    @property
    def least_lift(self) -> Lift:
        """The smallest log p(s|z)/p(s), -inf where a value rules a secret out."""
        return self._lifts[1]

    @property
    def smallest_group(self) -> float | None:
        """The expected number of records with the rarest released value; None if the joint is no table of records."""
        return None if self.joint.records is None else float(self.p_z.min()) * self.joint.records

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write p(x, s), the encoder, the caps, the bound and its multipliers to an .npz that ``infoplane verify`` proves again.

        It holds the shares of the table: for a reviewer, not for publication.
        """
        from ..storage.archive import save_release

        save_release(self, path)

    def __str__(self) -> str:
        said, what = "certified" if self.certified else "not certified", "X" if self.task is None else "U"
        (up, down), group, rare = self._lifts, self.smallest_group, rare_values(self.p_z, self.joint.records)
        return (
            f"{said}: I({what};Z) {bits(self.utility):.6f} bits, at most {bits(self.gap):.1e} bits below the best release within "
            f"{self.terms}\n"
            f"I(S;Z) {bits(self.iyz):.6g} bits; lifts from {bits(down.nats):+.3f} bits ({label_text(down.secret)}, z{down.z}) to "
            f"{bits(up.nats):+.3f} bits ({label_text(up.secret)}, z{up.z})\n"
            f"{counted(self.clusters, 'released value')}"
            f"{'' if group is None else f', the rarest expected for {group:.3g} records'}{f'; {rare}' if rare else ''}\n"
            "all of this is about the table: what it says of other people is a matter of how many records are behind it"
        )

    @property
    def terms(self) -> str:
        """The caps, in words."""
        terms = []
        if self.max_leakage is not None:
            terms.append(f"I(S;Z) <= {bits(self.max_leakage):.6g} bits")
        if self.max_lift is not None:
            side, some = "|lift|" if self.two_sided else "lift", len(self.secrets) < self.joint.shape[1]
            whose = f" of {', '.join(map(label_text, self.secrets))}" if some else ""
            terms.append(f"{side}{whose} <= {bits(self.max_lift):.6g} bits")
        if self.min_group is not None:
            terms.append(f"groups of {self.min_group:g} records")
        return ", ".join(terms)


@overload
def release_mechanism(
    joint: Joint | TaskJoint,
    max_leakage: float | None = None,
    max_lift: float | None = None,
    two_sided: bool = True,
    min_group: float | None = None,
    secrets: Iterable[Hashable] | None = None,
    *,
    confidence: None = None,
    **search: Unpack[SearchOptions],
) -> Release: ...


@overload  # a cap that holds in the population is one on the average alone
def release_mechanism(
    joint: Joint, max_leakage: float, *, confidence: float, **search: Unpack[SearchOptions]
) -> ConfidentFunnel: ...


def release_mechanism(
    joint: Joint | TaskJoint,
    max_leakage: float | None = None,
    max_lift: float | None = None,
    two_sided: bool = True,
    min_group: float | None = None,
    secrets: Iterable[Hashable] | None = None,
    *,
    confidence: float | None = None,
    rng: Seed = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> Release | ConfidentFunnel:
    """The release Z of X with the largest I(X;Z) under caps on what it tells about the secret S, with a proven bound.

    Parameters
    ----------
    joint
        p(x, s): X is released, the joint's Y is the secret S. Or a `TaskJoint`: what tells of U, its ``keep``, is kept, that is I(U;Z) is
        largest, and S, its ``hide``, is the secret; the bound is by boxes of p(u|z), which close for two or three values of U, and leave a
        gap for many.
    max_leakage
        Cap in **nats** on the average, I(S;Z).
    max_lift
        Cap in **nats** on log p(s|z)/p(s), for every released value z and every value s of the secret. 0 is perfect privacy.
    two_sided
        Whether -log p(s|z)/p(s) is capped too: without it a released value may rule a secret out.
    min_group
        Least expected number of records, p(z) n, for every released value; for joints of records. A release that keeps to it is found by
        search: the bound says how far it can be from the best.
    secrets
        Labels of those s whose lift is capped, one at least; all by default.
    confidence
        Such as 0.95, with ``max_leakage`` alone: the cap holds in the population that the records were drawn from, by `funnel_at_leakage`.
    rng
        Seed of the local searches, or with ``confidence`` of the split. The bound holds whatever it is.
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop. The release keeps its caps whenever it ends, and Ctrl-C returns the best so far with the bound so far.

    Returns
    -------
    Release
        Answers like a `Solution` (``encoder``, ``ixz``, ``iyz``, ``encoder_frame()``, ...), with ``upper_bound``, ``gap``, ``worst_lift``,
        ``least_lift``, ``smallest_group`` and ``utility``.
    ConfidentFunnel
        With ``confidence``.

    Examples
    --------
    >>> import math
    >>> import infoplane as ip
    >>> kept = ip.release_mechanism(ip.datasets.heart(), max_lift=0.4 * math.log(2), rng=0)
    >>> kept.certified, abs(kept.worst_lift.nats) <= kept.max_lift + 1e-12
    (True, True)
    """
    task, hidden = kept_and_hidden(joint)
    check_flag("two_sided", two_sided)
    limits = Limits(tol, max_cells, max_seconds)
    asked = _Asked.of(hidden, max_leakage, max_lift, two_sided, min_group, secrets)
    leakage = asked.leakage
    if confidence is not None:
        if task is not None:
            raise InvalidOptionError(
                "confidence is for a release that keeps X itself; found a TaskJoint. Give its hide, or leave out the confidence."
            )
        if leakage is None or not asked.on_average or secrets is not None:
            raise InvalidOptionError(
                "confidence goes with max_leakage alone: there is a test for an average in the population, and none for what a single "
                "released value tells, which few records decide. Leave out max_lift, min_group and secrets, or the confidence."
            )
        return funnel_at_leakage(hidden, leakage, confidence=confidence, rng=rng, max_seconds=max_seconds)
    make = partial(
        Release, max_leakage=leakage, max_lift=asked.lift, two_sided=two_sided, min_group=asked.group, tol=limits.tol, task=task,
        secrets=tuple(label for label, kept in zip(hidden.y_labels, asked.chosen, strict=True) if kept),
    )  # fmt: skip
    if leakage == 0.0:  # nothing on average is nothing from any value
        asked = _Asked(None, 0.0, True, asked.group, np.ones_like(asked.chosen))
    elif (
        leakage is not None
        and asked.on_average
        and (task is None or has_edges(int(np.count_nonzero(task.hide.p_y)), task.hide.shape[0]))
    ):
        within = partial(funnel_at_leakage, hidden) if task is None else partial(task_at_leakage, task)
        found: Any = within(leakage, tol=tol, max_cells=max_cells, max_seconds=max_seconds)
        return make(
            solution=found.solution,
            upper_bound=found.upper_bound,
            beta=found.beta,
            multipliers=found.solution.multipliers,
            cells=found.cells,
            left=0 if found.certified else 1,
        )
    return _searched(hidden, task, asked, limits, np.random.default_rng(rng), make)


def kept_and_hidden(joint: Joint | TaskJoint) -> tuple[TaskJoint | None, Joint]:
    """The tasks, if that is what is given, with the letters of x in the order of what is hidden; and p(x, s)."""
    if not isinstance(joint, TaskJoint):
        check_joint(joint)
        return None, joint
    keep, hide = joint.keep, joint.hide
    if keep.x_labels != hide.x_labels:
        order = aligned(keep.x_labels, hide.x_labels, "what is hidden")
        joint = TaskJoint(Joint(keep.p_xy[order], hide.x_labels, keep.y_labels, keep.x_names, keep.y_names), hide)
    return joint, hide


def rare_values(p_z: Array, records: int | None) -> str:
    """The caution that released values are expected for less than one record each, "" if none is."""
    few = 0 if records is None else int((p_z * records < 1.0 - 1e-9).sum())
    if not few:
        return ""
    verb = "is" if few == 1 else "are"
    return (
        f"{few:,} of {counted(len(p_z), 'released value')} {verb} expected for less than one record: who has one is likely alone "
        "with it, and min_group rules that out"
    )


class _Asked(NamedTuple):
    """The caps that are asked for; nats and records."""

    leakage: float | None
    lift: float | None
    two_sided: bool
    group: float | None
    chosen: NDArray[np.bool_]
    """Which values of the secret are capped."""

    @classmethod
    def of(
        cls, joint: Joint, leakage: Any, lift: Any, two_sided: bool, group: Any, secrets: Iterable[Hashable] | None
    ) -> _Asked:
        """What a caller gives, checked; one cap is needed."""
        leakage = None if leakage is None else cap_in_nats("max_leakage", leakage)
        lift = None if lift is None else cap_in_nats("max_lift", lift)
        group = None if group is None else positive_number("min_group", group)
        if leakage is None and lift is None and group is None:
            raise InvalidOptionError(
                "a release needs a cap: max_leakage on the average, max_lift on every released value, or min_group; found none. Without "
                "any the best release is X itself."
            )
        if secrets is not None and lift is None:
            raise InvalidOptionError(
                "secrets are values whose lift is capped: they go with max_lift, and it is not there."
            )
        known = set(joint.y_labels)
        wanted = known if secrets is None else set(listed("secrets", secrets, "labels of the secret"))
        if not wanted:
            raise InvalidOptionError(
                "secrets must be one label of the secret at least; found none, and nothing would be capped."
            )
        for label in wanted:
            if label not in known:
                raise InvalidOptionError(
                    f"secrets must be labels of the secret, {joint.y_labels[0]!r} for example; found {label!r}. joint.y_labels has all "
                    f"{len(joint.y_labels)}."
                )
        return cls(leakage, lift, two_sided, group, np.array([label in wanted for label in joint.y_labels]))

    @property
    def on_average(self) -> bool:
        """Whether nothing is said of a single released value."""
        return self.lift is None and self.group is None

    def terms(self, joint: Joint, support: Support) -> Terms:
        """The caps as ranges of p(s|z) and of p(x|z), of the letters of a support."""
        smallest = 0.0
        if self.group is not None:
            if joint.records is None:
                raise InvalidOptionError(
                    f"min_group counts records, and this joint was not made of any; found min_group = {self.group:g}. Make the joint by "
                    "from_frame, from_samples or from_counts with whole numbers."
                )
            if self.group > joint.records:
                raise InvalidOptionError(
                    f"min_group must be at most the {joint.records:,} records there are; found {self.group:g}."
                )
            smallest = self.group / joint.records
        chosen = self.chosen[joint.p_y > 0.0] & (self.lift is not None)
        L, U = lift_caps(support.p_y, chosen, self.lift or 0.0, self.two_sided)
        most = np.minimum(support.p_x / smallest, 1.0) if smallest > 0.0 else np.ones(len(support.p_x))
        return Terms(Caps(L, U, most), self.leakage, smallest)


def _searched(
    joint: Joint,
    task: TaskJoint | None,
    asked: _Asked,
    limits: Limits,
    rng: np.random.Generator,
    make: Callable[..., Release],
) -> Release:
    """The best release within the caps, by search; of a task letters with the same p(u|x) and p(s|x) are one."""
    if task is None:
        form, whole = None, Support(joint)
        support, terms = whole, asked.terms(joint, whole)
        told = largest_terms_leakage(asked.lift, asked.two_sided, bool(asked.chosen.all()), asked.leakage)
        known = simple_upper_bound(support, told)
    else:
        form = TaskForm(Support(task.joint), TaskLagrangian(0.0))
        whole, support = form.whole, Support(Joint.from_counts(form.p_x[:, None] * form.T_s.T))
        terms = asked.terms(joint, support)._replace(kept=form.T_u)
        known = task.keep.mutual_information * (1.0 + 1e-12) + 1e-14
    if terms.smallest > 0.0:  # I(X;Z) <= log |Z|, and there are at most 1 / least p(z) released values
        known = min(known, math.log(math.floor((1.0 + 1e-8) / terms.smallest)) + 1e-14)

    def released(budget: Budget) -> Release:
        own = limits.budget(budget)
        found = best_release(support, terms, limits.tol, own, rng, known)
        W, lam, beta = found.encoder, found.outcome.proof.lam, found.outcome.proof.beta
        problem: MarkovLagrangian
        if form is None or task is None:
            problem = funnel(beta) if beta > 0.0 else MarkovLagrangian(-1.0, 1.0, 0.0, "funnel", 0.0)
            utility = plane_point(joint, whole.lift(W)).ixz
        else:
            W, lam, hide = form.expanded(W), form.letters.spread(lam, 0.0), max(beta, 1e-300)
            problem = TaskLagrangian(0.0, 1.0, hide, "task_funnel", hide)
            utility = plane_point(task.keep, whole.lift(W)).iyz
        residuals = Residuals(0.0, 0.0, problem.stationarity(whole.joint, whole.lift(W)))
        status = proven(found.upper - utility, limits.tol, residuals, cut_short(own))
        run = Run(W, status, own.rounds_spent, residuals, found_by="columns", advice="raise max_cells or max_seconds")
        return make(
            solution=finished(whole, problem, run, seconds=own.seconds_spent),
            upper_bound=found.upper,
            beta=beta,
            multipliers=whole.spread(lam),
            cells=int(own.cells_spent),
            left=found.outcome.left,
        )

    return attended_alone(released)

"""A release that keeps its promise for every released value, not only on average.

I(S;Z) <= r caps what a release tells about the secret S *on average*: a few released values may still tell a lot. A cap on the lift,
log p(s|z)/p(s) <= eps for every z and s (pointwise maximal leakage, Saeidian et al. 2023; with two sides local information privacy), bounds
what any single value tells, and a smallest group what a value says about few people. The best release under any of these is computed with
a proven bound, see `certificate/funnel/release.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..certificate.certificate import Limits
from ..certificate.funnel.allowed import Caps, lift_caps
from ..certificate.funnel.constrained import ConstrainedFunnel
from ..certificate.funnel.generation import cut_short
from ..certificate.funnel.release import Terms, best_release, largest_terms_leakage, lifts, simple_upper_bound
from ..checks import check_flag, listed, number, positive_number
from ..errors import InvalidOptionError
from ..formatting import counted, label_text
from ..information import Array, IntArray, bits, plane_point
from ..joint.joint import Joint, check_joint
from ..joint.support import Support
from ..problem import MarkovLagrangian, funnel
from ..runtime.budget import Budget
from ..runtime.threads import attended, one_blas_thread
from ..solution import Run, finished
from ..status import Residuals, proven
from .confident import ConfidentFunnel
from .leakage import MAX_SECONDS, funnel_at_leakage


class Lift(NamedTuple):
    """What one released value tells about one value of the secret."""

    nats: float
    """log p(s|z)/p(s)."""
    z: int
    secret: Hashable
    """The label s."""


@dataclass(frozen=True, eq=False)
class Release(ConstrainedFunnel):
    """The encoder of largest I(X;Z) under caps on what it tells about the secret Y; nats.

    ``solution`` is the encoder as a solution of beta I(Y;Z) - I(X;Z), beta the multiplier of the average cap.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.release_mechanism(ip.datasets.paper_uniform(), max_lift=0.3)
    >>> found.worst_lift.nats <= 0.3 + 1e-9, found.ixz <= found.upper_bound
    (True, True)
    """

    max_leakage: float | None
    """The cap on I(Y;Z), if there is one."""
    max_lift: float | None
    """The cap on log p(y|z)/p(y) for every z and every y in ``secrets``, if there is one."""
    two_sided: bool
    """Whether the cap on the lift holds below 0 too."""
    min_group: float | None
    """The least expected number of records for every released value, if there is one."""
    secrets: tuple[Hashable, ...]
    """The values of Y whose lift is capped."""
    beta: float
    """The multiplier of the average cap: how much I(X;Z) grows with it."""
    multipliers: Array | None = field(repr=False)
    """lambda_x, from which, with beta, the upper bound follows; None if it needed none."""
    cells: int = field(repr=False)
    """Cells that branch and bound opened."""
    left: int = field(repr=False)
    """Cells still open when the search ended; 0 if it ran to its end."""

    @cached_property
    def _lifts(self) -> tuple[Array, IntArray]:
        support = Support(self.joint)
        return lifts(support, self.encoder[:, support.x]), np.flatnonzero(support.y)

    @property
    def worst_lift(self) -> Lift:
        """The largest log p(y|z)/p(y): where a released value makes a secret most likelier."""
        table, letters = self._lifts
        z, y = np.unravel_index(int(table.argmax()), table.shape)
        return Lift(float(table[z, y]), int(z), self.joint.y_labels[letters[y]])

    @property
    def least_lift(self) -> Lift:
        """The smallest log p(y|z)/p(y), -inf where a value rules a secret out."""
        table, letters = self._lifts
        z, y = np.unravel_index(int(table.argmin()), table.shape)
        return Lift(float(table[z, y]), int(z), self.joint.y_labels[letters[y]])

    @property
    def smallest_group(self) -> float | None:
        """The expected number of records with the rarest released value; None if the joint is no table of records."""
        return None if self.joint.records is None else float(self.p_z.min()) * self.joint.records

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        up, down = self.worst_lift, self.least_lift
        group = self.smallest_group
        lines = [
            f"{said}: I(X;Z) {bits(self.ixz):.6f} bits, at most {bits(self.gap):.1e} bits below the best release within "
            f"{self.terms}",
            f"I(Y;Z) {bits(self.iyz):.6g} bits; lifts from {bits(down.nats):+.3f} bits ({label_text(down.secret)}, z{down.z}) to "
            f"{bits(up.nats):+.3f} bits ({label_text(up.secret)}, z{up.z})",
            f"{counted(self.clusters, 'released value')}"
            + ("" if group is None else f", the rarest expected for {group:.3g} records"),
            "all of this is about the table: what it says of other people is a matter of how many records are behind it",
        ]
        return "\n".join(lines)

    @property
    def terms(self) -> str:
        """The caps, in words."""
        terms = []
        if self.max_leakage is not None:
            terms.append(f"I(Y;Z) <= {bits(self.max_leakage):.6g} bits")
        if self.max_lift is not None:
            side = "|lift|" if self.two_sided else "lift"
            whose = (
                "" if len(self.secrets) == self.joint.shape[1] else f" of {', '.join(map(label_text, self.secrets))}"
            )
            terms.append(f"{side}{whose} <= {bits(self.max_lift):.6g} bits")
        if self.min_group is not None:
            terms.append(f"groups of {self.min_group:g} records")
        return ", ".join(terms)


@overload
def release_mechanism(
    joint: Joint,
    max_leakage: float | None = None,
    max_lift: float | None = None,
    two_sided: bool = True,
    min_group: float | None = None,
    secrets: Iterable[Hashable] | None = None,
    *,
    confidence: None = None,
    rng: int | np.random.Generator | None = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> Release: ...


@overload
def release_mechanism(
    joint: Joint,
    max_leakage: float | None = None,
    max_lift: float | None = None,
    two_sided: bool = True,
    min_group: float | None = None,
    secrets: Iterable[Hashable] | None = None,
    *,
    confidence: float,
    rng: int | np.random.Generator | None = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> ConfidentFunnel: ...


def release_mechanism(
    joint: Joint,
    max_leakage: float | None = None,
    max_lift: float | None = None,
    two_sided: bool = True,
    min_group: float | None = None,
    secrets: Iterable[Hashable] | None = None,
    *,
    confidence: float | None = None,
    rng: int | np.random.Generator | None = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> Release | ConfidentFunnel:
    """The release Z of X with the largest I(X;Z) under caps on what it tells about the secret Y, with a proven bound.

    Parameters
    ----------
    joint
        p(x, y): X is released, Y is the secret.
    max_leakage
        Cap in **nats** on the average, I(Y;Z).
    max_lift
        Cap in **nats** on log p(y|z)/p(y), for every released value z and every value y of the secret. 0 is perfect privacy.
    two_sided
        Whether -log p(y|z)/p(y) is capped too: without it a released value may rule a secret out.
    min_group
        Least expected number of records, p(z) n, for every released value; for joints of records. A release that keeps to it is found by
        search: the bound says how far it can be from the best.
    secrets
        Labels of those y whose lift is capped; all by default.
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
        ``least_lift`` and ``smallest_group``.
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
    check_joint(joint)
    check_flag("two_sided", two_sided)
    limits = Limits(tol, max_cells, max_seconds)
    leakage = None if max_leakage is None else number("max_leakage", max_leakage, _not_negative, NATS)
    lift = None if max_lift is None else number("max_lift", max_lift, _not_negative, NATS)
    group = None if min_group is None else positive_number("min_group", min_group)
    if leakage is None and lift is None and group is None:
        raise InvalidOptionError(
            "a release needs a cap: max_leakage on the average, max_lift on every released value, or min_group; found none. Without any "
            "the best release is X itself."
        )
    if confidence is not None:
        if leakage is None or lift is not None or group is not None or secrets is not None:
            raise InvalidOptionError(
                "confidence goes with max_leakage alone: there is a test for an average in the population, and none for what a single "
                "released value tells, which few records decide. Leave out max_lift, min_group and secrets, or the confidence."
            )
        return funnel_at_leakage(joint, leakage, confidence=confidence, rng=rng, max_seconds=max_seconds)
    chosen = _chosen(joint, secrets)
    names = tuple(label for label, kept in zip(joint.y_labels, chosen, strict=True) if kept)
    make = partial(
        Release, max_leakage=leakage, max_lift=lift, two_sided=two_sided, min_group=group, secrets=names, tol=limits.tol
    )
    if lift is None and group is None and leakage is not None:
        found = funnel_at_leakage(joint, leakage, tol=tol, max_cells=max_cells, max_seconds=max_seconds)
        return make(
            solution=found.solution,
            upper_bound=found.upper_bound,
            beta=found.beta,
            multipliers=found.solution.multipliers,
            cells=found.cells,
            left=found.left,
        )
    support = Support(joint)
    terms = _terms(joint, support, leakage, lift, two_sided, group, chosen[support.y])
    known = simple_upper_bound(support, largest_terms_leakage(lift, two_sided, bool(chosen.all()), leakage))
    budget = Budget()
    with one_blas_thread():
        return attended([partial(_released, support, terms, known, limits, budget, rng, make)], budget)[0]


NATS = "a number of nats, 0 or more"


def _not_negative(nats: float) -> bool:
    return nats >= 0.0


def _chosen(joint: Joint, secrets: Iterable[Hashable] | None) -> NDArray[np.bool_]:
    """Which values of Y are capped."""
    if secrets is None:
        return np.ones(joint.shape[1], dtype=bool)
    place = {label: y for y, label in enumerate(joint.y_labels)}
    wanted = listed("secrets", secrets, "labels of the secret")
    for label in wanted:
        if label not in place:
            raise InvalidOptionError(
                f"secrets must be labels of the secret, {joint.y_labels[0]!r} for example; found {label!r}. joint.y_labels has all "
                f"{len(place)}."
            )
    chosen = np.zeros(joint.shape[1], dtype=bool)
    chosen[[place[label] for label in wanted]] = True
    return chosen


def _terms(
    joint: Joint,
    support: Support,
    leakage: float | None,
    lift: float | None,
    two_sided: bool,
    group: float | None,
    chosen: NDArray[np.bool_],
) -> Terms:
    """The caps as ranges of p(y|z) and of p(x|z)."""
    smallest = 0.0
    if group is not None:
        if joint.records is None:
            raise InvalidOptionError(
                f"min_group counts records, and this joint was not made of any; found min_group = {group:g}. Make the joint by from_frame, "
                "from_samples or from_counts with whole numbers."
            )
        if group > joint.records:
            raise InvalidOptionError(
                f"min_group must be at most the {joint.records:,} records there are; found {group:g}."
            )
        smallest = group / joint.records
    none_capped = np.zeros_like(chosen)
    L, U = lift_caps(support.p_y, none_capped if lift is None else chosen, lift or 0.0, two_sided)
    most = np.minimum(support.p_x / smallest, 1.0) if smallest > 0.0 else np.ones(len(support.p_x))
    return Terms(Caps(L, U, most), leakage, smallest)


def _released(
    support: Support,
    terms: Terms,
    known: float,
    limits: Limits,
    budget: Budget,
    rng: int | np.random.Generator | None,
    make: Callable[..., Release],
) -> Release:
    """The best release within the terms, as the answer that the user gets."""
    own = limits.budget(budget)
    found = best_release(support, terms, limits.tol, own, np.random.default_rng(rng), known)
    proof, whole = found.outcome.proof, support.lift(found.encoder)
    problem = funnel(proof.beta) if proof.beta > 0.0 else MarkovLagrangian(-1.0, 1.0, 0.0, "funnel", 0.0)
    residuals = Residuals(0.0, 0.0, problem.stationarity(support.joint, whole))
    run = Run(
        encoder=found.encoder,
        status=proven(found.upper - plane_point(support.joint, whole).ixz, limits.tol, residuals, cut_short(own)),
        iterations=own.rounds_spent,
        residuals=residuals,
        found_by="columns",
        advice="raise max_cells or max_seconds",
    )
    return make(
        solution=finished(support, problem, run, seconds=own.seconds_spent),
        upper_bound=found.upper,
        beta=proof.beta,
        multipliers=support.spread(proof.lam),
        cells=int(own.cells_spent),
        left=found.outcome.left,
    )

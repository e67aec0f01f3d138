"""`verify`: what a file of answers claims, recomputed and proven again, run by run.

With p(z) and posteriors q_z = p(x|z), sum_z p(z) q_z = p_x, and if rho_z + rho_zx + rho_zy = 0

    L(W) = -rho_zx H(X) - rho_zy H(Y) + sum_z p(z) f(q_z),    f(q) = rho_zx H(q) + rho_zy H(Tq).

So for any lambda every encoder has L >= -rho_zx H(X) - rho_zy H(Y) + lambda.p_x + min_q (f(q) - lambda.q). A file has lambda and the bound;
what is left to prove is that the minimum is no less than what the bound needs.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum

import numpy as np

from ..checks import positive_number, whole_number
from .bottleneck import BottleneckBoxes
from .bounds import at_most_all, bottleneck_multipliers, contraction, funnel_multipliers
from .claims import ClaimedRun, read_claims
from .exact import bottleneck_bound, funnel_bound
from .funnel import FunnelBoxes
from .numbers import UNIT, Array, Recomputed, entropy, recomputed
from .search import Searched, search

SAME = 1e-10
"""A number of a file is right if it differs from the recomputed one by no more than this, times 1 and the largest |rho|."""

BALANCED = 1e-12
"""rho_z + rho_zx + rho_zy, relative to the largest, that counts as 0; what it can do to a loss is part of the bound."""

CONSTRAINED = "perfect privacy"
"""A family whose bounds hold under a constraint, I(Y;Z) = 0, that a file does not carry."""


class CheckVerdict(Enum):
    """What became of a claim."""

    VERIFIED = "verified: the numbers are right, and the bound holds for every encoder"
    NUMBERS = "numbers verified: loss, I(X;Z) and I(Y;Z) are right; no bound is claimed"
    PROVEN_TO = "proven to a weaker bound than claimed"
    UNCHECKED = "not checked"
    REFUTED = "refuted"

    @property
    def good(self) -> bool:
        """Whether everything claimed was shown to be so."""
        return self in (CheckVerdict.VERIFIED, CheckVerdict.NUMBERS)


@dataclass(frozen=True)
class RunCheck:
    """The verdict on one run; nats."""

    run: int
    """Its number in the file."""
    family: str
    parameter: float
    verdict: CheckVerdict
    ixz: float
    """Recomputed, like I(Y;Z) and the loss."""
    iyz: float
    loss: float
    reason: str = ""
    """Why the verdict is not a good one."""
    claimed_bound: float | None = None
    proven_bound: float | None = None
    """No encoder has a loss below this: proven here."""
    cells: int = 0
    left: int = 0
    """Cells that were open at the end."""
    seconds: float = 0.0
    digits_checked: int = 0
    """Closed cells whose bounds were computed once more, in 50 digits."""
    posterior: Array | None = None
    """Where f(q) - lambda.q is too low, for each x; None unless refuted there."""

    @property
    def gap(self) -> float | None:
        """Loss - proven_bound: no encoder is better by more than this."""
        return None if self.proven_bound is None else self.loss - self.proven_bound


def verify(
    path: str | os.PathLike[str], *, gap: float = 1e-6, max_cells: int = 1_000_000, max_seconds: float = 60.0
) -> list[RunCheck]:
    """Check a file that `Frontier.save` or ``infoplane solve --out answer.npz`` has written; a `RunCheck` for each run with an encoder.

    Shares no code with the solvers and proofs that made the file: every loss, I(X;Z) and I(Y;Z) is recomputed, and every lower bound is
    proven again from the stored multipliers, by a slow and plain branch and bound (docs/verify.md).

    Parameters
    ----------
    path
        The file.
    gap
        A run that is called certified must have a loss within this of its bound, in nats.
    max_cells, max_seconds
        How long to try, for each bound.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], certify=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     f.save(f"{folder}/answer.npz")
    ...     [finding.verdict.name for finding in ip.verify(f"{folder}/answer.npz")]
    ['VERIFIED', 'VERIFIED']
    """
    gap = positive_number("gap", gap)
    limits = _Limits(
        whole_number("max_cells", max_cells), positive_number("max_seconds", max_seconds, finite=False), {}
    )
    P, claims = read_claims(path)
    return [_finding(run, P, claim, gap, limits) for run, claim in enumerate(claims) if claim.encoder is not None]


@dataclass(frozen=True)
class _Limits:
    max_cells: int
    max_seconds: float
    known: dict[tuple[object, ...], _Shown]
    """The runs of a parameter share their bound: it is proven once."""


@dataclass(frozen=True)
class _Shown:
    """What a bound came to."""

    verdict: CheckVerdict
    reason: str = ""
    bound: float | None = None
    searched: Searched | None = None
    digits_checked: int = 0
    posterior: Array | None = None


def _finding(run: int, P: Array, claim: ClaimedRun, gap: float, limits: _Limits) -> RunCheck:
    assert claim.encoder is not None
    right = recomputed(P, claim.encoder, claim.rho)
    found = RunCheck(run, claim.family, claim.parameter, CheckVerdict.NUMBERS, *right, claimed_bound=claim.lower_bound)
    if reason := _wrong(right, claim):
        return replace(found, verdict=CheckVerdict.REFUTED, reason=reason)
    if claim.lower_bound is None:
        if claim.status == "CERTIFIED":
            return replace(found, verdict=CheckVerdict.REFUTED, reason="it is called certified and has no bound")
        return found
    key = (*claim.rho, claim.lower_bound, None if claim.multipliers is None else claim.multipliers.tobytes())
    if key not in limits.known:
        limits.known[key] = _shown(P, claim, limits)
    shown = limits.known[key]
    if shown.searched is not None:
        searched = shown.searched
        found = replace(found, cells=searched.cells, left=searched.left, seconds=searched.seconds)
    found = replace(found, proven_bound=shown.bound, digits_checked=shown.digits_checked, posterior=shown.posterior)
    if not shown.verdict.good:
        return replace(found, verdict=shown.verdict, reason=shown.reason)
    if found.gap is not None and claim.status == "CERTIFIED" and found.gap > gap:
        reason = f"it is called certified, and its loss is {found.gap:.1e} nats above the bound, more than {gap:g}"
        return replace(found, verdict=CheckVerdict.REFUTED, reason=reason)
    return replace(found, verdict=CheckVerdict.VERIFIED)


def _wrong(right: Recomputed, claim: ClaimedRun) -> str:
    """Which number of a run is not what its encoder has; "" if all are right."""
    off = SAME * (1.0 + max(map(abs, claim.rho)))
    if claim.plane is not None:
        for name, theirs, ours in zip(
            ("loss", "I(X;Z)", "I(Y;Z)"), claim.plane, (right.loss, right.ixz, right.iyz), strict=True
        ):
            if not abs(theirs - ours) <= off:
                return f"the file's {name} is {theirs:.12g} nats, that of its encoder {ours:.12g}"
    if claim.lower_bound is not None and claim.lower_bound > right.loss + off:
        return f"the loss of its own encoder, {right.loss:.12g} nats, is below the bound {claim.lower_bound:.12g}"
    return ""


def _shown(P: Array, claim: ClaimedRun, limits: _Limits) -> _Shown:
    """Whether the claimed bound holds."""
    if claim.family == CONSTRAINED:
        return _Shown(CheckVerdict.UNCHECKED, "its bound holds under I(Y;Z) = 0, which this checker knows nothing of")
    rho_z, rho_zx, rho_zy = rho = _balanced(claim.rho)
    if sum(rho) < -BALANCED * max(map(abs, rho)) or not (rho_zx < 0.0 < rho_zy or rho_zx > 0.0 >= rho_zy):
        rho_z, rho_zx, rho_zy = claim.rho
        reason = f"a bound for rho = ({rho_z:g}, {rho_zx:g}, {rho_zy:g}) has no posterior form that could prove it"
        return _Shown(CheckVerdict.UNCHECKED, reason)
    return _Bound(P, claim, rho).shown(limits)


def _balanced(rho: tuple[float, float, float]) -> tuple[float, float, float]:
    """Coefficients that add up to 0: if the sum S is above 0, L >= L - S H(Z|X), so that a bound of that is a bound of L."""
    if sum(rho) <= BALANCED * max(map(abs, rho)):
        return rho
    return rho[0], -rho[0] - rho[2], rho[2]


class _Bound:
    """One claimed bound, on the letters of positive mass."""

    def __init__(self, P: Array, claim: ClaimedRun, rho: tuple[float, float, float]) -> None:
        self.x = P.sum(axis=1) > 0.0
        self.P = P[self.x][:, P.sum(axis=0) > 0.0]
        self.claim = claim
        _, self.rho_zx, self.rho_zy = rho
        self.is_bottleneck = self.rho_zx < 0.0
        self.scale = self.rho_zy if self.is_bottleneck else self.rho_zx
        self.parameter = (-self.rho_zx if self.is_bottleneck else -self.rho_zy) / self.scale
        # |sum of rho| H(Z), which rounding may leave, with |Z| <= |X|.
        self.imbalance = abs(sum(rho)) * math.log(max(len(self.P), 2))

    def shown(self, limits: _Limits) -> _Shown:
        """Without a search, with the file's multipliers, or with those of its encoder."""
        claimed = self.claim.lower_bound
        assert claimed is not None
        simple = contraction(self.P, self.parameter) if self.is_bottleneck else at_most_all(self.P, self.parameter)
        simple = self.scale * simple - self.imbalance
        if simple >= claimed:
            return _Shown(CheckVerdict.VERIFIED, bound=claimed)
        assert self.claim.encoder is not None
        W = self.claim.encoder[:, self.x]
        firm = self.claim.multipliers is not None
        if self.claim.multipliers is not None:
            lam = self.claim.multipliers[self.x] / self.scale
        else:
            own = bottleneck_multipliers if self.is_bottleneck else funnel_multipliers
            lam = own(self.P, W, self.parameter)
        value, rounding = self._value(lam)
        target = (claimed + self.imbalance) / self.scale - value + rounding
        searched = self._searched(lam, target, W, limits, firm)
        if firm and searched.lowest < target - searched.rounding - 2.0 * rounding:
            posterior = np.zeros(len(self.x))
            posterior[self.x] = searched.posterior
            reason = (
                f"the bound needs f(q) - lambda.q >= {self.scale * target:.6e} for every q; at one q it is "
                f"{self.scale * searched.lowest:.6e}"
            )
            return _Shown(CheckVerdict.REFUTED, reason, simple, searched, posterior=posterior)
        checked, failed = self._digits(lam, searched, target)
        if failed:
            reason = f"{failed} of {checked} cells do not have their bounds when computed with 50 digits"
            return _Shown(CheckVerdict.PROVEN_TO, reason, simple, searched, checked)
        if searched.proven >= target:
            return _Shown(CheckVerdict.VERIFIED, "", claimed, searched, checked)
        bound = max(self.scale * (value - rounding + searched.proven) - self.imbalance, simple)
        how = (
            f"{searched.left:,} cells were open at the limit" if searched.left else "with the encoder's own multipliers"
        )
        return _Shown(CheckVerdict.PROVEN_TO, how, bound, searched, checked)

    def _value(self, lam: Array) -> tuple[float, float]:
        """-rho_zx H(X) - rho_zy H(Y) + lambda.p_x, in units of the scale, and what rounding may have done to it."""
        p_x, p_y = self.P.sum(axis=1), self.P.sum(axis=0)
        parts = (-self.rho_zx / self.scale * entropy(p_x), -self.rho_zy / self.scale * entropy(p_y))
        products = (lam * p_x).tolist()
        of_entropies = (sum(self.P.shape) + 24.0) * (sum(map(abs, parts)) + 1.0 + self.parameter)
        of_products = (self.P.shape[1] + 16.0) * math.fsum(map(abs, products))
        return math.fsum([*parts, *products]), 4.0 * UNIT * (of_entropies + of_products)

    def _searched(self, lam: Array, target: float, W: Array, limits: _Limits, firm: bool) -> Searched:
        p_x = self.P.sum(axis=1)
        T = self.P / p_x[:, None]
        mass = W * p_x
        mass = mass[mass.sum(axis=1) > 0.0]
        seeds = np.vstack([np.eye(len(p_x)), p_x / p_x.sum(), mass / mass.sum(axis=1, keepdims=True)])
        boxes = (BottleneckBoxes if self.is_bottleneck else FunnelBoxes)(T, lam, self.parameter)
        return search(boxes, target, seeds, max_cells=limits.max_cells, max_seconds=limits.max_seconds, firm=firm)

    def _digits(self, lam: Array, searched: Searched, target: float) -> tuple[int, int]:
        """How many closed cells were computed with many digits, and how many of them are not closed then."""
        again = bottleneck_bound if self.is_bottleneck else funnel_bound
        floor = Decimal(min(target, searched.proven))
        exact = [again(self.P, lam, self.parameter, cell) for cell in searched.closed]
        return len(exact), sum(one < floor for one in exact)

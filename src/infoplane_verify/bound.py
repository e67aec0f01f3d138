"""Does a claimed bound hold for every encoder?

With p(z) and posteriors q_z = p(x|z), sum_z p(z) q_z = p_x, and if rho_z + rho_zx + rho_zy = 0

    L(W) = -rho_zx H(X) - rho_zy H(Y) + sum_z p(z) f(q_z),    f(q) = rho_zx H(q) + rho_zy H(Tq).

So for any lambda every encoder has L >= -rho_zx H(X) - rho_zy H(Y) + lambda.p_x + min_q (f(q) - lambda.q). A file has lambda and the bound;
what is left to prove is that the minimum is no less than what the bound needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from .bottleneck import BottleneckBoxes
from .bounds import at_most_all, bottleneck_multipliers, contraction, funnel_multipliers
from .claims import ClaimedRun
from .exact import Form
from .exact import bound as exact_bound
from .families import CONSTRAINED, Rho
from .funnel import FunnelBoxes
from .numbers import UNIT, Array, Which, above, at_most, entropy
from .search import Relaxation, Searched, search
from .tasks import TaskBoxes

BALANCED = 1e-14
"""rho_z + rho_zx + rho_zy, relative to the largest, that counts as 0; what it can do to a loss is part of the bound."""


@dataclass(frozen=True)
class Limits:
    """How long to try, for each bound."""

    max_cells: int
    max_seconds: float


@dataclass(frozen=True)
class Proof:
    """What a bound came to; the verdict is the name of a `CheckVerdict`."""

    verdict: str
    reason: str = ""
    bound: float | None = None
    """What was proven."""
    searched: Searched | None = None
    digits_checked: int = 0
    posterior: Array | None = None

    @property
    def holds(self) -> bool:
        """Whether the claimed bound was proven."""
        return self.verdict == "VERIFIED"


def least_is(
    boxes: Relaxation,
    form: Form,
    target: float,
    rounding: float,
    seeds: Array,
    x: Which,
    limits: Limits,
    firm: bool = True,
    scale: float = 1.0,
) -> Proof:
    """Is f(q) - lambda.q >= target for every q? A proof whose bound is how high the least was shown to be; ``rounding`` is the target's,
    x which of all letters these are.

    Unless ``firm``, a lower least is looked for if that is too high, and it is never called refuted.
    """
    searched = search(boxes, target, seeds, max_cells=limits.max_cells, max_seconds=limits.max_seconds, firm=firm)
    if firm and above(target - searched.rounding - 2.0 * rounding, searched.lowest):
        reason = (
            f"the bound needs f(q) - lambda.q >= {scale * target:.6e} for every q that is allowed; at one q it is "
            f"{scale * searched.lowest:.6e}"
        )
        posterior = np.zeros(len(x))
        posterior[x] = searched.posterior
        return Proof("REFUTED", reason, -math.inf, searched, posterior=posterior)
    again = [exact_bound(form, cell) for cell in searched.closed]
    found = Proof("PROVEN_TO", "", searched.proven, searched, len(again))
    if failed := sum(not one >= Decimal(searched.proven) for one in again):
        reason = f"{failed} of {len(again)} cells do not have their bounds when computed with 50 digits"
        return replace(found, reason=reason, bound=-math.inf)
    if searched.left or not at_most(target, searched.proven):
        still = f"{searched.left:,} cells were open at the limit"
        return replace(found, reason=still if searched.left or firm else "with the encoder's own multipliers")
    return replace(found, verdict="VERIFIED")


def prove(P: Array, claim: ClaimedRun, limits: Limits) -> Proof:
    """Whether the claimed bound holds: without a search, with the file's multipliers, or with those of its encoder."""
    if claim.kept is not None:
        return _TaskClaim(P, claim).proof(limits)
    if claim.family == CONSTRAINED:
        return Proof("UNCHECKED", "its bound holds under I(Y;Z) = 0, which this checker knows nothing of")
    rho_z, rho_zx, rho_zy = rho = _balanced(claim.rho)
    if sum(rho) < -BALANCED * max(map(abs, rho)) or not (rho_zx < 0.0 < rho_zy or rho_zx > 0.0 >= rho_zy):
        rho_z, rho_zx, rho_zy = claim.rho
        reason = f"a bound for rho = ({rho_z:g}, {rho_zx:g}, {rho_zy:g}) has no posterior form that could prove it"
        return Proof("UNCHECKED", reason)
    return _Claim(P, claim, rho).proof(limits)


def _balanced(rho: Rho) -> Rho:
    """Coefficients that add up to 0: if the sum S is above 0, L >= L - S H(Z|X), so that a bound of that is a bound of L."""
    if sum(rho) <= BALANCED * max(map(abs, rho)):
        return rho
    return rho[0], -rho[0] - rho[2], rho[2]


class _Claim:
    """One claimed bound, on the letters of positive mass; divided by ``scale``, that of a bottleneck or a funnel with ``parameter``."""

    def __init__(self, P: Array, claim: ClaimedRun, rho: Rho) -> None:
        assert claim.lower_bound is not None
        self.bound = claim.lower_bound
        self.x = P.sum(axis=1) > 0.0
        self.P = P[self.x][:, P.sum(axis=0) > 0.0]
        self.W = None if claim.encoder is None else claim.encoder[:, self.x]
        self.multipliers = claim.multipliers
        _, self.rho_zx, self.rho_zy = rho
        self.is_bottleneck = self.rho_zx < 0.0
        self.scale = self.rho_zy if self.is_bottleneck else self.rho_zx
        self.parameter = (-self.rho_zx if self.is_bottleneck else -self.rho_zy) / self.scale
        # |sum of rho| H(Z), which rounding may leave, with |Z| <= |X|.
        self.imbalance = abs(sum(rho)) * math.log(max(len(self.P), 2))

    def proof(self, limits: Limits) -> Proof:
        """The proof, or how far it came."""
        simple = self._simple()
        simple = self.scale * simple * (1.0 + math.copysign(4.0 * UNIT, -simple)) - self.imbalance
        if at_most(self.bound, simple):
            return Proof("VERIFIED", bound=self.bound)
        lam = self._multipliers()
        if lam is None:
            return Proof(
                "UNCHECKED", "there are neither multipliers nor an encoder that its bound could be proven from"
            )
        if not np.isfinite(lam).all():
            return Proof("UNCHECKED", "the multipliers that its encoder implies are not finite")
        value, rounding = self._value(lam)
        target = (self.bound + self.imbalance) / self.scale - value + rounding
        firm = self.multipliers is not None
        found = least_is(
            self._boxes(lam), self._form(lam), target, rounding, self._seeds(), self.x, limits, firm, self.scale
        )
        if found.holds:
            return replace(found, bound=self.bound)
        reached = self.scale * (value - rounding + (found.bound or 0.0)) - self.imbalance
        return replace(found, bound=reached if above(reached, simple) else simple)

    def _simple(self) -> float:
        """A bound that needs no search."""
        return contraction(self.P, self.parameter) if self.is_bottleneck else at_most_all(self.P, self.parameter)

    def _multipliers(self) -> Array | None:
        """lambda on the letters of positive mass: the file's, else those that its encoder implies."""
        if self.multipliers is not None:
            lam: Array = self.multipliers[self.x] / self.scale
            return lam
        if self.W is None:
            return None
        own = bottleneck_multipliers if self.is_bottleneck else funnel_multipliers
        return own(self.P, self.W, self.parameter)

    def _value(self, lam: Array) -> tuple[float, float]:
        """-rho_zx H(X) - rho_zy H(Y) + lambda.p_x, in units of the scale, and what rounding may have done to it and to the bound.

        p(x, y) sums to 1 up to 16 units: the 24 and 16 have room for them.
        """
        p_x, p_y = self.P.sum(axis=1), self.P.sum(axis=0)
        parts = (-self.rho_zx / self.scale * entropy(p_x), -self.rho_zy / self.scale * entropy(p_y))
        products = (lam * p_x).tolist()
        of_entropies = (sum(self.P.shape) + 24.0) * (sum(map(abs, parts)) + 1.0 + self.parameter)
        of_products = (self.P.shape[1] + 24.0) * math.fsum(map(abs, products))
        of_bound = (abs(self.bound) + self.imbalance) / self.scale
        return math.fsum([*parts, *products]), 4.0 * UNIT * (of_entropies + of_products + of_bound)

    def _seeds(self) -> Array:
        """Where a low value may be: single letters, p_x and the encoder's posteriors."""
        p_x = self.P.sum(axis=1)
        seeds = [np.eye(len(p_x)), p_x[None] / p_x.sum()]
        if self.W is not None:
            mass = self.W * p_x
            mass = mass[mass.sum(axis=1) > 0.0]
            seeds.append(mass / mass.sum(axis=1, keepdims=True))
        return np.vstack(seeds)

    def _boxes(self, lam: Array) -> Relaxation:
        p_x = self.P.sum(axis=1)
        return (BottleneckBoxes if self.is_bottleneck else FunnelBoxes)(self.P / p_x[:, None], lam, self.parameter)

    def _form(self, lam: Array) -> Form:
        if self.is_bottleneck:
            return Form(self.P, np.ones((len(lam), 1)), lam, 1.0, 0.0, self.parameter)
        return Form(np.eye(len(lam)), self.P, lam, 1.0, self.parameter, 0.0)


class _TaskClaim(_Claim):
    """A bound of gamma I(X;Z) - keep I(U;Z) + hide I(S;Z) >= gamma H(X) - keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)."""

    def __init__(self, P: Array, claim: ClaimedRun) -> None:
        assert claim.lower_bound is not None
        assert claim.kept is not None
        self.bound, self.multipliers = claim.lower_bound, claim.multipliers
        self.gamma, self.keep, self.hide = -claim.rho[0], claim.rho[1], -claim.rho[2]
        self.scale, self.imbalance = 1.0, 0.0
        self.x = P.sum(axis=1) > 0.0
        self.P = P[self.x]
        self.W = None if claim.encoder is None else claim.encoder[:, self.x]
        self.U, self.S = (
            2.0 * part[:, part.sum(axis=0) > 0.0] for part in (self.P[:, claim.kept], self.P[:, ~claim.kept])
        )

    def _simple(self) -> float:
        """-keep I(U;X)."""
        U = self.U
        information = entropy(U.sum(axis=1)) + entropy(U.sum(axis=0)) - entropy(U)
        return -self.keep * float(max(information, 0.0) + 4.0 * (sum(U.shape) + 32.0) * UNIT * (1.0 + math.log(U.size)))

    def _multipliers(self) -> Array | None:
        return None if self.multipliers is None else self.multipliers[self.x]

    def _value(self, lam: Array) -> tuple[float, float]:
        p_x = self.P.sum(axis=1)
        each = [p_x, self.U.sum(axis=0), self.S.sum(axis=0)]
        weights = (self.gamma, -self.keep, self.hide)
        parts = [a * entropy(p) for a, p in zip(weights, each, strict=True)]
        products = (lam * p_x).tolist()
        # p(x) of the two is the same to 64 units: so are p(u), p(s) and the posteriors.
        off = (sum(map(len, each)) + 224.0) * (sum(map(abs, parts)) + sum(map(abs, weights)) * math.log(len(p_x) + 2.0))
        off += (self.P.shape[1] + 224.0) * math.fsum(map(abs, products)) + abs(self.bound)
        return math.fsum([*parts, *products]), 4.0 * UNIT * off

    def _boxes(self, lam: Array) -> Relaxation:
        T_u, T_s = (part / part.sum(axis=1, keepdims=True) for part in (self.U, self.S))
        return TaskBoxes(T_u, T_s, lam, self.keep, self.hide, self.gamma)

    def _form(self, lam: Array) -> Form:
        return Form(self.U, self.S, lam, self.keep, self.hide, self.gamma)

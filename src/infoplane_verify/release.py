"""Is a release what it claims: caps kept, utility right, and no release within the caps better than its bound?

A release p(z|x) of X hides S. Its caps: I(S;Z) <= r; L_s <= p(s|z) <= U_s for every z (L = e^-eps p_s or 0, U = e^eps p_s of the values
that are capped); p(z) n >= N. For any lambda and beta >= 0 every release within them has

    I(X;Z) <= H(X) - lambda.p_x - beta (H(S) - r) - min over Q of g(q),    g(q) = H(q) - beta H(Tq) - lambda.q,

Q = {q : L <= Tq <= U, q <= most}, most = p_x n / N (1 without a smallest group): p(x|z) of every z is in Q, and they mix to p_x. So the
file's bound is right if g >= m on Q, m = H(X) - lambda.p_x - beta (H(S) - r) - bound. Boxes l <= q <= b prove it: with lines a_x + s_x t
below h(t) = -t log t, a distribution v, numbers nu, tau and any y in R^S, d_x = s_x - lambda_x + sum_s T_sx (beta log v_s - y_s) - nu and
m_x = min(d_x l_x, d_x b_x), every q of Q in the box has exactly

    g(q) = B + sum_x e_x(q_x) + beta KL(Tq || v) + (y.Tq - Psi),    B = nu + sum_x (a_x + m_x) + Psi,

Psi = -tau + sum_s min((y_s + tau) L_s, (y_s + tau) U_s) <= y.Tq, as sum_s (Tq)_s = 1: every term after B is at least 0. Of q with the same
Tq one on at most |S| letters is least, as the rest of g is concave (not if a smallest group caps q). A linear programme over the box
proposes y and nu (`programme`); whatever it proposes, B is computed by this formula. Where a target U is kept, what is largest is I(U;Z),
with H(U) for H(X) and H(T_u q) for H(q), and boxes are those of T_u q (`kept.py`). A cap r = 0 is L = U = p_s.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .archive import NumberArchive
from .bound import Limits, Proof, least_is
from .claims import (
    SAME_MASS,
    check_distributions,
    check_same_mass,
    description,
    finite,
    length,
    need,
    read_with,
    table_of,
)
from .exact import Form
from .funnel import Bound, FunnelBoxes
from .kept import KeptBoxes
from .line import below
from .numbers import UNIT, Array, Recomputed, at_most, entropy, h, recomputed, rounding
from .programme import LATE, proposals
from .search import Cells, Multipliers

KIND = "release"
"""What the description of such a file says that it is."""

SLACK = 1e-9
"""What p(s|z) may exceed its cap by, relatively: a share of a cap that no rounding of sums over x reaches."""


class Caps(NamedTuple):
    """What a release promises."""

    leakage: float | None
    """r, nats."""
    L: Array
    U: Array
    smallest: float
    """The least p(z)."""


class ClaimedRelease(NamedTuple):
    """What a file says."""

    S: Array
    """p(x, s)."""
    U: Array | None
    """p(x, u), if that target is kept, and not X."""
    W: Array
    caps: Caps
    lam: Array
    beta: float
    utility: float
    leakage: float
    bound: float
    certified: bool


def read_release(path: str | os.PathLike[str]) -> ClaimedRelease | None:
    """The claims of a file of a release, None if it is one of another kind; an `UnreadableAnswerError` unless it makes sense."""
    return read_with(path, _read_if_release)


def _read_if_release(archive: NumberArchive) -> ClaimedRelease | None:
    meta = description(archive)
    return _read(archive, meta) if meta.get("kind") == KIND else None


def _read(archive: NumberArchive, meta: dict[str, Any]) -> ClaimedRelease:
    P = table_of(archive, meta)
    told, S = None, P
    if (columns := meta.get("kept")) is not None:
        need(type(columns) is int and 0 < columns < P.shape[1], f"the columns that it keeps are {str(columns)[:40]}")
        kept = np.arange(P.shape[1]) < columns
        check_same_mass(P, kept)
        told, S = 2.0 * P[:, kept], 2.0 * P[:, ~kept]
    x, s = S.shape
    W = finite(archive, "encoder", (length(archive, "encoder"), x))
    check_distributions(W, "its encoder")
    lam = finite(archive, "multipliers", (x,))
    beta, utility, leakage, bound = finite(archive, "numbers", (4,)).tolist()
    need(beta >= 0.0, f"its beta is {beta}, expected 0 or more")
    said = meta.get("caps")
    need(isinstance(said, dict), "it has no caps")
    said = dict(said or {})
    need(
        sorted(said) == ["capped", "max_leakage", "max_lift", "min_group", "records", "two_sided"],
        "its caps are not those of a release",
    )
    for name in ("max_leakage", "max_lift", "min_group", "records"):
        value = said[name]
        need(
            value is None or (type(value) in (int, float) and 0.0 <= value <= 1e15), f"its {name} is {str(value)[:40]}"
        )
    capped = said["capped"]
    need(
        isinstance(capped, list)
        and len(capped) == s
        and all(type(one) is bool for one in capped)
        and type(said["two_sided"]) is bool,
        "its capped values are not one for each value of the secret",
    )
    need(type(meta.get("certified")) is bool, "it does not say whether it is certified")
    r, eps, group, records = (said[name] for name in ("max_leakage", "max_lift", "min_group", "records"))
    need(r is not None or eps is not None or group is not None, "it has no cap")
    need(
        group is None or (records is not None and 0.0 < group <= records),
        "its smallest group is of no number of records",
    )
    need(r is not None or beta == 0.0, "it has a beta, and no cap on the average")
    if r == 0:
        eps, capped, said["two_sided"] = 0.0, [True] * s, True
    p_s, chosen = S.sum(axis=0), np.array(capped) & (eps is not None)
    L = np.where(chosen, math.exp(-min(eps or 0.0, 700.0)) * p_s, 0.0) if said["two_sided"] else np.zeros(s)
    U = np.where(chosen, np.minimum(math.exp(min(eps or 0.0, 700.0)) * p_s, 1.0), 1.0)
    caps = Caps(None if r is None else float(r), L, U, 0.0 if group is None else group / records)
    return ClaimedRelease(S, told, W, caps, lam, beta, utility, leakage, bound, meta["certified"])


def check_release(claim: ClaimedRelease, gap: float, limits: Limits) -> tuple[Recomputed, Proof]:
    """Its numbers, with -I(X;Z), or -I(U;Z), as the loss, and what became of its claims: caps, bound, how near the one is to the other."""
    ixz, isz, *_ = recomputed(claim.S, claim.W, (-1.0, 1.0, 0.0))
    iuz = math.nan if claim.U is None else recomputed(claim.U, claim.W, (0.0, 0.0, 1.0)).iyz
    utility = ixz if claim.U is None else iuz
    right = Recomputed(ixz, isz, -utility, iuz, isz)
    size = claim.S.shape[1] + (0 if claim.U is None else claim.U.shape[1])
    off = rounding(claim.S.shape[0], size, len(claim.W))
    if reason := _wrong(claim, utility, isz, off):
        return right, Proof("REFUTED", reason)
    proof = _proven(claim, limits)
    if proof.holds and claim.certified and not at_most(claim.bound - utility, gap + off):
        reason = f"it is called certified, and is {claim.bound - utility:.1e} nats below its bound, more than {gap:g}"
        proof = replace(proof, verdict="REFUTED", reason=reason)
    return right, proof


def _wrong(claim: ClaimedRelease, utility: float, isz: float, off: float) -> str:
    """What is not as the file says, or not within its caps; "" if all is."""
    caps, kept = claim.caps, "I(X;Z)" if claim.U is None else "I(U;Z)"
    for name, theirs, ours in ((kept, claim.utility, utility), ("I(S;Z)", claim.leakage, isz)):
        if not at_most(abs(theirs - ours), off):
            return f"the file's {name} is {theirs:.12g} nats, that of its encoder {ours:.12g}"
    if caps.leakage is not None and not at_most(isz, caps.leakage + off):
        return f"I(S;Z) is {isz:.12g} nats, above its cap {caps.leakage:.12g}"
    J = claim.W @ claim.S
    p_z = J.sum(axis=1)
    J, p_z = J[p_z > 0.0], p_z[p_z > 0.0]
    u = J / p_z[:, None]
    if not (at_most(u, caps.U * (1.0 + SLACK)) & at_most(caps.L * (1.0 - SLACK), u)).all():
        z, s = np.argwhere(~(at_most(u, caps.U * (1.0 + SLACK)) & at_most(caps.L * (1.0 - SLACK), u)))[0]
        return f"p(s|z) of released value {z} and secret {s} is {u[z, s]:.9g}, expected from {caps.L[s]:.9g} to {caps.U[s]:.9g}"
    if not at_most(caps.smallest * (1.0 - SLACK), p_z).all():
        return f"the rarest released value has a share of {p_z.min():.9g}, expected {caps.smallest:.9g} at least"
    if not at_most(utility, claim.bound + off):
        return f"its own {kept}, {utility:.12g} nats, is above the bound {claim.bound:.12g}"
    return ""


def _proven(claim: ClaimedRelease, limits: Limits) -> Proof:
    """Whether the bound holds: without a search, or from the multipliers; as a bound of the loss."""
    caps = claim.caps
    on, seen = claim.S.sum(axis=1) > 0.0, claim.S.sum(axis=0) > 0.0
    S, lam = claim.S[on][:, seen], claim.lam[on]
    U = None if claim.U is None else claim.U[on][:, claim.U.sum(axis=0) > 0.0]
    p_x, p_s = S.sum(axis=1), S.sum(axis=0)
    kept = p_x if U is None else U.sum(axis=0)
    h_kept, h_s = entropy(kept), entropy(p_s)
    # p(x) of two targets is the same to SAME_MASS units: so are p(u), p(s) and the posteriors.
    units = sum(S.shape) + 32.0 + (0.0 if U is None else len(kept) + 4.0 * SAME_MASS)
    of_entropies = 2.0 + h_kept + h_s + math.log(len(p_x) + 2.0)
    little = 4.0 * units * UNIT * of_entropies  # whatever the multipliers: what it allows for, it gives away
    off = 4.0 * units * UNIT * ((1.0 + claim.beta) * of_entropies + math.fsum(np.abs(lam) * p_x))
    wider = 8.0 * (units + 8.0) * UNIT
    L, most_s = caps.L[seen] * (1.0 - wider), np.minimum(caps.U[seen] * (1.0 + wider), 1.0 + wider)
    simple = _simple(S, U, caps.leakage, L, most_s) + little
    if caps.smallest > 0.0:  # I(X;Z) <= log |Z|, and there are at most 1 / least p(z) released values
        simple = min(simple, math.log(math.floor((1.0 + 2.0 * SLACK) / caps.smallest)) + little)
    if at_most(simple, claim.bound + 2.0 * little):
        return Proof("VERIFIED", bound=-claim.bound)
    average = -claim.beta * (h_s - (caps.leakage or 0.0)) if claim.beta else 0.0
    value = math.fsum([h_kept, *(-lam * p_x).tolist(), average])
    target = value - claim.bound + off
    most = np.minimum(p_x / caps.smallest * (1.0 + wider), 1.0) if caps.smallest > 0.0 else np.ones(len(p_x))
    T = S / p_x[:, None]
    terms = (T, lam, claim.beta, L, most_s, most)
    boxes = ReleaseBoxes(*terms) if U is None else KeptBoxes(U / U.sum(axis=1, keepdims=True), *terms)
    mass = claim.W[:, on] * p_x
    mass = np.vstack([p_x[None], mass[mass.sum(axis=1) > 0.0]])
    form = Form(np.eye(len(p_x)) if U is None else U, S, lam, 1.0, claim.beta, 0.0, L, most_s, most)
    found = least_is(boxes, form, target, off, mass / mass.sum(axis=1, keepdims=True), on, limits)
    reached = value - (found.bound or 0.0) + off
    return replace(found, bound=-claim.bound if found.holds else -min(simple, reached))


def _simple(S: Array, U: Array | None, leakage: float | None, L: Array, most: Array) -> float:
    """A bound that needs no search: I(U;X); or H(X), and H(X|S) + what may be told of S."""
    if U is not None:
        return entropy(U.sum(axis=1)) + entropy(U.sum(axis=0)) - entropy(U)
    p_s = S.sum(axis=0)
    known = [math.inf if leakage is None else leakage]
    # sum_s p(s|z) log p(s|z)/p(s) <= log max_s U_s/p_s = eps, and <= eps tanh(eps/2) if every value is capped on both sides.
    eps = float(np.log((most / p_s).max()))
    known.append(eps)
    if (L > 0.0).all():
        both = max(eps, -float(np.log((L / p_s).min())))
        known.append(both * math.tanh(both / 2.0))
    return min(entropy(S.sum(axis=1)), entropy(S) - entropy(p_s) + min(known))


class ReleaseBoxes(FunnelBoxes):
    """The boxes of one lambda within caps; T has a row per letter x."""

    def __init__(self, T: Array, lam: Array, beta: float, L: Array, U: Array, upper: Array) -> None:
        super().__init__(T, lam, beta)
        self.L, self.U, self.upper = L, U, upper
        self.most = min(T.shape) if (upper >= 1.0).all() else len(T)
        self.batch = 16

    def root(self) -> Cells:
        """All posteriors that a smallest group leaves."""
        n = self.letters
        return Cells(np.zeros((1, n)), self.upper[None].copy(), np.full((1, n), 1.0 / n))

    def values(self, Q: Array) -> tuple[Array, float]:
        """g(q) of those rows that are within the caps, infinite for the others."""
        found, off = super().values(Q)
        u = Q @ self.T
        inside = ((u >= self.L) & (u <= self.U)).all(axis=1) & (self.upper >= Q).all(axis=1)
        return np.where(inside, found, np.inf), off

    def descended(self, Q: Array) -> Array:
        """A step of a local search would leave the caps."""
        return Q

    def _by(self, bound: Bound) -> Multipliers:
        v, y, tau = np.split(bound.v, [self.outcomes, 2 * self.outcomes])
        return Multipliers(bound.slope, -bound.d, np.ones(self.letters), np.log(v), y + tau)

    def bounded(self, cells: Cells) -> tuple[Cells, Bound]:
        """The cells with the posteriors of their programmes, and what those prove."""
        found = [self._one(cells.low[i], cells.high[i]) for i in range(len(cells.low))]
        bound = Bound(*(np.array([one[1][place] for one in found]) for place in range(8)))
        return cells._replace(hint=np.array([one[0] for one in found])), bound

    def _one(self, low: Array, high: Array) -> tuple[Array, Bound]:
        """The best of a few programmes of one box; v and y stand side by side in the bound's v, and tau is the last of it."""
        slope, offset = below(low, high)
        best: Any = None
        where, late = low, 0
        for v, y, q in proposals(self.T, self.T, slope - self.lam, self.beta, low, high, self.L, self.U):
            made, late = self._bound(low, high, slope, offset, v, y), late + 1
            if best is None or made.safe > best.safe + 1e-12:
                best, where, late = made, q, 0
            if late > LATE:
                break
        return np.clip(where, low, high), best

    def _bound(self, low: Array, high: Array, slope: Array, offset: Array, v: Array, y: Array) -> Bound:
        """B of the formula, and what rounding may have done to it."""
        m = len(v)
        tilt = self.beta * np.log(v) - y
        c = slope - self.lam + self.T @ tilt
        nu = float(self._multiplier(Cells(low[None], high[None], low[None]), c[None])[0])
        # The tau that fills the cheapest of y_s + tau up to sum u = 1.
        order = np.argsort(y)
        filled = np.cumsum((self.U - self.L)[order])
        tau = -float(y[order[min(int((filled < 1.0 - self.L.sum()).sum()), m - 1)]])
        psi = -tau + float(np.minimum((y + tau) * self.L, (y + tau) * self.U).sum())
        d = c - nu
        least = np.minimum(d * low, d * high)
        terms = np.abs(slope[high > 0.0]).max(initial=0.0) + np.abs(self.lam).max() + np.abs(tilt).max() + abs(nu)
        sums = (
            float((np.abs(least) + h(low) + h(high) + 2.0 * np.abs(slope) * high).sum())
            + abs(nu)
            + 4.0 * (abs(tau) + np.abs(y).sum())
        )
        margin = 4.0 * UNIT * ((2.0 * m + 40.0) * terms + (self.letters + m + 40.0) * sums)
        B = nu + float((offset + least).sum()) + psi
        return Bound(
            np.asarray(B - margin),
            np.asarray(margin),
            slope,
            offset,
            d,
            least,
            np.concatenate([v, y, [tau]]),
            np.asarray(nu),
        )

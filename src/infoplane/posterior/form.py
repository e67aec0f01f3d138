"""The posterior form: with p(z) and q_z = p(x|z), sum_z p(z) q_z = p_x, a Lagrangian whose rho sum to 0 is a mean of one function,

    bottleneck  rho_zy (gamma H(X) - H(Y) + sum_z p(z) f(q_z)),    f(q) = H(Tq) - gamma H(q),
    funnel      scale (beta H(Y) - H(X) + sum_z p(z) f(q_z)),      f(q) = H(q) - beta H(Tq),

so that its minimum is a constant plus the lower convex envelope of f at p_x, and any multipliers lambda with f(q) - lambda.q >= m for all q
prove min sum_z p(z) f(q_z) >= lambda.p_x + m.

Letters of X with the same p(y|x) are one letter to the bottleneck. Let c(x) be the class of x, classes being letters with equal columns of
T, and lambda'_c multipliers of the joint of (c(X), Y). Then

    lambda_x = lambda'_c(x) + gamma log(p(x) / p(c(x)))

are multipliers of (X, Y) with gamma H(X) + lambda.p_x = gamma H(c(X)) + lambda'.p_c and the same minimum of f(q) - lambda.q, because both
enter it through sum_{x in c} exp(lambda_x / gamma) = exp(lambda'_c / gamma). Tables of counts have many such letters: those seen once.

The bottleneck is convex in the mixture of its decoders.

    min_W gamma I(X;Z) - I(Y;Z) + H(Y) = min_mu J(mu),    J(mu) = -gamma sum_x p(x) log m(x),    m(x) = int k(x, u) mu(du),
    k(x, u) = exp(sum_y p(y|x) log u(y) / gamma),

over all probability measures mu on the Y-simplex: for decoders u_z(y) with weights p(z) the best encoder is p(z) k(x, u_z) / m(x).
J is convex, and its slope from mu towards a point mass at u is gamma (1 - D(u)), D(u) = sum_x p(x) k(x, u) / m(x). So mu is optimal
if and only if D <= 1 everywhere, and J(mu) - gamma log max D <= min J in any case. That is the geometry of mixture likelihoods
(Lindsay 1983), and what follows is the constrained Newton method for them (Wang 2007): balance the weights, climb to the peaks of D, add
those above 1, and again. Peaks that a climb misses are left to branch and bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import UnsupportedProblemError
from ..information import Array, IntArray, entr, log_or_zero
from ..joint.joint import Joint, Support
from ..kernels.bottleneck_proof import envelope as kernel
from ..kernels.bottleneck_proof.cell_bound import Dual
from ..kernels.common import TINY, UNIT
from ..problem import MarkovLagrangian, is_bottleneck, is_funnel
from ..runtime.budget import Budget

MOST_SUBSETS, MOST_PAIRS = 1 << 12, 1 << 22
"""Subsets of Y, and pairs of letters x, that Dobrushin's coefficient is looked for among: milliseconds."""


def bottleneck_refusal(problem: MarkovLagrangian) -> str | None:
    """Why no posterior form bounds a problem from below, or None."""
    if is_bottleneck(problem):
        return None
    rho_z, rho_zx, rho_zy = problem.rho
    return (
        "the bottleneck's certificate needs rho_zx < 0 < rho_zy and rho_z + rho_zx + rho_zy = 0, any multiple of "
        f"gamma I(X;Z) - I(Y;Z); found rho = ({rho_z:g}, {rho_zx:g}, {rho_zy:g})."
    )


def gamma_of(problem: MarkovLagrangian) -> float:
    """Gamma of the problem as rho_zy (gamma I(X;Z) - I(Y;Z)); refuses any other."""
    if reason := bottleneck_refusal(problem):
        raise UnsupportedProblemError(reason)
    return -problem.rho_zx / problem.rho_zy


class Scaled(NamedTuple):
    """L = scale (beta I(Y;Z) - I(X;Z))."""

    scale: float
    beta: float


def funnel_refusal(problem: MarkovLagrangian) -> str | None:
    """Why a problem is no multiple of the privacy funnel, or None."""
    if is_funnel(problem):
        return None
    rho_z, rho_zx, rho_zy = problem.rho
    return (
        "columns solves the privacy funnel and its multiples, rho_zx > 0 >= rho_zy with rho_z + rho_zx + rho_zy = 0; found rho = "
        f"({rho_z:g}, {rho_zx:g}, {rho_zy:g})."
    )


def scaled(problem: MarkovLagrangian) -> Scaled:
    """A funnel's scale and beta."""
    if reason := funnel_refusal(problem):
        raise UnsupportedProblemError(reason)
    return Scaled(problem.rho_zx, max(-problem.rho_zy, 0.0) / problem.rho_zx)


def constant(support: Support, beta: float) -> float:
    """Beta H(Y) - H(X): what turns the programme's value into beta I(Y;Z) - I(X;Z)."""
    return beta * float(entr(support.p_y).sum()) - float(entr(support.p_x).sum())


def posteriors(support: Support, W: Array) -> Array:
    """q_z = p(x|z), one column per cluster of positive mass."""
    joint = (W * support.p_x).T
    return joint[:, joint.sum(axis=0) > 0.0]


def own_multipliers(support: Support, W: Array, beta: float) -> Array:
    """lambda_x = sum_z p(z|x) (beta sum_y T[y,x] log p(y|z) - log p(x|z)): an encoder's own multipliers.

    Moving a little mass to a new cluster with posterior q, taken from the others in proportion to p(z|x), changes the loss by
    f(q) - lambda.q a unit of mass. As lambda.p_x = sum p(z) f(q_z), an encoder is optimal exactly if no q makes this negative.
    """
    Q = posteriors(support, W)
    Q = Q / Q.sum(axis=0)
    u = support.T @ Q
    slope = beta * (support.T.T @ log_or_zero(u)) - log_or_zero(Q)
    lam: Array = (W[W.sum(axis=1) > 0.0].T * slope).sum(axis=1)
    return lam


def dobrushin(T: Array) -> float:
    """max_{x,x'} TV(T_x, T_x') = max_A (max_x T(A|x) - min_x T(A|x)); T[y, x] = p(y|x).

    By subsets A of Y, or by pairs of x, whichever is fewer; if both are too many, Doeblin's 1 - sum_y min_x p(y|x), which is no smaller.
    """
    n_y, n_x = T.shape
    if 2 ** min(n_y - 1, 60) <= min(MOST_SUBSETS, n_x * n_x):
        subsets = (np.arange(2 ** (n_y - 1))[:, None] >> np.arange(n_y - 1)) & 1
        mass = subsets.astype(float) @ T[: n_y - 1]
        return float((mass.max(axis=1) - mass.min(axis=1)).max())
    if n_x * n_x <= MOST_PAIRS:
        return max(0.5 * float(np.abs(T - T[:, x : x + 1]).sum(axis=0).max()) for x in range(n_x))
    return float(max(1.0 - T.min(axis=1).sum(), 0.0))


def imbalance(support: Support, problem: MarkovLagrangian) -> float:
    """|rho_z + rho_zx + rho_zy| log |X|: what a sum that rounding keeps from 0 can do to the loss of an encoder with |Z| <= |X|."""
    return abs(sum(problem.rho)) * math.log(max(len(support.p_x), 2))


SAME = 16.0 * UNIT
"""Relative difference of p(y|x) up to which columns are equal; counted in `slack`."""


class Letters:
    """The classes of a support's letters, and the joint of class and Y."""

    def __init__(self, support: Support) -> None:
        self.whole, self.support = support, support
        self.classes: IntArray | None = None
        columns = support.T.T
        _, first, classes = np.unique(np.round(columns, 12), axis=0, return_index=True, return_inverse=True)
        classes = classes.reshape(-1)
        alike = columns[first[classes]]
        alone = (np.abs(columns - alike) > SAME * alike).any(axis=1)
        classes = np.where(alone, len(first) + np.arange(len(classes)), classes)
        _, first, classes = np.unique(classes, return_index=True, return_inverse=True)
        if len(first) == len(columns):
            return
        self.classes = classes
        mass = np.bincount(classes, weights=support.p_x)
        self.support = Support(Joint.from_counts(mass[:, None] * columns[first]))

    def spread(self, lam: Array, gamma: float) -> Array:
        """Multipliers of the letters from those of their classes."""
        if self.classes is None:
            return lam
        mass = self.support.p_x[self.classes]
        return np.asarray(lam[self.classes] + gamma * np.log(self.whole.p_x / mass))

    def rounding(self, gamma: float) -> float:
        """What merging may do to a bound by rounding: of p(c), and of the logarithms."""
        if self.classes is None:
            return 0.0
        spread = float(np.log(self.support.p_x[self.classes] / self.whole.p_x).max())
        return 4.0 * UNIT * gamma * (len(self.classes) + 16.0 + 8.0 * spread)


class MixtureEffort(NamedTuple):
    """How long decoders climb, set by `benchmarks/bench_certificate.py`."""

    climb_work: int = 300_000_000
    """Entries of T, times starts and steps, that one climb may look at: some tenths of a second."""
    short: int = 20
    """Steps of a climb that only asks whether it gets below a claim: it need not arrive."""
    tall: int = 8
    """A least-squares problem with this many times more rows than columns is made square first."""
    same: float = 1e-7
    """Peaks closer than this are one."""
    cover: int = 64
    """Columns of T that climbs begin from: all of them, or as many that lie far apart."""


EFFORT = MixtureEffort()


@dataclass(frozen=True)
class Mixture:
    """A measure on the Y-simplex: weights p(z) at decoders u_z(y), a row each."""

    weights: Array
    decoders: Array

    @classmethod
    def of(cls, support: Support, encoder: Array) -> Mixture:
        """p(z) and p(y|z) of an encoder on the support; clusters without mass are left out."""
        p_zy = encoder @ support.P
        p_z = p_zy.sum(axis=1)
        seen = p_z > 0.0
        return cls(p_z[seen] / p_z[seen].sum(), p_zy[seen] / p_z[seen, None])

    def joined(self, decoders: Array) -> Mixture:
        """With more decoders, which share a hundredth of the weight."""
        share = 0.01 if len(decoders) else 0.0
        new = np.full(len(decoders), share / max(len(decoders), 1))
        return Mixture(np.concatenate([(1.0 - share) * self.weights, new]), np.vstack([self.decoders, decoders]))

    def encoder(self, support: Support, gamma: float) -> Array:
        """W[z, x] = p(z) k(x, u_z) / m(x)."""
        k, _ = likelihoods(support, gamma, self.decoders)
        W: Array = self.weights[:, None] * k
        W /= W.sum(axis=0)
        return W

    def multipliers(self, support: Support, gamma: float) -> Array:
        """lambda_x = gamma (log p(x) - log m(x)), so that lambda.p_x + gamma H(X) = J."""
        k, top = likelihoods(support, gamma, self.decoders)
        return gamma * (np.log(support.p_x) - top - np.log(self.weights @ k))


def likelihoods(support: Support, gamma: float, decoders: Array) -> tuple[Array, Array]:
    """k(x, u_z) exp(-top(x)) as (|Z|, |X|), and top(x), the largest log k(x, u_z)."""
    log_k = np.log(np.maximum(decoders, TINY)) @ support.T / gamma
    missing = decoders <= TINY
    if missing.any():  # k is 0 where a decoder rules out a y of x, however small p(y|x); unless every decoder does
        ruled_out = missing.astype(float) @ (support.T > 0.0) > 0.0
        log_k[ruled_out & ~ruled_out.all(axis=0)] = -np.inf
    top = log_k.max(axis=0)
    return np.exp(log_k - top), top


def balance(support: Support, gamma: float, mixture: Mixture, tol: float, budget: Budget | None = None) -> Mixture:
    """The best weights of the decoders at hand, to D <= 1 + tol on them, or until a budget is over; useless ones are dropped.

    Newton: the quadratic model of J is |A p' - 2 sqrt(p_x)|^2 + (sum p')^2 over p' >= 0 with A = sqrt(p_x) k / m, a non-negative
    least-squares problem.
    """
    from scipy.optimize import nnls  # slow to import

    p, decoders = mixture.weights, mixture.decoders
    k, _ = likelihoods(support, gamma, decoders)
    root = np.sqrt(support.p_x)
    for _ in range(100):
        m = p @ k
        with np.errstate(over="ignore", invalid="ignore"):  # letters of 5e-324
            D = k @ (support.p_x / m)
        if not np.isfinite(D).all():
            break
        if D.max() <= 1.0 + tol and float(np.abs((D - 1.0) * p).max()) <= tol:
            break
        if budget is not None and budget.over:
            break
        rows = np.vstack([(k * (root / m)).T, np.ones(len(p))])
        aim = np.append(2.0 * root, 0.0)
        if len(rows) > EFFORT.tall * (len(p) + 1):  # |A p - a| is |R p - r| and a constant for the triangle of (A, a)
            triangle = np.asarray(np.linalg.qr(np.column_stack([rows, aim]), mode="r"))
            rows, aim = triangle[:, :-1], triangle[:, -1]
        try:
            q, _ = nnls(rows, aim, maxiter=30 * len(p))
        except RuntimeError:  # it cycled: the step of expectation-maximisation always descends
            q = p * D
        step = q / q.sum() - p
        moved = _descend(support.p_x, k, p, step, float((1.0 - D) @ step))
        if moved is None:
            break
        p = moved
    seen = p > 0.0
    return Mixture(p[seen] / p[seen].sum(), decoders[seen])


def _descend(p_x: Array, k: Array, p: Array, step: Array, slope: float) -> Array | None:
    """The point p + t step, t halved until -sum p_x log m falls by a share of what its slope promises; None if it does not.

    No m may fall below a tenth at once: a rare letter weighs little in the model, and is slow to win back.
    """
    before = p @ k
    t = min(1.0, 0.9 / max(float((-(step @ k) / before).max()), 0.9))
    while t > 1e-9:
        q = np.maximum(p + t * step, 0.0)
        q /= q.sum()
        m = q @ k
        if (m > 0.0).all() and float(p_x @ np.log(m / before)) >= -1e-4 * t * slope > 0.0:
            return q
        t *= 0.5
    return None


def dual_of(support: Support, gamma: float, lam: Array) -> Dual:
    """Multipliers as the kernels take them."""
    return Dual(support.T, entr(support.T), np.ascontiguousarray(lam), gamma, float(np.abs(lam).max()))


def climb(support: Support, gamma: float, lam: Array, starts: Array, most: int = 200) -> tuple[Array, Array]:
    """Local peaks of D from each start, by at most so many steps, and gamma log D there, in nats."""
    peaks, heights = starts.copy(), np.zeros(len(starts))
    steps = max(min(most, EFFORT.climb_work // (len(starts) * support.T.size)), 5)
    kernel.climb(dual_of(support, gamma, lam), peaks, heights, steps)
    return peaks, heights


def posterior(support: Support, gamma: float, lam: Array, decoders: Array) -> Array:
    """p(x|z) that the multipliers and a decoder, or each row of many, imply: softmax of (lambda_x + sum_y p(y|x) log u(y)) / gamma."""
    score = (lam + np.log(np.maximum(decoders, TINY)) @ support.T) / gamma
    w = np.exp(score - score.max(axis=-1, keepdims=True))
    return np.asarray(w / w.sum(axis=-1, keepdims=True))


def lowest_posterior(support: Support, gamma: float, lam: Array, starts: Array) -> tuple[Array, float]:
    """The posterior q of least f(q) - lambda.q that climbs from decoders reach, and that value, summed as it is written."""
    q = posterior(support, gamma, lam, climb(support, gamma, lam, starts, EFFORT.short)[0])
    values = entr(q @ support.T.T).sum(axis=1) - gamma * entr(q).sum(axis=1) - q @ lam
    lowest = int(np.argmin(values))
    return q[lowest], float(values[lowest])


def cover(support: Support) -> Array:
    """p(y), and the columns of T, at most `EFFORT.cover` of them: greedily, each the farthest from those before it."""
    columns = np.vstack([support.p_y, support.T.T])
    chosen = [0]
    distance = np.abs(columns - columns[0]).sum(axis=1)
    while len(chosen) <= EFFORT.cover and distance.max() > 0.0:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.abs(columns - columns[chosen[-1]]).sum(axis=1))
    return columns[chosen]


def peaks_above(support: Support, gamma: float, lam: Array, starts: Array, floor: float) -> tuple[Array, float]:
    """The distinct peaks of D that climbs from the starts reach above `floor` nats, and the height of the highest peak met."""
    peaks, heights = climb(support, gamma, lam, starts)
    order = np.argsort(-heights, kind="stable")
    high = peaks[order[heights[order] > floor]]
    kept = np.empty_like(high)
    count = 0
    for peak in high:
        if (np.abs(kept[:count] - peak).max(axis=1) > EFFORT.same).all():
            kept[count] = peak
            count += 1
    return kept[:count], float(heights.max())

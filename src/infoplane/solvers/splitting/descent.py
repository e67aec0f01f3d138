"""The descent theorem: the augmented Lagrangian of a splitting falls in every iteration once c exceeds a threshold of one block alone.

Let the block that the dual variable follows (F in Solver I with A = I, G in Solver II with B = I) be L-smooth with curvature at least
sigma, and let the other block and its map be **arbitrary**, its step any point that does not raise L_c. With d the change of the first,

    L_c(k+1) - L_c(k)  <=  -kappa |d|^2,    kappa = c (2 - alpha) / (2 alpha) + sigma/2 - L^2 / (c alpha),

sigma > 0 for a strongly convex block and sigma = -omega for an omega-weakly convex one (if also c > omega). The same holds row by row for a
separable block and one penalty per row. Proof: docs/theory.md. `theorem_threshold` gives the smallest c with kappa > 0, for a
formulation or from constants of your own; beside it the thresholds of the paper's Theorems 1-3 for any pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...checks import number
from ...encoder.encoder import check_encoder
from ...errors import InvalidOptionError
from ...information import Array
from ...problem import MarkovLagrangian
from .formulations import choose
from .penalty import Threshold, theorem_1, theorem_2, theorem_3

if TYPE_CHECKING:
    from ...joint.joint import Joint


def descent(alpha: float, c: Array | float, sigma: Array | float, L: Array | float) -> Array:
    """kappa of the descent theorem, for every row at once: L_c falls by at least kappa d^2."""
    c, sigma, L = np.asarray(c, dtype=float), np.asarray(sigma, dtype=float), np.asarray(L, dtype=float)
    return np.asarray(c * (2.0 - alpha) / (2.0 * alpha) + 0.5 * sigma - L * L / (c * alpha))


def descent_threshold(alpha: float, *, sigma: float, L: float) -> float:
    """The smallest c with kappa > 0: the positive root of (2 - alpha) c^2 + alpha sigma c - 2 L^2; L^2 / sigma at alpha = 2.

    At alpha = 2 without strong convexity there is none, and the answer is infinity.
    """
    if not 0.0 < alpha <= 2.0:
        raise InvalidOptionError(f"the descent theorem covers 0 < alpha <= 2; found alpha = {alpha!r}.")
    if alpha == 2.0:
        return L * L / sigma if sigma > 0.0 else math.inf
    root = math.sqrt((alpha * sigma) ** 2 + 8.0 * (2.0 - alpha) * L * L)
    c = (root - alpha * sigma) / (2.0 * (2.0 - alpha))
    return max(c, -sigma)


def over_relaxed(alpha: float, *, sigma: float, L: float) -> tuple[float, float]:
    """The penalties between which L_c falls in every iteration, for 0 < alpha < 4: Theorem 4.1 of Themelis and Patrinos (2020).

    The followed block is L-smooth with curvature at least sigma. Below alpha = 2, c > max{L, -2 sigma/(2 - alpha)}; from 2 on the block
    must be strongly convex, alpha < 4/(1 + sqrt(1 - sigma/L)), and c lies between the roots of (alpha - 2) c^2 - alpha sigma c + 2 sigma L.
    Theirs is for Douglas-Rachford splitting, lambda = alpha and gamma = 1/c; docs/theory.md derives the same ranges for both recursions
    here, and says at which of their ends runs fail.
    """
    if not (L > 0.0 and -L <= sigma <= L):
        raise InvalidOptionError(f"sigma must lie in [-L, L] and L be positive; found sigma = {sigma!r}, L = {L!r}.")
    if alpha < 2.0:
        return max(L, -2.0 * sigma / (2.0 - alpha)), math.inf
    largest = 4.0 / (1.0 + math.sqrt(1.0 - sigma / L)) if sigma > 0.0 else 2.0
    if sigma <= 0.0 or alpha >= largest:
        raise InvalidOptionError(
            f"with sigma = {sigma:g} and L = {L:g} relaxations below {largest:g} are covered; found alpha = {alpha!r}."
        )
    if alpha == 2.0:
        return L, math.inf
    root = math.sqrt((alpha * sigma) ** 2 - 8.0 * (alpha - 2.0) * sigma * L)
    return (alpha * sigma - root) / (2.0 * (alpha - 2.0)), (alpha * sigma + root) / (2.0 * (alpha - 2.0))


def _over_relaxed_threshold(alpha: float, *, sigma: float, L: float) -> float:
    return over_relaxed(alpha, sigma=sigma, L=L)[0]


def curvatures(h: Array, before: Array, after: Array) -> tuple[Array, Array]:
    """(sigma, L) of every row: the extremes of the curvature of h_j H(v_j), which is -h_j/v, on the segment that the row moved.

    Where a row is concave, h > 0, which Solver II allows, sigma is minus the largest size of its curvature.
    """
    low, high = np.minimum(before, after), np.maximum(before, after)
    with np.errstate(divide="ignore", invalid="ignore"):
        L = np.where(h == 0.0, 0.0, np.abs(h) / low)
        sigma = np.where(h <= 0.0, np.abs(h) / high, -L)
    return sigma, L


_Constants = Callable[..., float]

THEOREMS: dict[str, tuple[str, _Constants]] = {
    "1": ("Theorem 1", theorem_1),
    "2": ("Theorem 2", theorem_2),
    "3": ("Theorem 3", theorem_3),
    "descent": ("the descent theorem", descent_threshold),
    "over-relaxed": ("Theorem 4.1 of Themelis and Patrinos (2020)", _over_relaxed_threshold),
}


def theorem_threshold(
    of: Joint | str,
    problem: MarkovLagrangian | None = None,
    encoder: Array | None = None,
    *,
    formulation: str = "auto",
    relaxation: float = 1.0,
    **constants: float,
) -> Threshold:
    """The smallest penalty c above which the augmented Lagrangian provably falls in every iteration: the descent theorem.

    Parameters
    ----------
    of
        A joint, followed by the problem and an encoder: the threshold of a formulation, with the curvatures at the masses of that encoder;
        valid as long as no mass of the followed block falls below its smallest. Or, for a pair of your own, the name of a theorem,
        followed by its constants: ``"descent"`` or, for alpha up to 4, ``"over-relaxed"`` (sigma, L); the paper's ``"1"`` (L_p, sigma_F,
        omega_G, mu_A), ``"2"`` (sigma_G, L_q, mu_B), ``"3"`` (sigma_G, L_q, M_q, lambda_B, mu_BB). docs/theory.md says what each assumes.
    problem, encoder, formulation
        What to solve, where, and how it is split.
    relaxation
        alpha.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> joint, W = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    >>> t = ip.theorem_threshold(joint, ip.funnel(4.0), W, formulation="pf-1")
    >>> t.theorem, round(t.c, 3), {name: round(value, 3) for name, value in t.constants.items()}
    ('the descent theorem', 7.338, {'sigma': 0.967, 'L': 5.52})
    >>> ip.theorem_threshold("2", sigma_G=1.0, L_q=1.0, relaxation=1.0).c
    2.0
    """
    alpha = number("relaxation", relaxation, lambda a: 0.0 < a < 4.0, "in (0, 4)")
    if isinstance(of, str):
        return _of_constants(of, alpha, constants)
    if constants:
        raise InvalidOptionError(
            f"{', '.join(constants)}: constants go with a theorem's name, as in theorem_threshold('2', sigma_G=1.0, L_q=1.0)."
        )
    if problem is None or encoder is None:
        raise InvalidOptionError("give a problem and an encoder after the joint.")
    split = choose(problem, formulation)
    if not split.descends:
        raise InvalidOptionError(
            f"the descent theorem does not cover {split.name}: its dual variable follows a block whose map is not the identity. "
            "penalty_threshold gives the paper's threshold for it."
        )
    seen_x, seen_y = of.support()
    P = (of.p_xy.toarray() if of.is_sparse else of.p_xy)[np.ix_(seen_x, seen_y)]
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    v = check_encoder(of, encoder)[:, seen_x] @ split.constraint(p_x, P / p_y)
    if v.min() <= 0.0:
        raise InvalidOptionError("a cluster of the encoder is empty; the theorem needs every mass to be positive.")
    h = split.share(problem, p_y).h
    smallest, one = v.min(axis=0), np.ones(len(h))
    sigma, L = curvatures(h, smallest, one)
    found = {"sigma": float(sigma.min()), "L": float(L.max())}
    return Threshold(descent_threshold(alpha, **found), "the descent theorem", found)


def _of_constants(theorem: str, alpha: float, constants: dict[str, float]) -> Threshold:
    if theorem not in THEOREMS:
        raise InvalidOptionError(f"there is no theorem {theorem!r}; the names are {', '.join(THEOREMS)}.")
    name, smallest = THEOREMS[theorem]
    try:
        return Threshold(smallest(alpha, **constants), name, dict(constants))
    except TypeError as error:
        raise InvalidOptionError(f"{name} takes other constants: {error}.") from None

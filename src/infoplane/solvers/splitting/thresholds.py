"""Smallest penalties as functions of constants: what is proven, and, under names that say so, what the paper prints.

Proven (docs/explanation/theory.md), for the block that the dual variable follows, L-smooth with curvature at least sigma:

    descent        c > [-alpha sigma + sqrt(alpha^2 sigma^2 + 8 (2-alpha) L^2)] / (4-2 alpha)
    over-relaxed   c > max{L, -2 sigma/(2-alpha)} for alpha < 2, c > L at alpha = 2 if sigma > 0, a range of c above
    Theorem 2      c > [alpha sigma_G + sqrt(alpha^2 sigma_G^2 + 8 (2-alpha) L_q^2)] / [(4-2 alpha) mu_B^2]         (Table I's form)
    Theorem 3      c > M_q [M_q alpha sigma_G + sqrt((M_q alpha sigma_G)^2 + 8 (2-alpha) L_q^2/mu_BB)] / (4-2 alpha)
                   where |q - q'| <= M_q |Bq - Bq'| holds along the run, which is an assumption of its own
    Jia et al.     Theorem 2 at alpha = 1

As printed, and false: Theorem 1, Theorem 2 with mu_B^4 under the root, Theorem 3 with lambda_B^2 mu_BB in place of L_q^2/mu_BB. They are
here so that they can be quoted and refuted (tests/solvers/splitting/test_counterexamples.py); whoever asks for one is warned.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import InvalidOptionError, PenaltyWarning
from ...results import Result


@dataclass(frozen=True, eq=False)
class Threshold(Result):
    """The smallest penalty that a theorem asks for, its name, and the constants from which it was computed.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.theorem_threshold("2", sigma_G=1.0, L_q=1.0, relaxation=1.0)
    >>> found.c, found.theorem, found.constants
    (2.0, 'Theorem 2', {'sigma_G': 1.0, 'L_q': 1.0})
    """

    c: float
    """A penalty above it is covered."""
    theorem: str
    """Which one."""
    constants: dict[str, float]
    """What it was computed from, by name."""


def descent_threshold(alpha: float, *, sigma: float, L: float) -> float:
    """The smallest c with kappa > 0: the positive root of (2 - alpha) c^2 + alpha sigma c - 2 L^2; L^2 / sigma at alpha = 2.

    At alpha = 2 without strong convexity there is none, and the answer is infinity.
    """
    _covered(alpha, 0.0 < alpha <= 2.0, "the descent theorem covers 0 < alpha <= 2")
    if alpha == 2.0:
        return L * L / sigma if sigma > 0.0 else math.inf
    root = math.sqrt((alpha * sigma) ** 2 + 8.0 * (2.0 - alpha) * L * L)
    return max((root - alpha * sigma) / (2.0 * (2.0 - alpha)), -sigma)


def over_relaxed(alpha: float, *, sigma: float, L: float) -> tuple[float, float]:
    """The penalties between which L_c falls in every iteration, for 0 < alpha < 4: Theorem 4.1 of Themelis and Patrinos (2020).

    The followed block is L-smooth with curvature at least sigma. Below alpha = 2, c > max{L, -2 sigma/(2 - alpha)}; from 2 on the block
    must be strongly convex, alpha < 4/(1 + sqrt(1 - sigma/L)), and c lies between the roots of (alpha - 2) c^2 - alpha sigma c + 2 sigma L.
    Theirs is for Douglas-Rachford splitting, lambda = alpha and gamma = 1/c; docs/explanation/theory.md derives the same ranges for both
    recursions here, and says at which of their ends runs fail.
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


def over_relaxed_threshold(alpha: float, *, sigma: float, L: float) -> float:
    """The lower end of `over_relaxed`."""
    return over_relaxed(alpha, sigma=sigma, L=L)[0]


def theorem_2(alpha: float, *, sigma_G: float, L_q: float, mu_B: float = 1.0) -> float:
    """G sigma_G-weakly convex and L_q-smooth, B invertible with smallest singular value mu_B, F and A arbitrary."""
    _covered(alpha, 0.0 < alpha < 2.0, "Theorem 2 covers 0 < alpha < 2")
    return _root(alpha, sigma_G, L_q) / mu_B**2


def theorem_3(alpha: float, *, sigma_G: float, L_q: float, M_q: float, mu_BB: float) -> float:
    """As Theorem 2, B of full row rank, mu_BB the smallest eigenvalue of BB'; |q - q'| <= M_q |Bq - Bq'| is assumed."""
    _covered(alpha, 0.0 < alpha < 2.0, "Theorem 3 covers 0 < alpha < 2")
    return M_q * _root(alpha, M_q * sigma_G, L_q / math.sqrt(mu_BB))


def jia(alpha: float, *, sigma_G: float, L_q: float, mu_B: float = 1.0) -> float:
    """Jia, Gao, Cai, Han (2021), as the paper's Table I quotes them: ADMM, F convex, A and B positive definite."""
    _covered(alpha, alpha == 1.0, "Jia et al. (2021) cover alpha = 1")
    return (sigma_G + math.sqrt(sigma_G**2 + 8.0 * L_q**2)) / (2.0 * mu_B**2)


def printed_1(alpha: float, *, L_p: float, sigma_F: float, omega_G: float, mu_A: float = 1.0) -> float:
    """Theorem 1 as printed, which is false: F sigma_F-strongly convex, L_p-smooth, G omega_G-restricted weakly convex, A > 0."""
    _covered(alpha, 0.0 < alpha <= 2.0, "Theorem 1 covers 0 < alpha <= 2")
    return max(omega_G, (L_p + sigma_F) / (alpha * mu_A**2))


def printed_2(alpha: float, *, sigma_G: float, L_q: float, mu_B: float = 1.0) -> float:
    """Theorem 2 as printed, which is false unless mu_B = 1."""
    _covered(alpha, 0.0 < alpha < 2.0, "Theorem 2 covers 0 < alpha < 2")
    return _root(alpha, sigma_G, L_q * mu_B**2) / mu_B**2


def printed_3(alpha: float, *, sigma_G: float, L_q: float, M_q: float, lambda_B: float, mu_BB: float) -> float:
    """Theorem 3 as Assumption 3 and Theorem 6 print it, mu_BB the smallest eigenvalue of BB'; the theorem itself drops L_q^2, too."""
    _covered(alpha, 0.0 < alpha < 2.0, "Theorem 3 covers 0 < alpha < 2")
    return M_q * _root(alpha, M_q * sigma_G, L_q * lambda_B * math.sqrt(mu_BB))


def _root(alpha: float, sigma: float, L: float) -> float:
    """The positive root of (2 - alpha) c^2 - alpha sigma c - 2 L^2."""
    return (alpha * sigma + math.sqrt((alpha * sigma) ** 2 + 8.0 * (2.0 - alpha) * L**2)) / (4.0 - 2.0 * alpha)


def _covered(alpha: float, ok: bool, what: str) -> None:
    if not ok:
        raise InvalidOptionError(f"{what}; found alpha = {alpha!r}.")


PROVEN: dict[str, tuple[str, Callable[..., float]]] = {
    "2": ("Theorem 2", theorem_2),
    "3": ("Theorem 3", theorem_3),
    "descent": ("the descent theorem", descent_threshold),
    "over-relaxed": ("Theorem 4.1 of Themelis and Patrinos (2020)", over_relaxed_threshold),
    "jia": ("Jia, Gao, Cai, Han (2021)", jia),
}

PRINTED: dict[str, tuple[str, Callable[..., float], str]] = {
    "printed-1": (
        "Theorem 1 as printed",
        printed_1,
        "runs above this threshold end in a cycle; c > L_p/mu_A^2 is proven, for any G ('over-relaxed')",
    ),
    "printed-2": ("Theorem 2 as printed", printed_2, "runs above this threshold diverge if mu_B < 1; '2' is proven"),
    "printed-3": (
        "Theorem 3 as printed",
        printed_3,
        "its mu_BB stands where 1/mu_BB belongs, and the bound |q - q'| <= M_q |Bq - Bq'| does not follow; see '3'",
    ),
}

REFUTED_1 = (
    "Theorem 1 of the paper is false: with F = (p1^2 + 0.01 p2^2)/2 and G = 0.6 (1 + cos q1) + q2^2/2 Solver I at alpha = 2 and "
    "c = 0.65, above its threshold 0.6, ends in a cycle (docs/explanation/theory.md). Proven is c > L_p/mu_A^2, for any G: "
    "theorem_threshold('over-relaxed', sigma=..., L=...). 'printed-1' gives the printed number."
)


def of_constants(name: str, alpha: float, constants: dict[str, float]) -> Threshold:
    """The threshold of a theorem by its name; one that is refuted raises, one asked for as printed warns."""
    if name == "1":
        raise InvalidOptionError(REFUTED_1)
    if name not in PROVEN and name not in PRINTED:
        raise InvalidOptionError(f"there is no theorem {name!r}; the names are {', '.join([*PROVEN, *PRINTED])}.")
    theorem, smallest = PROVEN[name] if name in PROVEN else PRINTED[name][:2]
    try:
        found = Threshold(smallest(alpha, **constants), theorem, dict(constants))
    except TypeError as error:
        raise InvalidOptionError(f"{theorem} takes other constants: {error}.") from None
    if name in PRINTED:
        warnings.warn(
            f"{theorem} is not true: {PRINTED[name][2]} (docs/explanation/theory.md).", PenaltyWarning, stacklevel=3
        )
    return found

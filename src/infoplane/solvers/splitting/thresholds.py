"""Smallest penalties: what is proven, what the paper prints, and the factor of the automatic choice.

*The descent theorem.* Let the block that the dual variable follows (F in Solver I with A = I, G in Solver II with B = I) be L-smooth with
curvature at least sigma, and let the other block and its map be **arbitrary**, its step any point that does not raise the augmented
Lagrangian L_c. With d the change of the first,

    L_c(k+1) - L_c(k)  <=  -kappa |d|^2,    kappa = c (2 - alpha) / (2 alpha) + sigma/2 - L^2 / (c alpha),

sigma > 0 for a strongly convex block and sigma = -omega for an omega-weakly convex one (if also c > omega). The same holds row by row for a
separable block and one penalty per row. Proof: docs/explanation/theory.md, which also sharpens it: for sigma > 0 and alpha <= 2 every c > L
will do.

*From constants*, `theorem_threshold`:

    descent        c > [-alpha sigma + sqrt(alpha^2 sigma^2 + 8 (2-alpha) L^2)] / (4-2 alpha)
    over-relaxed   c > max{L, -2 sigma/(2-alpha)} for alpha < 2, c > L at alpha = 2 if sigma > 0, a range of c above
    Theorem 2      c > [alpha sigma_G + sqrt(alpha^2 sigma_G^2 + 8 (2-alpha) L_q^2)] / [(4-2 alpha) mu_B^2]         (Table I's form)
    Theorem 3      c > M_q [M_q alpha sigma_G + sqrt((M_q alpha sigma_G)^2 + 8 (2-alpha) L_q^2/mu_BB)] / (4-2 alpha)
                   where |q - q'| <= M_q |Bq - Bq'| holds along the run, which is an assumption of its own
    Jia et al.     Theorem 2 at alpha = 1

As printed, and false: Theorem 1, Theorem 2 with mu_B^4 under the root, Theorem 3 with lambda_B^2 mu_BB in place of L_q^2/mu_BB. They are
here so that they can be quoted and refuted (tests/solvers/splitting/test_counterexamples.py); whoever asks for one is warned.

*Of a formulation*, `penalty_threshold`: Theorems 4-6 put the constants of the bottleneck and the funnel into Theorems 1-3. Theorem 5 is
true, because what it leans on is the descent theorem; Theorem 4 leans on Theorem 1, which is false, and Theorem 6 on a bound that does not
hold, so that their numbers are given as printed only. All are large, because one scalar c must suit rows whose masses differ by orders of
magnitude. The automatic penalty gives each row its own, c_i = kappa times the curvature of that row's entropy: then sigma = L, the descent
theorem asks for kappa > 1 in Solver I and for kappa > 2/(2 - alpha) in Solver II, and `Formulation.automatic_factor` is that with a margin.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...checks import check_flag, check_one_of, number, positive_number
from ...encoder.encoder import check_encoder
from ...errors import InvalidOptionError, PenaltyWarning
from ...information import Array, Result
from ...joint.joint import Joint, Support, check_joint
from ...problem import MarkovLagrangian, check_problem
from .formulations import Formulation, choose


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
    return _root(1.0, sigma_G, L_q) / mu_B**2


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


THEOREMS: dict[str, tuple[str, Callable[..., float], str]] = {
    "2": ("Theorem 2", theorem_2, ""),
    "3": ("Theorem 3", theorem_3, ""),
    "descent": ("the descent theorem", descent_threshold, ""),
    "over-relaxed": ("Theorem 4.1 of Themelis and Patrinos (2020)", over_relaxed_threshold, ""),
    "jia": ("Jia, Gao, Cai, Han (2021)", jia, ""),
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
"""Each by its name: what it is called, the threshold, and why it is false where it is."""

REFUTED_1 = (
    "Theorem 1 of the paper is false: with F = (p1^2 + 0.01 p2^2)/2 and G = 0.6 (1 + cos q1) + q2^2/2 Solver I at alpha = 2 and "
    "c = 0.65, above its threshold 0.6, ends in a cycle (docs/explanation/theory.md). Proven is c > L_p/mu_A^2, for any G: "
    "theorem_threshold('over-relaxed', sigma=..., L=...). 'printed-1' gives the printed number."
)


def of_constants(name: str, alpha: float, constants: dict[str, float]) -> Threshold:
    """The threshold of a theorem by its name; one that is refuted raises, one asked for as printed warns."""
    if name == "1":
        raise InvalidOptionError(REFUTED_1)
    if name not in THEOREMS:
        raise InvalidOptionError(f"there is no theorem {name!r}; the names are {', '.join(THEOREMS)}.")
    theorem, smallest, wrong = THEOREMS[name]
    constants = {constant: _constant(constant, value) for constant, value in constants.items()}
    try:
        found = Threshold(smallest(alpha, **constants), theorem, dict(constants))
    except TypeError as error:
        raise InvalidOptionError(f"{theorem} takes other constants: {error}.") from None
    if wrong:
        warnings.warn(f"{theorem} is not true: {wrong} (docs/explanation/theory.md).", PenaltyWarning, stacklevel=3)
    return found


def _constant(name: str, value: float) -> float:
    """A constant of a theorem: sigma of a block that is not convex is negative; singular values of the maps divide."""
    if name == "sigma":
        return number(name, value, "a finite number")
    singular = name in ("mu_A", "mu_B", "mu_BB")
    return positive_number(name, value) if singular else number(name, value, "0 or a positive number", least=0.0)


def descent(alpha: float, c: Array | float, sigma: Array | float, L: Array | float) -> Array:
    """kappa of the descent theorem, for every row at once: L_c falls by at least kappa d^2."""
    c, sigma, L = np.asarray(c, dtype=float), np.asarray(sigma, dtype=float), np.asarray(L, dtype=float)
    return np.asarray(c * (2.0 - alpha) / (2.0 * alpha) + 0.5 * sigma - L * L / (c * alpha))


def curvatures(h: Array, before: Array, after: Array) -> tuple[Array, Array]:
    """(sigma, L) of every row: the extremes of the curvature of h_j H(v_j), which is -h_j/v, on the segment that the row moved.

    Where a row is concave, h > 0, which Solver II allows, sigma is minus the largest size of its curvature.
    """
    low, high = np.minimum(before, after), np.maximum(before, after)
    with np.errstate(divide="ignore", invalid="ignore"):
        L = np.where(h == 0.0, 0.0, np.abs(h) / low)
        sigma = np.where(h <= 0.0, np.abs(h) / high, -L)
    return sigma, L


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
        followed by its constants: ``"descent"`` or, sharper and for alpha up to 4, ``"over-relaxed"`` (sigma, L); the paper's, mended,
        ``"2"`` (sigma_G, L_q, mu_B) and ``"3"`` (sigma_G, L_q, M_q, mu_BB); ``"jia"`` (sigma_G, L_q, mu_B). The paper's Theorem 1 is false,
        and ``"1"`` says so; ``"printed-1"`` (L_p, sigma_F, omega_G, mu_A), ``"printed-2"`` and ``"printed-3"`` give what is printed, with a
        `PenaltyWarning`. docs/explanation/theory.md says what each assumes.
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
    ('the descent theorem', 5.52, {'sigma': 0.967, 'L': 5.52})
    >>> ip.theorem_threshold("2", sigma_G=1.0, L_q=1.0, relaxation=1.0).c
    2.0
    """
    alpha = number("relaxation", relaxation, "in (0, 4)", above=0.0, below=4.0)
    if isinstance(of, str):
        return of_constants(of, alpha, constants)
    if constants:
        raise InvalidOptionError(
            f"{', '.join(constants)}: constants go with a theorem's name, as in theorem_threshold('2', sigma_G=1.0, L_q=1.0)."
        )
    if problem is None or encoder is None:
        raise InvalidOptionError("give a problem and an encoder after the joint.")
    check_joint(of)
    check_problem(problem)
    return formulation_threshold(of, problem, encoder, choose(problem, formulation), alpha)


def formulation_threshold(
    joint: Joint, problem: MarkovLagrangian, encoder: Array, split: Formulation, alpha: float
) -> Threshold:
    """The descent theorem's threshold of a formulation, with the curvatures at the masses of an encoder."""
    if not split.descends:
        raise InvalidOptionError(
            f"the descent theorem does not cover {split.name}: its dual variable follows a block whose map is not the identity. "
            "Nothing is proven of it."
        )
    support = Support(joint)
    v = check_encoder(joint, encoder)[:, support.x] @ split.constraint(support.p_x, support.K)
    if v.min() <= 0.0:
        raise InvalidOptionError("a cluster of the encoder is empty; the theorem needs every mass to be positive.")
    sigma, L = curvatures(split.share(problem, support.p_y).h, v.min(axis=0), np.ones(v.shape[1]))
    found = {"sigma": float(sigma.min()), "L": float(L.max())}
    c = over_relaxed_threshold(alpha, **found) if found["L"] > 0.0 else 0.0
    return Threshold(c, "the descent theorem", found)


REFUTED: dict[str, tuple[str, Callable[..., float], str]] = {
    "ib-1": ("Theorem 4", printed_1, f"It applies Theorem 1. {REFUTED_1}"),
    "pf-2": (
        "Theorem 6",
        printed_3,
        "It takes |q - q'| <= 2 |log eps| |Bq - Bq'| for a consequence of G being Lipschitz, while encoders with one p(z|y) differ at will "
        "(docs/explanation/theory.md). Nothing is proven of pf-2; pf-1, the same blocks in Solver I's order, has theorem_threshold.",
    ),
}
"""The paper's theorem for a formulation, what it prints, and why it is none."""


def penalty_threshold(
    joint: Joint,
    problem: MarkovLagrangian,
    encoder: Array,
    *,
    formulation: str = "auto",
    relaxation: float = 1.0,
    omega_G: Literal["lemma", "theorem", "inequality"] = "lemma",
    printed: bool = False,
) -> Threshold:
    """The paper's threshold of c for a formulation, with the eps-infimal measures of an encoder.

    eps_z, eps_{z|x}, eps_{z|y} are the smallest masses of p(z), p(z|x), p(z|y). Theorem 5 is for ib-2 and the variational formulations
    (whose G is a multiple of H(Z)); it holds. Theorem 4 (ib-1) and Theorem 6 (pf-2) do not, and asking for them is an error that says why,
    unless ``printed``. `theorem_threshold` gives what is proven, for every formulation but pf-2, and is never larger.

    Parameters
    ----------
    joint, problem, encoder, formulation, relaxation
        What is solved, at which masses, by which splitting, and alpha.
    omega_G
        Which of the paper's forms of Theorem 4's constant: ``"lemma"``, 2 N_z N_x zeta / eps_{z|x} - gamma, as derived; ``"theorem"``,
        the same with eps_z, as the theorem lists it; ``"inequality"``, 2 N_z N_x / eps_{z|x}, as its bound on c prints it.
    printed
        Whether to compute what Theorems 4 and 6 print although it is false, with a `PenaltyWarning`.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> t = ip.penalty_threshold(ip.datasets.paper_uniform(), ip.bottleneck(0.2), np.full((3, 3), 1 / 3), formulation="ib-1v")
    >>> t.theorem, round(t.c, 6)
    ('Theorem 5', 1.2)
    """
    check_joint(joint)
    check_problem(problem)
    relaxation = number("relaxation", relaxation, "a finite number")
    check_one_of("omega_G", omega_G, ("lemma", "theorem", "inequality"))
    check_flag("printed", printed)
    split = choose(problem, formulation)
    if split.theorem is None:
        raise InvalidOptionError(
            f"the paper has no theorem for {split.name}; theorem_threshold gives what is proven for it."
        )
    theorem, smallest, why = REFUTED.get(split.name, ("Theorem 5", theorem_2, ""))
    if why:
        if not printed:
            raise InvalidOptionError(
                f"{theorem} does not hold for {split.name}. {why} printed=True gives the printed number."
            )
        theorem = f"{theorem} as printed"
        warnings.warn(f"{theorem} is not true. {why}", PenaltyWarning, stacklevel=2)
    support = Support(joint)
    constants = _paper_constants(split, problem, support, check_encoder(joint, encoder)[:, support.x], omega_G)
    return Threshold(smallest(relaxation, **constants), theorem, constants)


def _paper_constants(
    split: Formulation, problem: MarkovLagrangian, support: Support, W: Array, omega_G: str
) -> dict[str, float]:
    """What the theorem of a formulation asks for, with the paper's eps-infimal measures of W."""
    n_z, (n_x, n_y) = len(W), support.P.shape
    eps_z, eps_zx, eps_zy = (float(table.min()) for table in (W @ support.p_x, W, W @ support.K))
    if min(eps_z, eps_zx, eps_zy) <= 0:
        raise InvalidOptionError("the encoder has an empty entry; the theorems need every mass to be positive.")
    if split.name == "ib-1":
        zeta = float((np.ptp(support.T, axis=1) ** 2 / support.p_y).sum())
        forms = {
            "lemma": 2.0 * n_z * n_x * zeta / eps_zx + problem.rho_zx,
            "theorem": 2.0 * n_z * n_x * zeta / eps_z + problem.rho_zx,
            "inequality": 2.0 * n_z * n_x / eps_zx,
        }
        return {"L_p": 1.0 / eps_z, "sigma_F": -problem.rho_z, "omega_G": forms[omega_G]}
    if split.name == "pf-2":
        singular = np.linalg.svd(support.K, compute_uv=False)
        return {
            "sigma_G": 2.0 * n_z * (abs(problem.rho_z) + n_x) / eps_zx,
            "M_q": 2.0 * abs(math.log(eps_zx)),
            "L_q": 1.0 / eps_zx,
            "lambda_B": float(singular.max()),
            "mu_BB": float(singular[singular > 1e-12].min() ** 2),
        }
    if split.name == "ib-2":
        return {"sigma_G": 2.0 * n_z * n_y / eps_zy, "L_q": 1.0 / min(eps_z, eps_zy)}
    curvature = abs(float(split.share(problem, support.p_y).h[0])) / eps_z
    return {"sigma_G": curvature, "L_q": curvature}

"""The Markovian Lagrangian and its named members.

L(W) = rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y),  Y -> X -> Z,  W[z, x] = p(z|x)         (paper, eq. prob_form_gg_lag)

=============================  =========  ==========  =======  ==============================
problem                        rho_z      rho_zx      rho_zy   L equals
=============================  =========  ==========  =======  ==============================
bottleneck(gamma)              gamma - 1  -gamma      1        gamma I(X;Z) - I(Y;Z)
funnel(beta)                   beta - 1   1           -beta    beta I(Y;Z) - I(X;Z)
deterministic_bottleneck       gamma - 1  0           1        gamma H(Z) - I(Y;Z)
generalised_bottleneck         gamma - 1  -a gamma    1        gamma (H(Z) - a H(Z|X)) - I(Y;Z)
=============================  =========  ==========  =======  ==============================

The last column is exact for every encoder, by I(X;Z) = H(Z) - H(Z|X) and I(Y;Z) = H(Z) - H(Z|Y).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .checks import number
from .errors import InvalidEncoderError, InvalidOptionError
from .information import Array, Entropies, encoder_entropies

if TYPE_CHECKING:
    from .joint.joint import Joint

ROUNDING = 1e-14
"""Logarithms of 0 whose coefficients add up to this share of the largest |rho|, or less, cancel."""


@dataclass(frozen=True)
class MarkovLagrangian:
    """L(W) = rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y), to be minimised over encoders; nats.

    Parameters
    ----------
    rho_z, rho_zx, rho_zy
        The three coefficients: finite, not all zero.
    family, parameter
        Set by the named members (``"bottleneck"``, gamma) so that messages and tables can speak their language.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.MarkovLagrangian(-0.8, -0.2, 1.0) == ip.MarkovLagrangian(rho_z=-0.8, rho_zx=-0.2, rho_zy=1.0)
    True
    """

    rho_z: float
    rho_zx: float
    rho_zy: float
    family: str = "lagrangian"
    parameter: float | None = None

    def __post_init__(self) -> None:
        for name in ("rho_z", "rho_zx", "rho_zy"):
            object.__setattr__(self, name, number(name, getattr(self, name), lambda _: True, "a finite number"))
        if self.rho_z == self.rho_zx == self.rho_zy == 0:
            raise InvalidOptionError("rho_z, rho_zx and rho_zy are all zero: there is nothing to minimise.")

    @property
    def rho(self) -> tuple[float, float, float]:
        """(rho_z, rho_zx, rho_zy)."""
        return self.rho_z, self.rho_zx, self.rho_zy

    @property
    def width(self) -> float:
        """A k > 0 for which the map W <- W exp(-g/k) / normaliser, g = (dL/dW) / p(x), cannot raise L.

        k = max(0, -rho_zy, -rho_z - rho_zy) - rho_zx: gamma for the bottleneck, beta - 1 for the funnel, beta > 1. With
        D = sum_x p(x) KL(W'_x || W_x), and D_z, D_y the same for p(z) and for p(z|y), L(W') is its tangent at W plus
        -rho_z D_z - rho_zx D - rho_zy D_y. As 0 <= D_z <= D_y <= D, this is at most k D; and the map minimises the
        tangent plus k D. Any larger k will do, so a tiny or negative one is raised: to a tenth of the largest |rho| if
        rho_zx >= 0, to 1e-9 of it otherwise.
        """
        k = max(0.0, -self.rho_zy, -self.rho_z - self.rho_zy) - self.rho_zx
        return max(k, (1e-9 if self.rho_zx < 0.0 else 0.1) * self._scale)

    @property
    def _scale(self) -> float:
        return max(abs(self.rho_z), abs(self.rho_zx), abs(self.rho_zy))

    def value(self, joint: Joint, encoder: Array) -> float:
        """L at an encoder, in nats."""
        return self.values(joint, [check_encoder(joint, encoder)])[0]

    def values(self, joint: Joint, encoders: Sequence[Array]) -> list[float]:
        """L at many encoders, which are not checked; quicker than one by one."""
        return [self.of_entropies(h) for h in encoder_entropies(joint, encoders)]

    def of_entropies(self, h: Entropies) -> float:
        """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y)."""
        return self.rho_z * h.z + self.rho_zx * h.z_given_x + self.rho_zy * h.z_given_y

    def gradient(self, joint: Joint, encoder: Array) -> Array:
        """dL/dW[z,x] = -rho_z p_x (log p_z + 1) - rho_zx p_x (log W + 1) - rho_zy sum_y p(x,y) (log p(z|y) + 1).

        Where W has zeros this is the limit of the gradient at max(W, t) as t -> 0+. An entry is finite if its logs of 0
        cancel (as in an empty cluster if the rho sum to 0: there it is 0); else it is infinite, with the sign of
        the stronger one. Letters of zero mass have gradient 0, and nothing is ever NaN.
        """
        W = check_encoder(joint, encoder)
        finite, order = self._logs(joint, W)
        infinite = (np.abs(order) > ROUNDING * self._scale) & (joint.p_x > 0.0)
        return np.where(infinite, np.copysign(np.inf, order), -joint.p_x * (finite + sum(self.rho)))

    def stationarity(self, joint: Joint, encoder: Array) -> float:
        """The largest |W - W exp(-g/k) / normaliser| over letters of positive mass, g and k as in `width`.

        Zero where L is stationary; the same for any multiple of the rho. For the bottleneck it is max |W - BA(W)|, the
        residual of the self-consistent equations. Weak for the funnel: every deterministic encoder passes, unless some
        x has no y in common with a cluster. Zeros of W are taken to the limit, as in `gradient`.
        """
        W = check_encoder(joint, encoder)
        seen = joint.p_x > 0.0
        finite, order = self._logs(joint, W)
        # The map is exp(score) t^power as t -> 0+. By the choice of the width no power is negative.
        score = _log_or_zero(W) + finite / self.width
        vanishes = (W == 0.0) * self.width + order > ROUNDING * self._scale
        score = np.where(vanishes, -np.inf, score)[:, seen]
        mapped = np.exp(score - score.max(axis=0))
        return float(np.abs(W[:, seen] - mapped / mapped.sum(axis=0)).max())

    def _logs(self, joint: Joint, W: Array) -> tuple[Array, Array]:
        """rho_z log p(z) + rho_zx log p(z|x) + rho_zy sum_y p(y|x) log p(z|y), as finite + order log t.

        t stands for every probability that is 0: at max(W, t) all those among p(z), p(z|x) and p(z|y) are t.
        """
        p_x, p_y = (np.where(p > 0.0, p, 1.0) for p in (joint.p_x, joint.p_y))
        p_z, p_zy = (W @ joint.p_x)[:, None], W @ joint.p_xy / p_y
        finite, order = (
            self.rho_z * f(p_z) + self.rho_zx * f(W) + self.rho_zy * (joint.p_xy @ f(p_zy).T).T / p_x
            for f in (_log_or_zero, np.logical_not)
        )
        return finite, order


def bottleneck(gamma: float) -> MarkovLagrangian:
    """Information bottleneck (Tishby, Pereira, Bialek 1999): gamma I(X;Z) - I(Y;Z), 0 < gamma <= 1.

    The beta of the older literature is 1/gamma.
    """
    gamma = _gamma(gamma)
    return MarkovLagrangian(gamma - 1.0, -gamma, 1.0, "bottleneck", gamma)


def funnel(beta: float) -> MarkovLagrangian:
    """Privacy funnel (Makhdoumi et al. 2014): beta I(Y;Z) - I(X;Z), beta > 0."""
    beta = number("beta", beta, lambda b: b > 0.0, "positive and finite")
    return MarkovLagrangian(beta - 1.0, 1.0, -beta, "funnel", beta)


def deterministic_bottleneck(gamma: float) -> MarkovLagrangian:
    """Deterministic bottleneck (Strouse, Schwab 2017): gamma H(Z) - I(Y;Z), 0 < gamma <= 1."""
    gamma = _gamma(gamma)
    return MarkovLagrangian(gamma - 1.0, 0.0, 1.0, "deterministic_bottleneck", gamma)


def generalised_bottleneck(gamma: float, a: float) -> MarkovLagrangian:
    """Generalised bottleneck: gamma (H(Z) - a H(Z|X)) - I(Y;Z); a = 1 is the bottleneck, a = 0 is deterministic."""
    gamma, a = _gamma(gamma), number("a", a, lambda a: 0.0 <= a <= 1.0, "in [0, 1]")
    return MarkovLagrangian(gamma - 1.0, -a * gamma, 1.0, "generalised_bottleneck", gamma)


def is_bottleneck(problem: MarkovLagrangian) -> bool:
    """Whether L is a positive multiple of gamma I(X;Z) - I(Y;Z), gamma > 0."""
    return _has_posterior_form(problem) and problem.rho_zx < 0.0 < problem.rho_zy


def is_funnel(problem: MarkovLagrangian) -> bool:
    """Whether L is a positive multiple of beta I(Y;Z) - I(X;Z), beta > 0."""
    return _has_posterior_form(problem) and problem.rho_zy < 0.0 < problem.rho_zx


def _has_posterior_form(problem: MarkovLagrangian) -> bool:
    return abs(sum(problem.rho)) <= ROUNDING * max(abs(rho) for rho in problem.rho)


def check_encoder(joint: Joint, encoder: Array) -> Array:
    """The encoder as a float array, or an error that names the first column that is not a distribution over z."""
    W = np.asarray(encoder, dtype=float)
    if W.ndim != 2 or W.shape[1] != joint.shape[0] or W.shape[0] == 0:
        raise InvalidEncoderError(
            f"an encoder must have shape (|Z|, |X|) = (any, {joint.shape[0]}), found {W.shape}; W[z, x] = p(z|x)."
        )
    bad = ~np.isfinite(W) | (W < 0)
    if bad.any():
        z, x = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidEncoderError(f"an encoder holds probabilities, found {W[z, x]} at z = {z}, x = {x}.")
    error = np.abs(W.sum(axis=0) - 1.0)
    if error.max() > 1e-9:
        x = int(error.argmax())
        raise InvalidEncoderError(
            f"each column of an encoder must sum to 1; column x = {x} sums to {W[:, x].sum():.12g}. "
            "If rows sum to 1 instead, pass its transpose."
        )
    return W


def _log_or_zero(p: Array) -> Array:
    """The logarithm, and 0 where p = 0."""
    return np.log(np.where(p > 0.0, p, 1.0))


def _gamma(value: float) -> float:
    return number("gamma", value, lambda g: 0.0 < g <= 1.0, "in (0, 1]; above 1 only the trivial encoder is optimal")

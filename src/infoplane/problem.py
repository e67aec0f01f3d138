"""The Markovian Lagrangian and its named members.

L(W) = rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y),  Y -> X -> Z,  W[z, x] = p(z|x)          (paper, eq. prob_form_gg_lag)

=============================  =========  ==========  =======  ==============================
problem                        rho_z      rho_zx      rho_zy   L equals
=============================  =========  ==========  =======  ==============================
bottleneck(gamma)              gamma - 1  -gamma      1        gamma I(X;Z) - I(Y;Z)
funnel(beta)                   beta - 1   1           -beta    beta I(Y;Z) - I(X;Z)
deterministic_bottleneck       gamma - 1  0           1        gamma H(Z) - I(Y;Z)
generalised_bottleneck         gamma - 1  -a gamma    1        gamma (H(Z) - a H(Z|X)) - I(Y;Z)
=============================  =========  ==========  =======  ==============================

The named members differ from the last column by the constant H(Y), resp. H(X), only through identities that hold for every
encoder, so their values agree exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .errors import InvalidEncoderError, InvalidOptionError
from .information import Array, encoder_entropies

if TYPE_CHECKING:
    from .joint import Joint


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
            value = getattr(self, name)
            if not math.isfinite(value):
                raise InvalidOptionError(f"{name} must be a finite number, found {value!r}.")
        if self.rho_z == self.rho_zx == self.rho_zy == 0:
            raise InvalidOptionError("rho_z, rho_zx and rho_zy are all zero: there is nothing to minimise.")

    @property
    def rho(self) -> tuple[float, float, float]:
        """(rho_z, rho_zx, rho_zy)."""
        return self.rho_z, self.rho_zx, self.rho_zy

    @property
    def width(self) -> float:
        """The smallest k for which the map W <- W exp(-g/k), g = (dL/dW)/p(x), cannot raise L: gamma, or beta - 1.

        H(Z) and H(Y|Z) = H(Z|Y) - H(Z) + H(Y) are concave in W; a convex -|a| H is |a|-smooth relative to sum_x p(x) KL(W_x || W'_x), and
        H(Z|X) is its tangent minus that divergence. Where L is concave any k will do, and a tenth of the largest |rho| is taken.
        """
        if self.rho_zy >= 0.0:
            convex = max(-(self.rho_z + self.rho_zy), 0.0)
        else:
            convex = max(-self.rho_z, 0.0) - self.rho_zy
        if self.rho_zx < 0.0:
            return convex - self.rho_zx
        return max(convex - self.rho_zx, 0.1 * max(abs(rho) for rho in self.rho))

    def stationarity(self, joint: Joint, encoder: Array) -> float:
        """max |W - W exp(-g/width) / normaliser| over letters of positive mass: zero exactly at stationary encoders.

        For the bottleneck this is max |W - BA(W)|, the residual of the self-consistent equations. Weak for the funnel: every
        deterministic encoder passes.
        """
        W = check_encoder(joint, encoder)
        seen_x, seen_y = joint.support()
        tiny = 1e-300
        log_W = np.log(np.maximum(W[:, seen_x], tiny))
        log_z = np.log(np.maximum(W @ joint.p_x, tiny))[:, None]
        log_zy = np.log(np.maximum((W @ joint.p_xy)[:, seen_y] / joint.p_y[seen_y], tiny))
        p_y_given_x = joint.p_xy[seen_x][:, seen_y] / joint.p_x[seen_x, None]
        g = -self.rho_z * log_z - self.rho_zx * log_W - self.rho_zy * (p_y_given_x @ log_zy.T).T
        score = log_W - g / self.width
        mapped = np.exp(score - score.max(axis=0))
        return float(np.abs(W[:, seen_x] - mapped / mapped.sum(axis=0)).max())

    def value(self, joint: Joint, encoder: Array) -> float:
        """L at an encoder, in nats."""
        h = encoder_entropies(joint, check_encoder(joint, encoder))
        return self.rho_z * h.z + self.rho_zx * h.z_given_x + self.rho_zy * h.z_given_y

    def gradient(self, joint: Joint, encoder: Array) -> Array:
        """dL/dW[z,x] = -rho_z p_x (log p_z + 1) - rho_zx p_x (log W + 1) - rho_zy sum_y p(x,y) (log p(z|y) + 1).

        Defined where W > 0 on the support of p(x); elsewhere an entry may be infinite, with the sign of the true slope.
        """
        W = check_encoder(joint, encoder)
        p_x, p_y = joint.p_x, joint.p_y
        seen_y = p_y > 0
        with np.errstate(divide="ignore"):
            log_z = np.log(W @ p_x)
            log_zx = np.log(W)
            log_zy = np.log((W @ joint.p_xy)[:, seen_y] / p_y[seen_y])
        gradient = np.zeros_like(W)
        for rho, log_p in ((self.rho_z, log_z[:, None]), (self.rho_zx, log_zx)):
            if rho:
                gradient -= rho * p_x * (log_p + 1.0)
        if self.rho_zy:
            p_seen = joint.p_xy[:, seen_y]
            gradient -= self.rho_zy * (p_seen @ (log_zy + 1.0).T).T
        return gradient


def bottleneck(gamma: float) -> MarkovLagrangian:
    """Information bottleneck (Tishby, Pereira, Bialek 1999): gamma I(X;Z) - I(Y;Z), 0 < gamma <= 1.

    The beta of the older literature is 1/gamma.
    """
    gamma = _number("gamma", gamma)
    _require("gamma", gamma, 0.0 < gamma <= 1.0, "in (0, 1]; above 1 only the trivial encoder is optimal")
    return MarkovLagrangian(gamma - 1.0, -gamma, 1.0, "bottleneck", gamma)


def funnel(beta: float) -> MarkovLagrangian:
    """Privacy funnel (Makhdoumi et al. 2014): beta I(Y;Z) - I(X;Z), beta > 0."""
    beta = _number("beta", beta)
    _require("beta", beta, beta > 0.0, "positive")
    return MarkovLagrangian(beta - 1.0, 1.0, -beta, "funnel", beta)


def deterministic_bottleneck(gamma: float) -> MarkovLagrangian:
    """Deterministic bottleneck (Strouse, Schwab 2017): gamma H(Z) - I(Y;Z), 0 < gamma <= 1."""
    gamma = _number("gamma", gamma)
    _require("gamma", gamma, 0.0 < gamma <= 1.0, "in (0, 1]; above 1 only the trivial encoder is optimal")
    return MarkovLagrangian(gamma - 1.0, 0.0, 1.0, "deterministic_bottleneck", gamma)


def generalised_bottleneck(gamma: float, a: float) -> MarkovLagrangian:
    """Generalised bottleneck: gamma (H(Z) - a H(Z|X)) - I(Y;Z); a = 1 is the bottleneck, a = 0 the deterministic one."""
    gamma, a = _number("gamma", gamma), _number("a", a)
    _require("gamma", gamma, 0.0 < gamma <= 1.0, "in (0, 1]")
    _require("a", a, 0.0 <= a <= 1.0, "in [0, 1]")
    return MarkovLagrangian(gamma - 1.0, -a * gamma, 1.0, "generalised_bottleneck", gamma)


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


def _number(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidOptionError(f"{name} must be a number, found {value!r}.") from None


def _require(name: str, value: float, ok: bool, expected: str) -> None:
    if not ok:
        raise InvalidOptionError(f"{name} must be {expected}; found {value!r}.")

"""Time sharing: two encoders as one, which keeps the clusters of both apart.

W = (w W_a, (1 - w) W_b),  I(X;Z) = w I_a(X;Z) + (1 - w) I_b(X;Z),  and the same for I(Y;Z)

The chord's parameter is where both ends have the same Lagrangian: gamma = dI(Y;Z)/dI(X;Z), beta = dI(X;Z)/dI(Y;Z). If both are
optimal for it, so are all their mixtures.
"""

from __future__ import annotations

import numpy as np

from ..information import Array
from ..problem import ProblemFamily, named_family
from ..results import Residuals, Status, judge
from ..solution import Solution
from .hull import FrontierPoint


def chord_parameter(a: FrontierPoint, b: FrontierPoint) -> float | None:
    """The parameter for which a and b have the same Lagrangian; None if the Lagrangian is not a combination of I(X;Z) and I(Y;Z)."""
    du, dv = b.run.ixz - a.run.ixz, b.run.iyz - a.run.iyz
    family = named_family(a.run.problem)
    if not family.has_posterior_form or dv <= 0.0:
        return None
    # rho_zx and rho_zy are affine in the parameter t, and L = -rho_zx I(X;Z) - rho_zy I(Y;Z): the chord's t has rho_zx du + rho_zy dv = 0.
    _, zx_0, zy_0 = family.rho(0.0)
    _, zx_1, zy_1 = family.rho(1.0)
    return min(-(zx_0 * du + zy_0 * dv) / ((zx_1 - zx_0) * du + (zy_1 - zy_0) * dv), family.most)


def length(a: FrontierPoint, b: FrontierPoint) -> float:
    """The length of the chord, measured along the information that the parameter multiplies."""
    return abs(b.run.iyz - a.run.iyz if named_family(a.run.problem).hides_y else b.run.ixz - a.run.ixz)


def mixed_encoder(a: FrontierPoint, b: FrontierPoint, axis: str, target: float) -> tuple[float, Array]:
    """The weight of a in the mixture that meets the target, and the mixture."""
    u, v = a.along(axis), b.along(axis)
    w = min(max((v - target) / (v - u), 0.0), 1.0)
    W = np.vstack([w * a.run.encoder, (1.0 - w) * b.run.encoder])
    return w, W / W.sum(axis=0)


def mixture(
    a: FrontierPoint,
    b: FrontierPoint,
    axis: str,
    target: float,
    family: ProblemFamily | None,
    tol: float,
) -> Solution:
    """W = (w W_a, (1 - w) W_b), clusters of both side by side: I is w I_a + (1 - w) I_b, and w is such that it meets the target."""
    w, W = mixed_encoder(a, b, axis, target)
    heavier = a if w >= 0.5 else b
    chord = chord_parameter(a, b)
    parameter = heavier.parameter if family is None or chord is None else chord
    problem = heavier.run.problem if family is None else family(parameter)
    residuals = Residuals(0.0, 0.0, problem.stationarity(a.run.joint, W))
    parts = " and ".join(
        f"{share:.4f} of {point.run.solver} at {point.run.parameter:.6g}" for share, point in ((w, a), (1.0 - w, b))
    )
    unrefined = "" if family is not None else " (unknown family: nothing was refined)"
    open_ends = [point.run.status for point in (a, b) if not point.run.status.converged]
    return Solution(
        joint=a.run.joint,
        problem=problem,
        encoder=W,
        status=judge(residuals, tol, open_ends[0] if open_ends else Status.STALLED),
        solver=f"mixture{unrefined}: {parts}",
        iterations=0,
        seconds=0.0,
        residuals=residuals,
        parameter=parameter,
    )

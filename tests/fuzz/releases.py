"""Releases under caps on every value, on noisy tables with faint cells: no cap is exceeded, and no bound is below what another way finds.

The other way knows nothing of the package: vertices of {q : L <= Tq <= U} by linear programmes with random and with tangent slopes, and the
best mixture of them, all by HiGHS.
"""

import math
import warnings

import numpy as np
from scipy.optimize import linprog

import infoplane as ip
import verify

from . import hostile
from .calls import Broken
from .funnels import table

OBJECTIVES, TANGENTS = 25, 3
ROUNDING = 1e-9


def entropies(p):
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def rival(rng, P, L, U, leakage):
    """I(X;Z) of the best mixture of vertices that random linear programmes meet; 0 if HiGHS finds none."""
    p_x, p_s = P.sum(axis=1), P.sum(axis=0)
    T = (P / p_x[:, None]).T
    columns = [p_x / p_x.sum()]
    A, b = np.vstack([T, -T]), np.append(U, -L)
    for _ in range(OBJECTIVES):
        slopes = rng.normal(size=len(p_x))
        for _ in range(TANGENTS):
            found = linprog(slopes, A_ub=A, b_ub=b, A_eq=np.ones((1, len(p_x))), b_eq=[1.0])
            if found.x is None:
                break
            q = np.maximum(found.x, 0.0)
            columns.append(q / q.sum())
            slopes = slopes * 0.5 - np.log(np.maximum(q, 1e-3))
    Q = np.array(columns).T
    u = T @ Q
    inside = ((u <= U[:, None] * (1.0 + 1e-12)) & (u >= L[:, None] * (1.0 - 1e-12))).all(axis=0)
    Q, u = Q[:, inside], u[:, inside]
    more = {}
    if leakage is not None:
        told = (u * (np.log(np.where(u > 0, u, 1.0)) - np.log(p_s)[:, None])).sum(axis=0)
        more = {"A_ub": told[None], "b_ub": [leakage]}
    best = linprog(entropies(Q).sum(axis=0), A_eq=Q, b_eq=p_x, **more)
    if best.x is None:
        return 0.0
    # HiGHS is exact to 1e-7 only: the encoder is mixed with a release that says nothing until it keeps the caps itself.
    W = (Q * np.maximum(best.x, 0.0)).T / p_x
    W = np.where(W.sum(axis=0) > 0, W, best.x[:, None])  # letters fainter than HiGHS's tolerance
    W = W[W.sum(axis=1) > 0] / W.sum(axis=0)
    u = W @ P / (W @ p_x)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(u > U, (u - U) / (u - p_s), np.where(u < L, (L - u) / (p_s - u), 0.0)).max()
    W = (1.0 - share) * W + share * (W @ p_x)[:, None]
    if leakage is not None and (leaks := information(W @ P)) > leakage:
        W = leakage / leaks * W + (1.0 - leakage / leaks) * (W @ p_x)[:, None]
    return information(W * p_x)


def information(J):
    return float(entropies(J.sum(axis=0)).sum() + entropies(J.sum(axis=1)).sum() - entropies(J).sum())


def attack(rng):
    """One release."""
    counts = table(rng, (10, 5)) if rng.random() < 0.7 else hostile.table(rng)
    eps = float(rng.choice([0.02, 0.1, 0.4, 1.5]))
    two_sided = bool(rng.random() < 0.5)
    leakage = float(10.0 ** rng.uniform(-4, -1)) if rng.random() < 0.4 else None
    terms = {"max_lift": eps, "two_sided": two_sided, "max_leakage": leakage}
    said = f"ip.release_mechanism(ip.Joint.from_counts({counts.tolist()}), **{terms!r}, rng=0, max_seconds=2.0)"
    try:
        joint = ip.Joint.from_counts(counts)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = ip.release_mechanism(joint, **terms, rng=0, max_seconds=2.0)
    except ip.InfoplaneError:
        return "refused"
    except Exception as error:
        raise Broken(f"{said}\n    {type(error).__name__}: {error}") from error
    verify.check_encoder(np.asarray(joint.p_xy), found.encoder)
    P = np.asarray(joint.p_xy)
    P = P[P.sum(axis=1) > 0][:, P.sum(axis=0) > 0]
    J = found.encoder @ np.asarray(joint.p_xy)[:, joint.p_y > 0]
    J = J[J.sum(axis=1) > 0]
    ratio = J / J.sum(axis=1, keepdims=True) / joint.p_y[joint.p_y > 0]
    low = math.exp(-eps) if two_sided else 0.0
    if ratio.max() > math.exp(eps) * (1.0 + ROUNDING) or ratio.min() < low * (1.0 - ROUNDING):
        raise Broken(f"{said}: p(s|z)/p(s) from {ratio.min()!r} to {ratio.max()!r}")
    if leakage is not None and found.iyz > leakage + 1e-12:
        raise Broken(f"{said}: I(Y;Z) {found.iyz!r}")
    if found.ixz > found.upper_bound + ROUNDING:
        raise Broken(f"{said}: I(X;Z) {found.ixz!r} above its bound {found.upper_bound!r}")
    p_s = P.sum(axis=0)
    other = rival(rng, P, low * p_s, np.minimum(math.exp(eps) * p_s, 1.0), leakage)
    if other > found.upper_bound + ROUNDING:
        raise Broken(f"{said}: the bound {found.upper_bound!r} is below {other!r}, which linear programmes find")
    return f"{found.status.name}, {'near' if other > 0.98 * found.upper_bound else 'far'}"

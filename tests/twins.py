"""Slow, obvious twins of the fast steps, written from the formulas alone: NumPy and SciPy, no kernel code.

W[z, x] = p(z|x), P[x, y] = p(x, y), M the constraint's map; `weights` is (h, a, d) as in the formulations' docstring.
"""

import numpy as np
from scipy.optimize import brentq, minimize


def xlogx(p):
    return np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0)


def entropy_terms(P, W):
    """H(Z), H(Z|X), H(Z|Y)."""
    p_x, p_y = P.sum(1), P.sum(0)
    return (
        -xlogx(W @ p_x).sum(),
        -(p_x * xlogx(W).sum(0)).sum(),
        -(p_y * xlogx((W @ P) / p_y).sum(0)).sum(),
    )


def encoder_value(P, W, W_decoder, a, d):
    """The encoder block, its decoders those of W_decoder."""
    p_x = P.sum(1)
    value = float(np.dot(a, entropy_terms(P, W)))
    if d[0]:
        joint = W_decoder @ P
        value -= d[0] * float(((W @ P) * np.log(np.maximum(joint / joint.sum(1, keepdims=True), 1e-300))).sum())
    if d[1]:
        joint = W_decoder * p_x
        value -= d[1] * float((W * p_x * np.log(np.maximum(joint / joint.sum(1, keepdims=True), 1e-300))).sum())
    return value


def marginal_value(v, h):
    return float(-(h * xlogx(v).sum(0)).sum())


def penalty(u, x, s, c):
    return float((0.5 * c * (u - x) ** 2 - s * u).sum())


def entropy_prox(k, x, s, c):
    """argmin k sum v log v - s.v + sum c/2 (v - x)^2 on the simplex, by two nested root searches."""

    def row(i, lam):
        pull = c[i] * x[i] + s[i] - k - lam
        return np.exp(brentq(lambda t: k * t + c[i] * np.exp(t) - pull, -5000.0, 50.0, xtol=1e-15, rtol=1e-15))

    def total(lam):
        return sum(row(i, lam) for i in range(len(x))) - 1.0

    lam = brentq(total, -400.0, 400.0, xtol=1e-13, rtol=1e-15)
    return np.array([row(i, lam) for i in range(len(x))])


def encoder_argmin_convex(P, M, a, d, x, s, c, W):
    """One majorise-minimise step of the encoder block, by BFGS over unconstrained scores: W = softmax(theta)."""
    p_x, p_y = P.sum(1), P.sum(0)
    T = (P / p_x[:, None]).T
    log_z, log_zy = np.log(W @ p_x)[:, None], np.log((W @ P) / p_y)
    extra = max(-a[0], 0.0) + max(-a[2], 0.0)
    k = extra - a[1]
    joint_zy, joint_zx = W @ P, W * p_x
    S = (
        a[0] * log_z
        + a[2] * log_zy @ T
        + extra * np.log(W)
        + d[0] * np.log(joint_zy / joint_zy.sum(1, keepdims=True)) @ T
        + d[1] * np.log(joint_zx / joint_zx.sum(1, keepdims=True))
    )

    def softmax(theta):
        e = np.exp(theta - theta.max(0))
        return e / e.sum(0)

    def objective(flat):
        V = softmax(flat.reshape(W.shape))
        gap = V @ M - x
        value = float((p_x * (k * xlogx(V) - S * V)).sum()) + penalty(V @ M, x, s, c)
        slope = p_x * (k * (np.log(V) + 1.0) - S) + (c * gap - s) @ M.T
        pulled = V * (slope - (V * slope).sum(0))
        return value, pulled.ravel()

    found = minimize(objective, np.log(W).ravel(), jac=True, method="BFGS", options={"gtol": 1e-12, "maxiter": 5000})
    return softmax(found.x.reshape(W.shape))


def second_correlations(P, W):
    """Squared maximal correlation of X and Y inside each cluster: the second eigenvalue of its correlation matrix."""
    found = []
    for w in W:
        joint = w[:, None] * P
        joint = joint[joint.sum(1) > 0][:, joint.sum(0) > 0] / joint.sum()
        scaled = joint / np.sqrt(np.outer(joint.sum(1), joint.sum(0)))
        values = np.linalg.svd(scaled, compute_uv=False)
        found.append(values[1] ** 2 if len(values) > 1 else 0.0)
    return np.array(found)


def slow_gain(W, rest, part):
    """sum_z W[z, x] log(q(y|z) / p(y)), record by record: q and p from the rest, with half a record for each y."""
    p = (rest.sum(axis=0) + 0.5) / (rest.sum() + 0.5 * rest.shape[1])
    q = W @ rest + 0.5
    q /= q.sum(axis=1, keepdims=True)
    total = 0.0
    for x, y in np.argwhere(part > 0):
        total += part[x, y] * sum(W[z, x] * np.log(q[z, y] / p[y]) for z in range(len(W)))
    return total / part.sum()

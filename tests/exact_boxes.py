"""The theorem of box cells in 50 digits, from the stored table, as slow and obvious as its formulas."""

import mpmath
import numpy as np
import pytest

import infoplane as ip
from compiled import compiled
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.cell_bound import prepare, workspace
from infoplane.posterior.form import dual_of

prepare = compiled(prepare)

mpmath.mp.dps = 50
mpf, fsum = mpmath.mpf, mpmath.fsum


def with_zeros():
    return ip.Joint.from_counts([[4, 0, 1], [0, 3, 2], [1, 1, 0], [1, 1, 0], [0, 0, 5]])


def nearly_deterministic():
    P = np.full((6, 4), 1e-11)
    P[np.arange(6), [0, 1, 2, 3, 0, 1]] = [1.0, 2.0, 1.0, 0.5, 1.5, 1.0]
    return ip.Joint.from_counts(P)


def many_letters():
    rng = np.random.default_rng(8)
    P = rng.dirichlet(np.full(8, 0.4), size=12)
    P[rng.random(P.shape) < 0.2] = 0.0
    return ip.Joint.from_counts(P)


def many_columns():
    """As many letters of X as it takes for the proof to look at some of them, and at moments: `cell_bound.MANY`."""
    rng = np.random.default_rng(9)
    P = rng.dirichlet(np.full(3, 0.5), size=220) * rng.dirichlet(np.full(220, 0.3))[:, None]
    P[rng.random(P.shape) < 0.2] = 0.0
    P[P.sum(axis=1) == 0.0, 0] = 1e-4
    return ip.Joint.from_counts(P)


JOINTS = {
    "heart": ip.datasets.heart,
    "paper": ip.datasets.paper_nonuniform,
    "zeros": with_zeros,
    "nearly deterministic": nearly_deterministic,
    "eight letters": many_letters,
    "220 letters of X": many_columns,
}


joints = pytest.mark.parametrize("joint", [make() for make in JOINTS.values()], ids=JOINTS)


def box_around(u, size, rng):
    """A random box that holds u, with zeros among its lower ends."""
    low = np.maximum(u - size * rng.random(u.size), 0.0)
    high = np.minimum(u + size * rng.random(u.size), 1.0)
    low[rng.random(u.size) < 0.2] = 0.0
    return low * (1.0 - 1e-14), np.maximum(high * (1.0 + 1e-14), 1e-100)


def case(joint, size, rng):
    """A dual, a box that holds Tq of a random q, and multipliers, with the work of the kernel prepared for it."""
    support = Support(joint)
    n_y, n_x = support.T.shape
    gamma = float(10.0 ** rng.uniform(-2, 0))
    lam = rng.normal(size=n_x) * 10.0 ** rng.uniform(-2, 1)
    q = rng.dirichlet(np.full(n_x, 10.0 ** rng.uniform(-1, 1)))
    q[rng.random(n_x) < 0.3] = 0.0
    q = q / q.sum() if q.sum() > 0.0 else np.full(n_x, 1.0 / n_x)
    work = workspace(support.T)
    work.low[:], work.high[:] = box_around(support.T @ q, size, rng)
    work.v[:n_y] = rng.normal(size=n_y) * 10.0 ** rng.uniform(-2, 2) * (rng.random(n_y) < 0.7)
    work.v[n_y:] = np.clip(rng.uniform(-0.5, 1.5, size=n_y), 0.0, 1.0)
    dual = dual_of(support, gamma, lam)
    prepare(dual, work)
    return dual, work, q


def h(s):
    """-s log s."""
    return -s * mpmath.log(s) if s > 0 else mpf(0)


def entropy(p):
    """H(p)."""
    return fsum(h(mpf(v)) for v in p)


def channel(joint):
    """p(y|x) of the table as it is stored, one row per x."""
    return [[mpf(v) / fsum(row) for v in row] for row in np.asarray(joint.p_xy).tolist()]


def normalised(q):
    """Q as a distribution."""
    q = [mpf(float(v)) for v in q]
    return [v / fsum(q) for v in q]


def pushed(T, q):
    """Tq."""
    return [fsum(q[x] * T[x][y] for x in range(len(q))) for y in range(len(T[0]))]


def value(T, gamma, lam, q):
    """f(q) - lambda.q."""
    return (
        entropy(pushed(T, q)) - mpf(gamma) * entropy(q) - fsum(mpf(float(a)) * b for a, b in zip(lam, q, strict=True))
    )


def minorant(s, low, high, slope, t):
    """r_y: the secant with the slope given, below h at both ends, and h with its tangents."""
    low, high, slope, t = (mpf(float(v)) for v in (low, high, slope, t))
    secant = min(h(low) - slope * low, h(high) - slope * high) + slope * s
    tangent = h(s)
    if s < low:
        tangent = h(low) - (1 + mpmath.log(low)) * (s - low)
    if s > high:
        tangent = h(high) - (1 + mpmath.log(high)) * (s - high)
    return t * secant + (1 - t) * tangent


def exponents(T, lam, low, high, slope, v):
    """lambda_x - R_x - mu.T_x."""
    n_y = len(low)
    return [
        mpf(float(lam[x]))
        - fsum(minorant(row[y], low[y], high[y], slope[y], v[n_y + y]) + mpf(float(v[y])) * row[y] for y in range(n_y))
        for x, row in enumerate(T)
    ]


def bound(T, gamma, lam, low, high, slope, v):
    """B, and w."""
    e = [one / mpf(gamma) for one in exponents(T, lam, low, high, slope, v)]
    top = max(e)
    weights = [mpmath.exp(one - top) for one in e]
    total = fsum(weights)
    edges = fsum(
        max(mpf(float(m)) * mpf(float(l)), mpf(float(m)) * mpf(float(b)))
        for m, l, b in zip(v[: len(low)], low, high, strict=True)
    )
    return -edges - mpf(gamma) * (top + mpmath.log(total)), [one / total for one in weights]


def divergence(q, w):
    """KL(q || w)."""
    return fsum(a * mpmath.log(a / b) for a, b in zip(q, w, strict=True) if a > 0)

"""How low g can be in a box of posteriors that a cap allows, and what of the box can be below the floor: what is proven, and nothing else.

    g(q) = H(q) - beta H(Tq) - lambda.q  on  {l <= q <= b, sum q = 1, L <= Tq <= U}.  For any a in R^S and numbers nu, tau, with
    phi_x(t) = h(t) + k_x t,  k_x = (T'a)_x - lambda_x - nu,  M_x = min(phi_x(l_x), phi_x(b_x)),
    Psi = -tau + sum_s min over [L_s, U_s] of (beta u log u - a_s u + tau u),  every such q has

        g(q) = B + sum_x (phi_x(q_x) - M_x) + (-beta H(Tq) - a.Tq - Psi),      B = nu + sum_x M_x + Psi,      every term after B >= 0.

So g >= B, and where g < floor, phi_x(q_x) - M_x <= floor - B for every x. The linear programme (`capped_relaxation`) proposes a; here every
number that closes or shrinks a cell is computed from T, lambda, a and the cell by these formulas alone, rounded outward: there is no faster
version of them that could differ. (a = beta log v, tau with v as the minimiser, Psi = 0 is the bound without caps, `boxes`.)
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common import EPS, total_of
from .relaxation import entropy, phi, slope_of_last


class Multipliers(NamedTuple):
    """What a relaxation proposes: a of the rows Tq = u, and the multipliers of sum q = 1 and of sum u = 1."""

    a: Array  # (m,)
    nu: Array  # (1,)
    tau: Array  # (1,)


@part
def add_rows(T: Array, a: Array, c: Array) -> None:
    """c + T'a, of the first rows, in place."""
    for x in range(c.size):
        for s in range(a.size):
            c[x] += T[x, s] * a[s]


@part
def target_share(a: float, tau: float, beta: float, low: float, high: float) -> float:
    """The u in [low, high] at which beta u log u - a u + tau u is least."""
    if beta > 0.0:
        return min(max(math.exp(min((a - tau) / beta - 1.0, 1.0)), low), high)
    return low if tau > a else high


@part
def target_multiplier(a: Array, beta: float, L: Array, U: Array) -> float:
    """A tau at which the shares of `target_share` sum to 1, about: the best one; any is valid."""
    m = a.size
    if not beta > 0.0:
        return -slope_of_last(-a, U - L, 1.0 - total_of(L))
    top = least = a[0]
    for s in range(1, m):
        top, least = max(top, a[s]), min(least, a[s])
    shares = 0.0
    for s in range(m):
        shares += math.exp((a[s] - top) / beta)
    low, high = least - 60.0 * beta, top + beta * (math.log(m) + 1.0)
    tau = top + beta * (math.log(shares) - 1.0)
    for _ in range(60):
        excess, slope = -1.0, 0.0
        for s in range(m):
            u = target_share(a[s], tau, beta, L[s], U[s])
            excess += u
            slope -= u / beta if L[s] < u < U[s] else 0.0
        if abs(excess) < 1e-13:
            break
        if excess > 0.0:
            low = max(low, tau)
        else:
            high = min(high, tau)
        newton = tau - excess / slope if slope < 0.0 else low
        following = newton if low < newton < high else 0.5 * (low + high)
        if following == tau:
            break
        tau = following
    return float(tau)


@part
def target_least(a: Array, tau: float, beta: float, L: Array, U: Array) -> float:
    """Psi, rounded downward."""
    total, size = -tau, abs(tau)
    for s in range(a.size):
        slope = tau - a[s]
        u = target_share(a[s], tau, beta, L[s], U[s])
        h = entropy(u)
        total += slope * u - beta * h
        size += (abs(tau) + abs(a[s])) * u + beta * h
        if beta > 0.0 and u > 0.0:
            # Convex in u: its tangent at u, wherever that is, lies below it on the whole range.
            steep = beta * (math.log(u) + 1.0) + slope
            fall = min(steep * (L[s] - u), steep * (U[s] - u), 0.0)
            total += fall
            size += abs(fall)
    return total - 4.0 * (a.size + 8) * EPS * size


@part
def filling_multiplier(c: Array, l: Array, b: Array) -> float:
    """The slope of the last letter when the cheapest are filled up to sum q = 1: the best nu; any is valid."""
    cost = np.empty(c.size)
    for x in range(c.size):
        cost[x] = c[x] if b[x] > 0.0 else np.inf
    return slope_of_last(cost, b - l, 1.0 - total_of(l))


@part
def cell_bound(
    T: Array,
    lam: Array,
    beta: float,
    error: float,
    L: Array,
    U: Array,
    l: Array,
    b: Array,
    multipliers: Multipliers,
    k: Array,
    M: Array,
) -> float:
    """B, rounded downward, with k_x and M_x."""
    n, m = T.shape
    nu = multipliers.nu[0]
    psi = target_least(multipliers.a, multipliers.tau[0], beta, L, U)
    total, size = nu + psi, abs(nu) + abs(psi)
    for x in range(n):
        k[x] = M[x] = 0.0
        if b[x] > 0.0:
            tangent = weight = 0.0
            for s in range(m):
                tangent += T[x, s] * multipliers.a[s]
                weight += T[x, s] * abs(multipliers.a[s])
            k[x] = (tangent - lam[x] - nu) - (3 * m + 16) * EPS * (weight + abs(lam[x]) + abs(nu))
            M[x] = min(phi(entropy(l[x]), k[x], l[x]), phi(entropy(b[x]), k[x], b[x]))
            total += M[x]
            size += abs(M[x])
    return float(total - (n + 8) * EPS * size - error)


@part
def is_empty(T: Array, L: Array, U: Array, l: Array, b: Array, a: Array) -> bool:
    """Whether a proves that no q of the box has L <= Tq <= U: (T'a).q > a.u for all of both."""
    n, m = T.shape
    c, size = np.zeros(n), 0.0
    add_rows(T, a, c)
    for s in range(m):
        size += abs(a[s])
    nu = filling_multiplier(c, l, b)
    tau = target_multiplier(a, 0.0, L, U)
    total = nu + target_least(a, tau, 0.0, L, U)
    for x in range(n):
        if b[x] > 0.0:
            total += min((c[x] - nu) * l[x], (c[x] - nu) * b[x])
    return bool(total > 8.0 * (n + m + 8) * EPS * (size + abs(nu) + abs(tau)) * (1.0 + total_of(b)))


@part
def shrunk_by_rows(T: Array, L: Array, U: Array, l: Array, b: Array) -> bool:
    """Lower the upper ends by L <= Tq <= U, in place; False if nothing is left.

    What a letter holds beyond its lower end is missing elsewhere: (Tq)_s >= sum T l + t T_xs + (1 - sum l - t) min T.
    """
    n, m = T.shape
    slack = 4.0 * (n + 8) * EPS
    rest = 1.0 - total_of(l)
    for s in range(m):
        held, least, most = 0.0, np.inf, -np.inf
        for x in range(n):
            held += T[x, s] * l[x]
            if b[x] > l[x]:
                least, most = min(least, T[x, s]), max(most, T[x, s])
        if least > most:
            least = most = 0.0
        low, high = held + rest * least, held + rest * most
        if low > U[s] + slack or high < L[s] - slack:
            return False
        for x in range(n):
            if b[x] > l[x]:
                # Differences of T below 1e-6 are too inexact to divide by; others are exact to 1e-9.
                above, below = T[x, s] - least, most - T[x, s]
                if above > 1e-6:
                    b[x] = min(b[x], l[x] + max(U[s] - low + slack, 0.0) / above * (1.0 + 1e-9) + slack)
                if below > 1e-6:
                    b[x] = min(b[x], l[x] + max(high - L[s] + slack, 0.0) / below * (1.0 + 1e-9) + slack)
    return True

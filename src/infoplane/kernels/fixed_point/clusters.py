"""Clusters that a run does not need, and those that it lacks.

Not needed are those without mass and, of a bottleneck, those that are all but equal. Merging z and z' loses
(q(z) + q(z')) JS[p(y|z), p(y|z')] nats of I(Y;Z), of which the second-order term is used here. Clusters that will end up equal, or empty,
approach that along a direction in which the map has slope 1: iterations converge slowly there, and every extrapolation is ill-conditioned.

A stationary bottleneck is no minimum if some cluster gains by splitting. Where rho sums to 0, L is a constant plus sum_z p(z) f(q_z),
f(q) = rho_zy H(Tq) + rho_zx H(q), q_z = p(x|z). Splitting z into halves with posteriors q_x (1 +- e s_x), sum q s = 0, and so with
u_y (1 +- e g_y) for their p(y|z), g_y = E[s(X) | y, z], changes f by

    -rho_zx sum_x q_x phi(e s_x) - rho_zy sum_y u_y phi(e g_y),   phi(t) = ((1+t) log(1+t) + (1-t) log(1-t)) / 2 = t^2/2 + ...

so for small e it pays exactly if rho_zy lambda > -rho_zx, lambda = sum u g^2 / sum q s^2 at its largest: the squared maximal
correlation of X and Y inside the cluster, the second eigenvalue of C[y, y'] = sum_x q_x p(y|x) p(y'|x) / sqrt(u_y u_y').
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined, part
from ..common import Flags, mark_dead, move_up, move_up_blocks, regrouped
from .selfmap import ChannelBlocks

CHEAP = 1e-6  # nats up to which a merge, and mass up to which leaving out a shrinking cluster, is tried
EQUAL = 1e-12  # nats that a merge costs if its clusters differ by rounding only


@inlined
def without_dead(q: Array, W: Array, L: Array, keep: Flags) -> int:
    """Move the clusters that have mass to the front of q, W and L, in place; returns how many there are. ``keep`` is scratch."""
    n, dead = q.shape[0], mark_dead(q, keep)
    if dead > 0:
        move_up(q, keep[:n])
        move_up_blocks(W, keep[:n])
        move_up_blocks(L, keep[:n])
    return n - dead


@regrouped
def _merge_cost(q: Array, z: int, other: int, mass: float, other_mass: float) -> float:
    """(m m' / 2) sum_y (p(y|z) - p(y|z'))^2 / (q(z,y) + q(z',y)): the second-order term of the loss of I(Y;Z)."""
    total = 0.0
    for y in range(q.shape[1]):
        both = q[z, y] + q[other, y]
        gap = q[z, y] * other_mass - q[other, y] * mass
        total += gap * gap / both if both > 0.0 else 0.0
    return 0.5 * total / (mass * other_mass)


@part
def reduce(q: Array, q_old: Array, cheap: float, keep: Flags) -> int:
    """Merge pairs of rows of q that cost less than ``cheap``, in place, and drop shrinking clusters with less mass than that.

    Marks the rows that stay, and returns how many there are.
    """
    n = q.shape[0]
    mass, mass_old = np.zeros(n), np.zeros(n)
    for z in range(n):
        keep[z] = True
        for y in range(q.shape[1]):
            mass[z] += q[z, y]
            mass_old[z] += q_old[z, y]
    stay = n
    for z in range(n):
        if mass[z] < cheap and mass[z] < mass_old[z] and stay > 1:
            keep[z] = False
            stay -= 1
    for z in range(n):  # a small cluster that grows would cost little to merge, but is on its way to become a large one
        for other in range(z if mass[z] >= cheap else 0):
            if (
                keep[z]
                and keep[other]
                and mass[other] >= cheap
                and _merge_cost(q, z, other, mass[z], mass[other]) < cheap
            ):
                for y in range(q.shape[1]):
                    q[other, y] += q[z, y]
                mass[other] += mass[z]
                keep[z] = False
                stay -= 1
    return stay


ROUNDED_VARIANCE = 1e-12  # variance of s(X) for a g(Y) of variance 1 that may come from rounding


@regrouped
def _averages(channel: ChannelBlocks, w: Array, s: Array, g: Array) -> None:
    """Fill g_y = sum_x p(x, y) w_x s_x, over blocks."""
    for y in range(g.size):
        g[y] = 0.0
    if channel.letters.shape[0] > 0:
        for x in range(channel.rows.shape[0] - 1):
            c, i = x // w.shape[1], x % w.shape[1]
            mass = channel.p_x[c, i] * w[c, i] * s[c, i]
            for k in range(channel.rows[x], channel.rows[x + 1]):
                g[channel.letters[k]] += mass * channel.shares[k]
        return
    for c in range(w.shape[0]):
        t, p, w_c, s_c = channel.T[c], channel.p_x[c], w[c], s[c]
        for y in range(g.size):
            total = 0.0
            for i in range(p.size):
                total += p[i] * w_c[i] * s_c[i] * t[y, i]
            g[y] += total


@regrouped
def _expectations(channel: ChannelBlocks, g: Array, s: Array) -> None:
    """Fill s_x = sum_y p(y|x) g_y."""
    if channel.letters.shape[0] > 0:
        for x in range(channel.rows.shape[0] - 1):
            total = 0.0
            for k in range(channel.rows[x], channel.rows[x + 1]):
                total += channel.shares[k] * g[channel.letters[k]]
            s[x // s.shape[1], x % s.shape[1]] = total
        return
    for c in range(s.shape[0]):
        t, s_c = channel.T[c], s[c]
        for i in range(s_c.size):
            s_c[i] = 0.0
        for y in range(g.size):
            for i in range(s_c.size):
                s_c[i] += g[y] * t[y, i]


@part
def _phi(t: float) -> float:
    """((1+t) log(1+t) + (1-t) log(1-t)) / 2 for |t| < 1."""
    if abs(t) < 1e-3:
        return t * t * (0.5 + t * t / 12.0)
    return 0.5 * ((1.0 + t) * math.log1p(t) + (1.0 - t) * math.log1p(-t))


@regrouped
def _products(channel: ChannelBlocks, w: Array, C: Array) -> None:
    """Fill C[y, y'] = sum_x p(x) w_x p(y|x) p(y'|x)."""
    scaled = np.empty(w.shape[1])
    for y in range(C.shape[0]):
        for other in range(y + 1):
            C[y, other] = 0.0
    for c in range(w.shape[0]):
        t, p, w_c = channel.T[c], channel.p_x[c], w[c]
        for y in range(C.shape[0]):
            for i in range(p.size):
                scaled[i] = p[i] * w_c[i] * t[y, i]
            for other in range(y + 1):
                total = 0.0
                for i in range(p.size):
                    total += scaled[i] * t[other, i]
                C[y, other] += total
    for y in range(C.shape[0]):
        for other in range(y):
            C[other, y] = C[y, other]


@inlined
def _standardise(q: Array, mass: float, g: Array) -> bool:
    """Give g(Y) mean 0 and variance 1 in a cluster of that mass; False if it is constant."""
    mean, square = 0.0, 0.0
    for y in range(q.size):
        mean += q[y] * g[y] / mass
    for y in range(q.size):
        g[y] -= mean
        square += q[y] * g[y] * g[y] / mass
    if not square > 0.0:
        return False
    scale = 1.0 / math.sqrt(square)
    for y in range(q.size):
        g[y] *= scale
    return True


@inlined
def _apply(C: Array, g: Array, h: Array) -> None:
    """Fill h = C g."""
    for y in range(g.size):
        h[y] = 0.0
        for other in range(g.size):
            h[y] += C[y, other] * g[other]


@inlined
def _variances(q: Array, mass: float, g: Array, h: Array) -> tuple[float, float]:
    """Of s(X) = E[g(Y) | x] and of E[s(X) | y], which goes over h, from h_y = q_y E[s | y]: sum_x q_x s_x^2 = sum_y g_y h_y."""
    spread, rise = 0.0, 0.0
    for y in range(q.size):
        spread += g[y] * h[y] / mass
        h[y] = h[y] / q[y] if q[y] > 0.0 else 0.0
        rise += q[y] * h[y] * h[y] / mass
    return spread, rise


@inlined
def _rests(now: float, before: float, wanted: float, patient: bool) -> bool:
    """Whether the power iteration would not get to what is wanted, since it rises ever more slowly.

    Unless it began all but orthogonal to the eigenvector, and rests on the way: where steps are cheap it is ``patient``.
    """
    # In the 30 steps that there are at most; the power iteration errs towards "stable" only.
    return abs(now - before) <= ROUNDED_VARIANCE * now if patient else 30 * (now - before) < wanted - now


@part
def _direction(channel: ChannelBlocks, w: Array, q: Array, wanted: float, C: Array, s: Array, g: Array) -> bool:
    """Fill s and g of a split with lambda > wanted, by power iteration; q = q(z, .), w = W[z, .]. False if none was found.

    For small |Y| C is made once, and the sum of all its eigenvalues but the first, which is 1, may already rule a split out.
    """
    n_y, h, mass, eigenvalues, before = q.size, np.empty(q.size), 0.0, 0.0, 0.0
    for y in range(n_y):
        g[y] = math.cos(1.7 * y)  # any vector that clusters are not orthogonal to by construction
        mass += q[y]
    if C.size > 0:
        _products(channel, w, C)
        for y in range(n_y):
            eigenvalues += C[y, y] / q[y] if q[y] > 0.0 else 0.0
        if eigenvalues - 1.0 <= wanted:
            return False
    # Where C is made a step costs next to nothing.
    for _ in range(300 if C.size > 0 else 30):
        if not _standardise(q, mass, g):
            return False
        if C.size > 0:
            _apply(C, g, h)
        else:
            _expectations(channel, g, s)
            _averages(channel, w, s, h)
        spread, rise = _variances(q, mass, g, h)
        if spread < ROUNDED_VARIANCE:  # given z, nothing of g is left in s
            return False
        now = rise / spread  # at most lambda, and rises to it
        found = now > wanted * (1.0 + 1e-6)  # a smaller excess may be rounding
        if found:
            _expectations(channel, g, s)
        for y in range(n_y):
            g[y] = h[y]
        if found or _rests(now, before, wanted, C.size > 0):
            return found
        before = now
    return False


@part
def _length(channel: ChannelBlocks, w: Array, q: Array, rho: Array, s: Array, g: Array) -> tuple[float, float]:
    """The e in 0.9 / max |s| times 1, 1/2, 1/4, ... at which the split gains most, and the gain in nats."""
    far = 0.0
    for c in range(s.shape[0]):
        for i in range(s.shape[1]):
            if channel.p_x[c, i] > 0.0 and w[c, i] > 0.0:
                far = max(far, abs(s[c, i]))
    best, best_gain, e = 0.0, 0.0, 0.9 / far
    for _ in range(12):
        gain = 0.0
        for c in range(s.shape[0]):
            for i in range(s.shape[1]):
                if channel.p_x[c, i] > 0.0 and w[c, i] > 0.0:
                    gain += rho[1] * channel.p_x[c, i] * w[c, i] * _phi(e * s[c, i])
        for y in range(q.size):
            if q[y] > 0.0:
                gain += rho[2] * q[y] * _phi(e * g[y])
        if gain > best_gain:
            best, best_gain = e, gain
        elif best_gain > 0.0:
            break
        e *= 0.5
    return best, best_gain


@part
def split_clusters(channel: ChannelBlocks, W: Array, q: Array, rho: Array, out: Array) -> int:
    """Fill out with q(z, y), every cluster whose split lowers L in two halves while there are rows; returns the number of rows."""
    n, n_y = q.shape
    s, w, g = np.empty(channel.p_x.shape), np.empty(channel.p_x.shape), np.empty(n_y)
    small = channel.letters.shape[0] == 0 and n_y <= 24  # then C is made
    C = np.empty((n_y, n_y) if small else (0, 0))
    wanted, rows = -rho[1] / rho[2] if rho[2] > 0.0 else np.inf, n
    for z in range(n):
        for c in range(w.shape[0]):
            for i in range(w.shape[1]):
                w[c, i] = W[c, z, i]
        for y in range(n_y):
            out[z, y] = q[z, y]
        if rows == out.shape[0] or not _direction(channel, w, q[z], wanted, C, s, g):
            continue
        e, gain = _length(channel, w, q[z], rho, s, g)
        if gain > 1e-10:  # nats: what is less is ignored
            for y in range(n_y):
                out[z, y] = 0.5 * q[z, y] * (1.0 + e * g[y])
                out[rows, y] = 0.5 * q[z, y] * (1.0 - e * g[y])
            rows += 1
    return rows

"""The map whose fixed points are the stationary encoders, on blocks of letters x that stay in the cache; and when a run of it has ended.

score[z, x] = on_W log W[z, x] + sum_y A[z, y] p(y|x),   A[z, y] = (rho_z log q(z) + rho_zy log q(z, y)) / k
W'[z, x] = exp(score) / sum_z exp(score),                q'(z, y) = sum_x W'[z, x] p(x, y)

k is `MarkovLagrangian.width` and on_W = 1 + rho_zx / k: the same map as `splitting.measure.fixed_point`. For the bottleneck on_W = 0 and
k = gamma, so that q(z, y) determines the next encoder: one exponential for each (z, x), logarithms for (z, y) only.
Joints lie in blocks of letters x, (blocks, |Y|, BLOCK), padded with zeros at the end: loops over x are long and free of offsets, which
the compiler needs to vectorise them, and no table of the encoder's size is made on the way.

Points of a run are q(z, y), or its logarithm u, flat: (z, y) in one row, so that loops over them are long enough to vectorise.

A run has ended at max |W - map(W)| <= tol, for the encoder W that is returned. W itself is not needed to go on where the map depends on
q(z, y) alone, and to write it down at every iteration would cost as much as the map. So a run watches max |q' - q| / p(y), which is at most
max |W' - W| since q = W P, and writes W down once that is small. Its `check` is

=========  ===========================================  ===================================================================
check      what the next evaluation does with W         what follows
=========  ===========================================  ===================================================================
FAR        nothing (or writes it, where that is free)   WRITING once the lower bound is within tol (COMPARING if W has been
                                                        written already), else FAR
WRITING    writes map(W) there                          COMPARING
COMPARING  measures max |W - map(W)| and leaves W       the run is STATIONARY if that is within tol, else as after FAR
=========  ===========================================  ===================================================================

So whoever looks at runs on their way asks `measure_encoders` for W and its residual, which changes nothing that a run goes on from. A
check says how: FAR, a run is not looked at; COMPARING, W is up to date, and compared; WRITING, W becomes the map of its point first.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import (
    LOG_TINY,
    STATIONARY,
    TINY,
    Flags,
    Integers,
    copy_rows,
    exp,
    fetch,
    floored_log,
    log,
    regrouped,
)

BLOCK = 256
"""Most letters x in a block: 50 clusters fill 100 kB of the second-level cache, ten letters y 20 kB of the first."""

BLAS_BLOCK, BLAS_CLUSTERS = 512, 16
"""Most letters x in a block for BLAS, and the fewest clusters for which it multiplies faster than the loops here."""

KEEP, COMPARE = 1, 2
"""What `evaluate` does with W: write the new encoder there, measure how far it is from the one there; or both; or neither (0)."""


class ChannelBlocks(NamedTuple):
    """p(y|x) and p(x), on letters of positive mass; |Y| is padded to a multiple of 4."""

    T: Array  # (blocks, |Y|, BLOCK)  p(y|x); (0, |Y|, BLOCK) if sparse
    p_x: Array  # (blocks, BLOCK)
    p_y: Array  # (|Y|,)              1 where padded
    n_y: int  # |Y| without the padding
    rows: Integers  # (|X| + 1,)      where each letter's entries begin, if sparse; else (1,)
    letters: Integers  # (entries,)   y
    shares: Array  # (entries,)       p(y|x)
    blas: bool  # are there letters enough for BLAS to multiply faster than loops?


class MapSetting(NamedTuple):
    """What a batch is to do; runs may differ in rho."""

    rho: Array  # (R, 3)   rho_z, rho_zx, rho_zy
    width: Array  # (R,)   k
    h_y: float  # H(Y)
    tol: float  # max |W - map(W)| must be at most this
    stop: Integers  # (1,)  not 0 once the caller wants what there is; looked at before every run


class Scratch(NamedTuple):
    """Scratch arrays for one run's tables and one block of letters, for as many clusters as there are at the beginning."""

    tables: Array  # (3, |Z|, |Y|)    q, q' and A
    keep: Flags  # (|Z|,)
    S: Array  # (|Z|, BLOCK)
    top: Array  # (BLOCK,)
    total: Array  # (BLOCK,)
    mass: Array  # (|Z|,)
    part_q: Array  # (|Z|, |Y|)
    A_yz: Array  # (|Y|, |Z|) if sparse
    q_yz: Array  # (|Y|, |Z|) if sparse


@part
def work_for(channel: ChannelBlocks, clusters: int) -> Scratch:
    """Scratch arrays for this number of clusters."""
    n_y, width = channel.p_y.shape[0], channel.p_x.shape[1]
    sparse = n_y if channel.letters.shape[0] > 0 else 0
    return Scratch(
        np.empty((3, clusters, n_y)),
        np.empty(clusters, dtype=np.bool_),
        np.empty((clusters, width)),
        np.empty(width),
        np.empty(width),
        np.empty(clusters),
        np.empty((clusters, n_y)),
        np.empty((sparse, clusters)),
        np.empty((sparse, clusters)),
    )


@regrouped
def _scores(A: Array, t: Array, S: Array, blas: bool) -> None:
    """Fill S = A t, two clusters and four letters y at a time, so that a number once loaded is used more than once."""
    if blas:
        np.dot(A, t, S)
        return
    n_z = A.shape[0]
    for z in range(0, n_z, 2):
        w = z + 1 if z + 1 < n_z else z
        a, b, c, d = A[z, 0], A[z, 1], A[z, 2], A[z, 3]
        e, f, g, h = A[w, 0], A[w, 1], A[w, 2], A[w, 3]
        for i in range(S.shape[1]):
            S[z, i] = (a * t[0, i] + b * t[1, i]) + (c * t[2, i] + d * t[3, i])
            S[w, i] = (e * t[0, i] + f * t[1, i]) + (g * t[2, i] + h * t[3, i])
        for y in range(4, A.shape[1], 4):
            a, b, c, d = A[z, y], A[z, y + 1], A[z, y + 2], A[z, y + 3]
            e, f, g, h = A[w, y], A[w, y + 1], A[w, y + 2], A[w, y + 3]
            for i in range(S.shape[1]):
                left, right = S[z, i], S[w, i]
                S[z, i] = left + ((a * t[y, i] + b * t[y + 1, i]) + (c * t[y + 2, i] + d * t[y + 3, i]))
                S[w, i] = right + ((e * t[y, i] + f * t[y + 1, i]) + (g * t[y + 2, i] + h * t[y + 3, i]))


@regrouped
def _add_marginals(S: Array, t: Array, q: Array, part_q: Array, blas: bool) -> None:
    """Add S t' to q, two clusters and four letters y at a time."""
    n_z = S.shape[0]
    if blas:
        np.dot(S, t.T, part_q)
        for z in range(n_z):
            for y in range(q.shape[1]):
                q[z, y] += part_q[z, y]
        return
    for z in range(0, n_z, 2):
        w = z + 1 if z + 1 < n_z else z
        for y in range(0, q.shape[1], 4):
            a = b = c = d = e = f = g = h = 0.0
            for i in range(S.shape[1]):
                left, right = S[z, i], S[w, i]
                a += left * t[y, i]
                b += left * t[y + 1, i]
                c += left * t[y + 2, i]
                d += left * t[y + 3, i]
                e += right * t[y, i]
                f += right * t[y + 1, i]
                g += right * t[y + 2, i]
                h += right * t[y + 3, i]
            q[z, y] += a
            q[z, y + 1] += b
            q[z, y + 2] += c
            q[z, y + 3] += d
            if w > z:
                q[w, y] += e
                q[w, y + 1] += f
                q[w, y + 2] += g
                q[w, y + 3] += h


@regrouped
def conditional_entropy(A: Array, q: Array, on_W: float, value: float, inner: float) -> float:
    """H(Z|X) of W', from q' and what `evaluate` returned.

    With on_W = 0, log W' = score - log sum exp(score), and sum_x p(x) W' score = sum_zy A q'.
    """
    if on_W != 0.0:
        return -inner
    for z in range(A.shape[0]):
        for y in range(A.shape[1]):
            value -= A[z, y] * q[z, y]
    return value


@part
def lagrangian_of(q: Array, rho: Array, h_zx: float, h_y: float) -> float:
    """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) from q(z, y), H(Z|X) and H(Y)."""
    value: float = rho[1] * h_zx - rho[2] * h_y
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
            value -= rho[2] * q[z, y] * floored_log(q[z, y])
        value -= rho[0] * mass * floored_log(mass)
    return value


@inlined
def _hand_over(S: Array, total: Array, W: Array, c: int, mode: int) -> float:
    """What `mode` says, with W' = S total and block c of W; returns max |W' - W|, 0 unless compared."""
    far = 0.0
    for z in range(S.shape[0]):
        if mode & COMPARE:
            for i in range(S.shape[1]):
                far = max(far, abs(S[z, i] * total[i] - W[c, z, i]))
        if mode & KEEP:
            for i in range(S.shape[1]):
                W[c, z, i] = S[z, i] * total[i]
    return far


@regrouped
def _normalise(
    S: Array, p_x: Array, on_W: float, L: Array, L_new: Array, W: Array, c: int, mode: int, top: Array, total: Array
) -> tuple[float, float, float]:
    """Make p(x) W' of the scores S of block c, but for on_W L; returns what its letters x contribute to each result of `evaluate`.

    Arrays are passed one by one: a tuple of them would be taken apart, and each reference counted, at every call.
    """
    n_z, width = S.shape
    value, inner, far = 0.0, 0.0, 0.0
    if on_W != 0.0:
        for z in range(n_z):
            for i in range(width):
                S[z, i] += on_W * L[c, z, i]
        copy_rows(S, L_new[c])
    for i in range(width):
        top[i], total[i] = S[0, i], 0.0
    for z in range(1, n_z, 2):  # two clusters at a time, so that what letters share is loaded half as often
        w = min(z + 1, n_z - 1)
        for i in range(width):
            top[i] = max(top[i], max(S[z, i], S[w, i]))
    for z in range(0, n_z - 1, 2):
        for i in range(width):
            S[z, i], S[z + 1, i] = exp(S[z, i] - top[i]), exp(S[z + 1, i] - top[i])
            total[i] += S[z, i] + S[z + 1, i]
    for z in range(n_z - n_z % 2, n_z):
        for i in range(width):
            S[z, i] = exp(S[z, i] - top[i])
            total[i] += S[z, i]
    for i in range(width):
        top[i] += log(total[i])
        value += p_x[i] * top[i]
        total[i] = 1.0 / total[i] if p_x[i] > 0.0 else 0.0  # W = 0 on padding
    if mode != 0:
        far = _hand_over(S, total, W, c, mode)
    for i in range(width):
        total[i] *= p_x[i]
    for z in range(n_z):
        for i in range(width):
            S[z, i] *= total[i]
    if on_W != 0.0:
        for z in range(n_z):
            for i in range(width):
                L_new[c, z, i] = max(L_new[c, z, i] - top[i], LOG_TINY)
                inner += S[z, i] * L_new[c, z, i]
    return value, inner, far


@part
def clear(table: Array) -> None:
    """Fill a table with 0."""
    for z in range(table.shape[0]):
        for y in range(table.shape[1]):
            table[z, y] = 0.0


@part
def turn(table: Array, out: Array) -> None:
    """Fill out with the transpose of a table; either may have more clusters than the other."""
    for row in range(min(table.shape[0], out.shape[1])):
        for column in range(min(table.shape[1], out.shape[0])):
            out[column, row] = table[row, column]


@regrouped
def _sparse_scores(channel: ChannelBlocks, c: int, A_yz: Array, S: Array) -> None:
    """`_scores` of block c, one letter x at a time over the letters y that it meets; loops run over z."""
    s, width = np.empty(S.shape[0]), S.shape[1]
    for x in range(c * width, min((c + 1) * width, channel.rows.shape[0] - 1)):
        for z in range(s.size):
            s[z] = 0.0
        for k in range(channel.rows[x], channel.rows[x + 1]):
            a, share = A_yz[channel.letters[k]], channel.shares[k]
            for z in range(s.size):
                s[z] += share * a[z]
        for z in range(s.size):
            S[z, x - c * width] = s[z]


@regrouped
def _add_sparse_marginals(channel: ChannelBlocks, c: int, S: Array, q_yz: Array) -> None:
    """`_add_marginals` of block c, to q' with y first."""
    s, width = np.empty(S.shape[0]), S.shape[1]
    for x in range(c * width, min((c + 1) * width, channel.rows.shape[0] - 1)):
        for z in range(s.size):
            s[z] = S[z, x - c * width]
        for k in range(channel.rows[x], channel.rows[x + 1]):
            m, share = q_yz[channel.letters[k]], channel.shares[k]
            for z in range(s.size):
                m[z] += share * s[z]


@inlined
def evaluate(
    channel: ChannelBlocks, A: Array, on_W: float, L: Array, L_new: Array, W: Array, mode: int, q: Array, work: Scratch
) -> tuple[float, float, float]:
    """One evaluation of the map: fills q with q'(z, y), L_new with log W' (if on_W is not 0), and W as `mode` says.

    Returns sum_x p(x) log sum_z exp(score); sum p(x) W' log W' (0 if on_W is); and max |W' - W| (0 unless compared).
    """
    sparse, blas = channel.letters.shape[0] > 0, channel.blas and A.shape[0] >= BLAS_CLUSTERS
    S, part_q, A_yz, q_yz = work.S[: A.shape[0]], work.part_q[: A.shape[0]], work.A_yz, work.q_yz
    sum_value, sum_inner, farthest = 0.0, 0.0, 0.0
    clear(q)
    if sparse:
        turn(A, A_yz)
        clear(q_yz)
    for c in range(channel.p_x.shape[0]):
        if sparse:
            _sparse_scores(channel, c, A_yz, S)
        else:
            _scores(A, channel.T[c], S, blas)
        value, inner, far = _normalise(S, channel.p_x[c], on_W, L, L_new, W, c, mode, work.top, work.total)
        if sparse:
            _add_sparse_marginals(channel, c, S, q_yz)
        else:
            _add_marginals(S, channel.T[c], q, part_q, blas)
        sum_value += value
        sum_inner += inner
        farthest = max(farthest, far)
    if sparse:
        turn(q_yz, q)
    return sum_value, sum_inner, farthest


@regrouped
def slope_times(channel: ChannelBlocks, W: Array, C: Array, q: Array, out: Array, work: Scratch) -> None:
    """Fill out_zy = sum_x p(x, y) W[z, x] (s[z, x] - sum_z W s) / q(z, y), s = C p(y|x): how log q' moves if A moves by C; dense only."""
    S, mean, blas = work.S[: C.shape[0]], work.top, channel.blas and C.shape[0] >= BLAS_CLUSTERS
    clear(out)
    for c in range(channel.p_x.shape[0]):
        w, p_x = W[c], channel.p_x[c]
        _scores(C, channel.T[c], S, blas)
        for i in range(mean.size):
            mean[i] = 0.0
        for z in range(S.shape[0]):
            for i in range(mean.size):
                mean[i] += w[z, i] * S[z, i]
        for z in range(S.shape[0]):
            for i in range(mean.size):
                S[z, i] = p_x[i] * w[z, i] * (S[z, i] - mean[i])
        _add_marginals(S, channel.T[c], out, work.part_q, blas)
    for z in range(out.shape[0]):
        for y in range(out.shape[1]):
            out[z, y] /= max(q[z, y], TINY)


@regrouped
def weights_of(q: Array, rho: Array, width: float, A: Array, mass: Array) -> tuple[float, float]:
    """Fill A = (rho_z log q(z) + rho_zy log q(z, y)) / width from q(z, y); returns H(Z) and H(Z, Y). ``mass`` is scratch, (|Z|,)."""
    h_z, h_zy = 0.0, 0.0
    q_flat, A_flat = q.ravel(), A.ravel()
    for i in range(q_flat.size):
        A_flat[i] = floored_log(q_flat[i])
        h_zy -= q_flat[i] * A_flat[i]
    for z in range(q.shape[0]):
        mass[z] = 0.0
        for y in range(q.shape[1]):
            mass[z] += q[z, y]
    on_z, on_zy = rho[0] / width, rho[2] / width
    for z in range(q.shape[0]):
        log_mass = floored_log(mass[z])
        h_z -= mass[z] * log_mass
        # The floor would give a cluster without mass a decoder of 1 for every y, which is better than any: no letter goes there.
        mass[z] = on_z * log_mass if log_mass > LOG_TINY else -1e200
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            A[z, y] = mass[z] + on_zy * A[z, y]
    return h_z, h_zy


@regrouped
def weights_of_logs(u: Array, rho: Array, width: float, q: Array, q_flat: Array, A: Array, A_flat: Array) -> None:
    """Fill q = exp(u) and A = (rho_z log q(z) + rho_zy u) / width; u is flat, the others come as tables and flat."""
    on_z, on_zy = rho[0] / width, rho[2] / width
    for i in range(u.size):
        q_flat[i] = exp(u[i])
        A_flat[i] = on_zy * u[i]
    for z in range(q.shape[0]):
        mass = 0.0
        for y in range(q.shape[1]):
            mass += q[z, y]
        shift = on_z * floored_log(mass)
        for y in range(q.shape[1]):
            A[z, y] += shift


@regrouped
def displacement(q_new: Array, u: Array, q: Array, f: Array) -> float:
    """Fill f = log q' - u; returns the root of sum q f^2. All are flat."""
    total = 0.0
    for i in range(u.size):
        f[i] = floored_log(q_new[i]) - u[i]
    for i in range(u.size):
        total += q[i] * f[i] * f[i]
    return math.sqrt(total)


@part
def add(u: Array, f: Array, size: int, out: Array) -> None:
    """Fill the first ``size`` entries of out with u + f."""
    for i in range(size):
        out[i] = u[i] + f[i]


@part
def copy(u: Array, size: int, out: Array) -> None:
    """Fill the first ``size`` entries of out with those of u."""
    for i in range(size):
        out[i] = u[i]


@part
def logs_of_kept(q: Array, keep: Flags, out: Array) -> int:
    """Put log q of the marked rows, rescaled to total mass 1, at the front of out, which is flat; returns how many rows."""
    row, total = 0, 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            total += q[z, y] if keep[z] else 0.0
    for z in range(q.shape[0]):
        if keep[z]:
            for y in range(q.shape[1]):
                out[row * q.shape[1] + y] = floored_log(q[z, y] / total)
            row += 1
    return row


FAR, WRITING, COMPARING = range(3)


@regrouped
def lowest_residual(q_new: Array, q: Array, p_y: Array) -> float:
    """Max |q' - q| / p(y), which is at most max |W' - W|."""
    far = 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            far = max(far, abs(q_new[z, y] - q[z, y]) / p_y[y])
    return far


@inlined
def ended(outcome: Integers, residuals: Array, r: int, far: float, tol: float) -> bool:
    """Note that W of run r was compared, max |W - map(W)| = far; returns whether the run has ended there."""
    residuals[r, 2] = far
    if far <= tol:
        outcome[r] = STATIONARY
    return far <= tol


@entry
def measure_encoders(
    channel: ChannelBlocks, setting: MapSetting, check: Integers, alive: Integers, q: Array, u: Array, L: Array, W: Array,
    residuals: Array,
) -> None:  # fmt: skip
    """Fill W, (R, blocks, |Z|, BLOCK), and the last column of the residuals. One entry for all maps: it compiles for seconds.

    The point of a run is q(z, y), (R, |Z|, |Y|), or its logarithm u, (R, |Z| |Y|), if u is not (R, 0); with L = log W, as W, if the map
    needs it, else (R, 0, 0, 0).
    """
    for r in range(check.size):
        if check[r] == FAR:
            continue
        rho, width, n, logs = setting.rho[r], setting.width[r], alive[r], L[r].copy()
        size, work = n * channel.p_y.size if u.shape[1] > 0 else 0, work_for(channel, n)
        here, there, A, point, f = work.tables[0], work.tables[1], work.tables[2], np.empty(size), np.empty(size)
        if size > 0:
            copy(u[r], size, point)
        else:
            fetch(q, r, here)
        for now in range(check[r], COMPARING + 1):
            if size > 0:
                weights_of_logs(point, rho, width, here, here.ravel(), A, A.ravel())
            else:
                weights_of(here, rho, width, A, work.mass)
            mode = KEEP if now == WRITING else COMPARE
            _, _, far = evaluate(channel, A, 1.0 + rho[1] / width, logs, logs, W[r], mode, there, work)
            residuals[r, 2] = far
            if size > 0:
                displacement(there.ravel(), point, here.ravel(), f)
                add(point, f, size, point)
            else:
                here, there = there, here

"""The funnel's clusters by column generation, without a proof: where |X| is large, what finds |Z| and the clusters themselves.

    min sum_k w_k f(q_k)   subject to  sum_k w_k q_k = p_x,  w >= 0,        f(q) = rho_zx H(q) + rho_zy H(Tq)

over the posteriors q_k met so far, sparse: a good cluster of a funnel holds few letters. The programme's multipliers lambda say which
cluster is missing, one with g(q) = f(q) - lambda.q < 0. Minima of g are descended to by

    q_x <- q_x^b exp((lambda_x - beta sum_y p(y|x) log u_y) / (beta - 1)) / normaliser,   u = Tq,  b = beta / (beta - 1),

which never raises g (`kernels/concentration.py`), from clusters in use and from around single letters; then, as from pairs of clusters in
use, on the few letters left by Newton's method. Multipliers of a degenerate programme are far from those of its neighbours: the encoder's
own (`own_multipliers`), and the mean of both, are tried too. All of it is bounded by work, not by time: |X| times columns, and operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csc_array

from ...errors import InfoplaneError
from ...information import Array, IntArray, entr
from ...kernels.concentration import concentrate
from ...posterior.form import scaled
from ...posterior.programme import Channel, Method, shares, solved
from ..job import Job


class ColumnEffort(NamedTuple):
    """How long clusters are looked for, set by the funnels of `benchmarks/portfolio.py`."""

    rounds: int = 24
    """Most times that clusters are added."""
    descent_work: int = 8_000_000_000
    """Operations of all descents, after which no clusters are added: some ten seconds. Only where |Y| is large are there so many."""
    newton_steps: int = 10
    """That a descent takes, about: for the measure of its work."""
    programme_work: int = 150_000_000
    """Letters times columns, added up over the programmes of all rounds: some tens of seconds."""
    beginnings_work: int = 24_000_000
    """Operations of one step from all posteriors of one kind of beginning: letters times (outcomes + 20) for each."""
    steps: int = 30
    """Of the map that never raises g."""
    few: int = 25
    """Letters that Newton's method takes; posteriors on more are left out."""
    negligible: float = 1e-6
    """Mass of a letter that is left out of a posterior."""
    gain: float = 1e-7
    """Nats by which g must be below 0, and the loss must fall in a round that is followed by another."""
    kept: int = 6
    """Columns kept from round to round, for every letter: those in use, then those of least g."""
    large_beta: float = 100.0
    """Up to this beta HiGHS's usual tolerance is fine enough; above, what it leaves, times beta, would be more than `gain`."""
    grown: int = 300
    """Letters times rank(T) up to which, at a larger beta than that, posteriors are also grown, letter by letter: minima of g are
    narrow there."""
    interior: int = 1_500
    """Letters from which on interior points come first: on 2,000 x 20 letters the simplex method took five times as long, or
    cycled."""
    largest_multiplier: float = 1e6
    """Multipliers, in nats, are no larger than this, or 10,000 beta: that of a letter whose mass is below HiGHS's accuracy could be
    anything."""


GENERATION = ColumnEffort()


ROUGHLY: tuple[tuple[Method, float], ...] = (("highs", 1e-7), ("highs-ipm", 1e-7))
"""HiGHS as it comes; should its simplex method cycle, by interior points."""


class Pool:
    """Posteriors as sparse columns, each with its f."""

    def __init__(self, job: Job) -> None:
        support = self.support = job.support
        self.budget = job.budget
        self.scale, self.beta = scaled(job.problem)
        self.T: Array = support.T
        self.Q: csc_array = csc_array((len(support.p_x), 0))
        self.f: Array = np.empty(0)
        self.channel = Channel(support.T)
        self.work = 0
        """Operations of all descents."""
        self.add(csc_array(sparse.identity(len(support.p_x))))

    def add(self, Q: csc_array) -> None:
        """More columns, normalised here."""
        Q = csc_array(Q, copy=True)
        # Divided, not multiplied by the inverse, which is infinite for the smallest masses that there are.
        Q.data /= np.repeat(np.asarray(Q.sum(axis=0)).ravel(), np.diff(Q.indptr))
        Q.eliminate_zeros()
        self.Q = csc_array(sparse.hstack([self.Q, Q], format="csc"))
        self.f = np.append(self.f, self.costs(Q))

    def add_partition(self, labels: IntArray) -> None:
        """The clusters of a map x -> z."""
        p_x = self.support.p_x
        shape = (len(p_x), int(labels.max()) + 1)
        self.add(csc_array((p_x, (np.arange(len(p_x)), labels)), shape=shape))

    def add_encoder(self, W: Array) -> None:
        """The clusters of an encoder, without letters of negligible mass in them."""
        joint = W * self.support.p_x
        mass = joint.sum(axis=1)
        q = joint[mass > GENERATION.negligible] / mass[mass > GENERATION.negligible, None]
        self.add(csc_array(np.where(q > GENERATION.negligible, q, 0.0).T))

    def costs(self, Q: csc_array) -> Array:
        """H(q) - beta H(Tq) of every column."""
        H = Q.copy()
        H.data = entr(H.data)
        u: Array = np.asarray(Q.T @ self.T.T)
        return np.asarray(np.asarray(H.sum(axis=0)).ravel() - self.beta * entr(u).sum(axis=1))

    def keep(self, columns: IntArray) -> None:
        """Only these columns, and the single letters."""
        kept = np.union1d(np.arange(len(self.support.p_x)), columns)
        self.Q, self.f = csc_array(self.Q[:, kept]), self.f[kept]

    def programme(self) -> tuple[Array, Array]:
        """Weights of the columns, and the multipliers lambda of the letters."""
        p_x = self.support.p_x
        A, most = shares(self.Q, p_x)
        costs, beta = self.f * most, self.beta
        if beta <= GENERATION.large_beta:
            attempts = ROUGHLY if len(p_x) < GENERATION.interior else ROUGHLY[::-1]
            found = solved(costs, A, attempts=attempts, budget=self.budget)
        else:
            found = solved(costs, A, max(float(np.abs(costs).max()), 1.0), budget=self.budget)
        if found is None:
            raise InfoplaneError(f"HiGHS did not solve the linear programme over {len(most)} posteriors.")
        largest = max(GENERATION.largest_multiplier, GENERATION.largest_multiplier / GENERATION.large_beta * beta)
        with np.errstate(over="ignore"):
            return found.weights * most, np.clip(found.lam / p_x, -largest, largest)

    def own_multipliers(self, weights: Array) -> Array:
        """lambda_x = sum_z p(z|x) (beta sum_y p(y|x) log p(y|z) - log p(x|z)): those of the encoder itself."""
        used = np.flatnonzero(weights > 0.0)
        q = sparse.coo_array(self.Q[:, used])
        log_u = np.log(np.maximum(np.asarray(self.Q[:, used].T @ self.T.T), 1e-300))
        x, z = q.coords
        value = self.beta * (self.T.T[x] * log_u[z]).sum(axis=1) - np.log(np.maximum(q.data, 1e-300))
        share = q.data * weights[used][z] / self.support.p_x[x]
        return np.asarray(np.bincount(x, share * value, minlength=len(self.support.p_x)), dtype=float)

    def descended(self, lam: Array, Q: Array) -> Array:
        """Minima of g by Newton's method, each on the letters of a column of Q; of columns on few letters only."""
        letters = np.count_nonzero(Q, axis=0)
        Q, letters = Q[:, letters <= GENERATION.few], letters[letters <= GENERATION.few].astype(float)
        self.work += int(GENERATION.newton_steps * len(self.T) * (letters @ letters))
        return self.channel.descend(lam, self.beta, Q)[0]

    def concentrated(self, lam: Array, Q: Array) -> Array:
        """Minima of g from columns on all letters: the map, then Newton's method on the letters left."""
        rows = np.ascontiguousarray(Q.T)
        steps = concentrate(self.T, lam, self.beta, rows, GENERATION.steps, GENERATION.negligible)
        self.work += steps * (len(self.T) + 20)
        return self.descended(lam, rows.T)

    def encoder(self, Q: csc_array, weights: Array) -> Array:
        """p(z|x) = w_z q_z(x) / p(x); posteriors that agree to 1e-6 are one cluster, those of a weight below 1e-14 none."""
        used = np.flatnonzero(weights > 1e-14)
        Q = Q[:, used]
        cluster = alike(Q, digits=6)
        W = np.zeros((int(cluster.max()) + 1, len(self.support.p_x)))
        q = sparse.coo_array(Q @ sparse.diags_array(weights[used]))
        x, z = q.coords
        np.add.at(W, (cluster[z], x), q.data)
        # A letter that weighs less than that may have none left: it gets p(z).
        W[:, W.sum(axis=0) == 0.0] = W.sum(axis=1)[:, None]
        W /= W.sum(axis=0)
        return W


def alike(Q: csc_array, digits: int) -> IntArray:
    """Numbers of the columns, from 0: those that agree to so many digits have the same."""
    known: dict[tuple[bytes, bytes], int] = {}
    number = np.empty(Q.shape[1], dtype=np.int64)
    for k in range(len(number)):
        at = slice(Q.indptr[k], Q.indptr[k + 1])
        letters, shares = Q.indices[at], np.round(Q.data[at], digits)
        key = (letters[shares > 0.0].tobytes(), shares[shares > 0.0].tobytes())
        number[k] = known.setdefault(key, len(known))
    return number


def generated(job: Job, partitions: Sequence[IntArray], encoders: Sequence[Array]) -> Array | None:
    """The best encoder of the pool, after rounds of column generation from partitions and encoders.

    A programme that fails ends it with the mixture before. None if the first one fails or is beyond `GENERATION.programme_work`, or if
    beta <= 1, where Z = X is optimal.
    """
    pool = Pool(job)
    if pool.beta <= 1.0:
        return None
    for labels in partitions:
        pool.add_partition(labels)
    for W in encoders:
        pool.add_encoder(W)
    left = GENERATION.programme_work - job.letters * pool.Q.shape[1]
    if left < 0:
        return None
    last, mixture = np.inf, None
    for number in range(GENERATION.rounds):
        try:
            weights, lam = pool.programme()
        except InfoplaneError:
            break
        mixture, value = (pool.Q, weights), float(pool.f @ weights)
        left -= job.letters * pool.Q.shape[1]
        enough = left < 0 or pool.work > GENERATION.descent_work or number == GENERATION.rounds - 1
        if enough or value > last - GENERATION.gain:
            break
        last, new = value, []
        for columns in _missing(pool, weights, lam, number):
            if columns.shape[1]:
                new.append(columns)
            job.budget.look()
        if not new:
            break
        g = pool.f - lam @ pool.Q
        best = np.lexsort((g, weights <= 0.0))[: GENERATION.kept * job.letters]
        pool.keep(best)
        pool.add(sparse.hstack(new, format="csc"))
    return None if mixture is None else pool.encoder(*mixture)


def _missing(pool: Pool, weights: Array, lam: Array, number: int) -> Iterator[csc_array]:
    """Posteriors with g < -GENERATION.gain, from several beginnings and multipliers."""
    p_x = pool.support.p_x
    letters = len(p_x)
    most = max(1, GENERATION.beginnings_work // (letters * (len(pool.T) + 20)))
    used = np.flatnonzero(weights > 0.0)
    used = used[np.argsort(-weights[used], kind="stable")]
    turn = np.roll(used, -(number * most) % max(len(used), 1))[:most]
    Q = np.asarray(pool.Q[:, turn].todense())
    own = pool.own_multipliers(weights)
    between = 0.5 * (own + lam)
    # The same beginnings whatever the seed: they are no starts. Each is a share of a cluster, or of a letter, and of p_x, with noise or
    # without; the shares are not tuned.
    rng = np.random.default_rng(number)
    yield _worth(pool, lam, pool.descended(lam, Q))
    yield _worth(pool, lam, pool.descended(lam, 0.5 * (Q + Q[:, rng.permutation(Q.shape[1])])))
    for share, multipliers in ((0.7, own), (0.9, between)):
        yield _worth(pool, lam, pool.concentrated(multipliers, share * Q + (1.0 - share) * p_x[:, None]))
    if pool.beta > GENERATION.large_beta and letters * pool.channel.rank <= GENERATION.grown:
        yield _worth(pool, lam, pool.channel.grow(lam, pool.beta, pool.channel.seeds(lam, Q))[0])
    near = np.roll(np.argsort(-p_x, kind="stable"), -(number * most) % letters)[:most]
    for share, noise, multipliers in ((0.5, 0.0, between), (0.3, 2.0, lam), (0.05, 3.0, lam)):
        around = p_x[:, None] * np.exp(noise * rng.standard_normal((letters, len(near))))
        around *= (1.0 - share) / around.sum(axis=0)
        around[near, np.arange(len(near))] += share
        yield _worth(pool, lam, pool.concentrated(multipliers, around))


def _worth(pool: Pool, lam: Array, Q: Array) -> csc_array:
    """The columns with g < -GENERATION.gain at the multipliers of the programme, each once."""
    Q = np.where(Q > 1e-12, Q, 0.0)
    columns = csc_array(Q[:, Q.sum(axis=0) > 0.0])  # a descent from masses of 1e-320 may end nowhere
    columns = columns[:, np.unique(alike(columns, digits=7), return_index=True)[1]]
    columns = columns @ sparse.diags_array(1.0 / np.asarray(columns.sum(axis=0)).ravel())
    return csc_array(columns[:, pool.costs(columns) - lam @ columns < -GENERATION.gain])

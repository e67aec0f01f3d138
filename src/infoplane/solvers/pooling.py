"""Several starts, whose clusters are then pooled: a linear programme chooses the best mixture of all posteriors that any run has found.

When rho_z + rho_zx + rho_zy = 0, an encoder is a set of posteriors q_z = p(x|z) with weights p(z), and up to a constant

L = sum_z p(z) f(q_z),  f(q) = rho_zx H(q) + rho_zy H(Tq),  sum_z p(z) q_z = p(x).

Local solvers end with some good clusters and some bad ones, others at every start. Over the posteriors of all runs the weights are found
by min sum_k w_k f(q_k) subject to sum_k w_k q_k = p(x), w >= 0: never worse than the best run, and where runs are good in different
places better than all of them. The result is polished by the accelerated solver, and its clusters join the pool, until nothing
improves. A funnel's pool also has the single letters and all clusters on Merge-Two's path, so that it never leaks more than merging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..checks import PYTHON_ONLY, whole_number
from ..errors import InfoplaneError
from ..information import Array, entr, entropy
from ..posterior.form import Mixture, gamma_of
from ..posterior.merge_path import first_columns
from ..posterior.programme import encoder_of, linear_programme
from ..problem import MarkovLagrangian, is_bottleneck, is_funnel
from ..runtime.budget import Stopped
from ..solution import Run, Trace
from .base import BestOfStarts
from .fixed_point import Accelerated
from .job import Job
from .splitting.solver import DouglasRachford


class PoolingEffort(NamedTuple):
    """How starts are pooled, set by `benchmarks/portfolio.py`."""

    splitting: int = 10
    """Douglas-Rachford iterations before the accelerated solver, for the funnel."""
    largest_pool: int = 1_000_000
    """Letters times posteriors of the linear programme; above it runs are not pooled (300 letters, 16 starts of 64 clusters, and
    Merge-Two)."""
    gain: float = 1e-10
    """Fall of the loss, in nats, that is worth another round."""
    dust: float = 1e-9
    """Mass below which a cluster is left out of the pool."""


EFFORT = PoolingEffort()


@dataclass(frozen=True)
class Pooling(BestOfStarts):
    """All starts, accelerated, their clusters mixed by a linear programme (what the portfolio runs on funnels).

    Parameters
    ----------
    splitting
        Douglas-Rachford iterations before the accelerated solver; None is 10 for the funnel, where they were measured to find better
        clusters, and 0 for the bottleneck, where they were not.
    rounds
        Most linear programmes, the result of each of which is polished.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.heart(), ip.funnel(3.5), ip.Pooling(), rng=0)
    >>> s.solver, round(s.loss, 4)
    ('pooling', -2.0991)
    """

    name = "pooling"
    grows = True

    splitting: int | None = field(default=None, metadata=PYTHON_ONLY)
    rounds: int = field(default=4, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole_number("rounds", self.rounds))
        if self.splitting is not None:
            object.__setattr__(self, "splitting", whole_number("splitting", self.splitting, least=0))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for what has the posterior form."""
        if is_bottleneck(problem) or is_funnel(problem):
            return None
        return (
            "pooling needs the posterior form, rho_z + rho_zx + rho_zy = 0 with rho_zx and rho_zy of opposite signs; found "
            f"{problem.rho}. Use drs."
        )

    def run(self, job: Job) -> list[Run]:
        """Every start, and the pooled run last, if there is a better one."""
        wanted = EFFORT.splitting * is_funnel(job.problem) if self.splitting is None else self.splitting
        spent = 0 if job.support.sparse else min(wanted, job.budget.iterations)
        if spent:
            first = DouglasRachford().run(job.but(budget=job.budget.part(iterations=spent)))
            rest = job.budget.part(iterations=max(job.budget.iterations - spent, 1))
            then = Accelerated().run(job.but(starts=stacked([run.encoder for run in first]), budget=rest))
            found = [continued(*pair) for pair in zip(first, then, strict=True)]
        else:
            found = Accelerated().run(job)
        try:
            better = self._pooled(job, found)
        except Stopped:
            better = None
        return found if better is None else [*found, better]

    def _pooled(self, job: Job, runs: Sequence[Run]) -> Run | None:
        """Pool, polish, and pool again while the loss falls; None if pooling gains nothing."""
        found = [run.encoder for run in runs]
        losses = job.losses(found)
        lowest, better = min(losses), None
        # Of runs that end alike the most stationary: their losses differ by its square, what their multipliers prove by itself.
        alike = [run for run, loss in zip(runs, losses, strict=True) if loss <= lowest + EFFORT.gain]
        best = min(alike, key=lambda run: run.residuals.stationarity).encoder
        joins = is_funnel(job.problem) and not job.capped
        merged = merged_letters(job) if joins else np.empty((0, job.letters))
        if len(found) + len(merged) == 1:  # nothing to mix a run with
            return None
        for _ in range(self.rounds):
            W = pooled(job, [*found, merged], best)
            if W is None or len(W) > job.most or job.loss(W) > lowest - EFFORT.gain or job.budget.over:
                break
            run = Accelerated().run(job.but(starts=W[None]))[0]
            better = replace(run, found_by=self.name, died=job.died(run.encoder))
            best, lowest = run.encoder, job.loss(run.encoder)
            found.append(best)
        return better


def continued(first: Run, then: Run) -> Run:
    """Two runs, the second of which began where the first ended, as one."""
    trace = then.trace
    if trace is not None and first.trace is not None:
        trace = Trace.from_columns(np.concatenate([first.trace.columns(), trace.columns()]))
    return replace(
        then,
        found_by=f"{first.found_by}, {then.found_by}",
        iterations=first.iterations + then.iterations,
        died=first.died + then.died,
        trace=trace,
    )


def stacked(encoders: Sequence[Array]) -> Array:
    """Encoders of different |Z| as one table (R, |Z|, |X|), the missing clusters empty."""
    table = np.zeros((len(encoders), max(len(W) for W in encoders), encoders[0].shape[1]))
    for row, W in zip(table, encoders, strict=True):
        row[: len(W)] = W
    return table


def merged_letters(job: Job) -> Array:
    """Every letter by itself and every cluster on Merge-Two's path, a row each, as rows of an encoder; none if the joint is sparse."""
    support = job.support
    if support.sparse:
        return np.empty((0, job.letters))
    path = first_columns(support, lambda *_: job.budget.look())
    return np.vstack([np.eye(job.letters), path.T / support.p_x])


def pooled(job: Job, encoders: Sequence[Array], known: Array | None = None) -> Array | None:
    """The best encoder whose every cluster is one of those given.

    None if the programme is too large or fails, or if it cannot be better than the encoder `known` by `EFFORT.gain`.
    """
    support, problem = job.support, job.problem
    joint_xz = np.concatenate([W * support.p_x for W in encoders])
    mass = joint_xz.sum(axis=1)
    Q = np.ascontiguousarray((joint_xz[mass > EFFORT.dust] / mass[mass > EFFORT.dust, None]).T)
    if Q.size > EFFORT.largest_pool:
        return None
    U = support.rows.T @ (Q / support.p_x[:, None]) if support.sparse else support.T @ Q
    f = problem.rho_zx * entr(Q).sum(axis=0) + problem.rho_zy * entr(U).sum(axis=0)
    dense_bottleneck = is_bottleneck(problem) and not support.sparse
    if known is not None and dense_bottleneck and beyond_improving(job, known, Q, f):
        return None
    try:
        weights, _, _ = linear_programme(Q, f, support.p_x, budget=job.budget)
    except InfoplaneError:
        return None
    return encoder_of(Q, weights)


def beyond_improving(job: Job, W: Array, Q: Array, f: Array) -> bool:
    """Whether no mixture of the posteriors Q, of costs f, is better than a bottleneck's encoder W by `EFFORT.gain`.

    By weak duality sum_k w_k f(q_k) >= lambda.p_x + min_k (f(q_k) - lambda.q_k) for every lambda; that of a bottleneck's optimum proves
    it optimal. Most pools end here, without a linear programme.
    """
    support, problem = job.support, job.problem
    lam = problem.rho_zy * Mixture.of(support, W).multipliers(support, gamma_of(problem))
    bound = float(lam @ support.p_x + (f - lam @ Q).min())
    constant = -problem.rho_zx * entropy(support.p_x) - problem.rho_zy * support.h_y
    return job.loss(W) - constant <= bound + EFFORT.gain

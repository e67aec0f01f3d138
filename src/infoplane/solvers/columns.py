"""The privacy funnel with a proof: a linear programme over posteriors q_k = p(x|z=k), those that matter met one by one.

    min beta I(Y;Z) - I(X;Z)  =  beta H(Y) - H(X) + min { sum_k p_k f(q_k) : sum_k p_k q_k = p_x },   f(q) = H(q) - beta H(Tq)

`certificate/funnel/generation.py` generates them and bounds what is left; the encoder is p(z=k|x) = p_k q_k(x) / p(x).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..certificate.funnel.generation import cut_short, forecast, proven_bound
from ..certificate.funnel.privacy import private_encoder
from ..information import Array
from ..joint.joint import Support
from ..posterior.form import funnel_refusal, imbalance, posteriors, scaled
from ..posterior.merge_path import first_columns
from ..posterior.programme import Programme, check_letters
from ..problem import MarkovLagrangian
from ..runtime.budget import Stopped
from ..solution import Run
from .job import Job
from .portfolio import EFFORT, LEAST, default_encoder
from .shared.prover import RAISE, Prover
from .shared.resizing import fitted
from .shared.sparse_columns import GENERATION


@dataclass(frozen=True)
class Columns(Prover):
    """The funnel with a proof: column generation, branch and bound over boxes or slots (what --certify runs).

    Starts are not needed: an optimal funnel has at most |X| clusters, and they are found. Neighbouring parameters share their columns.
    With a cap on |Z| below the optimum's the answer is the best found with so many clusters; the bound is still that of all encoders.
    Where the proof may not end, the default solver runs first, whatever the limits say: its effort is bounded by work, and the proof has
    what it leaves of the time, a tenth at least. Where a proof is cut short against expectation, it runs afterwards. So no limit makes
    the answer worse than the default's.

    Parameters
    ----------
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop, for each parameter; the bound reached by then is valid all the same. Time of compilation does not count.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.5), ip.Columns())
    >>> s.status.name, round(s.loss, 6), s.gap <= 1e-6
    ('CERTIFIED', -0.255154, True)
    """

    name = "columns"
    segment = 8  # neighbours that share columns in one go

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        return funnel_refusal(problem)

    def caution(self, support: Support, problem: MarkovLagrangian, _start: Array) -> str | None:
        """An estimate beforehand, if the proof may not end; more letters than it can begin with are refused."""
        check_letters(support)
        return forecast(support, problem, self)

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """One run a problem, columns handed on from each to the next; if the budget is stopped, what there is by then."""
        support, starts = job.support, job.starts
        programme = Programme(support, job.budget)
        for W in starts:
            programme.add(posteriors(support, W))
        with suppress(Stopped):
            programme.add(first_columns(support, lambda *_: job.budget.look()))
        for problem in problems:
            yield self._solved(job.but(problem=problem), programme)
            if job.budget.stopped:
                return

    def _solved(self, job: Job, programme: Programme) -> Run:
        support, problem = job.support, job.problem
        scale, beta = scaled(problem)
        budget = self.budget(job.budget)
        rivals = [*job.starts]
        if beta > GENERATION.large_beta and (private := private_encoder(support, EFFORT.few_bases)) is not None:
            rivals.append(private)
        hard = forecast(support, problem, self) is not None
        if hard and not job.after_default:
            rivals.append(default_encoder(job, self.max_seconds))
            budget = budget.part(seconds=max(budget.seconds_left, LEAST * self.max_seconds))
        for W in rivals[len(job.starts) :]:
            programme.add(posteriors(support, W))
        outcome, bound = proven_bound(support, beta, programme, self.tol / scale, budget)
        bound = scale * bound - imbalance(support, problem)
        found = [outcome.point.encoder]
        open_gap = job.loss(found[0]) - bound > self.tol
        if open_gap and not (hard or job.after_default or job.budget.stopped):
            rivals.append(default_encoder(job, self.max_seconds))
        if len(found[0]) > job.most:
            found = [fitted(job, [*found, *rivals]).encoder]
        # Without a proof the mixture may have missed what a solver finds.
        found += [W for W in rivals if open_gap and len(W) <= job.most]
        run = replace(
            job.standing(found[job.best(found)], self.name, cut_short(budget)),
            iterations=budget.rounds_spent,
            advice=outcome.contradiction or RAISE,
        )
        return self.bounded(job, run, bound, scale * outcome.proof.lam)

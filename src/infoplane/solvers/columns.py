"""The exact privacy funnel: `Columns`, a solver that ends with a proof.

    min beta I(Y;Z) - I(X;Z)  =  beta H(Y) - H(X) + min { sum_k p_k f(q_k) : sum_k p_k q_k = p_x },   f(q) = H(q) - beta H(Tq)

is a linear programme over posteriors q_k = p(x|z=k); `generate` meets those that matter. The encoder is p(z=k|x) = p_k q_k(x) / p(x).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..certificate.bottleneck.bounds import imbalance
from ..certificate.certificate import Limits
from ..certificate.funnel import bound as funnel_bound
from ..certificate.funnel.generation import Meter
from ..certificate.funnel.programme import Programme, encoder_of
from ..certificate.merge_path import first_columns
from ..information import Array
from ..joint.support import Support
from ..problem import MarkovLagrangian
from ..solution import Run
from ..status import Residuals, Status, proven
from .base import PathSolver
from .capping import fitted
from .stopping import Stopping


@dataclass(frozen=True)
class Columns(PathSolver, Limits):
    """Column generation over posteriors, certified by branch and bound; for the funnel and its positive multiples.

    Starts are not needed: an optimal funnel has at most |X| clusters, and they are found. Neighbouring parameters share their columns.
    With a cap on |Z| below the optimum's the answer is the best found with so many clusters; the bound is still that of all encoders.

    Parameters
    ----------
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop proving, for each parameter; the bound reached by then is valid all the same.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.5), ip.Columns())
    >>> s.status.name, round(s.loss, 6), s.gap <= 1e-6
    ('CERTIFIED', -0.255154, True)
    """

    name = "columns"
    deterministic = True  # the optimum does not depend on where one starts
    grows = True
    segment = 8  # neighbours that share columns in one go

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        return funnel_bound.refusal(problem)

    def caution(self, support: Support, problem: MarkovLagrangian, _start: Array) -> str | None:
        """An estimate beforehand, if the proof may not end."""
        return funnel_bound.forecast(support, problem, self)

    def follow(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool = False,  # noqa: ARG002
    ) -> Iterator[Run | None]:
        """One Run a problem, columns handed on from each to the next."""
        programme = Programme(support)
        for W in starts:
            programme.add(funnel_bound.posteriors(support, W))
        programme.add(first_columns(support))
        for problem in problems:
            scale, beta = funnel_bound.scaled(problem)
            meter = Meter(self, max_rounds=stopping.max_iter)
            steps = funnel_bound.proven(support, beta, programme, self.tol / scale, meter)
            while True:
                try:
                    yield next(steps)
                except StopIteration as ended:
                    outcome, bound = ended.value
                    break
            W = encoder_of(programme.Q, outcome.point.weights)
            most = stopping.most_clusters(len(support.p_x))
            if len(W) > most:
                W = fitted(support, problem, [W, *starts], most, stopping).encoder
            lifted = support.lift(W)
            bound = scale * bound - imbalance(support, problem)
            gap = problem.value(support.joint, lifted) - bound
            residuals = Residuals(0.0, 0.0, problem.stationarity(support.joint, lifted))
            yield Run(
                encoder=W,
                status=proven(gap, self.tol, residuals, stopping.judge(residuals, Status.ITERATION_LIMIT)),
                iterations=meter.rounds,
                residuals=residuals,
                died=max(starts.shape[1] - len(W), 0),
                found_by=self.name,
                lower_bound=bound,
                multipliers=scale * outcome.proof.lam,
                advice="raise max_cells or max_seconds",
            )

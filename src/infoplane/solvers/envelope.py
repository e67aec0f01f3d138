"""The bottleneck with a proof: a posterior that violates the bound becomes a cluster, until none is left.

    gamma H(X) - H(Y) + lambda.p_x + min_q (f(q) - lambda.q)  <=  min gamma I(X;Z) - I(Y;Z),   f(q) = H(Tq) - gamma H(q)

The bottleneck is convex in the mixture of its decoders (`posterior/form.py`), and branch and bound finds the decoders that local climbs
miss. The answer is polished by an ordinary solver, which can only lower its loss. Of a problem that has a bottleneck below it
(`posterior_form_below`), such as the deterministic one, that bottleneck's bound is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..certificate.bottleneck import RULES, Proof, contraction_bound, estimate_cells, prove
from ..information import Array
from ..joint.joint import Support
from ..posterior.form import Mixture, bottleneck_refusal
from ..problem import MarkovLagrangian, posterior_form_below
from ..solution import Run, Status
from .job import Job
from .portfolio import LEAST, default_encoder
from .shared.prover import Prover
from .shared.resizing import fitted, merged, settled

POLISH_WORK = 5_000_000_000
"""Operations to make the answer stationary where a limit has ended the proof, some seconds: to the end it took half a minute on 330 x 330
letters."""


@dataclass(frozen=True)
class Envelope(Prover):
    """The bottleneck with a proof: its dual, branch and bound over boxes of the Y-simplex (what --certify runs).

    Parameters
    ----------
    tol
        Gap between loss and lower bound, in nats, that counts as certified.
    max_cells, max_seconds
        Limits of branch and bound, for each parameter; at a limit the best bound proven is reported, and the status is not CERTIFIED.
        Then the default solver runs, too, and the answer is not worse than its own. Time of compilation does not count.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_nonuniform(), ip.bottleneck(0.2), ip.Envelope())
    >>> s.status.name, s.gap <= 1e-6
    ('CERTIFIED', True)
    """

    name = "envelope"
    segment = 8  # neighbours that hand on their decoders; boxes are too few to be worth it

    max_cells: int = 3_000_000

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        return bottleneck_refusal(posterior_form_below(problem))

    def caution(self, support: Support, problem: MarkovLagrangian, _start: Array) -> str | None:
        """That the proof will probably not end within the limits, and what will be returned instead; or None."""
        letters = support.p_y.size
        expected = estimate_cells(letters, hard=True)
        if expected <= self.max_cells or contraction_bound(support, posterior_form_below(problem)) >= -self.tol:
            return None
        if letters > RULES.most_letters:
            return (
                f"a certificate for |Y| = {letters} is hopeless, and its search is not begun beyond {RULES.most_letters} letters of Y: the "
                "bound of groups of them will be returned. Group letters of Y yourself, or ask for a larger gamma."
            )
        return (
            f"a certificate for |Y| = {letters} may take {expected:.0e} cells, more than max_cells = {self.max_cells:,}, and is hopeless "
            "then: the best bound proven by the limit will be returned, and no more. Group letters of Y, or ask for a larger gamma."
        )

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """One run a problem, in order; if the budget is stopped, what there is by then and its bound."""
        known = Mixture.of(job.support, np.vstack(list(job.starts)) / len(job.starts))
        for problem in problems:
            one, below = job.but(problem=problem), posterior_form_below(problem)
            proof = Proof(job.support, below, known, self.tol, self.budget(job.budget))
            prove(proof)
            known = proof.mixture
            polished = self._polished(one, below, proof)
            proof.challenge(polished.encoder, one.loss(polished.encoder))
            run = replace(polished, iterations=proof.rounds + polished.iterations)
            yield self.bounded(one, run, proof.lower_bound, proof.multipliers)
            if job.budget.stopped:
                return

    def _polished(self, job: Job, below: MarkovLagrangian, proof: Proof) -> Run:
        """From the proof's mixture, made stationary; one of few enough clusters; without a proof not worse than the default's."""
        support = job.support
        if job.budget.stopped:
            found = [W for W in (*job.starts, proof.mixture.encoder(support, proof.gamma)) if len(W) <= job.most]
            return replace(job.standing(found[job.best(found)], self.name), status=Status.INTERRUPTED)
        # Joining all but equal clusters may cost a hundredth of the tolerance.
        W = merged(support, below, proof.mixture.encoder(support, proof.gamma), 0.01 * self.tol)
        # Half a second for the polish, unless a tenth of the limit is more.
        hurry = {"work": POLISH_WORK, "seconds": max(0.5, LEAST * self.max_seconds)}
        run = settled((job if proof.complete else job.within(**hurry)).but(record=False), W)
        if len(run.encoder) > job.most:
            run = fitted(job, [run.encoder, *job.starts])
        loss = job.loss(run.encoder)
        if proof.complete or loss - proof.lower_bound <= self.tol or job.after_default:
            return run
        rival = default_encoder(job, self.max_seconds)
        if job.loss(rival) < loss:
            run = job.standing(rival, self.name)
        return replace(run, status=Status.INTERRUPTED) if job.budget.stopped else run

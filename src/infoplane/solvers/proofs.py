"""Proofs as solvers: answers that come with a lower bound of every encoder's loss. None needs a random start.

**The bottleneck** (`Envelope`). A posterior that violates the bound becomes a cluster, until none is left: the bottleneck is convex in the
mixture of its decoders (`posterior/form.py`), and branch and bound finds the decoders that local climbs miss. The answer is polished by an
ordinary solver, which can only lower its loss. Of a problem that has a bottleneck below it (`posterior_form_below`), such as the
deterministic one, that bottleneck's bound is proven.

**The privacy funnel** (`Columns`).

    min beta I(Y;Z) - I(X;Z)  =  beta H(Y) - H(X) + min { sum_k p_k f(q_k) : sum_k p_k q_k = p_x },   f(q) = H(q) - beta H(Tq)

is a linear programme over posteriors q_k = p(x|z=k); `generate` meets those that matter. The encoder is p(z=k|x) = p_k q_k(x) / p(x).

**One target kept, another hidden** (`TaskProof`).

    L  >=  gamma H(X) - keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)

gamma > 0: lambda in closed form from the best encoder, the minimum by boxes of u = T_u q (`certificate/tasks/boxes`); a posterior that
violates the bound becomes a cluster, the map settles, and again. gamma = 0: lambda from a linear programme over posteriors, priced on
edges if the secret is binary (`certificate/tasks/columns`), else by boxes.

A bound is of all encoders: with a cap on |Z| below the optimum's, the answer is the best found with so many, and the gap says what the cap
costs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..certificate.bottleneck import RULES, Proof, contraction_bound, estimate_cells, prove
from ..certificate.challenge import upheld
from ..certificate.funnel.generation import cut_short, forecast, proven_bound
from ..certificate.funnel.privacy import private_encoder
from ..certificate.tasks.boxes import Asked, box_bound, search_boxes
from ..certificate.tasks.columns import TaskOutcome, generate_any
from ..information import Array, entr
from ..joint.joint import Support
from ..posterior.form import Mixture, bottleneck_refusal, funnel_refusal, imbalance, posteriors, scaled
from ..posterior.merge_path import first_columns
from ..posterior.programme import Programme, check_letters
from ..posterior.task_form import TaskForm, missing
from ..problem import MarkovLagrangian, posterior_form_below
from ..runtime.budget import Limits, Stopped
from ..solution import Run, Status, proven
from .base import PathSolver, make_starts, seed_sequence
from .job import Job
from .portfolio import EFFORT as DEFAULT_EFFORT
from .portfolio import LEAST, default_encoder
from .shared.resizing import fitted, merged, settled
from .shared.sparse_columns import GENERATION
from .tasks import ServesTasks, TaskPortfolio, form_of, settled_task

RAISE = "raise max_cells or max_seconds"
"""What to do where a limit has ended a proof."""

POLISH_WORK = 5_000_000_000
"""Operations to make the answer stationary where a limit has ended the proof, some seconds: to the end it took half a minute on 330 x 330
letters."""


class Prover(PathSolver, Limits):
    """What the three have in common; their options are the limits of a proof, for each parameter."""

    deterministic = True  # every start ends at the same optimum
    grows = True

    def bounded(self, job: Job, run: Run, lower: float, multipliers: Array | None) -> Run:
        """A run with the bound that is proven: CERTIFIED if its loss is within the tolerance of it."""
        return replace(
            run,
            status=proven(job.loss(run.encoder) - lower, self.tol, run.residuals, run.status),
            died=max(job.starts.shape[1] - len(run.encoder), 0),
            found_by=self.name,
            lower_bound=lower,
            multipliers=multipliers,
        )


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
        if beta > GENERATION.large_beta and (private := private_encoder(support, DEFAULT_EFFORT.few_bases)) is not None:
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


class ProofEffort(NamedTuple):
    """How the proof begins, and how often it begins anew."""

    escapes: int = 40
    """Times that a search may send the encoder back."""
    share: float = 0.01
    """Of all mass that new clusters begin with."""
    starts: int = 2
    """Starts of the default solver, where the proof begins."""
    new: int = 64
    """Columns that a round adds, at most."""


EFFORT = ProofEffort()


@dataclass(frozen=True)
class TaskProof(ServesTasks, Prover):
    """One target kept, another hidden, with a proof by boxes, or by edges for binary secrets (what --certify runs).

    Parameters
    ----------
    tol
        Gap between loss and lower bound, in nats, that counts as certified.
    max_cells, max_seconds
        Limits of branch and bound, for each parameter; the bound reached by then is valid.

    Examples
    --------
    >>> import infoplane as ip
    >>> keep = ip.Joint.from_counts([[8, 2], [5, 5], [4, 6], [1, 9]], y_names="rich")
    >>> hide = ip.Joint.from_counts([[7, 3, 1], [2, 8, 1], [6, 4, 1], [4, 5, 2]], y_names="job")
    >>> s = ip.solve(ip.TaskJoint(keep, hide.with_prior(keep.p_x)), ip.task_funnel(0.5), ip.TaskProof())
    >>> s.status.name, s.gap <= 1e-6
    ('CERTIFIED', True)
    """

    name = "task-proof"

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """One run a problem, with its bound; from the default's answer unless that is where it begins."""
        for problem in problems:
            one = job.but(problem=problem, clusters=None)
            budget = self.budget(job.budget)
            starts = list(job.starts)
            if not job.after_default:
                W = make_starts(job.support.joint, None, EFFORT.starts, seed_sequence(0), "mixed")
                starts += [run.encoder for run in TaskPortfolio().run(one.but(starts=W, record=False))]
            yield self._proven(one.but(budget=budget), starts, job.but(problem=problem))
            if job.budget.stopped:
                return

    def _proven(self, job: Job, encoders: list[Array], asked: Job) -> Run:
        form = form_of(job)
        found = task_bound(form, job, encoders[job.best(encoders)], self.tol)
        candidates = [*encoders, form.expanded(found.encoder)]
        W = candidates[job.best(candidates)]
        if len(W) > asked.most:
            W = settled_task(asked, form, merged(job.support, job.problem, W, most=asked.most), "merging").encoder
        run = replace(job.standing(W, self.name), iterations=found.rounds, advice=found.contradiction or RAISE)
        return self.bounded(asked, run, found.lower, form.letters.spread(found.lam, form.gamma))


def task_bound(form: TaskForm, job: Job, W: Array, tol: float) -> TaskOutcome:
    """The best bound that the budget allows, from an encoder of the letters."""
    # I(U;Z) <= I(U;X) always holds, and needs no search.
    most = form.keep * (float(entr(form.T_u @ form.p_x).sum()) - float(entr(form.T_u).sum(axis=0) @ form.p_x))
    simple = -most * (1.0 + 1e-12) - 1e-12
    if form.gamma > 0.0:
        found = _by_escapes(form, job, W, tol)
    else:
        found = generate_any(form, form.posteriors(form.condensed(W)), 0.9 * tol, job.budget)
    return found if found.lower >= simple else found._replace(lower=simple, lam=np.zeros(len(form.p_x)))


def _by_escapes(form: TaskForm, job: Job, W: Array, tol: float) -> TaskOutcome:
    """gamma > 0: an encoder, its multipliers, a search, and what violates them as new clusters."""
    W, lower, claim, proof = form.condensed(W), -math.inf, -math.inf, Asked(form, np.zeros(len(form.p_x)))
    for rounds in range(1, EFFORT.escapes + 1):  # noqa: B007
        run = settled_task(job, form, form.expanded(W), "")
        W = form.condensed(run.encoder)
        asked = Asked(form, form.multipliers(W))
        found = search_boxes(asked, 0.4 * tol, job.budget)
        bound = box_bound(form, asked.lam, found.least)
        if bound > lower:
            lower, claim, proof = bound, found.least, asked
        if job.loss(run.encoder) - lower <= tol or not found.violating or job.budget.over:
            break
        new = np.column_stack([*found.violating, missing(form, asked.lam, form.posteriors(W), EFFORT.new)])
        W = np.vstack([(1.0 - EFFORT.share) * W, (EFFORT.share / new.shape[1]) * new.T / form.p_x])
        W = W / W.sum(axis=0)
    said = upheld(proof, claim, form.posteriors(W)) if lower > -math.inf else ""
    return TaskOutcome(W, -math.inf if said else lower, form.hide, proof.lam, rounds, said)

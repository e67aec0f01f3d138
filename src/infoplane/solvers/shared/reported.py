"""What is reported of a run, whichever solver made it: an encoder that is one, and a stationarity that holds to the last letter.

Kernels work in floating point. An iterate that has left its range is no answer, and is said to have failed. Where a letter of X or Y weighs
less than 1e-290, products of its mass with a small probability have few digits or none, and the residual of a kernel may look small
that is not: there it is taken again from its definition, `MarkovLagrangian.stationarity`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...solution import Run
from ...status import Status, proven
from ..job import Job

FAILED = "begin elsewhere: its iterates left the range of floating point, and the encoder is the trivial one"


def sound(job: Job, runs: Iterable[Run]) -> list[Run]:
    """The runs of one problem; those that have failed with the trivial encoder in place of theirs, and the status STALLED."""
    # A mass so small that, times a probability of 1e-18, it has no longer all its digits (they end at 2.2e-308).
    faint = bool(min(job.support.p_x.min(), job.support.p_y.min()) < 1e-290)
    return [_remeasured(job, one) if faint else one for one in map(_encoding, runs)]


def _encoding(run: Run) -> Run:
    """The run, if its encoder's columns can be scaled to distributions; CERTIFIED only with a bound."""
    totals = run.encoder.sum(axis=0)
    if len(run.encoder) > 0 and (totals > 0.0).all() and (totals < np.inf).all():
        unproven = run.status is Status.CERTIFIED and run.lower_bound is None
        return replace(run, status=proven(None, 0.0, run.residuals, run.status)) if unproven else run
    trivial = np.ones((1, run.encoder.shape[1]))
    return replace(run, encoder=trivial, status=Status.STALLED, trace=None, lower_bound=None, advice=FAILED)


def _remeasured(job: Job, run: Run) -> Run:
    if run.status not in (Status.STATIONARY, Status.ALMOST):
        return run
    stationarity = job.problem.stationarity(job.support.joint, job.support.lift(run.encoder))
    residuals = run.residuals._replace(stationarity=stationarity)
    return replace(run, residuals=residuals, status=job.judge(residuals, Status.STALLED))

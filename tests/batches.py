"""Runs driven step by step, or to their end; on one BLAS thread, as `solve` does: two would wait for each other beside another test."""

import numpy as np

from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget, one_blas_thread
from infoplane.solvers.base import advanced, make_starts, runs_of, seed_sequence
from infoplane.solvers.job import Job


def job_of(joint, problem, starts=None, tol=1e-8, limit=20_000, record=False, clusters=None):
    """What a solver is asked for, from a constant Z unless starts are given; a joint may come as its support."""
    support = joint if isinstance(joint, Support) else Support(joint)
    starts = np.ones((1, 1, len(support.p_x))) if starts is None else starts
    return Job(support, problem, starts, tol, clusters, record, Budget(iterations=limit))


class Stepped:
    """The runs of a solver before their first step, to be advanced by as many as a test likes."""

    def __init__(self, solver, joint, problem, starts, tol=1e-8, limit=20_000, record=False):
        self.iteration = solver.begin(job_of(joint, problem, starts, tol, limit, record))

    def __getattr__(self, name):
        return getattr(self.iteration, name)

    def advance(self, steps):
        return advanced(self.iteration, steps)

    def runs(self):
        return runs_of(self.iteration)

    def ended(self, steps=1000):
        """All runs at their end."""
        while self.advance(steps):
            pass
        return self.runs()


def run(solver, joint, problem, starts, block=1000, record=False, tol=1e-9, limit=3000, sparse=False, look=False):
    support = Support(joint)
    support.sparse = sparse
    with one_blas_thread():
        stepped = Stepped(solver, support, problem, starts, tol, limit, record)
        while stepped.advance(block):
            if look:
                stepped.runs()
        return stepped.runs()


def starts_of(joint, runs, clusters=None, seed=0):
    return make_starts(joint, clusters, runs, seed_sequence(seed), "random")

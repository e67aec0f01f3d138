"""Batches of runs, driven to their end; on one BLAS thread, as `solve` does: two would wait for each other beside another test."""

from infoplane.joint.support import Support
from infoplane.solvers.starts import make_starts, seed_sequence
from infoplane.solvers.stopping import Stopping
from infoplane.threads import one_blas_thread


def run(solver, joint, problem, starts, block=1000, record=False, tol=1e-9, limit=3000, sparse=False, look=False):
    support = Support(joint)
    support.sparse = sparse
    with one_blas_thread():
        batch = solver.begin(support, [problem] * len(starts), starts, Stopping(tol, limit), record)
        while batch.advance(block):
            if look:
                batch.runs(traces=False)
        return batch.runs()


def starts_of(joint, runs, clusters=None, seed=0):
    return make_starts(joint, clusters, runs, seed_sequence(seed), "random")

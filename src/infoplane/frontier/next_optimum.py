"""The optimum at one more slope of a curve, begun from what is known beside it.

The bottleneck is annealed upwards: from the optimum at the nearest smaller gamma, whose clusters can only merge; where none is known,
from (almost) Z = X. The funnel has no such order: its default solver runs, with few starts.
"""

from __future__ import annotations

import time

import numpy as np

from ..information import Array
from ..options import RunOptions
from ..runtime.budget import Budget
from ..runtime.threads import one_blas_thread
from ..solution import Solution, finished
from ..solve import solve
from ..solvers.annealing import Annealing
from ..solvers.job import Job
from ..solvers.shared.starts import make_starts, seed_sequence
from .curve import KnownCurve


def optimum(curve: KnownCurve, slope: float, options: RunOptions, init: Array | None = None) -> Solution:
    """The best encoder found at a slope; from ``init``, if given."""
    if curve.hides_y:
        return _funnel(curve, slope, options, init)
    problem, support, began = curve.problem(slope), curve.support, time.perf_counter()
    if init is None:
        init = _known_below(curve, slope)
    if init is None:
        path, starts = Annealing(), make_starts(curve.joint, None, 1, seed_sequence(0), "identity")
    else:
        path, starts = Annealing(rungs=0), np.ascontiguousarray(init[None][:, :, support.x])
    clusters = None if init is None else len(init)
    job = Job(support, problem, starts, options.tol, clusters, budget=Budget(iterations=options.max_iter))
    with one_blas_thread():
        run = path.run(job)[0]
    return finished(support, problem, run, seconds=time.perf_counter() - began)


def _known_below(curve: KnownCurve, slope: float) -> Array | None:
    """The optimum at the nearest smaller slope that was solved; None if only the end is known."""
    below = [one for one in curve.solved if 0.0 < one < slope]
    return curve.optimal_at(max(below))[-1].encoder if below else None


def _funnel(curve: KnownCurve, slope: float, options: RunOptions, init: Array | None) -> Solution:
    # Few starts: one that misses the optimum is mended by its neighbours, since all slopes share one hull.
    starts = {"starts": 6, "rng": 0} if init is None else {"init": init}
    return solve(curve.joint, curve.problem(slope), max_iter=options.max_iter, tol=options.tol, **starts)

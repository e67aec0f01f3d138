"""|Z| is found from a start with too few clusters: by splits along the path, and by what the dual says is missing."""

import numpy as np

import infoplane as ip
import verify
from infoplane.joint.support import Support
from infoplane.solvers.growth import completed
from infoplane.solvers.stopping import Stopping

HEART = ip.datasets.heart()


def followed(start, clusters):
    path = ip.Annealing().follow(Support(HEART), [ip.bottleneck(0.02)], start[None], Stopping(clusters=clusters))
    return next(run for run in path if run is not None)


def test_a_path_splits_the_clusters_of_its_start_up_to_the_cap():
    start = np.random.default_rng(0).dirichlet(np.ones(2), size=16).T
    two, four, free = (followed(start, clusters) for clusters in (2, 4, 16))
    assert len(two.encoder) == 2
    assert 2 < len(four.encoder) <= 4 < len(free.encoder)
    losses = [verify.lagrangian(HEART.p_xy, run.encoder, ip.bottleneck(0.02).rho) for run in (two, four, free)]
    assert losses[0] > losses[1] > losses[2]


def test_what_the_dual_says_is_missing_is_added():
    problem, support = ip.bottleneck(0.05), Support(HEART)
    few = ip.solve(HEART, problem, "accelerated", clusters=2, rng=0)
    best = ip.solve(HEART, problem, certify=True)
    steps = completed(support, problem, next(iter(begun(few, support, problem))), Stopping(clusters=16))
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            run = ended.value
            break
    assert len(run.encoder) > 2
    assert abs(verify.lagrangian(HEART.p_xy, run.encoder, problem.rho) - best.loss) <= 1e-6


def begun(found, support, problem):
    batch = ip.Accelerated().begin(support, [problem], found.encoder[None], Stopping(), False)
    while batch.advance(200):
        pass
    return batch.runs()

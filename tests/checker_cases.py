"""For the tests of the checker: channels, multipliers of a certified answer, posteriors to compare bounds with, and files in parts."""

import json

import numpy as np

import infoplane as ip
from infoplane_verify.bottleneck import BottleneckBoxes
from infoplane_verify.funnel import FunnelBoxes

JOINTS = {
    "heart": ip.datasets.heart,
    "paper": ip.datasets.paper_nonuniform,
    "zeros": lambda: ip.Joint.from_counts([[4, 0, 1], [0, 3, 2], [1, 1, 0], [1, 1, 0], [0, 0, 5]]),
    "nearly deterministic": lambda: ip.Joint.from_counts(
        np.diag([3, 1, 2, 1]) @ (np.eye(4, 3) + np.eye(4, 3, -1)) + 1e-9
    ),
}


def boxes_of(joint, problem, lam=None):
    """The checker's relaxation with the multipliers of a certified answer, or with others."""
    P = np.asarray(joint.p_xy)
    if lam is None:
        lam = ip.solve(joint, problem, certify=True).multipliers
    T = P / P.sum(axis=1, keepdims=True)
    if problem.rho_zy > 0:
        return BottleneckBoxes(T, lam / problem.rho_zy, -problem.rho_zx / problem.rho_zy)
    return FunnelBoxes(T, lam / problem.rho_zx, -problem.rho_zy / problem.rho_zx)


def posteriors(letters, rng, count=400):
    """Distributions of x, of many letters and of few."""
    Q = np.vstack([rng.dirichlet(np.full(letters, a), size=count // 4) for a in (0.05, 0.2, 1.0, 5.0)])
    Q[rng.random(Q.shape) < 0.3] = 0.0
    Q[Q.sum(axis=1) == 0.0] = 1.0
    return Q / Q.sum(axis=1, keepdims=True)


def parts(path):
    """The description and the arrays of a file of answers, as plain numpy reads them."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop("meta"))), arrays


def written(path, meta, arrays):
    """A file of answers from its parts, whatever they say."""
    np.savez(path, meta=np.array(json.dumps(meta)), **arrays)
    return path

"""Proofs where one target is kept and another hidden, on noisy tables with faint cells: no bound is above what chance or a solver finds.

Caps are kept, and no encoder that keeps to them tells more than the bound says.
"""

import warnings

import numpy as np

import infoplane as ip
import verify

from .calls import Broken
from .funnels import table

ROUNDING = 1e-10
ENCODERS = 60


def targets(rng):
    """Two tables over the same letters with the same p(x), and their text."""
    kept, hidden = table(rng, (9, 4)), table(rng, (9, 3 if rng.random() < 0.4 else 2))
    n = min(len(kept), len(hidden))
    kept, hidden = kept[:n], hidden[:n]
    p_x = rng.dirichlet(np.full(n, 2.0))
    P, S = (p_x[:, None] * one / one.sum(axis=1, keepdims=True) for one in (kept, hidden))
    P, S = P / P.sum(), S / S.sum()
    return ip.TaskJoint(ip.Joint.from_matrix(P), ip.Joint.from_matrix(S)), P, S


def information(J):
    def h(p):
        return -(p * np.log(np.where(p > 0, p, 1.0))).sum()

    return h(J.sum(axis=0)) + h(J.sum(axis=1)) - h(J)


def encoders(rng, n):
    for _ in range(ENCODERS):
        yield rng.dirichlet(np.full(int(rng.integers(1, n + 1)), rng.choice([0.05, 0.3])), n).T


def attack(rng):
    """One proof, or one cap."""
    tasks, P, S = targets(rng)
    p_x = P.sum(axis=1)
    beta, gamma = float(rng.choice([0.2, 1.0, 4.0])), float(rng.choice([0.0, 0.003, 0.05]))
    cap = float(rng.choice([0.0, 10.0 ** rng.uniform(-6, -1)], p=[0.1, 0.9])) if rng.random() < 0.5 else None
    said = f"keep {P.tolist()}, hide {S.tolist()}, beta {beta}, gamma {gamma}, cap {cap}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if cap is None:
                found = ip.solve(tasks, ip.task_funnel(beta, gamma=gamma), certify=True, max_seconds=3.0, rng=0)
            else:
                found = ip.task_at_leakage(tasks, cap, max_seconds=3.0)
    except ip.InfoplaneError:
        return "refused"
    except Exception as error:
        raise Broken(f"{said}\n    {type(error).__name__}: {error}") from error
    W = found.encoder
    verify.check_encoder(P, W)
    if cap is not None and information(W @ S) > cap + 1e-12:
        raise Broken(f"{said}: I(S;Z) {information(W @ S)!r}")
    others = [W, *encoders(rng, len(p_x)), np.eye(len(p_x)), np.ones((1, len(p_x)))]
    for slope in [beta] if cap is None else [0.3, 1.0, 3.0]:
        problem = ip.task_funnel(slope, gamma=gamma if cap is None else 1e-4)
        others.append(
            ip.solve(tasks, problem, "task-map", starts=3, rng=int(rng.integers(1000)), max_iter=2000).encoder
        )
    for other in others:
        if cap is None:
            loss = beta * information(other @ S) - information(other @ P) + gamma * information(other * p_x)
            if found.lower_bound > loss + ROUNDING:
                raise Broken(f"{said}: the bound {found.lower_bound!r} is above {loss!r}")
            continue
        leaks = information(other @ S)
        share = min(1.0, cap / leaks) if leaks > 0.0 else 1.0
        within = np.vstack([share * other, np.full((1, len(p_x)), 1.0 - share)])  # I is linear in the share
        if information(within @ P) > found.iuz + found.gap + ROUNDING:
            raise Broken(f"{said}: {information(within @ P)!r} is above {found.iuz + found.gap!r}")
    return f"{'cap' if cap is not None else 'bound'} {found.status.name}"

"""Blahut-Arimoto for many runs: W <- W exp(-g/k) normalised, which for the bottleneck are the self-consistent equations

p(z|x) prop. to p(z) exp(-(1/gamma) KL[p(y|x) || p(y|z)]),  p(z) = sum p(z|x) p(x),  p(y|z) = p(z,y) / p(z).
"""

import numpy as np

from ..information import Array
from .advance import LOSS, RUNNING, STATIONARITY, STATIONARY, count_dead, kept_rows, load, save, split_of
from .jit import entry
from .measure import fixed_point, lagrangian, largest_difference
from .split import Setting, State, Tables, matmul


@entry
def advance_blahut_arimoto(tables: Tables, setting: Setting, state: State, trace: Array) -> None:
    """Advance every running run by at most trace.shape[1] iterations; stops at W with max |W - BA(W)| <= tol."""
    record = trace.shape[2] > 0
    for r in range(state.W.shape[0]):
        if state.outcome[r] != RUNNING:
            continue
        rho = setting.rho[r]
        split = split_of(tables, setting, r, 1.0)
        W = load(state.W, r, state.alive[r])
        for step in range(trace.shape[1]):
            if state.iterations[r] >= setting.limit:
                break
            W_new = fixed_point(split, W, rho, setting.width[r])
            state.iterations[r] += 1
            state.residuals[r, 2] = largest_difference(W, W_new)
            if record:
                trace[r, step, LOSS] = lagrangian(split, W, rho)
                trace[r, step, STATIONARITY] = state.residuals[r, 2]
            if state.residuals[r, 2] <= setting.tol:
                state.outcome[r] = STATIONARY
                break
            W = W_new
            u = matmul(W, tables.M)
            keep = np.empty(W.shape[0], dtype=np.bool_)
            dead = count_dead(u, u, keep)
            if dead > 0:
                W = kept_rows(W, keep, W.shape[0] - dead, True)
        state.alive[r] = W.shape[0]
        save(state.W, r, W)

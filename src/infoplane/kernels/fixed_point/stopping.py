"""When a run of a map has ended, and what its trace holds: max |W - map(W)| <= tol, for the encoder W that is returned.

W itself is not needed to go on where the map depends on q(z, y) alone, and to write it down at every iteration would cost as much as the
map. So a run watches max |q' - q| / p(y), which is at most max |W' - W| since q = W P, and writes W down once that is small. Its `check` is

=========  ===========================================  ===================================================================
check      what the next evaluation does with W         what follows
=========  ===========================================  ===================================================================
FAR        nothing (or writes it, where that is free)   WRITING once the lower bound is within tol (COMPARING if W has been
                                                        written already), else FAR
WRITING    writes map(W) there                          COMPARING
COMPARING  measures max |W - map(W)| and leaves W       the run is STATIONARY if that is within tol, else as after FAR
=========  ===========================================  ===================================================================

So whoever looks at runs on their way asks `measure_encoders` for W and its residual, which changes nothing that a run goes on from. A
check says how: FAR, a run is not looked at; COMPARING, W is up to date, and compared; WRITING, W becomes the map of its point first.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common.numerics import regrouped
from ..common.rows import LOSS, STATIONARITY, STATIONARY, Integers, fetch
from .selfmap import (
    COMPARE,
    KEEP,
    ChannelBlocks,
    MapSetting,
    add,
    copy,
    displacement,
    evaluate,
    weights_of,
    weights_of_logs,
    work_for,
)

FAR, WRITING, COMPARING = range(3)


@part
def settled(q_new: Array, q: Array, p_y: Array, tol: float) -> bool:
    """Whether max |q' - q| / p(y) is within tol."""
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            if abs(q_new[z, y] - q[z, y]) > tol * p_y[y]:
                return False
    return True


@regrouped
def lowest_residual(q_new: Array, q: Array, p_y: Array) -> float:
    """Max |q' - q| / p(y), which is at most max |W' - W|."""
    far = 0.0
    for z in range(q.shape[0]):
        for y in range(q.shape[1]):
            far = max(far, abs(q_new[z, y] - q[z, y]) / p_y[y])
    return far


@inlined
def after(check: int, q_new: Array, q: Array, p_y: Array, tol: float) -> int:
    """The next check of a run that writes W only when it must, as in the table above."""
    if check == WRITING:
        return COMPARING
    return WRITING if settled(q_new, q, p_y, tol) else FAR


@inlined
def ended(outcome: Integers, residuals: Array, r: int, far: float, tol: float) -> bool:
    """Note that W of run r was compared, max |W - map(W)| = far; returns whether the run has ended there."""
    residuals[r, 2] = far
    if far <= tol:
        outcome[r] = STATIONARY
    return far <= tol


@inlined
def record_iteration(row: Array, loss: float, far: float) -> None:
    """Fill one row of a trace."""
    row[LOSS], row[STATIONARITY] = loss, far


@entry
def measure_encoders(
    channel: ChannelBlocks, setting: MapSetting, check: Integers, alive: Integers, q: Array, u: Array, L: Array, W: Array,
    residuals: Array,
) -> None:  # fmt: skip
    """Fill W, (R, blocks, |Z|, BLOCK), and the last column of the residuals. One entry for all maps: it compiles for seconds.

    The point of a run is q(z, y), (R, |Z|, |Y|), or its logarithm u, (R, |Z| |Y|), if u is not (R, 0); with L = log W, as W, if the map
    needs it, else (R, 0, 0, 0).
    """
    for r in range(check.size):
        if check[r] == FAR:
            continue
        rho, width, n, logs = setting.rho[r], setting.width[r], alive[r], L[r].copy()
        size, work = n * channel.p_y.size if u.shape[1] > 0 else 0, work_for(channel, n)
        here, there, A, point, f = work.tables[0], work.tables[1], work.tables[2], np.empty(size), np.empty(size)
        if size > 0:
            copy(u[r], size, point)
        else:
            fetch(q, r, here)
        for now in range(check[r], COMPARING + 1):
            if size > 0:
                weights_of_logs(point, rho, width, here, here.ravel(), A, A.ravel())
            else:
                weights_of(here, rho, width, A, work.mass)
            mode = KEEP if now == WRITING else COMPARE
            _, _, far = evaluate(channel, A, 1.0 + rho[1] / width, logs, logs, W[r], mode, there, work)
            residuals[r, 2] = far
            if size > 0:
                displacement(there.ravel(), point, here.ravel(), f)
                add(point, f, size, point)
            else:
                here, there = there, here

"""Where runs stand between two calls: the encoder of each, and its residual max |W - map(W)|. Nothing else of a run is changed.

W is written only when a run needs it (`stopping`), so whoever looks at one on its way asks for it here. ``check`` says what is to be done:
FAR nothing, the run is not looked at; COMPARING: W is up to date, and compared; WRITING: W becomes the map of the run's point first.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import entry
from ..common.arrays import Integers
from ..common.rows import fetch
from .accelerated_bottleneck import LeapState
from .points import add, copy, displacement, weights_of_logs
from .selfmap import COMPARE, KEEP, ChannelBlocks, MapSetting, evaluate, weights_of, work_for
from .stopping import COMPARING, FAR, WRITING


@entry
def measure_encoders(
    channel: ChannelBlocks, setting: MapSetting, check: Integers, alive: Integers, q: Array, L: Array, W: Array, residuals: Array
) -> None:  # fmt: skip
    """Of runs whose point is q(z, y), with L = log W if the map needs it, else (R, 0, 0, 0): Blahut-Arimoto and the accelerated funnel."""
    for r in range(check.size):
        if check[r] == FAR:
            continue
        rho, width, logs = setting.rho[r], setting.width[r], L[r].copy()
        work = work_for(channel, alive[r])
        here, there, A = work.tables[0], work.tables[1], work.tables[2]
        fetch(q, r, here)
        for now in range(check[r], COMPARING + 1):
            mode = KEEP if now == WRITING else COMPARE
            weights_of(here, rho, width, A, work.mass)
            _, _, far = evaluate(channel, A, 1.0 + rho[1] / width, logs, logs, W[r], mode, there, work)
            here, there = there, here
            residuals[r, 2] = far


@entry
def measure_marginals(channel: ChannelBlocks, setting: MapSetting, check: Integers, state: LeapState) -> None:
    """Of runs of the accelerated bottleneck. The point that comes next may be refused: W is the map of the last one that was kept."""
    for r in range(check.size):
        if check[r] == FAR:
            continue
        n, W = state.control[r].clusters_old, state.W[r]
        size, nothing, work = n * channel.p_y.size, W[:0], work_for(channel, n)
        q, q_new, A, u, f = work.tables[0], work.tables[1], work.tables[2], np.empty(size), np.empty(size)
        if check[r] == COMPARING:
            copy(state.u[r], size, u)
        else:
            add(state.u_old[r], state.f_old[r], size, u)
        for now in range(check[r], COMPARING + 1):
            mode = KEEP if now == WRITING else COMPARE
            weights_of_logs(u, setting.rho[r], setting.width[r], q, q.reshape(size), A, A.reshape(size))
            _, _, far = evaluate(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
            displacement(q_new.reshape(size), u, q.reshape(size), f)
            add(u, f, size, u)
            state.alive[r], state.residuals[r, 2] = n, far

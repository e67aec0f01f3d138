"""Where runs stand between two calls: the encoder of each, and its residual max |W - map(W)|. Nothing that a run goes on from is changed.

W is written only when a run needs it (`stopping`), so whoever looks at runs on their way asks for it here. The ``check`` of a run says how:
FAR, it is not looked at; COMPARING, W is up to date, and compared; WRITING, W becomes the map of the run's point first.
"""

import numpy as np

from ...information import Array
from ...runtime.compiling import entry
from ..common.rows import Integers, fetch
from .points import add, copy, displacement, weights_of_logs
from .selfmap import COMPARE, KEEP, ChannelBlocks, MapSetting, evaluate, weights_of, work_for
from .stopping import COMPARING, FAR, WRITING


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

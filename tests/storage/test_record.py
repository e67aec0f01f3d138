import numpy as np

import infoplane as ip
from infoplane.storage import record
from infoplane.sweep.plan import Chunk
from infoplane.sweep.worker import run_chunk
from sweeping import planned


def test_long_traces_are_thinned(monkeypatch):
    plan = planned(ip.SOLVERS["ib-1"])
    chunk = Chunk(tuple(plan.units([0])), {0: ip.bottleneck(0.3)})
    whole = record.contending(run_chunk(plan, chunk, "").records)[-1].trace
    monkeypatch.setattr(record, "LONGEST_TRACE", 5)
    thin = record.contending(run_chunk(plan, chunk, "").records)[-1].trace
    assert whole.iteration is None
    assert len(thin) == 5 < len(whole)
    assert (thin.iteration[0], thin.iteration[-1]) == (1, len(whole))
    np.testing.assert_array_equal(thin.loss, whole.loss[thin.iteration.astype(int) - 1])

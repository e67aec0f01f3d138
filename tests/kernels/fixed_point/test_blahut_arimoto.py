import numpy as np
import pytest

import infoplane as ip
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.base import make_starts, seed_sequence


@pytest.mark.parametrize("problem", [ip.bottleneck(0.1), ip.funnel(2.5)], ids=["ib", "pf"])
def test_neither_recording_nor_the_length_of_a_block_changes_a_run(problem):
    joint = ip.datasets.heart()
    starts = make_starts(joint, 8, 3, seed_sequence(0), "random")

    def runs(record, block):
        batch = Stepped(ip.BlahutArimoto(), Support(joint), problem, starts, tol=1e-10, limit=2000, record=record)
        while batch.advance(block):
            pass
        return batch.runs()

    plain, recorded = runs(False, 500), [runs(True, block) for block in (500, 7)]
    for index, run in enumerate(plain):
        for other in recorded:
            assert other[index].iterations == run.iterations
            np.testing.assert_array_equal(other[index].encoder, run.encoder)
        np.testing.assert_array_equal(recorded[0][index].trace.loss, recorded[1][index].trace.loss)
        assert len(recorded[0][index].trace.loss) == run.iterations

"""The full scale is the paper's."""

import numpy as np
import pytest

from infoplane_paper import FIGURES
from infoplane_paper.pieces import Sweep
from infoplane_paper.settings import FULL, QUICK


def test_the_full_run_is_the_papers():
    """The paper's grids, trials and penalties, read off the descriptions."""
    sweeps = {
        (name, piece.name): piece
        for name, figure in FIGURES.items()
        for piece in figure.pieces(FULL)
        if isinstance(piece, Sweep)
    }
    plane = sweeps["funnel-planes", "uniform: pf-2, gradient"]
    assert (len(plane.parameters), plane.parameters[0], plane.trials, plane.clusters) == (20, 0.5, 10, 4)
    assert plane.parameters[-1] == pytest.approx(20.0)
    assert plane.method.relaxation == 1.618
    heart = sweeps["funnel-heart", "heart: pf-2v, gradient"]
    assert (heart.method.penalty, heart.trials, heart.clusters) == (128.0, 20, 17)
    shares = [
        piece for (name, _), piece in sweeps.items() if name == "funnel-share" and piece.method.kind == "gradient"
    ]
    chosen = [piece for piece in shares if piece.trials * len(piece.parameters) == 2000]
    assert {piece.method.penalty for piece in chosen} == set(np.arange(1000.0, 8001.0, 1000.0))
    assert {piece.method.relaxation for piece in chosen} == {1.618, 2.0}
    bottleneck = sweeps["bottleneck-heart", "heart: ib-1v, gradient"]
    assert (len(bottleneck.parameters), bottleneck.parameters[0], bottleneck.trials) == (64, 0.01, 16)
    one = sweeps["bottleneck-planes", "non-uniform: ib-1, gradient"]
    assert (one.method.penalty, one.method.relaxation, len(one.parameters), one.trials) == (16.0, 1.618, 16, 16)
    assert any("first step 1" in name for _, name in sweeps)
    assert QUICK.sensitivity is False

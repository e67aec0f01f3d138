"""The funnel share's claim, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane_paper.figures import funnel_share
from infoplane_paper.settings import FULL
from tiny import claim, made_runs, made_shares


@pytest.mark.parametrize(("two", "golden", "expected"), [(1000, 8000, True), (8000, 1000, False), (9000, 9000, None)])
def test_penalties_of_the_funnel(two, golden, expected):
    columns = made_shares(funnel_share.curve(2.0, "gradient"), lambda c: c >= two)
    columns |= made_shares(funnel_share.curve(1.618, "gradient"), lambda c: c >= golden)
    runs = made_runs("funnel-share", columns)
    assert claim("funnel-share", "alpha-pf-2").ask(runs, "gradient").holds is expected


def test_the_finer_grid_has_eight_values_an_octave_in_the_full_run():
    names = {piece.name for piece in funnel_share.FIGURE.pieces(FULL)}
    fine = [c for c in funnel_share.fine(2.0).penalties if funnel_share.fine(2.0).name(c) in names]
    assert len(fine) == 33
    assert np.allclose(np.diff(np.log2(fine)), 1 / 8)


@pytest.mark.parametrize(("two", "golden", "expected"), [(500, 500, None), (2000, 8000, True), (8000, 2000, False)])
def test_where_the_papers_grid_does_not_decide_the_finer_one_does(two, golden, expected):
    columns = {}
    for alpha, least in ((2.0, two), (1.618, golden)):
        columns |= made_shares(funnel_share.curve(alpha, "gradient"), lambda _c: True)
        columns |= made_shares(funnel_share.fine(alpha), lambda c, least=least: c >= least)
    found = claim("funnel-share", "alpha-pf-2").ask(made_runs("funnel-share", columns), "gradient")
    assert found.holds is expected
    assert "c = 1000, the smallest that was tried; on the finer grid" in found.said

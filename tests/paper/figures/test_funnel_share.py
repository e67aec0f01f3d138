"""The funnel share's claim, on made-up runs whose answers are known."""

import pytest

from infoplane.paper.figures import funnel_share
from tiny import claim, made_runs, made_shares


@pytest.mark.parametrize(("two", "golden", "expected"), [(1000, 8000, True), (8000, 1000, False), (9000, 9000, None)])
def test_penalties_of_the_funnel(two, golden, expected):
    columns = made_shares(funnel_share.curve(2.0, "gradient"), lambda c: c >= two)
    columns |= made_shares(funnel_share.curve(1.618, "gradient"), lambda c: c >= golden)
    runs = made_runs("funnel-share", columns)
    assert claim("funnel-share", "alpha-pf-2").ask(runs, "gradient").holds is expected

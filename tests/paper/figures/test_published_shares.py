"""The paper's way against the published scripts, on made-up runs whose answers are known."""

import numpy as np

from infoplane_paper.figures import published_shares
from tiny import claim, made_points, made_runs


def made(shift):
    columns = {}
    for cell, published in published_shares.PUBLISHED.items():
        ended = np.arange(100) < 100 * np.clip(published + shift, 0.0, 1.0)
        columns[published_shares.name(*cell)] = made_points([0.5] * 100, [0.1] * 100, converged=ended, loss=-0.325)
    return made_runs("published-shares", columns)


def test_shares_agree_within_sampling_error_or_not():
    found = claim("published-shares", "published-shares").ask(made(0.05), "gradient")
    assert found.holds is True
    assert "100% end between -0.327 and -0.324 bits" in found.said
    found = claim("published-shares", "published-shares").ask(made(-0.5), "gradient")
    assert found.holds is False
    assert "|Z| 3, c 16: 35% here, 85% there" in found.said

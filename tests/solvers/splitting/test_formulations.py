import pytest

import infoplane as ip
from infoplane.solvers.splitting.formulations import choose


@pytest.mark.parametrize(
    ("rho", "expected"),
    [
        (ip.bottleneck(0.3).rho, "ib-1"),
        (ip.funnel(3.0).rho, "pf-2"),
        (ip.funnel(0.5).rho, "pf-2"),
        (ip.deterministic_bottleneck(0.3).rho, "ib-1"),
        ((0.5, -0.3, 0.2), "ib-2"),
        ((-0.5, 0.3, 0.2), "ib-1"),
        ((-0.5, -0.3, -0.2), "ib-1"),
        ((0.5, -0.3, -0.2), "ib-2"),
    ],
)
def test_auto_chooses_by_the_signs(rho, expected):
    assert choose(ip.MarkovLagrangian(*rho)).name == expected


def test_what_no_formulation_can_do_is_refused_with_the_reason():
    with pytest.raises(ip.UnsupportedProblemError, match="the minimum is 0 and any constant Z attains it"):
        ip.solve(ip.datasets.paper_uniform(), ip.MarkovLagrangian(1.0, 0.5, 0.0), "drs")
    with pytest.raises(
        ip.UnsupportedProblemError, match=r"ib-2 cannot solve .* rho_zx < 0, found 1.*can: pf-1, pf-2, pf-2v"
    ):
        ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.0), "ib-2")

import numpy as np

import infoplane as ip
import verify
from infoplane.certificate.funnel import programme as module
from infoplane.certificate.funnel.linear import linear_programme
from infoplane.certificate.funnel.pricing import Pricing
from infoplane.certificate.funnel.programme import Programme
from infoplane.joint.support import Support
from infoplane.solvers.columns import Columns


def test_highs_giving_up_leaves_the_best_mixture_so_far(monkeypatch):
    joint, problem, calls = ip.datasets.heart(), ip.funnel(3.5), 0

    def gives_up(*arguments):
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ip.InfoplaneError("no optimum")
        return linear_programme(*arguments)

    monkeypatch.setattr(module, "linear_programme", gives_up)
    found = ip.solve(joint, problem, Columns())
    assert found.status is not ip.Status.CERTIFIED
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)
    assert found.loss <= ip.solve(joint, problem, "merging").loss + 1e-9
    monkeypatch.setattr(module, "linear_programme", lambda *_: gives_up())
    plain = ip.solve(joint, problem, Columns())
    verify.check_solution(joint.p_xy, problem.rho, plain, tol=1e-10)
    assert plain.lower_bound <= found.loss


def test_perturbed_duals_never_prove_more_than_is_true():
    """The programme's bound from a lambda that somebody spoilt, recomputed by pricing, stays below the optimum."""
    joint, beta = ip.datasets.paper_uniform(), 3.0
    support = Support(joint)
    optimum = ip.solve(joint, ip.funnel(beta), Columns(tol=1e-9)).loss
    constant = beta * joint.entropy_y - joint.entropy_x
    programme = Programme(support)
    lam = programme.at_beta(beta).lam
    rng = np.random.default_rng(1)
    for size in (0.0, 1e-8, 1e-4, 1e-2, 1.0):
        spoilt = lam + size * rng.standard_normal(3)
        search = Pricing(programme.channel, spoilt, beta, -1e-6)
        while search.advance(1000):
            pass
        assert spoilt @ support.p_x + search.least() + constant <= optimum + 1e-12

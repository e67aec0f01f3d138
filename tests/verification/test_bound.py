"""One claimed bound: proven, refuted or left open; and numbers that overflow prove nothing."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from infoplane_verify.bound import Limits, prove
from infoplane_verify.claims import read_claims

LIMITS = Limits(3_000, 20.0)
JOINT = ip.datasets.paper_nonuniform()


@pytest.fixture(
    scope="module", params=[ip.bottleneck(0.1), ip.funnel(3.5), ip.MarkovLagrangian(-2.4, -0.6, 3.0)], ids=str
)
def claim(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("bound") / "answer.npz"
    ip.Frontier(JOINT, [ip.solve(JOINT, request.param, certify=True)]).save(path)
    P, (claim,) = read_claims(path)
    return P, claim


def test_a_bound_holds_at_its_value_and_below_and_not_above(claim):
    P, claim = claim
    assert prove(P, claim, LIMITS).holds
    assert prove(P, replace(claim, lower_bound=claim.lower_bound - 0.1), LIMITS).holds
    above = prove(P, replace(claim, lower_bound=claim.lower_bound + 1e-4), LIMITS)
    assert (above.holds, above.verdict) == (False, "REFUTED")


def test_it_needs_no_encoder_if_there_are_multipliers(claim):
    P, claim = claim
    assert prove(P, replace(claim, encoder=None), LIMITS).holds
    alone = prove(P, replace(claim, encoder=None, multipliers=None), LIMITS)
    assert (alone.holds, alone.verdict) == (False, "UNCHECKED")


@pytest.mark.parametrize("size", [1e10, 1e50, 1e99, 1e150, 1e250, 1e307])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_huge_multipliers_prove_no_bound_above_the_optimum(claim, size, sign):
    """Reading refuses those beyond 1e100; the proof must not rest on that."""
    P, claim = claim
    for pattern in ([1, 1, 1], [1, -1, 1], [0, 1, 0], [-3, 1, 2]):
        lam = sign * size * np.array(pattern, dtype=float)
        with np.errstate(all="ignore"):
            found = prove(P, replace(claim, multipliers=lam, lower_bound=claim.loss + 0.05), LIMITS)
        assert not found.holds
        assert found.bound is None or found.bound <= claim.loss

"""The local search that tries to contradict a proof: it finds minima that are known, and a false claim becomes no certificate."""

import numpy as np
import pytest

import funnel_twin as twin
import infoplane as ip
from infoplane.certificate.funnel import free
from infoplane.certificate.funnel.challenge import challenge
from infoplane.certificate.funnel.pricing import Pricing
from infoplane.posterior.channel import Channel


@pytest.mark.parametrize("seed", range(15))
def test_it_is_never_above_its_beginnings_and_as_low_as_many_descents(seed):
    T, rng = twin.channels(seed)
    n, beta = T.shape[1], float(rng.choice([1.3, 3.0, 20.0]))
    lam, p_x, channel = rng.standard_normal(n), rng.dirichlet(np.ones(n)), Channel(T)
    found = challenge(channel, p_x, lam, beta, np.eye(n))
    assert found.posterior.sum() == pytest.approx(1.0)
    assert found.value == pytest.approx(twin.values(T, lam, beta, found.posterior[:, None])[0])
    assert found.value <= twin.values(T, lam, beta, np.eye(n)).min() + 1e-12
    Q = twin.sparse_posteriors(n, channel.rank, rng, 500)
    _, values = channel.descend(lam, beta, Q)
    assert found.value <= values.min() + 1e-9


@pytest.mark.parametrize("wrong", ["least", "mistakes"])
def test_a_proof_that_contradicts_itself_certifies_nothing(wrong, monkeypatch):
    class Liar(Pricing):
        """Claims that g >= 0.01, or has made a claim that did not hold."""

        def least(self):
            return 0.01 if wrong == "least" else super().least()

        @property
        def mistakes(self):
            return 1 if wrong == "mistakes" else 0

    monkeypatch.setattr(free, "Pricing", Liar)
    joint, problem = ip.datasets.heart(), ip.funnel(3.5)
    with pytest.warns(ip.ContradictionWarning, match="contradicts itself"):
        found = ip.solve(joint, problem, "columns")
    assert found.status is not ip.Status.CERTIFIED
    assert found.lower_bound < -2.1  # no more than is known without a search
    with pytest.warns(ip.ContradictionWarning, match="please report"):
        certificate = ip.certify(joint, problem, found.encoder)
    assert not certificate.certified
    assert certificate.left > 0
    assert certificate.limit

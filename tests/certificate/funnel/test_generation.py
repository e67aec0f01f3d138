"""Column generation: where it begins, and what a stopped search leaves."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.certificate.funnel.free import FreePosteriors, Pricing, without_traces
from infoplane.certificate.funnel.generation import cut_short, generate
from infoplane.joint.joint import Support
from infoplane.posterior.programme import Programme
from infoplane.runtime.budget import Budget
from infoplane.solution import Status


def test_traces_of_letters_are_left_out():
    Q = np.array([[0.5, 1e-12], [0.3, 0.6], [0.2 - 1e-10, 0.4], [1e-10, 0.0]])
    kept = without_traces(Q, 2)
    np.testing.assert_allclose(kept, [[0.625, 0.0], [0.375, 0.6], [0.0, 0.4], [0.0, 0.0]], atol=1e-11)
    np.testing.assert_allclose(without_traces(Q, 9)[:, 0], [0.5, 0.3, 0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(without_traces(Q, 1).sum(axis=0), 1.0)


@pytest.mark.parametrize("pieces", [0, 1, 3])
def test_an_interrupt_at_any_piece_leaves_a_mixture_and_a_bound(pieces, monkeypatch):
    support, budget, seen = Support(ip.datasets.heart()), Budget(), []
    programme, advance = Programme(support, budget), Pricing.advance

    def stopping(search, cells):
        seen.append(cells)
        if len(seen) > pieces:
            budget.stop()
        return advance(search, cells)

    monkeypatch.setattr(Pricing, "advance", stopping)
    outcome = generate(programme, FreePosteriors(programme), lambda: programme.at_beta(3.5), 1e-9, budget)
    monkeypatch.undo()
    assert len(seen) == pieces + 1
    assert cut_short(budget) is Status.INTERRUPTED
    whole = Programme(support)
    optimum = generate(whole, FreePosteriors(whole), lambda: whole.at_beta(3.5), 1e-6, Budget())
    W = outcome.point.encoder
    np.testing.assert_allclose(W.sum(axis=0), 1.0, atol=1e-12)
    assert outcome.lower <= optimum.point.dual
    assert outcome.point.dual >= optimum.point.dual - 1e-9

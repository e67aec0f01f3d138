"""`Frontier.suggest(by="held-out")`: the parameter that records prefer which no encoder has seen; nothing where there is nothing."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.sampling.held_out import parts_of
from planted import three_kinds
from twins import slow_gain
from verify import mutual_informations

GAMMAS = [0.02, 0.1, 0.3]


@pytest.fixture(scope="module")
def rare():
    return ip.Joint.from_counts(three_kinds(np.random.default_rng(0), 60, 12)[0])


def test_the_curve_is_that_of_solving_without_each_part(rare):
    found = ip.sweep(rare, ip.bottleneck, GAMMAS, starts=1).suggest(by="held-out", rng=3)
    for one in found.curve:
        gains = [
            slow_gain(
                ip.solve(ip.Joint.from_counts(rare.counts - part), ip.bottleneck(one.parameter), rng=0).encoder,
                rare.counts - part,
                part,
            )
            for part in parts_of(rare.counts, 5, np.random.default_rng(3))
        ]
        assert one.gain_bits == pytest.approx(np.mean(gains) / np.log(2), abs=5e-3)  # other starts may end elsewhere
    top = max(found.curve, key=lambda one: one.gain_bits)
    assert found.parameter == top.parameter > 0.02  # the smallest keeps every letter apart, and its noise
    assert found.sentences[0].startswith(f"Held-out records prefer γ = {top.parameter:.4g}")
    assert found.row in range(3)
    assert found.knee is not None


def test_no_knee_on_noise(monkeypatch):
    rng = np.random.default_rng(0)
    noise = ip.Joint.from_samples(rng.integers(0, 80, 400), rng.integers(0, 3, 400))
    frontier = ip.sweep(noise, ip.bottleneck, [0.05, 0.1, 0.15, 0.2], starts=1)
    for by in ("held-out", "knee", None):
        found = frontier.suggest(by=by)
        assert (found.knee, found.noise) == (None, True)
        assert "400 records support no difference between letters of X" in found.sentences[0]
    assert frontier.suggest().parameter is None
    without = ip.Frontier(ip.Joint.from_matrix(noise.p_xy), frontier.runs).suggest()
    assert without.knee is not None  # who has no counts cannot know


def test_where_the_gate_passes_and_nothing_is_gained(rare, monkeypatch):
    frontier = ip.sweep(rare, ip.bottleneck, [0.9, 0.95], starts=1)  # constant encoders
    found = frontier.suggest()
    assert (found.parameter, found.row, found.knee) == (None, None, None)
    assert found.sentences[0].startswith("No parameter is suggested")
    assert [one.gain_bits for one in found.curve] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_funnel_is_chosen_by_what_it_leaks_on_held_out_records():
    rng, heart = np.random.default_rng(0), ip.datasets.heart()
    records = ip.Joint.from_counts(rng.multinomial(5000, heart.p_xy.ravel()).reshape(heart.shape))
    funnels = ip.sweep(records, ip.funnel, [8.0, 60.0], starts=2, rng=0)
    bold, _ = (answer.run for answer in funnels.best_answers())
    cap = 1.01 * bold.iyz  # of the two, the table alone would take the bolder one
    found = funnels.suggest(max_iyz=cap, rng=3)
    for one, run in zip(found.curve, (answer.run for answer in funnels.best_answers()), strict=True):
        truth = mutual_informations(heart.p_xy, run.encoder)[1] / np.log(2)
        assert abs(one.gain_bits - truth) < 4.0 * one.error_bits
    within = [one.parameter for one in found.curve if one.gain_bits + 1.645 * one.error_bits <= cap / np.log(2)]
    assert [found.parameter] == within == [60.0]
    assert "bits at β = 60, the boldest" in found.sentences[0]
    nothing = funnels.suggest(max_iyz=1e-5, rng=3)
    assert (nothing.parameter, nothing.row, nothing.curve) == (None, None, found.curve)
    assert nothing.knee == funnels.suggest().knee
    assert nothing.sentences[0].startswith("No parameter is within 1.443e-05 bits")
    with pytest.raises(ip.InvalidOptionError, match="cap of a funnel"):
        ip.sweep(heart, ip.bottleneck, [0.1], starts=1).suggest(max_iyz=0.1)


def test_what_has_no_records(rare):
    funnel = ip.sweep(ip.Joint.from_matrix(rare.p_xy), ip.funnel, [2.0, 4.0], "merging")
    assert not hasattr(funnel.suggest(), "curve")
    with pytest.raises(ip.InvalidOptionError, match="by='knee'"):
        funnel.suggest(by="held-out")
    with pytest.raises(ip.InvalidOptionError, match="by must be"):
        funnel.suggest(by="aic")
    denoised = ip.sweep(rare, ip.bottleneck, [0.1], starts=1, sample="denoised").suggest()
    assert denoised.curve[0].gain_bits > 0.1

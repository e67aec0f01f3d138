"""What records say of a frontier: the band of the population, and the parameter that records prefer which no encoder has seen."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.sampling.held_out import parts_of
from infoplane.storage.store import read_store
from infoplane.sweep.records import LEAST
from made_up import three_kinds
from twins import slow_gain
from verify import mutual_informations

GAMMAS = np.array([0.05, 0.15, 0.3])


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(5)
    return ip.Joint.from_matrix(rng.dirichlet(np.full(8, 2.0))[:, None] * rng.dirichlet(np.ones(3), 8))


def sample(population, n, seed):
    rng = np.random.default_rng(seed)
    return ip.Joint.from_counts(rng.multinomial(n, population.p_xy.ravel()).reshape(population.shape))


def test_it_holds_the_populations_frontier(population):
    """Eight samples, three rates each; the table's own frontier is above the population's more often than not."""
    held, above = [], []
    for seed in range(8):
        found = ip.sweep(sample(population, 400, seed), ip.bottleneck, GAMMAS, starts=1).bands(starts=1)
        truth = ip.sweep(population, ip.bottleneck, GAMMAS, starts=1)
        rates = found.ixz_bits * np.log(2)
        real = np.min([run.parameter * rates - run.loss for run in truth.runs], axis=0) / np.log(2)
        held += ((found.low_bits <= real) & (real <= found.high_bits)).tolist()
        above += (found.iyz_bits > real).tolist()
        assert (found.centre_bits < found.iyz_bits + 0.01).all()
    assert np.mean(held) >= 0.85
    assert np.mean(above) > 0.6


def test_groups_are_kept_in_a_store_and_not_run_again(population, tmp_path):
    frontier = ip.sweep(sample(population, 300, 0), ip.bottleneck, GAMMAS, starts=1)
    first = frontier.bands(store=tmp_path / "bands", starts=1)
    assert len(list((tmp_path / "bands").glob("group-*.db"))) == 10
    stores = sorted((tmp_path / "bands").iterdir())
    before = [[run.seconds for run in read_store(store).runs] for store in stores]
    second = frontier.bands(store=tmp_path / "bands", starts=1)
    assert [
        [run.seconds for run in read_store(store).runs] for store in stores
    ] == before  # run again, they would differ
    np.testing.assert_array_equal(first.low_bits, second.low_bits)


def test_what_is_refused(population):
    few = ip.sweep(sample(population, 80, 0), ip.bottleneck, GAMMAS, starts=1)
    with pytest.raises(ip.InvalidOptionError, match="12 records per letter of X: 96 for 8 letters; found 80"):
        few.bands()
    joint = sample(population, 300, 0)
    with pytest.raises(ip.InvalidOptionError, match="denoised joint"):
        ip.sweep(joint, ip.bottleneck, GAMMAS, starts=1, sample="denoised").bands()
    with pytest.raises(ip.UnsupportedProblemError, match="bottleneck"):
        ip.sweep(joint, ip.funnel, [2.0], starts=1).bands()
    with pytest.raises(ip.InvalidOptionError, match="constant"):
        ip.sweep(joint, ip.bottleneck, [0.99], starts=1).bands()
    with pytest.raises(ip.InvalidJointError, match="needs counts"):
        ip.sweep(population, ip.bottleneck, GAMMAS, starts=1).bands()


def test_it_is_drawn_beside_what_is_proven(population):
    pytest.importorskip("matplotlib")
    joint = sample(population, 300, 0)
    frontier = ip.sweep(joint, ip.bottleneck, GAMMAS, certify=True)
    found = frontier.bands(starts=1)
    said = [text.get_text() for text in frontier.plot(bands=found).get_legend().get_texts()]
    assert "the population's frontier: 95% at each rate, 300 records" in said
    assert any(text.startswith("the frontier of this table, proven to") for text in said)
    assert "300 records" in str(found)
    assert LEAST == 12


@pytest.fixture(scope="module")
def rare():
    return ip.Joint.from_counts(three_kinds(np.random.default_rng(0), 60, 12)[0])


def test_the_curve_is_that_of_solving_without_each_part(rare):
    found = ip.sweep(rare, ip.bottleneck, [0.02, 0.1, 0.3], starts=1).suggest(by="held-out", rng=3)
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
    population = heart.p_xy.reshape(8, 2, 4).sum(axis=1)  # heart, two risk factors at a time
    records = ip.Joint.from_counts(rng.multinomial(5000, population.ravel()).reshape(population.shape))
    funnels = ip.sweep(records, ip.funnel, [8.0, 60.0], starts=2, rng=0)
    bold, _ = (answer.run for answer in funnels.best_answers())
    cap = 1.01 * bold.iyz  # of the two, the table alone would take the bolder one
    found = funnels.suggest(max_iyz=cap, rng=3)
    for one, run in zip(found.curve, (answer.run for answer in funnels.best_answers()), strict=True):
        truth = mutual_informations(population, run.encoder)[1] / np.log(2)
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
    plain = funnel.suggest()
    assert (plain.parameter, plain.row, plain.curve) == (None, None, ())
    with pytest.raises(ip.InvalidOptionError, match="by='knee'"):
        funnel.suggest(by="held-out")
    with pytest.raises(ip.InvalidOptionError, match="by must be"):
        funnel.suggest(by="aic")
    denoised = ip.sweep(rare, ip.bottleneck, [0.1], starts=1, sample="denoised").suggest()
    assert denoised.curve[0].gain_bits > 0.1

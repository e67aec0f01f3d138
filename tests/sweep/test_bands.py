"""The band of the population's frontier: that it holds, resumes, refuses, and is drawn beside what is proven."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.storage.reader import read_store
from infoplane.sweep.records import LEAST

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

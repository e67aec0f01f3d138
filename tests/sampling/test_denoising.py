"""Denoised joints: planted groups, shuffled outcomes, what is kept of the records, and that everything else takes them."""

import math
import pickle

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.sampling.denoising import (
    DistinctRows,
    _step,
    concentrated,
    fit,
    fitted,
    log_likelihood,
    overall,
    posterior,
    shrunk,
)
from infoplane.storage.store import read_store
from made_up import CENTRES, three_kinds


@pytest.fixture(scope="module")
def rare():
    """600 letters of three kinds, eight records each: I(X;Y) of the table is mostly noise."""
    return ip.Joint.from_counts(three_kinds(np.random.default_rng(3), 600, 8)[0])


def divergence(truth, found, p_x):
    return float((p_x[:, None] * truth * np.log(truth / np.maximum(found, 1e-300))).sum())


def test_a_denoised_joint_is_nearer_to_the_population_than_its_table(rare):
    counts, truth = three_kinds(np.random.default_rng(3), 600, 8)
    made = rare.denoised()
    smoothed = ip.Joint.from_counts(counts, smoothing=0.5)
    far = [divergence(truth, one.p_y_given_x.T, rare.p_x) for one in (made, smoothed)]
    assert far[0] < 0.5 * far[1]  # half a pseudo-count in every cell is what people do without it
    real = ip.Joint.from_conditional(rare.p_x, truth).mutual_information
    # What is averaged over what the records leave open says less, never more: below the truth, where the table is far above.
    assert 0.8 * real < made.mutual_information < real < 0.7 * rare.mutual_information


def test_what_it_says_of_itself(rare):
    made = rare.denoised()
    assert (made.denoising.how, made.denoising.chosen) == ("mixture", True)
    assert made.denoising.groups in (2, 4)
    assert (made.records, made.shape, made.x_labels) == (4800, rare.shape, rare.x_labels)
    assert (made.counts == rare.counts).all()
    assert made.caution is None
    np.testing.assert_allclose(made.p_x, rare.p_x, rtol=1e-12)
    assert f"denoised ({made.denoising.groups} groups)" in repr(made)
    curve = made.denoising.to_frame()
    assert curve["groups"].iloc[0] == 1
    assert curve["criterion_nats"].idxmin() == curve.index[curve["groups"] == made.denoising.groups][0]
    assert rare.denoising is None
    again = pickle.loads(pickle.dumps(made))
    assert (str(again.denoising), again) == (str(made.denoising), made)
    assert not again.denoising.centres.flags.writeable


def test_the_gain_without_folds_is_nearly_that_of_folds(rare):
    """-log p_-i(y|x) = log sum_z p(z|x) / q_z(y), against fitting without each of ten parts of the records."""
    x, y = np.repeat(np.argwhere(rare.counts >= 0), rare.counts.ravel(), axis=0).T
    part = np.random.default_rng(0).permutation(len(x)) % 10
    gains = []
    for g in range(10):
        counts = np.zeros(rare.shape)
        np.add.at(counts, (x[part != g], y[part != g]), 1)
        found = fit(counts)
        predicted = found.conditional(counts)[x[part == g], y[part == g]]
        gains.append(np.mean(np.log(predicted / found.prior[y[part == g]])))
    assert rare.denoised().denoising.gain == pytest.approx(np.mean(gains), rel=0.15)


@pytest.mark.parametrize(("letters", "outcomes"), [(8, 3), (32, 2), (33, 2), (300, 4), (2000, 2)])
def test_shuffled_outcomes_give_one_group(letters, outcomes):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p_x = rng.dirichlet(np.full(letters, 0.5))
        joint = ip.Joint.from_samples(rng.choice(letters, 3000, p=p_x), rng.integers(0, outcomes, 3000) ** 2)
        made = joint.denoised()
        assert (made.denoising.how, made.denoising.groups, made.denoising.gain) == ("constant", 1, 0.0)
        assert made.mutual_information < 1e-12 < joint.mutual_information


def test_few_letters_are_all_kept_and_shrunk():
    counts = np.array([[900, 100], [1, 2], [100, 900], [0, 0]])
    made = ip.Joint.from_counts(counts, smoothing=3.0).denoised()
    alpha = made.denoising.concentration
    assert made.denoising.how == "shrinkage"
    rows = (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha.sum())
    np.testing.assert_allclose(made.p_xy, rows * counts.sum(axis=1, keepdims=True) / counts.sum(), rtol=1e-12)
    with pytest.raises(ip.InvalidOptionError, match="use conditional"):
        made.denoising.posterior(counts)


def test_groups_that_are_asked_for_and_counts_that_are_not_there(rare):
    made = rare.denoised(groups=3)
    assert (made.denoising.groups, made.denoising.chosen) == (3, False)
    W = made.denoising.posterior(rare.counts)
    np.testing.assert_allclose(W.sum(axis=0), 1.0)
    np.testing.assert_allclose(made.denoising.conditional(rare.counts), W.T @ made.denoising.centres, rtol=1e-9)
    assert rare.denoised(groups=1).mutual_information < 1e-12
    for wrong in (lambda: ip.datasets.paper_uniform().denoised(), lambda: rare.with_prior("uniform").denoised()):
        with pytest.raises(ip.InvalidJointError, match="needs counts of records"):
            wrong()
    with pytest.raises(ip.InvalidOptionError, match="groups"):
        rare.denoised(groups=0)
    with pytest.raises(ip.InvalidOptionError, match="sample must be 'table' or 'denoised'"):
        ip.solve(rare, ip.bottleneck(0.5), sample="bootstrap")


def test_sparse_counts_and_letters_without_records():
    counts = three_kinds(np.random.default_rng(3), 600, 8)[0]
    wide = np.zeros((602, 4), dtype=int)
    wide[1:601, [0, 1, 3]] = counts
    made = ip.Joint.from_counts(sparse.csr_array(wide)).denoised()
    plain = ip.Joint.from_counts(counts).denoised()
    np.testing.assert_allclose(made.p_xy[1:601][:, [0, 1, 3]], plain.p_xy, rtol=1e-12)
    assert made.p_xy[[0, 601]].sum() == made.p_xy[:, 2].sum() == 0.0


def test_solvers_sweeps_proofs_and_files_take_it(rare, tmp_path):
    solved = ip.solve(rare, ip.bottleneck(0.2), sample="denoised", rng=0)
    assert solved.joint.denoising is not None
    assert 0.5 * solved.joint.mutual_information < solved.iyz <= solved.joint.mutual_information
    found = ip.sweep(rare, ip.bottleneck, [0.2, 0.3], sample="denoised", certify=True, store=tmp_path / "runs.db")
    assert found.joint == solved.joint
    assert {run.status.name for run in found.runs} == {"CERTIFIED"}
    found.save(tmp_path / "f.npz")
    for again in (ip.Frontier.load(tmp_path / "f.npz"), read_store(tmp_path / "runs.db")):
        assert str(again.joint.denoising) == str(solved.joint.denoising)
        assert again.joint.denoising.curve == solved.joint.denoising.curve
        np.testing.assert_array_equal(again.joint.denoising.centres, solved.joint.denoising.centres)
        np.testing.assert_array_equal(again.joint.counts, rare.counts)


def plain_step(counts, p, q):
    """The three equations, letter by letter."""
    new_p, new_q = np.zeros_like(p), np.full_like(q, 0.5)
    total = 0.0
    for row in counts:
        w = p * np.prod(q**row, axis=1)
        total += np.log(w.sum())
        w /= w.sum()
        new_p += w / len(counts)
        new_q += np.outer(w, row)
    return new_p, new_q / new_q.sum(axis=1, keepdims=True), total + 0.5 * np.log(q).sum()


def test_a_step_is_the_equations():
    rng = np.random.default_rng(0)
    counts, _ = three_kinds(rng, 60, 4)
    p, q = np.array([0.2, 0.3, 0.5]), rng.dirichlet(np.ones(3), 3)
    found, value = _step(DistinctRows.of(counts), np.log(np.column_stack([p, q])))
    new_p, new_q, expected = plain_step(counts, p, q)
    np.testing.assert_allclose(np.exp(found), np.column_stack([new_p, new_q]), rtol=1e-12)
    assert value == pytest.approx(expected, rel=1e-12)


def test_planted_groups_are_found_as_well_as_a_thousand_plain_steps_find_them():
    rng = np.random.default_rng(0)
    counts, _ = three_kinds(rng, 2000, 8)
    rows = DistinctRows.of(counts)
    found = fitted(rows, 3, concentrated(rows))
    order = np.argsort(-found.weights)
    np.testing.assert_allclose(found.weights[order], [0.5, 0.3, 0.2], atol=0.04)
    np.testing.assert_allclose(found.centres[order], CENTRES, atol=0.04)
    p, q = np.array([0.4, 0.3, 0.3]), 0.5 * CENTRES + 0.5 / 3
    for _ in range(1000):
        theta, value = _step(rows, np.log(np.column_stack([p, q])))
        p, q = np.exp(theta[:, 0]), np.exp(theta[:, 1:])
    assert found.likelihood + 0.5 * np.log(found.centres).sum() > value - 1e-5 * abs(value)
    np.testing.assert_allclose(posterior(np.zeros((1, 3)), found.weights, found.centres)[0], found.weights)


def test_likelihood_is_that_of_drawing_one_record_after_another():
    """Polya's urn: record k of a row has probability (count so far + alpha_y) / (k + a). No gamma function needed."""
    counts, alpha = np.array([[2, 0, 1], [0, 0, 4], [2, 0, 1]]), np.array([0.3, 1.1, 0.7])
    expected = 0.0
    for row in counts:
        drawn = [0, 0, 0]
        for y, times in enumerate(row):
            for _ in range(times):
                expected += math.log((drawn[y] + alpha[y]) / (sum(drawn) + alpha.sum()))
                drawn[y] += 1
    assert log_likelihood(DistinctRows.of(counts), alpha) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("planted", [2.0, 20.0])
def test_a_planted_concentration_is_found(planted):
    rng = np.random.default_rng(1)
    pi = np.array([0.5, 0.3, 0.2])
    counts = np.array([rng.multinomial(30, p) for p in rng.dirichlet(planted * pi, 3000)])
    alpha = concentrated(DistinctRows.of(counts))
    assert alpha.sum() == pytest.approx(planted, rel=0.1)
    np.testing.assert_allclose(alpha / alpha.sum(), overall(counts.sum(axis=0)), rtol=1e-12)
    seldom, often = shrunk(np.array([[0, 0, 1], [0, 0, 100_000]]), alpha)
    assert abs(often[2] - 1.0) < 1e-3
    assert 0.2 < seldom[2] < 0.55


def test_distinct_rows_are_the_table_again():
    counts = np.random.default_rng(0).integers(0, 3, (200, 3))
    found = DistinctRows.of(counts)
    assert len(found.rows) == len(np.unique(counts, axis=0)) < 28
    again = np.repeat(found.rows, found.times.astype(int), axis=0)
    np.testing.assert_array_equal(again[np.lexsort(again.T)], counts[np.lexsort(counts.T)])
    np.testing.assert_array_equal(found.rows[0], counts[0])

"""Clusters from counts, against planted groups and a planted cut."""

import numpy as np
import pytest

from infoplane.table.encoded_feature import OperatingPoint, grouped_categories, interval_edges


def planted(letters=400, records=30, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    home = np.arange(letters) % 3
    return np.array([rng.multinomial(records, groups[z]) for z in home], dtype=float), home


def test_planted_groups_are_found():
    counts, home = planted()
    found = grouped_categories(counts, OperatingPoint(n_clusters=3))
    labels = found.labels(found.denoising.conditional(counts))
    table = np.zeros((3, 3))
    np.add.at(table, (labels, home), 1)
    assert table.max(axis=0).sum() >= 0.98 * len(home)
    np.testing.assert_allclose(found.centres.sum(axis=1), 1.0, atol=1e-12)


def test_a_bottleneck_assigns_by_its_self_consistent_equation():
    counts, _ = planted(60, 200)
    found = grouped_categories(counts, OperatingPoint(gamma=0.2))
    T = found.denoising.conditional(counts)
    wanted = found.p_z * np.exp(-(T[:, None] * np.log(T[:, None] / found.centres)).sum(axis=2) / 0.2)
    np.testing.assert_allclose(found.soft(counts, T), wanted / wanted.sum(axis=1, keepdims=True), atol=1e-9)


def test_numbers_are_cut_where_the_classes_change_and_nowhere_else():
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000)
    y = np.where(values < -1.0, 0, np.where(values < 0.5, 1, 2))
    noisy = np.where(rng.random(5000) < 0.1, rng.integers(0, 3, 5000), y)
    edges = interval_edges(values, noisy, np.ones(5000), 3, OperatingPoint())
    assert edges == pytest.approx((-1.0, 0.5), abs=0.02)
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(noisy)
        assert interval_edges(values, shuffled, np.ones(5000), 3, OperatingPoint()) == ()
    assert interval_edges(values, noisy, np.ones(5000), 3, OperatingPoint(n_clusters=2)) == pytest.approx(
        (0.5,), abs=0.02
    )
    assert interval_edges(values[:0], noisy[:0], np.ones(0), 3, OperatingPoint()) == ()

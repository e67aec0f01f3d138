"""`ip.partition` against all maps of small joints, and what is refused."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster

import infoplane as ip
import strategies
import verify
from infoplane.errors import InvalidOptionError
from infoplane.table.partition import cluster_bound


def all_maps(letters, clusters):
    """Every map of letters to so many clusters at most, clusters named in order of appearance."""

    def grow(labels):
        if len(labels) == letters:
            yield np.array(labels)
        else:
            for label in range(min(max(labels, default=-1) + 2, clusters)):
                yield from grow([*labels, label])

    return grow([])


def kept(joint, labels):
    return verify.mutual_informations(joint.p_xy, np.eye(int(labels.max()) + 1)[:, labels])[1]


def is_line(labels):
    return (np.diff(labels) >= 0).all()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), clusters=st.integers(1, 4), n_y=st.integers(2, 4))
def test_equal_to_all_maps_where_it_says_so(seed, clusters, n_y):
    """Two y, free order, and intervals of any y: the value is the largest there is, and the bound is the value."""
    rng = np.random.default_rng(seed)
    joint = ip.Joint.from_counts(rng.multinomial(60, rng.dirichlet(np.full(6 * n_y, 0.4))).reshape(6, n_y) + 1)
    maps = [*all_maps(6, clusters)]
    values = [kept(joint, labels) for labels in maps]
    free = ip.partition(joint, clusters=clusters)
    verify.check_encoder(joint.p_xy, free.encoder)
    assert max(values) <= free.upper_bound + 1e-12
    assert free.iyz <= max(values) + 1e-12
    line = ip.partition(joint, clusters=clusters, order="given")
    assert line.iyz == pytest.approx(max(v for v, m in zip(values, maps, strict=True) if is_line(m)), abs=1e-12)
    assert line.upper_bound == pytest.approx(line.iyz, abs=1e-12)
    assert is_line(line.encoder.argmax(axis=0))
    if n_y == 2:
        assert free.iyz == pytest.approx(max(values), abs=1e-12)
        assert free.proven
        shares = (free.encoder @ joint.p_xy)[:, 1] / free.p_z
        assert (np.diff(shares) > 0).all()
        curve = ip.partition_curve(joint, clusters=clusters)
        assert curve.iyz.max() == pytest.approx(free.iyz, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(joint=strategies.joints(), clusters=st.integers(1, 5))
def test_any_joint_has_one(joint, clusters):
    """Zero cells, letters without mass, one y: an encoder of 0 and 1 that keeps no more than its bound."""
    for order in ("free", "given"):
        found = ip.partition(joint, clusters=clusters, order=order)
        verify.check_encoder(joint.p_xy, found.encoder)
        assert set(np.unique(found.encoder[:, joint.p_x > 0])) <= {0.0, 1.0}
        assert found.clusters <= clusters
        assert found.iyz <= found.upper_bound <= joint.mutual_information + 1e-12
        assert found.labels().index.tolist() == [*joint.x_labels]


def test_small_tables_with_more_y_are_found_too():
    """Two 8 x 4 tables into 3, where all 1,094 maps can be tried."""
    rng = np.random.default_rng(1)
    for _ in range(2):
        joint = ip.Joint.from_counts(rng.dirichlet(np.full(32, 0.5)).reshape(8, 4))
        best = max(kept(joint, labels) for labels in all_maps(8, 3))
        assert ip.partition(joint, clusters=3).iyz == pytest.approx(best, rel=1e-9)


def test_a_least_mass_by_share_or_by_records():
    rng = np.random.default_rng(5)
    joint = ip.Joint.from_counts(rng.multinomial(100, rng.dirichlet(np.full(14, 0.5))).reshape(7, 2) + 1)
    best = max(
        kept(joint, labels)
        for labels in all_maps(7, 4)
        if is_line(labels) and np.bincount(labels, joint.p_x).min() >= 30 / joint.records - 1e-12
    )
    line = ip.partition(joint, clusters=4, order="given", min_count=30)
    assert line.iyz == pytest.approx(best, abs=1e-12)
    assert line.upper_bound == pytest.approx(line.iyz, abs=1e-12)
    free = ip.partition(joint, clusters=4, min_share=0.25)
    assert free.p_z.min() >= 0.25 - 1e-9
    assert free.upper_bound == pytest.approx(ip.partition(joint, clusters=4).iyz, abs=1e-12)
    whole = ip.partition(joint, clusters=4, min_count=joint.records)
    assert whole.clusters == 1


def test_shares_rise_or_fall_where_that_is_asked_for():
    rng = np.random.default_rng(6)
    counts = rng.poisson(20, (30, 2))
    counts[:, 1] += np.arange(30)
    joint = ip.Joint.from_counts(counts)
    rising, falling, either = (
        ip.partition(joint, clusters=5, order="given", monotone=trend) for trend in ("rising", "falling", "either")
    )
    for found, sign in ((rising, 1), (falling, -1)):
        shares = (found.encoder @ joint.p_xy)[:, 1] / found.p_z
        assert (sign * np.diff(shares) > 0).all()
        assert found.proven
    assert either.iyz == max(rising.iyz, falling.iyz)
    assert either.iyz <= ip.partition(joint, clusters=5, order="given").iyz + 1e-12


def test_many_numbers_are_cut_between_bins_and_the_bound_holds():
    """On 2,600 letters the best cut in two is found by trying all; the bound is above it."""
    rng = np.random.default_rng(7)
    values = np.sort(rng.normal(size=2600))
    p = 1 / (1 + np.exp(-3 * values))
    P = np.column_stack([1 - p, p / 2, p / 2]) * rng.uniform(0.5, 1.5, (2600, 3))
    joint = ip.Joint.from_counts(P, x_labels=values.tolist())
    found = ip.partition(joint, clusters=2, order="given")
    sums = joint.p_xy.cumsum(axis=0)[:-1]
    both = np.stack([sums, joint.p_y - sums], axis=1)
    terms = both * np.log(both / both.sum(axis=2, keepdims=True) / joint.p_y)
    best = float(terms.sum(axis=(1, 2)).max())
    assert 1990 < found.prebins <= 2000
    assert 0.999 * best < found.iyz <= best + 1e-12
    assert best <= found.upper_bound < 1.5 * best


def test_edges_are_between_the_letters():
    numbers = ip.Joint.from_samples([1.0, 2.5, 2.75, 9.0] * 5, ["a", "a", "b", "b"] * 5)
    assert ip.partition(numbers, clusters=2, order="given").edges == (2.75,)
    days = ip.Joint.from_samples([date(2024, 1, day) for day in (1, 2, 3, 4)], [0, 0, 1, 1])
    assert [edge.date() for edge in ip.partition(days, clusters=2, order="given").edges] == [date(2024, 1, 3)]
    with pytest.raises(InvalidOptionError, match="order='given'"):
        ip.partition(numbers, clusters=2).edges  # noqa: B018
    with pytest.raises(InvalidOptionError, match="numbers, dates or bins"):
        ip.partition(ip.datasets.heart(), clusters=2, order="given").edges  # noqa: B018


def test_clusters_are_the_leaves_of_a_tree():
    found = ip.partition(ip.datasets.heart(), clusters=5)
    linkage = found.to_linkage()
    assert linkage.shape == (4, 4)
    assert len({*fcluster(linkage, 2, "maxclust")}) == 2
    assert linkage[-1, 2] == pytest.approx(found.iyz, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"clusters": 0}, "clusters must be a positive whole number"),
        ({"clusters": 2, "order": "sorted"}, "order must be 'free' or 'given'"),
        ({"clusters": 2, "monotone": "rising"}, "monotone needs order='given' and two y"),
        ({"clusters": 2, "monotone": "up", "order": "given"}, "monotone must be None or 'rising'"),
        ({"clusters": 2, "min_share": 1.5}, "min_share must be a number from 0 to 1"),
        ({"clusters": 2, "min_count": 10}, "min_count needs a joint made from records"),
        ({"clusters": 2, "starts": -1}, "starts must be 0 or a positive whole number"),
        ({"clusters": 2, "max_seconds": 0}, "max_seconds must be a positive number"),
        ({"clusters": 2, "certify": 1}, "certify must be True or False"),
    ],
)
def test_what_is_refused(options, said):
    joint = ip.Joint.from_matrix(np.full((4, 3), 1 / 12))
    with pytest.raises(InvalidOptionError, match=said):
        ip.partition(joint, **options)
    with pytest.raises(InvalidOptionError, match="at most the 12 records"):
        ip.partition(ip.Joint.from_counts(np.ones((4, 3), dtype=int)), clusters=2, min_count=13)


def test_every_k_is_the_best_map_to_k_clusters():
    """Two y: one dynamic programme holds all k; with more y each k is as good as asked for alone, or better."""
    rng = np.random.default_rng(0)
    for n_y in (2, 4):
        joint = ip.Joint.from_counts(rng.dirichlet(np.full(12 * n_y, 0.5)).reshape(12, n_y))
        curve = ip.partition_curve(joint, clusters=12)
        assert curve.clusters.tolist() == [*range(1, 13)]
        for k in (2, 5, 12):
            alone, at = ip.partition(joint, clusters=k), curve.at(k)
            assert at.iyz == pytest.approx(curve.iyz[k - 1], abs=1e-12)
            assert at.ixz == pytest.approx(curve.ixz[k - 1], abs=1e-12)
            assert at.iyz >= (1 - (0.02 if n_y > 2 else 1e-12)) * alone.iyz
            assert curve.upper_bound[k - 1] == pytest.approx(alone.upper_bound, abs=1e-12)
        frame = curve.to_frame()
        assert frame.share.iloc[-1] == pytest.approx(1.0)
        assert (frame.upper_bound_bits >= frame.iyz_bits - 1e-12).all()
        assert frame.on_hull.iloc[[0, -1]].all()
        assert not frame.on_hull.all()


def test_a_line_has_its_curve():
    joint = ip.Joint.from_samples([1, 2, 3, 4, 5] * 4, [0, 0, 1, 2, 2] * 4)
    curve = ip.partition_curve(joint, order="given")
    assert curve.to_frame().share.round(6).tolist()[2:] == [1.0, 1.0, 1.0]
    assert curve.at(3).edges == (3, 4)
    with pytest.raises(InvalidOptionError, match="1 to 5 clusters"):
        curve.at(6)


def test_held_out_records_choose_how_many():
    """Two kinds of letters; the table alone prefers as many clusters as there are. Where y says nothing, one."""
    rng = np.random.default_rng(0)
    kinds = np.repeat([[0.8, 0.2], [0.3, 0.7]], 10, axis=0)
    joint = ip.Joint.from_counts([rng.multinomial(20, row) for row in kinds])
    curve = ip.partition_curve(joint, clusters=12)
    found = curve.suggest(rng=1)
    assert found.clusters == 2 < curve.iyz.argmax() + 1
    assert [one.parameter for one in found.curve] == list(range(1, 13))
    assert found.curve[0].gain_bits == pytest.approx(0.0, abs=1e-12)
    assert str(found).startswith("Held-out records prefer 2 clusters")
    noise = ip.Joint.from_counts([rng.multinomial(6, [0.2, 0.3, 0.5]) for _ in range(40)])
    nothing = ip.partition_curve(noise, clusters=8).suggest()
    assert nothing.clusters == 1
    assert str(nothing).startswith("One cluster")


@pytest.mark.parametrize("clusters", [2, 3])
def test_no_map_exceeds_the_proven_bound_and_it_is_below_the_plain_one(clusters):
    rng = np.random.default_rng(4)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(21, 0.5)).reshape(7, 3))
    plain, proven = (ip.partition(joint, clusters=clusters, certify=certify) for certify in (False, True))
    assert plain.iyz == proven.iyz
    assert max(kept(joint, labels) for labels in all_maps(7, clusters)) <= proven.upper_bound
    assert proven.upper_bound < 0.999 * plain.upper_bound


def test_one_cluster_keeps_nothing():
    assert cluster_bound(ip.datasets.heart(), 1, 1.0) == 0.0

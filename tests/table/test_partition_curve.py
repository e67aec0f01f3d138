import numpy as np
import pytest

import infoplane as ip
from infoplane.errors import InvalidOptionError


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

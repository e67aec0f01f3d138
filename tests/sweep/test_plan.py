"""Plans: a start depends on seed, parameter and number only; units cover every run once; what travels to workers."""

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.solvers.shared.starts import make_starts
from infoplane.sweep.plan import Chunk, ParameterGrid, Unit, run_chunk
from sweeping import Warm, planned

UNIFORM = ip.datasets.paper_uniform()
HEART = ip.datasets.heart()


def test_a_start_depends_on_seed_place_and_number_only():
    plan = planned(starts=8)
    all_of_them = plan.encoders(2)
    for first, count in ((0, 1), (0, 8), (3, 2), (7, 1)):
        assert plan.encoders(2, first, count).tobytes() == all_of_them[first : first + count].tobytes()
    # As numpy itself would spawn them, which is what a script of one's own would write.
    theirs = make_starts(UNIFORM, None, 8, np.random.SeedSequence(3).spawn(3)[2], None)
    assert all_of_them.tobytes() == theirs.tobytes()
    assert plan.encoders(1).tobytes() != all_of_them.tobytes()


@settings(max_examples=25, deadline=None)
@given(parameters=st.integers(1, 9), starts=st.integers(1, 5), segment=st.one_of(st.none(), st.integers(1, 4)))
def test_units_cover_every_run_once(parameters, starts, segment):
    ordinary, path = planned(starts=starts), planned(Warm(segment), starts=starts)
    units = ordinary.units(range(parameters))
    assert sorted((unit.indices[0], unit.start) for unit in units) == [
        (j, i) for j in range(parameters) for i in range(starts)
    ]
    assert ordinary.runs_per_parameter == starts
    segments = [unit.indices for unit in path.units(range(parameters))]
    assert [place for one in segments for place in one] == list(range(parameters))
    assert all(len(one) == (segment or parameters) for one in segments[:-1])
    assert path.runs_per_parameter == 1


def test_a_plan_travels_without_labels_and_works_the_same():
    labelled = ip.Joint.from_matrix(HEART.p_xy, x_labels=[f"letter {x} " + "!" * 1000 for x in range(16)])
    plan = planned(joint=labelled, starts=2)
    assert plan.support.T.shape == (4, 16)  # made before it travels, and not sent
    sent = pickle.dumps(plan)
    assert b"letter" not in sent
    assert len(sent) < 3_000
    chunk = Chunk(tuple(plan.units([0])), {0: ip.bottleneck(0.4)})
    here, there = (
        run_chunk(plan, chunk, "").records,
        run_chunk(pickle.loads(sent), pickle.loads(pickle.dumps(chunk)), "").records,
    )
    assert [one.run.encoder.tobytes() for one in here] == [one.run.encoder.tobytes() for one in there]
    assert [(one.loss, one.ixz, one.iyz) for one in here] == [(one.loss, one.ixz, one.iyz) for one in there]


def test_a_grid_numbers_parameters_and_orders_rows():
    grid = ParameterGrid(ip.bottleneck, [0.9, 0.1], 4)
    assert grid.add([0.5, 0.2]) == [2, 3]
    assert grid.order == [1, 3, 2, 0]
    assert grid.problems[3] == ip.bottleneck(0.2)
    assert ParameterGrid(ip.bottleneck, [0.9, 0.1], None).order == [0, 1]
    assert Unit(0, 1, (2,)) == (0, 1, (2,))

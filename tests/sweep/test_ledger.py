"""The tally: counts and best runs, whatever the order in which runs end."""

import random

from hypothesis import given
from hypothesis import strategies as st

from infoplane.results import Status
from infoplane.storage.store import RunRecord
from infoplane.sweep.ledger import Tally

records = st.builds(
    RunRecord,
    index=st.just(7),
    solver=st.integers(0, 1),
    start=st.integers(0, 10**6),
    loss=st.sampled_from([0.0, 4e-10, 8e-10, 1.2e-9, 0.5]),
    ixz=st.just(0.0),
    iyz=st.just(0.0),
    status=st.sampled_from([Status.STATIONARY, Status.ITERATION_LIMIT]),
)


@given(runs=st.lists(records, min_size=1, max_size=12, unique_by=lambda one: one.key), seed=st.integers())
def test_the_best_of_a_tally_is_the_frontiers_whatever_the_order(runs, seed):
    """Against the rule of `Frontier.best_rows`, spelled out: the lowest; among those within 1e-9, converged ones first."""
    rows = sorted(runs, key=lambda one: (one.solver, one.start))
    lowest = min(one.loss for one in rows)
    near = [one for one in rows if one.loss <= lowest + 1e-9]
    expected = min(near, key=lambda one: (not one.status.converged, one.loss))
    tally = Tally()
    random.Random(seed).shuffle(runs)
    for one in runs:
        tally.add(one)
    assert tally.best(7) == expected
    assert min(near, key=lambda one: one.loss).key in tally.kept(7)  # the best, should it be proven optimal
    assert expected.key in tally.kept(7)
    assert len(tally.kept(7)) <= 4
    assert (tally.runs, tally.converged) == (len(runs), sum(one.status.converged for one in runs))
    assert tally.runs_at == {7: len(runs)}

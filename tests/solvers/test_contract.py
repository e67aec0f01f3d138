"""One battery for every solver x problem x joint: what is reported is true, whoever found it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from made_up import JOINTS
from strategies import joints

PROBLEMS = {
    "bottleneck 0.2": ip.bottleneck(0.2),
    "bottleneck 0.6": ip.bottleneck(0.6),
    "bottleneck 1": ip.bottleneck(1.0),
    "funnel 0.5": ip.funnel(0.5),
    "funnel 2.5": ip.funnel(2.5),
    "funnel 10": ip.funnel(10.0),
    "deterministic 0.2": ip.deterministic_bottleneck(0.2),
    "generalised 0.2, 0.5": ip.generalised_bottleneck(0.2, 0.5),
    "convex": ip.MarkovLagrangian(-0.4, -0.4, -0.2),
    "other signs": ip.MarkovLagrangian(0.5, -0.7, 0.3),
    "more signs": ip.MarkovLagrangian(-0.5, 0.4, 0.3),
}


def dense(joint):
    return joint.p_xy.toarray() if joint.is_sparse else np.asarray(joint.p_xy)


ACCEPTED, REFUSED = (
    [
        pytest.param(solver, problem, id=f"{solver}-{name}")
        for solver, options in ip.SOLVERS.items()
        for name, problem in PROBLEMS.items()
        if (options.refusal(problem) is not None) is refused
    ]
    for refused in (False, True)
)


@pytest.mark.parametrize(("solver", "problem"), REFUSED)
def test_a_refusal_names_the_coefficients(solver, problem):
    """What a solver cannot solve depends on rho alone, so one joint will do."""
    with pytest.raises(ip.UnsupportedProblemError, match="rho"):
        ip.solve(ip.datasets.paper_uniform(), problem, solver)


@pytest.mark.parametrize("joint", [make() for make in JOINTS.values()], ids=JOINTS)
@pytest.mark.parametrize(("solver", "problem"), ACCEPTED)
def test_reported_numbers_are_true(solver, problem, joint):
    found = ip.solve(joint, problem, solver, starts=2, rng=1, max_iter=150)
    verify.check_solution(dense(joint), problem.rho, found, tol=1e-10)
    assert found.loss == pytest.approx(problem.value(joint, found.encoder), abs=1e-12)
    assert found.loss <= min(start.loss for start in found.starts) + 1e-9
    if solver not in ("merging", "submodular"):  # merged clusters have not died
        assert found.clusters + found.died == (joint.p_x > 0).sum()
    assert not found.encoder.flags.writeable
    if found.status is ip.Status.STATIONARY:
        assert max(found.residuals) <= 1e-8
        # Measured afresh, from the returned encoder, by the problem's own NumPy formula.
        assert problem.stationarity(joint, found.encoder) <= 2e-8
    if found.trace is not None:
        assert len(found.trace) == found.iterations
        assert np.isfinite(found.trace.loss).all()


@pytest.mark.parametrize("solver", ["ib-1", "ib-2", "ib-1v", "blahut-arimoto", "pf-1", "pf-2", "pf-2v", "merging"])
def test_sparse_and_dense_joints_give_the_same_bits(solver):
    from scipy.sparse import csr_array

    counts = np.array([[4, 0, 1], [0, 3, 2], [1, 1, 0]], dtype=float)
    problem = ip.bottleneck(0.3) if not solver.startswith("pf") else ip.funnel(2.5)
    one = ip.solve(ip.Joint.from_counts(counts), problem, solver, starts=2, rng=0)
    two = ip.solve(ip.Joint.from_counts(csr_array(counts)), problem, solver, starts=2, rng=0)
    np.testing.assert_array_equal(one.encoder, two.encoder)


ONE_TARGET = sorted(name for name, solver in ip.SOLVERS.items() if not solver.serves_tasks)


@settings(max_examples=40, deadline=None)
@given(joint=joints(), solver=st.sampled_from(ONE_TARGET), gamma=st.floats(0.01, 1.0), beta=st.floats(0.3, 30.0))
def test_any_joint_any_solver(joint, solver, gamma, beta):
    """Random joints, zeros and empty letters included: numbers true, inequalities kept, however few iterations were allowed."""
    problem = ip.bottleneck(gamma)
    if solver.startswith("pf") or ip.SOLVERS[solver].refusal(problem):
        problem = ip.funnel(beta)
    found = ip.solve(joint, problem, solver, starts=2, rng=0, max_iter=60)
    verify.check_solution(dense(joint), problem.rho, found, tol=1e-10)
    assert -1e-12 <= found.iyz <= found.ixz + 1e-12
    assert found.iyz <= joint.mutual_information + 1e-12
    assert found.ixz <= joint.entropy_x + 1e-12

"""A solution: what follows from its encoder, and what it says of how it ended."""

import numpy as np
import pytest

import infoplane as ip
import verify

UNIFORM, PROBLEM = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
RUN = {"starts": 1, "rng": 0, "max_iter": 2}


def test_numbers_and_frame_follow_from_the_encoder():
    found = ip.solve(ip.datasets.heart(), PROBLEM, "blahut-arimoto", starts=1, rng=0, clusters=3)
    verify.check_solution(found.joint.p_xy, PROBLEM.rho, found)
    frame = found.encoder_frame()
    assert frame.shape == (16, found.clusters)
    assert list(frame.index) == list(found.joint.x_labels)
    np.testing.assert_array_equal(frame.to_numpy(), found.encoder.T)
    np.testing.assert_allclose(found.p_z, found.encoder @ found.joint.p_x, rtol=0, atol=1e-15)


@pytest.mark.parametrize("solver", ["blahut-arimoto", "accelerated", "merging", "ib-2"])
def test_nobody_is_advised_on_options_that_the_solver_does_not_have_or_has_not_changed(solver):
    found = ip.solve(UNIFORM, PROBLEM, solver, **RUN)
    assert not found.converged
    assert found.advice == ""
    assert found.message == found.status.value
    assert "penalty" not in str(found)
    assert "step=" not in str(found)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"penalty": 2.0}, "use penalty='auto'"),
        ({"step": "gradient", "penalty": 2.0}, "use step='exact' and penalty='auto'"),
    ],
)
def test_a_splitting_solver_advises_its_own_defaults(options, advice):
    found = ip.solve(UNIFORM, PROBLEM, ip.DouglasRachford("ib-2", **options), **RUN)
    assert found.status is ip.Status.ITERATION_LIMIT
    assert found.message == f"{found.status.value}, or {advice}"
    assert str(found).endswith(found.message)
    swept = ip.sweep(UNIFORM, ip.bottleneck, [0.2], ip.DouglasRachford("ib-2", **options), **RUN)
    assert swept.runs[0].message == found.message


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_run_that_converged_advises_nothing():
    found = ip.solve(UNIFORM, PROBLEM, ip.DouglasRachford("ib-1", penalty=8.0), starts=1, rng=0, max_iter=100_000)
    assert found.converged
    assert found.message == found.status.value


def test_a_proof_at_its_limit_advises_to_raise_it():
    found = ip.solve(ip.datasets.heart(), ip.funnel(3.5), ip.Columns(max_cells=1), tol=1e-12)
    assert not found.converged
    assert found.message.endswith("or raise max_cells or max_seconds")

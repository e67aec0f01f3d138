import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
import verify

UNIFORM = ip.datasets.paper_uniform()
GRID = np.geomspace(0.1, 0.9, 5)


def frontier(**options):
    return ip.sweep(UNIFORM, ip.bottleneck, GRID, **{"solver": "drs", "starts": 3, "rng": 0, **options})


def test_every_run_is_kept_and_true():
    found = frontier()
    assert len(found) == 15
    P = np.asarray(UNIFORM.p_xy)
    for row, run in enumerate(found.runs):
        assert run.loss == pytest.approx(verify.lagrangian(P, run.encoder, run.problem.rho), abs=1e-10)
        verify.check_solution(P, run.problem.rho, found.solution(row))
    assert "15 runs" in repr(found)


def test_frame_has_units_and_the_contracts_columns():
    frame = frontier().to_frame()
    assert {
        "parameter",
        "start",
        "loss_nats",
        "ixz_bits",
        "iyz_bits",
        "status",
        "iterations",
        "seconds",
        "gap_nats",
    } <= set(frame)
    assert list(frame.index) == list(range(15))
    assert (frame.status == "STATIONARY").all()
    assert frame.seconds.min() > 0


def test_results_do_not_depend_on_the_executor():
    with ThreadPoolExecutor(1) as pool:
        one = frontier(executor=pool)
        assert pool.submit(int, "1").result() == 1  # the user's executor is left open
    two = frontier()
    for a, b in zip(one.runs, two.runs, strict=True):
        np.testing.assert_array_equal(a.encoder, b.encoder)
        assert (a.parameter, a.start, a.loss, a.iterations) == (b.parameter, b.start, b.loss, b.iterations)


def test_best_is_the_lowest_loss_of_each_parameter():
    found = frontier()
    best = found.best()
    assert list(best.parameter) == sorted(GRID)
    frame = found.to_frame()
    for _, row in best.iterrows():
        assert row.loss_nats <= frame[frame.parameter == row.parameter].loss_nats.min() + 1e-9


@pytest.mark.parametrize(("family", "grid"), [(ip.bottleneck, [0.1, 0.2, 0.4, 0.6]), (ip.funnel, [1.5, 2.5, 5.0])])
def test_no_run_dominates_a_pareto_run(family, grid):
    found = ip.sweep(ip.datasets.heart(), family, grid, "drs", starts=6, rng=0, init="random", max_iter=20)
    kept = set(found.pareto_rows())
    assert 1 < len(kept) < len(found)
    sign = -1.0 if found.hides_y else 1.0
    for row in kept:
        for other in found.runs:
            better_y = sign * (other.iyz - found.runs[row].iyz) > 1e-9
            no_worse_x = sign * (found.runs[row].ixz - other.ixz) >= 0
            assert not (better_y and no_worse_x)
    assert list(found.pareto().ixz_bits) == sorted(found.pareto().ixz_bits)
    for row in set(range(len(found))) - kept:
        assert any(
            sign * (found.runs[k].iyz - found.runs[row].iyz) >= -1e-9
            and sign * (found.runs[row].ixz - found.runs[k].ixz) >= -1e-9
            for k in kept
        )


def test_encoder_is_a_copy():
    found = frontier()
    found.encoder(0)[:] = 0
    assert found.runs[0].encoder.max() > 0


def test_frontiers_of_one_joint_can_be_added():
    both = frontier() + frontier(solver="blahut-arimoto")
    assert len(both) == 30
    assert {run.solver for run in both.runs} == {"ib-1", "blahut-arimoto"}
    with pytest.raises(ip.InvalidOptionError, match="different joints"):
        both + ip.sweep(ip.datasets.paper_nonuniform(), ip.bottleneck, [0.2], starts=1)
    with pytest.raises(TypeError, match="unsupported operand"):
        both + 3


def test_merging_has_one_run_a_parameter():
    found = ip.sweep(UNIFORM, ip.funnel, [1.5, 3.0], "merging", starts=16)
    assert [run.start for run in found.runs] == [0, 0]


def test_progress_callback_counts_up():
    seen = []
    frontier(progress=seen.append)
    assert [one.done for one in seen] == [1, 2, 3, 4, 5]
    assert {one.total for one in seen} == {5}
    assert seen[-1].runs == 15
    assert seen[-1].converged == 15


def test_bar_is_silent_when_stderr_is_not_a_terminal(capsys):
    frontier(progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip() == ""


def test_interruption_keeps_the_parameters_that_were_finished():
    def press_control_c(_progress):
        signal.raise_signal(signal.SIGINT)

    grid = [50.0, *np.linspace(5, 20, 20)]  # the first is trivial; the others take long at this tolerance
    found = ip.sweep(
        ip.datasets.heart(), ip.funnel, grid, "pf-2v", starts=2, rng=0, tol=1e-15, clusters=6, progress=press_control_c
    )
    assert not found.complete
    assert 2 <= len(found) < 42
    assert len(found) % 2 == 0  # a parameter is kept with all its starts, or not at all


@pytest.mark.parametrize(
    ("parameters", "message"), [([], "non-empty list"), ([[0.1]], "non-empty list"), ([0.2, 3.0], "gamma must be in")]
)
def test_bad_grids(parameters, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        ip.sweep(UNIFORM, ip.bottleneck, parameters)


def test_a_solver_that_cannot_is_refused_before_anything_runs():
    with pytest.raises(ip.UnsupportedProblemError, match="blahut-arimoto"):
        ip.sweep(UNIFORM, ip.funnel, [1.5, 3.0], "blahut-arimoto")


# -- what it is made of ------------------------------------------------------------------------------------------------


def test_provenance_is_a_dict_of_its_own():
    said = {"seed": 3}
    made = ip.Frontier(UNIFORM, [], provenance=said)
    said["seed"] = 4
    assert made.provenance == {"seed": 3}
    assert ip.Frontier(UNIFORM, []).provenance == {}


def test_provenance_of_a_sum_has_the_parts_in_order():
    a, b, c = (ip.Frontier(UNIFORM, [], provenance={"seed": seed}) for seed in (1, 2, 3))
    nothing = ip.Frontier(UNIFORM, [])
    assert (a + b + c).provenance == {"parts": [{"seed": 1}, {"seed": 2}, {"seed": 3}]}
    assert (a + nothing).provenance == {"parts": [{"seed": 1}]}
    assert (nothing + nothing).provenance == {}


def test_the_runs_of_a_frontier_are_its_own():
    found = frontier()
    runs = list(found.runs)
    copied = ip.Frontier(UNIFORM, runs)
    runs.clear()
    assert len(copied) == 15
    assert len((copied + copied).runs) == 30
    found.encoder(1)[:] = 0.0
    assert copied.solution(1).loss == found.runs[1].loss
    assert not found.solution(1).encoder.flags.writeable


def test_runs_without_a_parameter_are_one_group():
    run = ip.solve(UNIFORM, ip.MarkovLagrangian(-0.8, -0.2, 1.0), "blahut-arimoto", starts=1, rng=0)
    runs = [replace(run, parameter=float("nan")) for _ in range(3)]
    assert len(ip.Frontier(UNIFORM, runs).best_rows()) == 1

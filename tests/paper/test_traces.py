"""Single runs iteration by iteration: the fastest method, its losses, the path of the iterates."""

import pytest

import infoplane as ip
from infoplane.paper.methods import Method
from infoplane.paper.rates import straightness, worst_ratio
from infoplane.paper.sweeps import Certified
from infoplane.paper.traces import Descent, Iterates


def test_a_descent_keeps_the_fastest_and_its_own_losses():
    slow, fast, never = (Method("ib-1", "exact", c, 1.0) for c in (64.0, 8.0, 1.0))
    piece = Descent("d", "paper_uniform", "bottleneck", 0.2, (slow, fast, never.within(300)), 4)
    columns = piece.run()
    assert columns["converged"].tolist() == [1, 1, 0]
    assert columns["chosen"][0] == 1
    assert columns["iterations"][1] < columns["iterations"][0]
    assert len(columns["loss"]) == columns["iterations"][1]
    assert columns["loss"][-1] == pytest.approx(columns["end"][1], abs=1e-9)
    gradient = Descent("g", "paper_uniform", "bottleneck", 0.2, (Method("ib-1", "gradient", 16.0, 1.618),), 4).run()
    assert gradient["loss"][-1] == pytest.approx(gradient["end"][0], abs=1e-9)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_calls_of_descents_and_certificates_run():
    piece = Descent("g", "paper_uniform", "bottleneck", 0.2, (Method("ib-1", "gradient", 16.0, 1.618).within(20),), 4)
    found = eval(piece.call(), {"ip": ip})
    assert found.iterations == piece.run()["iterations"][0]
    proven = eval(Certified("c", "paper_uniform", "bottleneck", (0.5,)).call(), {"ip": ip})
    assert proven.runs[0].status is ip.Status.CERTIFIED


def test_iterates_move_less_and_less():
    method = Method("ib-1", "exact", 16.0, 1.618, tol=1e-13, inner=30)
    columns = Iterates("i", "paper_uniform", "bottleneck", 0.2, method, 4).run()
    assert columns["converged"][0] == 1
    assert columns["step"][-1] < 1e-11 * columns["step"].max()
    assert worst_ratio(columns["step"]) < 1.0
    assert straightness(columns["step"]) > 0.99

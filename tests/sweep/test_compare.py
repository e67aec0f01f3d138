"""Several solvers side by side, a user's own among them; and what is said to a wrong object."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from infoplane.runtime import budget

JOINT = ip.datasets.paper_uniform()


class Mine(ip.Accelerated):
    """A solver of my own."""

    name = "mine"


@pytest.fixture
def mine():
    yield ip.register(Mine())
    ip.SOLVERS.pop("mine")


def test_one_row_for_each_parameter_and_solver(mine):
    found = ip.compare(JOINT, ip.bottleneck, [0.2, 0.4], ["mine", ip.Merging()], starts=2, rng=0)
    assert found.solver.tolist() == ["mine", "merging"] * 2
    assert found.parameter.tolist() == [0.2, 0.2, 0.4, 0.4]
    assert {"loss_nats", "ixz_bits", "iyz_bits", "above_lowest_nats", "winner", "seconds"} <= set(found)
    assert found.groupby("parameter").winner.any().all()
    best = ip.solve(JOINT, ip.bottleneck(0.2), mine, starts=2, rng=0)
    assert found.loss_nats[0] == pytest.approx(best.loss, abs=1e-9)


def test_with_a_proof_every_row_has_a_gap():
    found = ip.compare(JOINT, ip.bottleneck, [0.2], ["merging"], starts=2, rng=0, certify=True)
    assert found.solver.tolist() == ["merging", "envelope"]
    assert found.gap_nats[0] > 1e-3 > found.gap_nats[1]


def test_two_objects_of_one_name_are_told_apart():
    solvers = [ip.Accelerated(), ip.Accelerated(split=False)]
    assert ip.compare(JOINT, ip.bottleneck, [0.4], solvers, starts=1, rng=0).solver.tolist() == [
        "accelerated",
        "accelerated #2",
    ]


class Lazy(ip.Solver):
    """Returns its starts; its runs do not say who made them."""

    name = "lazy"

    def run(self, job):
        residuals = ip.Residuals(0.0, 0.0, 1.0)
        return [ip.Run(start, ip.Status.STALLED, 0, residuals) for start in job.starts]


class Compiling(Lazy):
    """Had a kernel compiled for a thousand seconds."""

    name = "compiling"

    def run(self, job):
        budget.compiled_for[threading.get_ident()] = 1000.0
        return [replace(run, iterations=1) for run in super().run(job)]


def test_no_solver_pays_for_the_loading_of_kernels(monkeypatch):
    monkeypatch.setattr(budget, "compiled_for", {})
    found = ip.compare(JOINT, ip.bottleneck, [0.2], [Compiling(), Lazy()], starts=1, rng=0).set_index("solver")
    assert found.seconds["compiling"] < -900.0 < found.seconds["lazy"]  # no thousand seconds have really passed


def test_a_registered_solver_is_named_in_results():
    ip.register(Lazy)
    try:
        assert ip.solve(JOINT, ip.bottleneck(0.2), "lazy", rng=0).solver == "lazy"
        assert {run.solver for run in ip.sweep(JOINT, ip.bottleneck, [0.2], "lazy", rng=0, starts=2).runs} == {"lazy"}
        ip.register(Lazy())  # the same again, as when a notebook's cell is run twice
    finally:
        ip.SOLVERS.pop("lazy")


def test_a_name_that_is_taken_is_refused():
    class Impostor(ip.Accelerated):
        name = "merging"

    before = dict(ip.SOLVERS)
    with pytest.raises(ip.InvalidOptionError, match="there is a solver 'merging' already"):
        ip.register(Impostor())
    with pytest.raises(ip.InvalidOptionError, match=r"subclass of infoplane\.Solver; found the function print"):
        ip.register(print)
    assert before == ip.SOLVERS


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ip.solve(np.eye(2) / 2, ip.bottleneck(0.2)), "a joint must be .* found a value of type ndarray"),
        (lambda: ip.solve(JOINT, ip.bottleneck), "a problem must be .* Call it with its parameter"),
        (lambda: ip.solve(JOINT, "bottleneck"), "a problem must be .* found 'bottleneck'"),
        (lambda: ip.solve(JOINT, ip.bottleneck(0.2), print), "a solver must be .* found the function print"),
        (lambda: ip.solve(JOINT, ip.bottleneck(0.2), ip.Merging), "a solver must be .* found the class Merging"),
        (lambda: ip.sweep(np.eye(2) / 2, ip.bottleneck, [0.2]), "a joint must be"),
        (lambda: ip.sweep(JOINT, "bottleneck", [0.2]), "a family must be .* Write infoplane.bottleneck"),
        (lambda: ip.sweep(JOINT, lambda g: g, [0.2]), "a problem must be"),
        (lambda: ip.sweep(JOINT, ip.bottleneck, [0.2], len), "a solver must be"),
        (lambda: ip.certify(np.eye(2) / 2, ip.bottleneck(0.2), np.eye(2)), "a joint must be"),
        (lambda: ip.certify(JOINT, "funnel", np.eye(3)), "a problem must be"),
        (lambda: ip.compare([[1.0]], ip.bottleneck, [0.2]), "a joint must be"),
        (lambda: ip.compare(JOINT, "funnel", [0.2]), "a family must be"),
        (lambda: ip.compare(JOINT, ip.bottleneck, [0.2], [print]), "a solver must be"),
        (lambda: ip.compare(JOINT, ip.bottleneck, [0.2], []), "no solver to compare"),
    ],
)
def test_a_wrong_object_gets_a_sentence(call, words):
    with pytest.raises(ip.InvalidOptionError, match=words):
        call()


def test_a_generator_gives_all_solvers_the_same_starts():
    solvers = ["ib-1", "blahut-arimoto"]
    one, other = (
        ip.compare(JOINT, ip.bottleneck, [0.2], given, starts=3, rng=np.random.default_rng(0)).set_index("solver")
        for given in (solvers, solvers[::-1])
    )
    assert one.median_iterations[solvers].tolist() == other.median_iterations[solvers].tolist()

"""By ``certify=``, who answers and who proves."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.solve import certifier, runner_and_prover
from infoplane.solvers.job import ProofOptions

HEART, UNIFORM = ip.datasets.heart(), ip.datasets.paper_uniform()
BOTTLENECK, FUNNEL = ip.bottleneck(0.2), ip.funnel(3.0)


def test_nothing_is_proven_unless_asked():
    assert runner_and_prover("ib-1", [BOTTLENECK], ProofOptions(certify=False)) == (ip.DouglasRachford("ib-1"), None)
    solver, proof = runner_and_prover(ip.Envelope(), [BOTTLENECK], ProofOptions(certify=False))
    assert (solver, proof) == (ip.Envelope(), None)


@pytest.mark.parametrize(("problem", "expected"), [(BOTTLENECK, ip.Envelope(tol=1e-3)), (FUNNEL, ip.Columns(tol=1e-3))])
def test_the_certifier_runs_alone_or_after_another_solver(problem, expected):
    solver, proof = runner_and_prover(None, [problem], ProofOptions(certify=1e-3))
    assert solver is proof
    assert proof == expected
    solver, proof = runner_and_prover("accelerated", [problem], ProofOptions(certify=1e-3))
    assert (solver, proof) == (ip.Accelerated(), expected)


@pytest.mark.parametrize("certify", [True, 1e-3])
@pytest.mark.parametrize("named", ["envelope", ip.Envelope(tol=1e-4, max_cells=10)])
def test_a_solver_that_proves_is_asked_once(named, certify):
    own = ip.SOLVERS["envelope"] if isinstance(named, str) else named
    solver, proof = runner_and_prover(named, [BOTTLENECK], ProofOptions(certify=certify))
    assert solver is proof
    assert proof.max_cells == own.max_cells
    assert proof.tol == (own.tol if certify is True else certify)


def test_limits_go_to_whichever_solver_proves():
    for named in (None, "ib-1", "envelope"):
        _, proof = runner_and_prover(
            named, [BOTTLENECK], ProofOptions(certify=True, max_cells=np.int64(7), max_seconds=2)
        )
        assert (proof.max_cells, proof.max_seconds) == (7, 2.0)
    _, proof = runner_and_prover(ip.Envelope(max_cells=10), [BOTTLENECK], ProofOptions(certify=True, max_seconds=2.0))
    assert (proof.max_cells, proof.max_seconds) == (10, 2.0)


@pytest.mark.parametrize(
    "call", [ip.solve, lambda joint, _, **options: ip.sweep(joint, ip.bottleneck, [0.2], **options)]
)
def test_limits_without_a_proof_are_refused(call):
    with pytest.raises(ip.InvalidOptionError, match=r"max_cells set how long a proof may take.*certify=True"):
        call(UNIFORM, BOTTLENECK, max_cells=10)


def test_what_cannot_be_proven_is_refused():
    with pytest.raises(ip.UnsupportedProblemError):
        runner_and_prover("columns", [BOTTLENECK], ProofOptions(certify=True))
    with pytest.raises(ip.UnsupportedProblemError, match="a global certificate needs"):
        runner_and_prover("drs", [ip.MarkovLagrangian(-1.0, -0.2, 0.5)], ProofOptions(certify=True))


def test_a_problem_with_a_bottleneck_below_it_is_answered_by_the_default_and_bounded_by_the_envelope():
    chosen, proof = runner_and_prover(None, [ip.deterministic_bottleneck(0.3)], ProofOptions(certify=1e-4))
    assert chosen is runner_and_prover(None, [ip.deterministic_bottleneck(0.3)], ProofOptions(certify=False))[0]
    assert proof == ip.Envelope(tol=1e-4)


@pytest.fixture
def proofs(monkeypatch):
    """The options of every proof that is begun."""
    begun = []
    for cls in (ip.Envelope, ip.Columns):
        follow = cls.follow
        monkeypatch.setattr(cls, "follow", lambda self, *rest, follow=follow: begun.append(self) or follow(self, *rest))
    return begun


@pytest.mark.filterwarnings("ignore:a certificate for:infoplane.PenaltyWarning")
def test_solve_proves_once_within_the_limits_of_its_solver(proofs):
    found = ip.solve(HEART, BOTTLENECK, ip.Envelope(max_cells=10), certify=True)
    assert proofs == [ip.Envelope(max_cells=10)]
    assert found.status is not ip.Status.CERTIFIED
    assert found.gap > 1e-6


@pytest.mark.filterwarnings("ignore:a certificate for:infoplane.PenaltyWarning")
def test_solve_and_sweep_hand_limits_to_the_proof(proofs):
    found = ip.solve(HEART, BOTTLENECK, "blahut-arimoto", starts=1, certify=True, max_cells=10)
    swept = ip.sweep(HEART, ip.bottleneck, [0.2], "blahut-arimoto", starts=1, certify=True, max_cells=10)
    assert proofs == [ip.Envelope(max_cells=10)] * 2
    assert found.gap > 1e-6
    assert all(run.gap > 1e-6 for run in swept.runs)


def test_a_sweep_with_a_solver_that_proves_runs_it_once(proofs):
    swept = ip.sweep(UNIFORM, ip.funnel, [2.0], ip.Columns(tol=1e-5), certify=True)
    assert proofs == [ip.Columns(tol=1e-5)]
    assert len(swept) == 1
    assert swept.runs[0].status is ip.Status.CERTIFIED
    assert swept.provenance["certify_nats"] == 1e-5


def test_certifiers_are_registered():
    assert certifier(BOTTLENECK) is ip.SOLVERS["envelope"]
    assert certifier(FUNNEL) is ip.SOLVERS["columns"]

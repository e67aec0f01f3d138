"""Files that were tampered with are caught; honest ones are verified; what cannot be checked is said."""

import os

import numpy as np
import pytest

import infoplane as ip
from checker_cases import parts, written
from infoplane.errors import InvalidAnswerError, InvalidOptionError
from infoplane_verify import CheckVerdict, passed
from infoplane_verify.__main__ import main

HEART, PAPER = ip.datasets.heart(), ip.datasets.paper_nonuniform()
PROBLEMS = {"bottleneck": ip.bottleneck(0.1), "funnel": ip.funnel(3.5)}


def saved(path, *runs):
    ip.Frontier(runs[0].joint, runs).save(path)
    return path


@pytest.fixture(scope="module", params=PROBLEMS.values(), ids=PROBLEMS)
def answer(request, tmp_path_factory):
    found = ip.solve(HEART, request.param, certify=True)
    return saved(tmp_path_factory.mktemp("answer") / "answer.npz", found)


def test_a_certified_answer_is_verified(answer):
    (found,) = ip.verify(answer)
    assert found.verdict is CheckVerdict.VERIFIED
    assert found.reason == ""
    assert 0.0 < found.gap <= 1e-6
    assert found.proven_bound == found.claimed_bound
    assert (found.cells > 0, found.left, found.digits_checked > 0) == (True, 0, True)


def raised_bound(meta, _arrays):
    meta["lower_bounds"][0] += 1e-3


def raised_bound_and_loss(meta, arrays):
    raised_bound(meta, arrays)
    arrays["plane"][0, 0] += 1e-3


def barely_raised_bound(meta, arrays):
    # Above the loss by less than what numbers are compared to, so that only the multipliers can tell.
    meta["lower_bounds"][0] = float(arrays["plane"][0, 0]) + 1e-11


def other_encoder(_meta, arrays):
    arrays["encoders"] = arrays["encoders"][::-1, ::-1].copy()


def other_encoder_and_plane(_meta, arrays):
    W = arrays["encoders"] = np.full_like(arrays["encoders"], 1.0 / len(arrays["encoders"]))
    arrays["plane"] = np.zeros_like(arrays["plane"])
    assert W.shape[0] > 1


def other_multipliers(_meta, arrays):
    arrays["multipliers"][0, :8] += 1e-3
    arrays["multipliers"][0, 8:] -= 1e-3


def other_joint(_meta, arrays):
    arrays["p_value"][:2] += [2.0**-13, -(2.0**-13)]


def other_parameter(meta, arrays):
    family, parameter = (
        {"bottleneck": ip.bottleneck, "funnel": ip.funnel}[meta["families"][0]],
        meta["problem_parameters"][0],
    )
    arrays["rho"] = np.array([family(0.99 * parameter).rho])
    meta["problem_parameters"][0] = arrays["numbers"][0, 0] = 0.99 * parameter


def no_bound(meta, _arrays):
    meta["lower_bounds"][0] = None


@pytest.mark.parametrize(
    "tamper",
    [
        raised_bound,
        raised_bound_and_loss,
        barely_raised_bound,
        other_encoder,
        other_encoder_and_plane,
        other_multipliers,
        other_joint,
        other_parameter,
        no_bound,
    ],
)
def test_a_file_that_was_tampered_with_is_caught(answer, tamper, tmp_path):
    meta, arrays = parts(answer)
    tamper(meta, arrays)
    (found,) = ip.verify(written(tmp_path / "bad.npz", meta, arrays))
    assert found.verdict is CheckVerdict.REFUTED
    assert found.reason
    if found.posterior is not None:
        assert found.posterior.sum() == pytest.approx(1.0)


def test_the_q_that_refutes_a_bound_is_a_counterexample(answer, tmp_path):
    meta, arrays = parts(answer)
    other_multipliers(meta, arrays)
    (found,) = ip.verify(written(tmp_path / "bad.npz", meta, arrays))
    P, q, rho = np.asarray(HEART.p_xy), found.posterior, arrays["rho"][0]

    def H(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    lam = arrays["multipliers"][0]
    value = rho[1] * H(q) + rho[2] * H((P / P.sum(axis=1, keepdims=True)).T @ q) - lam @ q
    needed = meta["lower_bounds"][0] + rho[1] * H(P.sum(axis=1)) + rho[2] * H(P.sum(axis=0)) - lam @ P.sum(axis=1)
    assert value < needed - 1e-9


def test_a_proof_that_does_not_end_says_what_it_has(answer):
    (found,) = ip.verify(answer, max_cells=30)
    assert found.verdict is CheckVerdict.PROVEN_TO
    assert found.left > 0
    assert found.proven_bound < found.claimed_bound
    assert "open" in found.reason


def test_without_multipliers_the_encoders_own_are_tried(tmp_path):
    found = ip.solve(PAPER, ip.bottleneck(0.2), "accelerated", certify=True, rng=0, tol=1e-12)
    meta, arrays = parts(saved(tmp_path / "new.npz", found))
    arrays["multiplier_rows"][0] = -1
    (own,) = ip.verify(written(tmp_path / "own.npz", meta, arrays))
    assert own.verdict is CheckVerdict.VERIFIED
    meta["lower_bounds"][0] -= 1e-3
    arrays["encoders"] = np.ones((1, 3))
    arrays["counts"][0, 3] = 1
    arrays["plane"][:] = 0.0
    meta["statuses"] = ["STATIONARY"]
    (constant,) = ip.verify(written(tmp_path / "constant.npz", meta, arrays))
    assert constant.verdict is CheckVerdict.PROVEN_TO
    assert constant.proven_bound <= found.loss


def test_multiples_zero_masses_caps_and_every_parameter_of_a_sweep(tmp_path):
    joint = ip.Joint.from_counts([[4, 0, 0, 1], [0, 0, 0, 0], [0, 3, 0, 2], [1, 1, 0, 0], [0, 0, 0, 5]])
    runs = [
        ip.solve(joint, ip.MarkovLagrangian(-2.4, -0.6, 3.0), certify=True),
        ip.solve(joint, ip.MarkovLagrangian(3.0, 2.0, -5.0), certify=True),
        ip.solve(joint, ip.bottleneck(0.1), certify=True, clusters=2),
        *ip.sweep(joint, ip.funnel, [0.7, 6.0], "merging", certify=True).runs,
        *ip.sweep(joint, ip.bottleneck, [0.1, 1.0], certify=True).runs,
        ip.funnel_at_leakage(joint, 0.05).solution,
        ip.solve(joint, ip.deterministic_bottleneck(0.2), rng=0, certify=True),
        ip.solve(joint, ip.generalised_bottleneck(0.2, a=0.5), rng=0, certify=True),
        ip.solve(joint, ip.deterministic_bottleneck(0.2), rng=0),
    ]
    found = ip.verify(saved(tmp_path / "many.npz", *runs))
    assert [one.verdict for one in found] == [CheckVerdict.VERIFIED] * (len(runs) - 1) + [CheckVerdict.NUMBERS]
    for one, run in zip(found, runs, strict=True):
        assert (one.loss, one.ixz, one.iyz) == pytest.approx((run.loss, run.ixz, run.iyz), abs=1e-12)
        assert one.claimed_bound == run.lower_bound


def test_what_cannot_be_checked_is_said(tmp_path):
    private = ip.perfect_privacy(PAPER).solution
    (found,) = ip.verify(saved(tmp_path / "private.npz", private))
    assert found.verdict is CheckVerdict.UNCHECKED
    assert "I(Y;Z) = 0" in found.reason
    hard = ip.solve(PAPER, ip.MarkovLagrangian(-1.0, -0.5, 1.0), rng=0).bounded(-9.0, 1e-6)
    (found,) = ip.verify(saved(tmp_path / "hard.npz", hard))
    assert found.verdict is CheckVerdict.UNCHECKED
    assert "no posterior form" in found.reason


# -- forgeries that once passed; tests/fuzz/forgeries.py makes more of them ------------------------------------------------


def huge_multipliers(answer, tmp_path, size):
    """A file that claims the bound of a constant Z to be its loss, by multipliers that overflow."""
    meta, arrays = parts(answer)
    arrays["encoders"][:] = 0.0
    arrays["encoders"][0] = 1.0
    arrays["plane"][:] = 0.0
    meta["lower_bounds"][0] = -5e-7
    arrays["multipliers"][:] = size
    return written(tmp_path / "huge.npz", meta, arrays)


@pytest.mark.parametrize("size", [1e307, -1e307])
def test_multipliers_that_overflow_are_refused(answer, size, tmp_path):
    with pytest.raises(InvalidAnswerError, match="not finite, or beyond 1e\\+100"):
        ip.verify(huge_multipliers(answer, tmp_path, size))


@pytest.mark.parametrize("size", [9e99, -9e99])
def test_multipliers_that_nearly_overflow_prove_nothing(answer, size, tmp_path):
    assert not passed(ip.verify(huge_multipliers(answer, tmp_path, size), max_cells=300))


def test_a_run_without_an_encoder_is_not_verified(answer, tmp_path):
    meta, arrays = parts(answer)
    arrays["kept"][:] = False
    arrays["encoders"] = arrays["encoders"][:0]
    (found,) = ip.verify(written(tmp_path / "honest.npz", meta, arrays))
    assert found.verdict is CheckVerdict.UNCHECKED
    assert "its encoder is not in the file" in found.reason
    assert found.proven_bound == found.claimed_bound
    meta["lower_bounds"][0] = 5.0
    (found,) = ip.verify(written(tmp_path / "bound.npz", meta, arrays))
    assert found.verdict is CheckVerdict.REFUTED
    assert not passed([found])


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    grid, options = [0.1, 0.4], {"starts": 3, "rng": 0, "certify": True, "store": folder / "runs.db"}
    ip.sweep(PAPER, ip.bottleneck, grid, "blahut-arimoto", **options).save(folder / "stored.npz")
    return folder / "stored.npz"


def test_a_store_keeps_the_best_encoders_and_the_others_are_left_out(stored, tmp_path):
    meta, arrays = parts(stored)
    found = ip.verify(stored)
    assert [one.verdict.good for one in found] == arrays["kept"].tolist()
    assert {one.verdict for one in found} == {CheckVerdict.VERIFIED, CheckVerdict.LEFT_OUT}
    assert passed(found)
    # A run without an encoder that claims to be better than those with one matters, and cannot be checked.
    lost = int(np.flatnonzero(~arrays["kept"])[0])
    arrays["plane"][lost, 0] -= 1e-7
    meta["statuses"][lost] = "STATIONARY"
    better = ip.verify(written(tmp_path / "better.npz", meta, arrays))
    assert better[lost].verdict is CheckVerdict.REFUTED
    # The same of one whose three numbers agree.
    arrays["plane"][lost, 2] += 1e-7
    better = ip.verify(written(tmp_path / "better.npz", meta, arrays))
    assert better[lost].verdict is CheckVerdict.UNCHECKED
    assert not passed(better)


@pytest.mark.parametrize("more", [(0.0, 1.0, 0.0), (0.0, 0.0, 0.1), (0.0, 10.0, 1.0), (0.0, -1.0, -0.1)])
def test_a_run_that_is_left_out_has_informations_that_give_its_loss(stored, more, tmp_path):
    meta, arrays = parts(stored)
    lost = int(np.flatnonzero(~arrays["kept"])[0])
    arrays["plane"][lost] += more  # at gamma = 0.1 the last two leave the loss as it is
    found = ip.verify(written(tmp_path / "other.npz", meta, arrays))
    assert found[lost].verdict is CheckVerdict.REFUTED
    assert not passed(found)


def test_what_is_called_perfect_privacy_tells_nothing(tmp_path):
    joint = ip.Joint.from_counts([[4, 0, 0, 1], [0, 3, 0, 2], [1, 1, 0, 0], [0, 0, 0, 5], [1, 1, 1, 1]])
    meta, arrays = parts(saved(tmp_path / "good.npz", ip.perfect_privacy(joint).solution))
    meta["lower_bounds"], meta["statuses"] = [None], ["STATIONARY"]
    (good,) = ip.verify(written(tmp_path / "unbounded.npz", meta, arrays))
    assert good.verdict is CheckVerdict.NUMBERS
    arrays["encoders"], arrays["counts"][0, 3] = np.eye(5), 5
    arrays["plane"][0] = -joint.entropy_x, joint.entropy_x, joint.mutual_information
    (found,) = ip.verify(written(tmp_path / "told.npz", meta, arrays))
    assert found.verdict is CheckVerdict.REFUTED
    assert "perfect privacy" in found.reason


@pytest.mark.parametrize(
    ("family", "parameter"), [("bottleneck", 0.02), ("funnel", 0.1), ("deterministic_bottleneck", 0.1)]
)
def test_another_name_is_refused_by_the_checker_and_by_load(family, parameter, tmp_path):
    meta, arrays = parts(saved(tmp_path / "good.npz", ip.solve(PAPER, ip.bottleneck(0.1), certify=True)))
    meta["families"][0], meta["problem_parameters"][0], arrays["numbers"][0, 0] = family, parameter, parameter
    path = written(tmp_path / "other.npz", meta, arrays)
    with pytest.raises(InvalidAnswerError, match=f"a {family} with parameter"):
        ip.verify(path)
    with pytest.raises(InvalidOptionError, match=f"a {family} with parameter"):
        ip.Frontier.load(path)


def test_a_parameter_that_is_shown_beside_a_name_is_its_own(tmp_path):
    older = ip.sweep(PAPER, lambda beta: ip.bottleneck(beta=beta), [4.0], certify=True)
    older.save(tmp_path / "older.npz")
    (found,) = ip.verify(tmp_path / "older.npz")
    assert (found.verdict, found.parameter) == (CheckVerdict.VERIFIED, 0.25)
    meta, arrays = parts(tmp_path / "older.npz")
    arrays["numbers"][0, 0] = 0.02
    (found,) = ip.verify(written(tmp_path / "other.npz", meta, arrays))
    assert found.verdict is CheckVerdict.UNCHECKED
    assert found.reason == "its parameter is said to be 0.02, that of its bottleneck is 0.25"


def test_at_a_large_beta_an_encoder_sums_to_1_or_is_refused(tmp_path):
    meta, arrays = parts(saved(tmp_path / "good.npz", ip.solve(PAPER, ip.funnel(1e6), rng=0)))
    assert passed(ip.verify(tmp_path / "good.npz"))
    arrays["encoders"][0] += 1e-12
    with pytest.raises(InvalidAnswerError, match="columns that are no distributions"):
        ip.verify(written(tmp_path / "off.npz", meta, arrays))


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(InvalidAnswerError, match="expected an ordinary file"):
        ip.verify(tmp_path / "pipe.npz")


def test_nothing_verified_is_nothing_passed():
    assert not passed([])


@pytest.mark.parametrize("answer", [PROBLEMS["bottleneck"]], indirect=True)
def test_the_checker_has_a_command_of_its_own(answer, tmp_path, capsys, monkeypatch):
    for path, code in ((answer, 0), (tmp_path / "none.npz", 3)):
        monkeypatch.setattr("sys.argv", ["infoplane_verify", str(path)])
        assert main() == code
    said = capsys.readouterr()
    assert ": VERIFIED; loss -" in said.out
    assert "No such file" in said.err


@pytest.mark.parametrize("options", [{"gap": 0.0}, {"max_cells": 0}, {"max_seconds": -1.0}])
def test_limits_are_checked(answer, options):
    with pytest.raises(InvalidOptionError, match=next(iter(options))):
        ip.verify(answer, **options)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(InvalidAnswerError, match="No such file"):
        ip.verify(tmp_path / "none.npz")

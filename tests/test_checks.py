import json
from fractions import Fraction

import numpy as np
import pytest

import infoplane as ip
from infoplane.checks import number, numbers, positive_number, whole_number
from infoplane.errors import InvalidOptionError
from infoplane.runtime.budget import Limits
from infoplane.solvers.job import ProofOptions, RunOptions

UNIFORM = ip.datasets.paper_uniform()


def test_numpy_numbers_count_like_pythons():
    given, meant = whole_number("k", np.int16(3)), number("r", np.float32(0.5), "")
    assert (given, meant) == (3, 0.5)
    assert (type(given), type(meant)) == (int, float)
    assert number("r", Fraction(1, 4), "") == 0.25


@pytest.mark.parametrize("value", [True, False, np.bool_(True), "1", None, 1j, [1.0]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ip.InvalidOptionError, match="r must be a number; found "):
        number("r", value, "whatever it is")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 10**400, 0, np.float32(-1)])
def test_what_is_no_positive_number_is_refused(value):
    with pytest.raises(ip.InvalidOptionError, match="r must be a positive number; found "):
        positive_number("r", value)


def test_infinity_where_it_is_allowed():
    assert positive_number("r", np.inf, finite=False) == np.inf
    with pytest.raises(ip.InvalidOptionError, match="found nan"):
        positive_number("r", np.nan, finite=False)


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "3", None, np.float64(2), np.bool_(True)])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ip.InvalidOptionError, match="k must be a positive whole number, found "):
        whole_number("k", value)


def test_nought_where_it_is_allowed():
    assert whole_number("k", 0, least=0) == 0
    with pytest.raises(ip.InvalidOptionError, match="k must be 0 or a positive whole number, found -1"):
        whole_number("k", -1, least=0)


def test_a_sweep_asked_for_in_numpy_numbers_is_the_same(tmp_path):
    joint, gammas = ip.datasets.paper_uniform(), np.geomspace(0.1, 0.9, 3)

    def swept(kind, real, name):
        solved = ip.solve(
            joint,
            ip.MarkovLagrangian(*(real(rho) for rho in ip.bottleneck(0.3).rho)),
            ip.Pooling(rounds=kind(4)),
            clusters=kind(3),
            starts=kind(2),
            max_iter=kind(500),
            rng=kind(0),
        )
        options = {"starts": kind(2), "clusters": kind(3), "max_iter": kind(300), "rng": kind(1), "points": kind(4)}
        store = tmp_path / name
        frontier = ip.sweep(joint, ip.bottleneck, gammas, "ib-1", store=store, **options)
        return solved.loss, [run.loss for run in frontier.runs]

    assert json.dumps(swept(int, float, "python.db")) == json.dumps(swept(np.int64, np.float64, "numpy.db"))


NUMBERS = {
    "tol": (lambda v: RunOptions(tol=v).tol, 1e-6),
    "tol of a proof": (lambda v: Limits(tol=v).tol, 1e-6),
    "max_seconds": (lambda v: Limits(max_seconds=v).max_seconds, 2.0),
    "tol of a proving solver": (lambda v: ip.Columns(tol=v).tol, 1e-6),
    "penalty": (lambda v: ip.DouglasRachford(penalty=v).penalty, 2.0),
    "relaxation": (lambda v: ip.DouglasRachford(relaxation=v).relaxation, 1.5),
    "relaxation of a pair": (lambda v: ip.douglas_rachford(None, None, p0=0.0, q0=0.0, relaxation=v), None),
    "proximal": (lambda v: ip.DouglasRachford(proximal=v).proximal, 0.5),
    "depth": (lambda v: ip.Annealing(depth=v).depth, 4.0),
    "max_iyz": (lambda v: ip.funnel_at_leakage(UNIFORM, v).max_iyz, 0.25),
    "gamma": (lambda v: ip.bottleneck(v).parameter, 0.25),
}


@pytest.mark.parametrize(("given", "value"), [one for one in NUMBERS.values() if one[1] is not None])
def test_every_number_may_be_numpys(given, value):
    found = given(np.float32(value))
    assert found == pytest.approx(value)
    assert type(found) is float


@pytest.mark.parametrize("given", [given for given, _ in NUMBERS.values()], ids=NUMBERS)
def test_true_is_no_number(given):
    with pytest.raises(ip.InvalidOptionError, match=r"number.*; found True"):
        given(True)


def test_certify_is_true_false_or_a_number():
    assert ProofOptions(True).gap == Limits.tol
    assert ProofOptions(False).certify is False
    assert ProofOptions(np.float32(0.5)).gap == 0.5
    for wrong in (0.0, -1.0, np.inf, np.nan, "yes", np.bool_(True)):
        with pytest.raises(ip.InvalidOptionError, match="certify must be"):
            ProofOptions(wrong)


def test_chunk_seconds_and_smoothing():
    swept = ip.sweep(UNIFORM, ip.bottleneck, [0.2], "merging", chunk_seconds=np.float32(1.0))
    assert len(swept) == 1
    with pytest.raises(ip.InvalidOptionError, match="chunk_seconds must be a positive number; found True"):
        ip.sweep(UNIFORM, ip.bottleneck, [0.2], "merging", chunk_seconds=True)
    assert ip.Joint.from_counts([[1, 0]], smoothing=np.float32(1.0)).p_xy.tolist() == [[2 / 3, 1 / 3]]
    with pytest.raises(ip.InvalidJointError, match="smoothing must be a finite number, at least 0; found True"):
        ip.Joint.from_counts([[1, 0]], smoothing=True)


@pytest.mark.parametrize(
    "given", ["abc", ["0.2"], [None], [True], [1j], [[1], [2, 3]], [[0.1]], [], 0.2, {0.2: 1}, object()]
)
def test_a_grid_is_a_list_of_numbers(given):
    for use in (lambda: numbers("parameters", given), lambda: ip.sweep(UNIFORM, ip.bottleneck, given)):
        with pytest.raises(InvalidOptionError, match="parameters must be a non-empty list of numbers"):
            use()
    with pytest.raises(InvalidOptionError, match="parameters must be"):
        ip.compare(UNIFORM, ip.bottleneck, given, ["merging"])


def test_numbers_of_any_kind_are_numbers():
    for given in ([0.5, 1], (0.5, 1), np.array([0.5, 1.0]), [Fraction(1, 2), 1], np.array([0.5, 1], dtype=object)):
        np.testing.assert_array_equal(numbers("parameters", given), [0.5, 1.0])


@pytest.mark.parametrize(
    "options",
    [
        {"solver": 3},
        {"max_iter": 2**70},
        {"clusters": 2**70},
        {"starts": 2**70},
        {"max_seconds": "long", "certify": True},
        {"callback": 3},
        {"init": [["a"]]},
        {"init": 3},
        {"init": np.eye(3) * 1j},
        {"init": [[1], [2, 3]]},
        {"certify": "yes"},
        {"rng": "a"},
        {"tol": None},
    ],
    ids=str,
)
def test_wrong_options_are_refused_by_name(options):
    with pytest.raises(InvalidOptionError):
        ip.solve(UNIFORM, ip.bottleneck(0.2), **options)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ip.solve(UNIFORM, None),
        lambda: ip.sweep(UNIFORM, lambda gamma: ip.bottleneck(gamma) if gamma < 0.3 else None, [0.2, 0.4]),
        lambda: ip.sweep(UNIFORM, ip.bottleneck, [0.2], progress=3),
        lambda: ip.sweep(UNIFORM, ip.bottleneck, [0.2], store=""),
        lambda: ip.sweep(UNIFORM, ip.bottleneck, [0.2], store=3),
        lambda: ip.compare(UNIFORM, ip.bottleneck, [0.2], 3),
        lambda: ip.Columns(max_seconds=None),
        lambda: ip.DouglasRachford([]),
        lambda: ip.penalty_threshold(UNIFORM, ip.bottleneck(0.2), np.eye(3), formulation="none"),
        lambda: ip.transitions(UNIFORM, "a"),
        lambda: ip.solve(UNIFORM, ip.bottleneck(0.2), "merging").rate(),
    ],
)
def test_wrong_calls_are_refused(call):
    with pytest.raises(InvalidOptionError):
        call()


def test_a_joint_and_an_encoder_are_asked_for():
    with pytest.raises(InvalidOptionError, match="a joint must be"):
        ip.perfect_privacy(3)
    for encoder in ("abc", [[1], [1, 2]], object()):
        with pytest.raises(ip.InvalidEncoderError, match="must be a table of numbers"):
            ip.bottleneck(0.2).value(UNIFORM, encoder)

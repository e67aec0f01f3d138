"""Pairs that the user brings: a convex and a weakly convex block that have nothing to do with entropy."""

import numpy as np
import pytest

import infoplane as ip


class LeastSquares:
    """F(p) = |D p - y|^2 / 2, convex; argmin in closed form."""

    def __init__(self, D, y):
        self.D, self.y = D, y

    def value(self, p):
        return 0.5 * float(((self.D @ p - self.y) ** 2).sum())

    def argmin(self, target, c, _start):
        return np.linalg.solve(self.D.T @ self.D + c * np.eye(len(target)), self.D.T @ self.y + c * target)


class SmoothLeastSquares(LeastSquares):
    """The same by its gradient alone."""

    argmin = None

    def gradient(self, p):
        return self.D.T @ (self.D @ p - self.y)


class MinimaxConcave:
    """G(q) = sum of the minimax-concave penalty (Zhang 2010), 1/width-weakly convex: lam |q| - q^2/(2 width) up to width lam."""

    def __init__(self, lam, width):
        self.lam, self.width = lam, width

    def value(self, q):
        inside = np.abs(q) <= self.width * self.lam
        return float(
            np.where(inside, self.lam * np.abs(q) - q**2 / (2 * self.width), self.width * self.lam**2 / 2).sum()
        )

    def argmin(self, target, c, _start):
        shrunk = np.sign(target) * np.maximum(np.abs(target) - self.lam / c, 0) / (1 - 1 / (self.width * c))
        return np.where(np.abs(target) <= self.width * self.lam, shrunk, target)


def instance(seed=0):
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((40, 12)) / np.sqrt(40)
    truth = np.zeros(12)
    truth[:3] = (2.0, -1.5, 1.0)
    return D, D @ truth + 0.01 * rng.standard_normal(40)


def solve(order, F=LeastSquares, **options):
    D, y = instance()
    G = MinimaxConcave(0.1, 4.0)
    zeros = np.zeros(12)
    return ip.douglas_rachford(
        F(D, y), G, order=order, penalty=options.pop("penalty", 2.0), p0=zeros, q0=zeros, tol=1e-10, **options
    )


@pytest.mark.parametrize("relaxation", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("order", ["I", "II"])
def test_converges_linearly_to_a_stationary_point(order, relaxation):
    found = solve(order, relaxation=relaxation)
    assert found.status is ip.Status.STATIONARY
    D, y = instance()
    np.testing.assert_allclose(found.p, found.q, atol=1e-9)
    slope = D.T @ (D @ found.q - y)
    on = np.abs(found.q) > 1e-8
    penalty_slope = np.where(np.abs(found.q) <= 0.4, 0.1 * np.sign(found.q) - found.q / 4.0, 0.0)
    np.testing.assert_allclose(slope[on] + penalty_slope[on], 0.0, atol=1e-8)
    assert np.abs(slope[~on]).max() <= 0.1 + 1e-8
    rate = found.rate()
    assert rate.factor < 0.95
    assert rate.r_squared > 0.95


def test_both_orders_and_both_ways_of_taking_an_argmin_agree():
    one, two = solve("I"), solve("II")
    by_gradient = solve("II", F=SmoothLeastSquares)
    np.testing.assert_allclose(one.q, two.q, atol=1e-8)
    np.testing.assert_allclose(by_gradient.q, two.q, atol=1e-7)
    assert one.objective == pytest.approx(two.objective, abs=1e-9)


def test_matrices_and_penalties_by_row():
    """min |p - 1|^2/2 + |q - 2|^2/2 with 2p = q: p = 1, q = 2 exactly; started elsewhere, arrays of the caller untouched."""

    class Square:
        def __init__(self, centre):
            self.centre = centre

        def value(self, u):
            return 0.5 * float(((u - self.centre) ** 2).sum())

        def gradient(self, u):
            return u - self.centre

    p0, q0, A = np.zeros(3), np.full(3, 5.0), 2.0 * np.eye(3)
    found = ip.douglas_rachford(
        Square(1.0), Square(2.0), A, order="II", penalty=np.array([0.5, 1.0, 2.0]), p0=p0, q0=q0, tol=1e-7
    )
    np.testing.assert_allclose(found.p, 1.0, atol=1e-6)
    np.testing.assert_allclose(found.q, 2.0, atol=1e-6)
    assert (p0 == 0).all()
    assert (q0 == 5).all()


def test_callback_stops():
    found = solve("II", callback=lambda iteration, _p, _q: iteration == 3)
    assert found.iterations == 3
    assert found.status is ip.Status.INTERRUPTED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "III"}, "order must be"),
        ({"relaxation": 2.5}, "relaxation must be in"),
        ({"penalty": -1.0}, "penalty must be positive"),
        ({"q0": np.zeros(4)}, "they must agree"),
        ({"max_iter": 0}, "max_iter"),
        ({"F": object()}, "must have a method argmin"),
    ],
)
def test_bad_options(options, message):
    D, y = instance()
    given = {"F": LeastSquares(D, y), "G": MinimaxConcave(0.1, 4.0), "p0": np.zeros(12), "q0": np.zeros(12)} | options
    with pytest.raises(ip.InvalidOptionError, match=message):
        ip.douglas_rachford(**given)

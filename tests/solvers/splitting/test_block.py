"""What a block of one's own must keep to, that a run is called stationary only where its blocks say so, and the sets it may lie in."""

import os
import signal

import numpy as np
import pytest
import threadpoolctl
from scipy import sparse

import infoplane as ip
from infoplane.solvers.splitting.block import BoundBlock, minimise, on_simplex


class Bowl:
    """|u - centre|^2 / 2 with its argmin, which may be asked to be wrong."""

    def __init__(self, centre, wrong=None):
        self.centre, self.wrong = np.asarray(centre, dtype=float), wrong

    def value(self, u):
        return 0.5 * float(((u - self.centre) ** 2).sum())

    def argmin(self, target, c, _start):
        return (self.centre + c * target) / (1 + c) if self.wrong is None else self.wrong(target, c, self.centre)


class Slope(Bowl):
    """The same by its gradient alone."""

    argmin = None

    def gradient(self, u):
        return u - self.centre


class Lasso:
    """|u|_1."""

    def value(self, u):
        return float(np.abs(u).sum())

    def argmin(self, target, c, _start):
        return np.sign(target) * np.maximum(np.abs(target) - 1 / c, 0)


class Sphere:
    """The nearest point of the unit sphere, a set that is neither convex nor known to ``value``."""

    def value(self, _u):
        return 0.0

    def argmin(self, target, _c, _start):
        return target / np.linalg.norm(target)


def pair(F, G, size=3, **options):
    return ip.douglas_rachford(F, G, p0=np.zeros(size), q0=np.zeros(size), **options)


WRONG = {
    "the target": lambda target, _c, _centre: target,
    "its half": lambda target, _c, _centre: 0.5 * target,
    "a penalty that is forgotten": lambda target, _c, centre: (centre + target) / 2,
    "another centre": lambda target, c, centre: (centre + 1e-5 + c * target) / (1 + c),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("order", ["I", "II"])
def test_an_argmin_that_minimises_something_else_is_never_stationary(order, wrong):
    found = pair(Bowl([3.0, 1.0, -2.0], wrong), Bowl([0.0, 0.5, 1.0], wrong), penalty=4.0, order=order, max_iter=500)
    assert not found.converged
    assert found.residuals.stationarity > 1e-6


def test_a_block_that_returns_its_target_stalls_and_is_told_why():
    found = pair(Bowl([3.0, 1.0, -2.0], WRONG["the target"]), Bowl(np.zeros(3), WRONG["the target"]))
    assert found.status is ip.Status.STALLED
    assert found.iterations < 20
    # |F'(0)| = |(3, 1, -2)| = sqrt(14), estimated in three random directions.
    assert 0.5 * np.sqrt(14) < found.residuals.stationarity < 1.8 * np.sqrt(14)
    assert "F is lower beside the iterate" in found.message
    assert "minimises value(u) + (c/2) |Lu - target|^2" in found.message


@pytest.mark.parametrize("order", ["I", "II"])
@pytest.mark.parametrize("F", [Bowl([3.0, 1.0, -2.0]), Slope([3.0, 1.0, -2.0])], ids=["argmin", "gradient"])
@pytest.mark.parametrize("G", [Lasso(), Sphere(), Bowl(np.ones(3))], ids=["kink", "curved set", "smooth"])
def test_a_right_block_is_not_accused(F, G, order):
    found = ip.douglas_rachford(F, G, p0=np.ones(3), q0=np.ones(3), penalty=3.0, order=order, tol=1e-10)
    assert found.status is ip.Status.STATIONARY
    assert found.residuals.largest <= 1e-10
    expected = {Lasso: [2.0, 0.0, -1.0], Sphere: np.array([3.0, 1.0, -2.0]) / np.sqrt(14), Bowl: [2.0, 1.0, -0.5]}
    np.testing.assert_allclose(found.q, expected[type(G)], atol=1e-8)


@pytest.mark.parametrize("size", [1, 2, 50, 2000])
def test_what_is_measured_is_the_gradient(size):
    """Of a block by its gradient exactly, and by a wrong argmin within a small factor, whatever the number of entries."""
    rng = np.random.default_rng(size)
    u, centre, s = rng.standard_normal((3, size))
    g = u - centre - s
    c = np.asarray(2.0)
    assert BoundBlock("F", Slope(centre), None, None).away(u, s, c) == pytest.approx(np.abs(g).max(), rel=1e-12)
    stuck = BoundBlock("F", Bowl(centre, lambda target, c, _: target - s / c), None, None)
    assert 0.2 * np.linalg.norm(g) < stuck.away(u, s, c) < 4.0 * np.linalg.norm(g)


@pytest.mark.parametrize("domain", ["simplex", (0.0, 0.5)])
def test_in_a_set_the_projected_gradient_counts(domain):
    """At the projection of the centre nothing is left, although the gradient is not zero; elsewhere there is."""
    centre = np.array([0.9, 0.6, -0.5])
    block = BoundBlock("F", Slope(centre), None, domain)
    there = np.array([0.65, 0.35, 0.0]) if domain == "simplex" else np.array([0.5, 0.5, 0.0])
    assert block.away(there, np.zeros(3), np.asarray(1.0)) < 1e-15
    assert block.away(np.array([0.3, 0.4, 0.3]), np.zeros(3), np.asarray(1.0)) > 0.1


class Poor(Slope):
    """Not a number, from one of its methods, after some calls."""

    def __init__(self, method, given=np.nan, after=3):
        super().__init__(np.ones(3))
        self.method, self.given, self.left = method, given, after
        if method == "argmin":
            self.argmin = lambda target, _c, _start: self._of("argmin", 0.5 * target)

    def _of(self, method, usual):
        if method != self.method:
            return usual
        self.left -= 1
        return usual if self.left > 0 else np.full_like(usual, self.given)

    def value(self, u):
        return self._of("value", super().value(u))

    def gradient(self, u):
        return self._of("gradient", super().gradient(u))


@pytest.mark.parametrize("domain", [None, "simplex"])
@pytest.mark.parametrize("given", [np.nan, np.inf])
@pytest.mark.parametrize("method", ["value", "gradient", "argmin"])
@pytest.mark.parametrize("second", [False, True])
def test_what_is_not_a_number_ends_the_run_at_once(second, method, given, domain):
    poor, iterations = Poor(method, given), []
    blocks = (Bowl(np.ones(3)), poor) if second else (poor, Bowl(np.ones(3)))
    options = {} if method == "argmin" else {"q_in" if second else "p_in": domain}
    with pytest.raises(ip.InvalidOptionError, match=rf"{'G' if second else 'F'}\.\w+ \(Poor\) must return finite"):
        pair(*blocks, callback=lambda iteration, *_: iterations.append(iteration), **options)
    assert len(iterations) <= 3
    assert poor.left > -200


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ((Bowl(np.ones(3), lambda target, c, _: target + 1j), Lasso()), r"F\.argmin \(Bowl\) .* real numbers"),
        ((Lasso(), Bowl(np.ones(3), lambda target, c, _: target[:2])), r"G\.argmin \(Bowl\) .* shape \(3,\)"),
    ],
)
def test_an_answer_of_another_kind_is_refused(blocks, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        pair(*blocks)


@pytest.mark.parametrize(
    "given",
    [
        {"p0": np.array([1.0 + 2.0j])},
        {"q0": np.array([np.complex128(1.0 + 2.0j)], dtype=object)},
        {"p0": [1.0 + 0.0j]},
        {"p0": np.array([np.nan])},
        {"A": np.array([[1.0j]])},
        {"B": sparse.csr_array(np.array([[1.0j]]))},
    ],
)
def test_complex_numbers_are_refused(given):
    with pytest.raises(ip.InvalidOptionError, match=r"real numbers|finite"):
        ip.douglas_rachford(Bowl([0.0]), Bowl([1.0]), **{"p0": np.zeros(1), "q0": np.zeros(1)} | given)


def threads_in(block):
    """The most threads that a BLAS may use when the block's method is called."""
    seen = []

    class Watched(block):
        def value(self, u):
            seen.extend(one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas")
            return super().value(u)

    pair(Watched(np.ones(3)), Bowl(np.zeros(3)), max_iter=3)
    return max(seen)


def test_a_search_by_gradients_has_one_blas_thread():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        assert threads_in(Slope) == 1
        assert threads_in(Bowl) == 2  # its own affair


def test_control_c_returns_the_last_iterate():
    def press(iteration, _p, _q):
        if iteration == 5:
            os.kill(os.getpid(), signal.SIGINT)

    found = pair(Bowl([3.0, 1.0, -2.0]), Lasso(), penalty=50.0, tol=1e-12, callback=press)
    assert found.status is ip.Status.INTERRUPTED
    assert 5 <= found.iterations <= 6
    assert np.isfinite(found.residuals).all()


def test_no_time_at_all_is_a_limit():
    found = pair(Bowl([3.0, 1.0, -2.0]), Lasso(), penalty=50.0, tol=1e-12, max_seconds=1e-9)
    assert found.status is ip.Status.ITERATION_LIMIT
    assert found.iterations == len(found.losses) == 0
    assert found.objective == 7.0


def test_columns_of_a_table_are_projected_one_by_one():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((5, 4))
    found = on_simplex(table)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    for j in range(4):
        np.testing.assert_allclose(found[:, j], on_simplex(table[:, j]))
    for _ in range(200):  # no other point of the simplex is nearer
        other = rng.dirichlet(np.ones(5), size=4).T
        assert (((table - found) ** 2).sum(axis=0) <= ((table - other) ** 2).sum(axis=0) + 1e-12).all()


def test_a_minimum_at_an_edge_of_the_simplex_and_one_inside():
    """|u - centre|^2 with its centre outside, where the answer is a projection, and inside."""
    rng = np.random.default_rng(1)
    for centre in (rng.standard_normal(6), rng.dirichlet(np.ones(6))):
        found = minimise(lambda u, m=centre: (float(((u - m) ** 2).sum()), 2.0 * (u - m)), np.full(6, 1 / 6), "simplex")
        np.testing.assert_allclose(found, on_simplex(centre), atol=1e-12)

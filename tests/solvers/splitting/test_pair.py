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
    np.testing.assert_allclose(one.q, two.q, atol=1e-8)
    early, by_gradient = (solve("II", F=kind, max_iter=5) for kind in (LeastSquares, SmoothLeastSquares))
    np.testing.assert_allclose(by_gradient.q, early.q, atol=1e-7)
    assert np.abs(early.q - two.q).max() > 1e-3  # still on their way, by the same steps
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
        ({"relaxation": 4.5}, "relaxation must be in"),
        ({"penalty": -1.0}, "penalty must be positive"),
        ({"q0": np.zeros(4)}, "they must agree"),
        ({"max_iter": 0}, "max_iter"),
        ({"F": object()}, "must have a method argmin"),
        ({"F": LeastSquares}, "found the class LeastSquares"),
        ({"penalty": np.ones(3)}, r"one for every row of Ap, of shape \(12,\); found shape \(3,\)"),
        ({"p0": np.zeros(0)}, "p0 must have one entry or more"),
    ],
)
def test_bad_options(options, message):
    D, y = instance()
    given = {"F": LeastSquares(D, y), "G": MinimaxConcave(0.1, 4.0), "p0": np.zeros(12), "q0": np.zeros(12)} | options
    with pytest.raises(ip.InvalidOptionError, match=message):
        ip.douglas_rachford(**given)


class Distance:
    """|u - centre|^2 weight/2 by its gradient alone."""

    def __init__(self, centre, weight=1.0):
        self.centre, self.weight = np.asarray(centre, dtype=float), weight

    def value(self, u):
        return 0.5 * self.weight * float(((u - self.centre) ** 2).sum())

    def gradient(self, u):
        return self.weight * (u - self.centre)


class Bowl(Distance):
    """The same with its argmin."""

    def argmin(self, target, c, _start):
        return (self.weight * self.centre + c * target) / (self.weight + c)


def between(domain, start, **options):
    """Nearest point to (2, 0.4, -1) and (0, 0.6, 1), weighed equally, where both blocks lie in a set."""
    return ip.douglas_rachford(
        Distance([2.0, 0.4, -1.0]),
        Distance([0.0, 0.6, 1.0]),
        penalty=1.0,
        p0=start,
        q0=start,
        p_in=domain,
        q_in=domain,
        **options,
    )


@pytest.mark.parametrize("columns", [2, 3])
def test_a_penalty_for_every_row_of_a_table(columns):
    rows, table = np.array([0.5, 4.0]), np.zeros((2, columns))
    blocks = Distance(np.ones((2, columns))), Distance(3.0 * np.ones((2, columns)))
    found = ip.douglas_rachford(*blocks, penalty=rows, p0=table, q0=table, max_iter=3)
    for penalty, row in zip(rows, range(2), strict=True):
        alone = Distance(np.ones((1, columns))), Distance(3.0 * np.ones((1, columns)))
        single = ip.douglas_rachford(*alone, penalty=penalty, p0=table[:1], q0=table[:1], max_iter=3)
        np.testing.assert_allclose(found.p[row], single.p[0], atol=1e-7)
    assert abs(found.p[0, 0] - found.p[1, 0]) > 0.01


@pytest.mark.parametrize("order", ["I", "II"])
def test_a_block_in_a_box(order):
    found = between((0.0, 0.8), np.full(3, 0.3), order=order)
    assert found.converged
    np.testing.assert_allclose(found.q, [0.8, 0.5, 0.0], atol=1e-7)  # the centre (1, 0.5, 0), clipped


@pytest.mark.parametrize("order", ["I", "II"])
def test_a_block_on_the_simplex(order):
    found = between("simplex", np.full(3, 1 / 3), order=order)
    assert found.converged
    # The projection of (1, 0.5, 0) by hand: subtract 1/4 from the first two entries.
    np.testing.assert_allclose(found.q, [0.75, 0.25, 0.0], atol=1e-7)


def test_an_entropy_on_the_simplex_has_its_softmax():
    """min <a, p> + sum p log p by its gradient alone."""
    a = np.array([0.3, -1.0, 0.7, 0.1])

    class Entropy:
        def value(self, p):
            return float((p * (a + np.log(np.maximum(p, 1e-300)))).sum())

        def gradient(self, p):
            return a + np.log(np.maximum(p, 1e-300)) + 1.0

    found = ip.douglas_rachford(
        Entropy(), Bowl(np.zeros(4), 0.0), p_in="simplex", p0=np.full(4, 0.25), q0=np.full(4, 0.25), penalty=2.0
    )
    assert found.converged
    np.testing.assert_allclose(found.p, np.exp(-a) / np.exp(-a).sum(), atol=1e-7)


@pytest.mark.parametrize("order", ["I", "II"])
@pytest.mark.parametrize("alpha", [2.2, 2.5])
def test_relaxation_above_two_where_it_is_covered(order, alpha):
    """The followed block is 1.9-strongly convex and 2-smooth, the other one anything: here the distance to two points, not convex."""

    class TwoPoints:
        def value(self, u):
            return 0.5 * float(np.minimum((u - 1.0) ** 2, (u + 1.0) ** 2).sum())

        def argmin(self, target, c, _start):
            return (np.where(target >= 0.0, 1.0, -1.0) + c * target) / (1.0 + c)

    weights = np.array([1.9, 2.0])

    class Weighted:
        def value(self, u):
            return 0.5 * float((weights * (u - 0.3) ** 2).sum())

        def argmin(self, target, c, _start):
            return (weights * 0.3 + c * target) / (weights + c)

    followed, other = Weighted(), TwoPoints()
    c = 1.05 * ip.theorem_threshold("over-relaxed", sigma=1.9, L=2.0, relaxation=alpha).c
    pair = (followed, other) if order == "I" else (other, followed)
    found = ip.douglas_rachford(
        *pair, order=order, relaxation=alpha, penalty=c, curvature=(1.9, 2.0), p0=np.array([2.0, -0.5]), q0=np.zeros(2)
    )
    assert found.converged
    assert (np.diff(found.augmented[1:]) <= 1e-13).all()


def test_the_penalty_range_of_over_relaxation_is_sharp_enough_to_matter():
    """On quadratics, where the worst curvature is known, L_c falls inside the range in every iteration."""
    from infoplane.solvers.splitting.thresholds import over_relaxed

    for sigma, alpha in ((0.8, 2.2), (0.95, 2.8), (1.0, 3.5)):
        low, high = over_relaxed(alpha, sigma=sigma, L=1.0)
        assert 1.0 <= low < high
        # t^2/(c alpha) - c (2-alpha)/(2 alpha) - (t^2 + sigma L - 2 sigma t)/(2 (L - sigma)), the change per |d|^2 at curvature t
        for c in np.linspace(low, high, 7)[1:-1]:
            for t in np.linspace(sigma, 1.0, 11):
                bregman = 0.5 * t if sigma == 1.0 else (t * t + sigma - 2 * sigma * t) / (2 * (1 - sigma))
                assert t * t / (c * alpha) - c * (2 - alpha) / (2 * alpha) - bregman < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relaxation": 2.5}, "leave A out and give curvature"),
        ({"relaxation": 2.5, "curvature": (1.0, 4.0)}, "relaxations below 2.14"),
        ({"relaxation": 2.5, "curvature": (1.0, 1.0), "penalty": 9.0}, "must lie between 1 and 4"),
        ({"relaxation": 2.5, "curvature": "1"}, "curvature must be a non-empty list of numbers"),
        ({"relaxation": 2.5, "curvature": (1.0,)}, "curvature must be two numbers"),
        ({"relaxation": 4.0}, "below 4"),
        ({"p_in": "simplex"}, "Bowl has its own argmin"),
        ({"q_in": (1.0, 0.0)}, "number above 1"),
        ({"q_in": "ball"}, "must be 'simplex', a pair"),
    ],
)
def test_what_is_not_covered_is_refused(options, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        ip.douglas_rachford(Bowl([0.0]), Distance([1.0]), p0=np.zeros(1), q0=np.zeros(1), **options)


@pytest.mark.parametrize("order", ["I", "II"])
def test_the_exponent_of_a_quadratic_pair_is_one_half(order):
    found = solve(order)
    exponent = found.exponent()
    assert exponent.theta == pytest.approx(0.5, abs=0.03)
    assert exponent.r_squared > 0.99


def test_the_exponent_of_a_flat_minimum_is_larger():
    """F = u^4/4 has exponent 3/4: the gradient u^3 against the value u^4."""

    class Quartic:
        def value(self, u):
            return 0.25 * float((u**4).sum())

        def gradient(self, u):
            return u**3

    found = ip.douglas_rachford(
        Quartic(), Bowl([0.0], 0.0), penalty=1.0, p0=np.ones(1), q0=np.ones(1), tol=1e-12, max_iter=120
    )
    assert not found.converged
    assert found.exponent(floor=0.0).theta > 0.6

"""What is false in the paper, each refuted by a run of its own recursion whose premises all hold (docs/explanation/theory.md)."""

import itertools

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.thresholds import printed_1, printed_2, theorem_2


class Quadratic:
    """h u^2 / 2, entry by entry, behind the map b u."""

    def __init__(self, *h, b=1.0):
        self.h, self.b = np.array(h), b

    def value(self, u):
        return 0.5 * float((self.h * u * u).sum())

    def argmin(self, target, c, _start):
        return c * self.b * target / (c * self.b**2 + self.h)


class Cosine:
    """w (1 + cos q1) + q2^2/2 >= 0, of curvature at least -w: w-weakly convex, and so restricted weakly convex w.r.t. B = I."""

    w = 0.6

    def value(self, u):
        return self.w * (1.0 + np.cos(u[0])) + 0.5 * u[1] ** 2

    def argmin(self, target, c, _start):
        q = target[0]
        for _ in range(30):  # c > w, so the slope -w sin q + c (q - target) rises: Newton, kept within its bracket
            before, away = q, self.w / c
            newton = q - (c * (q - target[0]) - self.w * np.sin(q)) / (c - self.w * np.cos(q))
            q = min(max(newton, target[0] - away), target[0] + away)
            if q == before:
                break
        return np.array([q, c * target[1] / (c + 1.0)])


class Quartic:
    """q^4/4 - q^2/2: 1-weakly convex, and with F = p^2/2 the sum has q^4/4 along p = q."""

    def value(self, u):
        return float((u**4 / 4 - u**2 / 2).sum())

    def argmin(self, target, c, _start):
        q = target.copy()
        for _ in range(30):  # c > 1: increasing slope, Newton from the side on which it is convex
            before, q = q, q - (q**3 + (c - 1.0) * q - c * target) / (3.0 * q**2 + c - 1.0)
            if (q == before).all():
                break
        return q


SLOW = Quadratic(1.0, 0.01)


@pytest.mark.parametrize(("alpha", "threshold", "ends"), [(2.0, 0.600, 0.91), (1.618, 0.624, 0.51)])
def test_theorem_1_runs_above_its_threshold_end_in_a_cycle(alpha, threshold, ends):
    """F sigma_F = 0.01 strongly convex and 1-smooth, G >= 0 and 0.6-restricted weakly convex, A = B = I, 0 the only stationary point."""
    printed = printed_1(alpha, L_p=1.0, sigma_F=0.01, omega_G=0.6)
    assert printed == pytest.approx(threshold, abs=1e-3)
    iterates = []

    def run(c):
        iterates.clear()
        return ip.douglas_rachford(
            SLOW, Cosine(), order="I", penalty=c, relaxation=alpha, p0=np.full(2, 0.1), q0=np.full(2, 0.1), max_iter=2000,
            callback=lambda _k, p, _q: iterates.append(p[0]),
        )  # fmt: skip

    below = run(0.65)
    assert printed < 0.65
    assert not below.converged
    assert np.abs(iterates[-2:]) == pytest.approx(ends, abs=0.01)
    assert iterates[-1] * iterates[-2] < 0.0
    proven = ip.theorem_threshold("over-relaxed", sigma=0.01, L=1.0, relaxation=alpha).c
    assert proven == 1.0
    above = run(1.05 * proven)
    assert above.converged
    assert np.abs(above.p).max() < 1e-5


@pytest.mark.parametrize(("alpha", "c"), [(1.0, 3.0), (1.618, 2.0), (2.0, 1.5)])
def test_the_sufficient_decrease_lemma_fails_in_every_iteration(alpha, c):
    """F = p^2/2 (sigma = L = 1), G = -q^2/4 (omega = 1/2): c is above the threshold, and L_c falls by less than the lemma promises."""
    sigma = L = 1.0
    omega = 0.5
    assert c > printed_1(alpha, L_p=L, sigma_F=sigma, omega_G=omega)
    F, G = Quadratic(1.0), Quadratic(-omega)
    states = [(np.array([1.0]), np.array([0.3]), np.array([-1.0]))]  # nu = -grad F(p), as after any iteration
    for _ in range(12):
        p, q, nu = states[-1]
        nu = nu - (1.0 - alpha) * c * (p - q)
        p = F.argmin(q - nu / c, c, p)
        nu = nu + c * (p - q)
        states.append((p, G.argmin(p + nu / c, c, q), nu))

    def augmented(p, q, nu):
        return F.value(p) + G.value(q) + float(nu @ (p - q)) + 0.5 * c * float(((p - q) ** 2).sum())

    delta = np.array(
        [
            sigma * L / (L + sigma) + c * (1.0 / alpha - 0.5),
            (c - omega) / 2.0,
            1.0 / (L + sigma) - 1.0 / (c * alpha),
        ]
    )
    assert (delta > 0.0).all()
    for before, after in itertools.pairwise(states):
        squares = np.array([((new - old) ** 2).sum() for new, old in zip(after, before, strict=True)])
        fall = augmented(*before) - augmented(*after)
        assert fall < delta @ squares * (1.0 - 1e-9)
        halved = delta - np.array([0.5 * sigma * L / (L + sigma), 0.0, 0.5 / (L + sigma)])  # the F-terms, halved
        assert fall >= halved @ squares * (1.0 - 1e-9)


@pytest.mark.parametrize(("order", "alpha", "c"), [("I", 1.0, 3.0), ("I", 2.0, 3.0), ("II", 1.0, 5.0)])
def test_the_rate_is_not_linear_for_every_pair(order, alpha, c):
    """F = p^2/2, G = q^4/4 - q^2/2, above every threshold: |p_k| decays like k^(-1/2), and the exponent is 3/4, not 1/2.

    On [-1, 1] the curvature of G lies in [-1, 2].
    """
    proven = (
        ip.theorem_threshold("over-relaxed", sigma=1.0, L=1.0, relaxation=alpha).c
        if order == "I"
        else ip.theorem_threshold("2", sigma_G=1.0, L_q=2.0, relaxation=alpha).c
    )
    assert c > proven
    if order == "I":
        assert c > printed_1(alpha, L_p=1.0, sigma_F=1.0, omega_G=1.0)
    met = []
    run = ip.douglas_rachford(
        Quadratic(1.0), Quartic(), order=order, penalty=c, relaxation=alpha, p0=np.array([0.8]), q0=np.array([0.8]), max_iter=1500,
        tol=1e-14, callback=lambda _k, p, _q: met.append(float(p[0])),
    )  # fmt: skip
    scaled = [abs(met[k - 1]) * np.sqrt(k) for k in (300, 700, 1500)]
    assert scaled == pytest.approx([scaled[-1]] * 3, rel=0.03)
    assert run.exponent().theta > 0.6
    # A quadratic in its place, whose sum has a positive definite Hessian, is linear.
    tamed = ip.douglas_rachford(
        Quadratic(1.0),
        Quadratic(-0.5),
        order=order,
        penalty=c,
        relaxation=alpha,
        p0=np.array([0.8]),
        q0=np.array([0.8]),
    )
    assert tamed.converged
    assert tamed.rate().r_squared > 0.999
    assert tamed.iterations < 300


def test_theorem_2_as_printed_fails_where_b_is_not_the_identity():
    """B = 0.1, G = -q^2/2, F = 55 p^2, alpha = 1: |B^-1| is 1/mu_B and not mu_B. Table I's form, 200, is right."""
    printed, mended = (form(1.0, sigma_G=1.0, L_q=1.0, mu_B=0.1) for form in (printed_2, theorem_2))
    assert printed == pytest.approx(100.02, abs=0.01)
    assert mended == pytest.approx(200.0)
    F, G, B = Quadratic(110.0), Quadratic(-1.0, b=0.1), np.array([[0.1]])
    begin = {"order": "II", "p0": np.ones(1), "q0": np.ones(1), "max_iter": 400}
    runs = {c: ip.douglas_rachford(F, G, None, B, penalty=c, **begin) for c in (102.0, 201.0)}
    assert not runs[102.0].converged
    assert np.abs(runs[102.0].p).max() > 1e20
    assert np.diff(runs[201.0].augmented[1:]).max() <= 1e-12
    assert np.abs(runs[201.0].p).max() < 1e-2


@pytest.mark.parametrize("solver", ["ib-1", "ib-1v", "blahut-arimoto"])
def test_on_the_papers_own_data_the_rate_is_not_linear_at_the_critical_gamma(solver):
    """The loss decays about like k^-2 (a minimum of fourth order), at gamma = 0.66097 within the paper's range [0.1, 1]."""
    joint = ip.datasets.paper_uniform()
    gamma = ip.critical_gamma(joint)
    assert gamma == pytest.approx(0.66097, abs=1e-5)
    start = np.array([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]])
    method = solver if solver == "blahut-arimoto" else ip.DouglasRachford(solver, relaxation=1.0, acceleration=False)
    run = ip.solve(joint, ip.bottleneck(gamma), method, init=start, max_iter=4000, tol=1e-13)
    loss = np.asarray(run.trace.loss)
    k = np.arange(1000, 4000)
    slope = np.polyfit(np.log(k), np.log(loss[k]), 1)[0]
    assert -2.3 < slope < -1.7

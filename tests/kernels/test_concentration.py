"""Posteriors concentrated on few letters: against the map written out, and the promise that g never rises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoplane.kernels.concentration import GONE, concentrate


def g(q: np.ndarray, T: np.ndarray, lam: np.ndarray, beta: float) -> float:
    """H(q) - beta H(Tq) - lambda.q."""

    def entropy(p: np.ndarray) -> float:
        return float(-(p[p > 0.0] * np.log(p[p > 0.0])).sum())

    return entropy(q) - beta * entropy(T @ q) - float(lam @ q)


def one_step(q: np.ndarray, T: np.ndarray, lam: np.ndarray, beta: float) -> np.ndarray:
    """q^(beta/(beta-1)) exp((lambda - beta T' log u)/(beta-1)), normalised."""
    on = q > 0.0
    u = T @ q
    log_u = np.where(u > 0.0, np.log(np.where(u > 0.0, u, 1.0)), 0.0)
    score = (beta * np.log(q[on]) + lam[on] - beta * (T[:, on].T @ log_u)) / (beta - 1.0)
    moved = np.zeros_like(q)
    moved[on] = np.exp(score - score.max())
    return moved / moved.sum()


def some(seed: int, letters: int, outcomes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    T = rng.dirichlet(np.full(outcomes, 0.5), size=letters).T.copy()
    T[:, 0] = np.eye(outcomes)[0]  # a letter that rules out all outcomes but one
    return T, rng.normal(0.0, 0.3, letters), rng.dirichlet(np.ones(letters), size=4)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(2, 6), st.sampled_from([1.2, 2.0, 8.0]))
def test_steps_are_those_of_the_map(seed: int, letters: int, outcomes: int, beta: float) -> None:
    T, lam, Q = some(seed, letters, outcomes)
    for steps in (1, 5):
        found = Q.copy()
        work = concentrate(T, lam, beta, found, steps, 1e-9)
        assert 0 < work <= steps * Q.size
        for row, q in zip(found, Q, strict=True):
            for _ in range(steps):
                q = one_step(np.where(q >= GONE, q, 0.0), T, lam, beta)
            q = np.where(q > 1e-9, q, 0.0)
            assert row == pytest.approx(q / q.sum(), rel=1e-6, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([1.2, 2.0, 8.0]))
def test_g_never_rises_and_letters_go(seed: int, beta: float) -> None:
    T, lam, Q = some(seed, 60, 3)
    values = [g(q, T, lam, beta) for q in Q]
    for _ in range(12):
        concentrate(T, lam, beta, Q, 1, 0.0)
        lower = [g(q, T, lam, beta) for q in Q]
        assert (np.array(lower) <= np.array(values) + 1e-9).all()
        values = lower
    assert Q.sum(axis=1) == pytest.approx(1.0)
    if beta < 2.0:
        assert (np.count_nonzero(Q > 1e-6, axis=1) < 60).all()


def test_letters_that_are_gone_shorten_the_work() -> None:
    T, lam, Q = some(0, 200, 3)
    assert concentrate(T, lam, 1.2, Q, 30, 1e-6) < 0.3 * 30 * 4 * 200

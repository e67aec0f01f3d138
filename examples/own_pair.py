"""A pair of your own: least squares with the minimax-concave penalty, a convex and a weakly convex function, neither bottleneck nor funnel.

minimise |D p - y|^2 / 2 + sum_i mcp(q_i)  subject to p = q

The minimax-concave penalty (Zhang 2010) is lam |q| - q^2/(2 w) up to |q| = w lam and constant beyond: 1/w-weakly convex, so the sum is
not convex. Both blocks have their argmin in closed form; either order of the recursion finds
the same sparse solution, at a linear rate.
"""

from __future__ import annotations

import numpy as np

import infoplane as ip


class LeastSquares:
    """F(p) = |D p - y|^2 / 2."""

    def __init__(self, D: np.ndarray, y: np.ndarray) -> None:
        self.D, self.y = D, y

    def value(self, p: np.ndarray) -> float:
        return 0.5 * float(((self.D @ p - self.y) ** 2).sum())

    def argmin(self, target: np.ndarray, c: np.ndarray, start: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.D.T @ self.D + c * np.eye(len(target)), self.D.T @ self.y + c * target)


class MinimaxConcave:
    """G(q) = sum of the penalty; its proximal step is the firm threshold."""

    def __init__(self, lam: float, width: float) -> None:
        self.lam, self.width = lam, width

    def value(self, q: np.ndarray) -> float:
        inside = self.lam * np.abs(q) - q**2 / (2 * self.width)
        return float(np.where(np.abs(q) <= self.width * self.lam, inside, self.width * self.lam**2 / 2).sum())

    def argmin(self, target: np.ndarray, c: np.ndarray, start: np.ndarray) -> np.ndarray:
        shrunk = np.sign(target) * np.maximum(np.abs(target) - self.lam / c, 0) / (1 - 1 / (self.width * c))
        return np.where(np.abs(target) <= self.width * self.lam, shrunk, target)


def main() -> None:
    rng = np.random.default_rng(0)
    D = rng.standard_normal((40, 12)) / np.sqrt(40)
    truth = np.array([2.0, -1.5, 1.0] + [0.0] * 9)
    F, G = LeastSquares(D, D @ truth + 0.01 * rng.standard_normal(40)), MinimaxConcave(0.1, 4.0)
    sigma, *_, L = np.linalg.eigvalsh(D.T @ D)  # the curvature of F, which Solver I's dual variable follows
    proven = ip.theorem_threshold("over-relaxed", sigma=sigma, L=L, relaxation=1.5)
    print(f"Solver I: L_c falls in every iteration for c > {proven.c:.3f} ({proven.theorem}), whatever G is")
    for order in ("I", "II"):
        found = ip.douglas_rachford(
            F, G, order=order, penalty=1.2 * proven.c, relaxation=1.5, p0=np.zeros(12), q0=np.zeros(12)
        )
        rate, exponent = found.rate(), found.exponent()
        print(f"Solver {order}: {found.status.name}, {found.iterations} iterations, objective {found.objective:.6f},")
        print(
            f"  contracts by {rate.factor:.3f} per iteration (r^2 {rate.r_squared:.4f}), exponent {exponent.theta:.3f},"
        )
        print(f"  q = {np.round(found.q, 3)}")


if __name__ == "__main__":
    main()

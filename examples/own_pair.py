"""
A pair of your own
==================

The recursion of the paper's solvers works for any pair of a convex and a weakly convex function. Here: least squares with the
minimax-concave penalty, neither bottleneck nor funnel::

    minimise |D p - y|^2 / 2 + sum_i mcp(q_i)  subject to p = q.

The minimax-concave penalty (Zhang 2010) is lam abs(q) - q^2/(2 w) up to abs(q) = w lam and constant beyond:
1/w-weakly convex, so the sum is not convex. Both blocks have their argmin in closed form; either order of the
recursion finds the same sparse solution, at a linear rate.

*For researchers. You will know at the end*: what a block must have, which penalty a theorem asks for, and how to
fit a rate to a run.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

# %%
# Two blocks
# ----------
# A block has a value and an argmin, of its function plus c/2 times the squared distance to a target.


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


rng = np.random.default_rng(0)
D = rng.standard_normal((40, 12)) / np.sqrt(40)
truth = np.array([2.0, -1.5, 1.0] + [0.0] * 9)
F, G = LeastSquares(D, D @ truth + 0.01 * rng.standard_normal(40)), MinimaxConcave(0.1, 4.0)

# %%
# The penalty
# -----------
# A theorem says that above this threshold the augmented Lagrangian falls in every iteration. sigma and L are the
# curvature of F.

sigma, *_, L = np.linalg.eigvalsh(D.T @ D)
proven = ip.theorem_threshold("over-relaxed", sigma=sigma, L=L, relaxation=1.5)
print(f"Solver I: L_c falls in every iteration for c > {proven.c:.3f} ({proven.theorem}), whatever G is")

# %%
# Both orders
# -----------

found = {}
for order in ("I", "II"):
    one = ip.douglas_rachford(
        F, G, order=order, penalty=1.2 * proven.c, relaxation=1.5, p0=np.zeros(12), q0=np.zeros(12)
    )
    rate = one.rate()
    print(f"Solver {order}: {one.status.name}, {one.iterations} iterations, objective {one.objective:.6f},")
    print(
        f"  contracts by {rate.factor:.3f} per iteration (r^2 {rate.r_squared:.4f}), exponent {one.exponent().theta:.3f}"
    )
    found[order] = one

# %%
# A straight line on a logarithmic scale is a linear rate; beside it, what was found and what is true.

figure = Figure(figsize=(11, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
for (order, one), colour in zip(found.items(), ("#0072B2", "#D55E00"), strict=True):
    above = np.asarray(one.augmented) - min(one.augmented)
    left.semilogy(np.where(above > 1e-15, above, np.nan), color=colour, linewidth=2, label=f"Solver {order}")
left.set(
    xlabel="iteration",
    ylabel="augmented Lagrangian above its limit",
    title="Linear convergence, although the sum is not convex",
)
left.legend(frameon=False)
right.stem(np.arange(12) - 0.12, truth, linefmt="#8a8a8a", markerfmt="o", basefmt=" ", label="truth")
right.stem(np.arange(12) + 0.12, found["I"].q, linefmt="#0072B2", markerfmt="s", basefmt=" ", label="found")
right.set(xlabel="coordinate", title="The sparse solution")
right.legend(frameon=False)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("own_pair.png", dpi=130)

"""
How fast the solvers converge, and where they do not
====================================================

Blahut-Arimoto and the paper's ib-1 near the optimum, along gamma. Each gains a constant number of digits per iteration: a linear rate.
At a phase transition, where the number of clusters changes, the rate is not linear: the iterations for one more digit grow without bound.

*You will know at the end*: why a solver that converges in 20 iterations takes 2,000 at a slightly different gamma, and where to expect it.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

joint = ip.datasets.paper_uniform()
poles = [0.5 * (change.low + change.high) for change in ip.transitions(joint, low=0.25)]
print("clusters change at gamma =", ", ".join(f"{pole:.5f}" for pole in poles))

# %%
# A grid that is denser and denser towards the transitions, and leaves them out.

near = [pole * (1.0 + side * 10.0**-e) for pole in poles for side in (-1, 1) for e in (1.0, 1.5, 2.0)]
grid = sorted(gamma for gamma in [*np.geomspace(0.25, 1.0, 24), *near] if 0.25 <= gamma <= 1.0)

# %%
# At each gamma a start beside the optimum: each of its clusters is cut into two halves, so that they can separate in every way, and a
# little noise is added. From there the solver runs without leaps (extrapolated iterates);
# r is the factor by which the stationarity residual shrinks per iteration, fitted to the second half of the run.


def digits(gamma: float, solver: ip.Solver) -> float:
    """Iterations for one more digit, -1/log10(r)."""
    halves = np.repeat(ip.solve(joint, ip.bottleneck(gamma), rng=0).encoder / 2.0, 2, axis=0)
    start = 0.98 * halves + 0.02 * np.random.default_rng(0).dirichlet(np.ones(len(halves)), 3).T
    run = ip.solve(joint, ip.bottleneck(gamma), solver, init=start, max_iter=8000, tol=1e-12)
    tail = np.log10(np.asarray(run.trace.stationarity)[run.iterations // 2 :])
    return -1.0 / np.polyfit(np.arange(len(tail)), tail, 1)[0]


solvers = {"Blahut-Arimoto": ip.BlahutArimoto(), "ib-1": ip.DouglasRachford("ib-1", acceleration=False)}
needed = {name: [digits(gamma, solver) for gamma in grid] for name, solver in solvers.items()}
for name, each in needed.items():
    print(f"{name}: from {min(each):.1f} to {max(each):.0f} iterations a digit")

# %%
# What the theorem of :doc:`/explanation/theory` predicts: linear wherever the optimum is a non-degenerate minimum, with poles at
# the transitions.

figure = Figure(figsize=(7.4, 4.4), layout="constrained")
ax = figure.subplots()
for pole in poles:
    ax.axvline(pole, color="0.75", lw=1.0, zorder=0)
    ax.annotate(f" {pole:.3f}", (pole, 1.0), xycoords=("data", "axes fraction"), va="top", color="0.4")
for (name, each), colour, marker in zip(needed.items(), ("#0072B2", "#D55E00"), "os", strict=True):
    ax.semilogy(grid, each, marker + "-", color=colour, ms=3.5, lw=1.0, label=name)
ax.set(
    xlabel="gamma",
    ylabel="iterations for one more digit",
    title="Near the optimum of a 3 x 3 bottleneck: linear, but not at the transitions",
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
figure.savefig("rate_along_gamma.png", dpi=130)

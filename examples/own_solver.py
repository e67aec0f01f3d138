"""
A solver of your own
====================

From scratch: projected gradient descent, in one file and one line of registration::

    W <- projection of W - t g onto the encoders,   g = (dL/dW) / p(x),   t halved until L falls

A solver is a frozen dataclass with a name. One that iterates writes ``begin``, which turns a job (a joint, a problem,
starts, a tolerance, a budget) into an ``Iteration``; with ``PlainIteration``, in plain NumPy, you write only the
step. Starts, limits, traces, progress, Ctrl-C, statuses, threads, sweeps, stores, comparison and certificates then work
without further code.

*For researchers. You will know at the end*: how to compare your own method with all others by the same
numbers.

*Added in 0.1.0.*
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

# %%
# The step
# --------


def projected(V: np.ndarray) -> np.ndarray:
    """The nearest encoders: every column of every table of the stack onto the simplex, by sorting."""
    ranked = -np.sort(-V, axis=1)
    excess = (np.cumsum(ranked, axis=1) - 1.0) / np.arange(1, V.shape[1] + 1)[:, None]
    kept = np.count_nonzero(ranked > excess, axis=1)
    level = np.take_along_axis(excess, kept[:, None] - 1, axis=1)
    return np.maximum(V - level, 0.0)


class Descent(ip.PlainIteration):
    """Runs of projected gradient descent, side by side: W is a stack of encoders (runs, |Z|, |X|)."""

    found_by = "projected-gradient"

    def __init__(self, job: ip.Job, halvings: int) -> None:
        super().__init__(job)
        self.halvings = halvings

    def step(self, W: np.ndarray) -> np.ndarray:
        """One step of every run."""
        g = -sum(rho * log for rho, log in zip(self.rho, self.logs(W), strict=True))
        best, lowest = W, self.losses(W)
        for halving in range(self.halvings):
            tried = projected(W - 0.5**halving * g)
            loss = self.losses(tried)
            best = np.where((loss < lowest)[:, None, None], tried, best)
            lowest = np.minimum(loss, lowest)
        return best


# %%
# The solver
# ----------
# Its fields are its options, also on the command line: ``--halvings 12``.


@dataclass(frozen=True)
class ProjectedGradient(ip.Solver):
    """Projected gradient descent, t the best of so many halvings of 1."""

    name = "projected-gradient"

    halvings: int = 24

    def begin(self, job: ip.Job) -> Descent:
        """All starts of a job, before their first step."""
        return Descent(job, self.halvings)


ip.register(ProjectedGradient)

# %%
# Beside the others
# -----------------
# ``compare`` runs all solvers from the same starts, and finds yours by its name. The picture shows how far each is above the
# proven optimum after each iteration.


def main(max_iter: int = 500) -> None:
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.2)
    names = ["projected-gradient", "ib-1", "blahut-arimoto", "accelerated"]
    frame = ip.compare(joint, ip.bottleneck, [0.1, 0.2], names, starts=4, rng=0, max_iter=max_iter)
    print(frame[["solver", "parameter", "loss_nats", "status"]].to_string(index=False))

    lowest = ip.solve(joint, problem, certify=1e-9).lower_bound
    figure = Figure(figsize=(7.6, 4.4), layout="constrained")
    ax = figure.subplots()
    for name, colour in zip(names, ("#D55E00", "#009E73", "#8a8a8a", "#0072B2"), strict=True):
        run = ip.solve(joint, problem, name, starts=1, rng=0, max_iter=max_iter)
        at = np.arange(1, len(run.trace) + 1) if run.trace.iteration is None else run.trace.iteration
        ax.loglog(at, np.maximum(run.trace.loss - lowest, 1e-10), color=colour, linewidth=2, label=name)
    ax.set(
        xlabel="iteration",
        ylabel="loss above the proven optimum  [nats]",
        title="Heart, γ = 0.2, from one random start",
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    figure.savefig("own_solver.png", dpi=130)


if __name__ == "__main__":
    main()

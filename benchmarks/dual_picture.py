"""The dual function of the bottleneck on the simplex of posteriors, for the paper's non-uniform 3 x 3 data at gamma = 0.1848.

    python benchmarks/dual_picture.py docs/images/dual_3x3.png

f(q) = H(Tq) - gamma H(q) above its supporting plane lambda.q: zero at the clusters of the certified optimum, positive elsewhere. Beside it
the same for the encoder at which random starts of Blahut-Arimoto end: where f is below its plane there is a better cluster.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.tri import Triangulation

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.posterior.form import Mixture
from infoplane.solvers.envelope import Envelope

GAMMA = float(np.geomspace(0.1, 1.0, 16)[4])
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def f(support: Support, q: np.ndarray) -> np.ndarray:
    """H(Tq) - gamma H(q), one value for each row of q."""
    u = q @ support.T.T

    def entropy(p: np.ndarray) -> np.ndarray:
        return -np.where(p > 0.0, p * np.log(np.where(p > 0.0, p, 1.0)), 0.0).sum(axis=1)

    return entropy(u) - GAMMA * entropy(q)


def grid(steps: int) -> np.ndarray:
    i, j = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1), indexing="ij")
    keep = i + j <= steps
    return np.column_stack([i[keep], j[keep], steps - i[keep] - j[keep]]) / steps


def posteriors(support: Support, W: np.ndarray) -> np.ndarray:
    q = W * support.p_x
    return q / q.sum(axis=1, keepdims=True)


def draw_triangle(ax: plt.Axes, support: Support, W: np.ndarray, title: str, worst: np.ndarray | None) -> None:
    lam = Mixture.of(support, W).multipliers(support, GAMMA)
    q = grid(300)
    value = f(support, q) - q @ lam
    flat = q @ CORNERS
    triangles = Triangulation(flat[:, 0], flat[:, 1])
    levels = np.array([0.0, 0.001, 0.003, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25])
    shown = ax.tricontourf(
        triangles, np.maximum(value, 0.0), levels=levels, cmap="Blues", norm=PowerNorm(0.5), extend="max"
    )
    if value.min() < -1e-6:
        ax.tricontourf(triangles, value, levels=[value.min(), -1e-6], colors=["#d62728"])
        ax.plot([], [], "s", color="#d62728", label="f below the plane")
    ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="0.3", lw=0.8)
    clusters = posteriors(support, W) @ CORNERS
    ax.plot(*clusters.T, "o", color="black", ms=8, mfc="white", mew=1.6, clip_on=False, label="clusters p(x|z)")
    ax.plot(*(support.p_x @ CORNERS), "x", color="black", ms=8, mew=1.6, label="p(x)")
    if worst is not None:
        ax.plot(
            *(worst @ CORNERS), "*", color="gold", mec="black", ms=15, clip_on=False, label="posterior that refutes it"
        )
    for k, (x, y) in enumerate(CORNERS):
        ax.annotate(f"x = {k}", (x, y), xytext=(0, -14 if y == 0 else 6), textcoords="offset points", ha="center")
    ax.set_title(title, fontsize=10, pad=18)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.legend(loc="upper left", fontsize=7, frameon=False, bbox_to_anchor=(-0.12, 1.02))
    plt.colorbar(
        shown,
        ax=ax,
        orientation="horizontal",
        fraction=0.045,
        pad=0.06,
        label="f(q) - λ·q, nats",
        ticks=levels[[0, 3, 5, 8, 11]],
    )


def draw_cut(ax: plt.Axes, support: Support, best: np.ndarray, local: np.ndarray) -> None:
    """Height of f above both planes along the line through the certified clusters next to x = 0 and x = 2."""
    q = posteriors(support, best)
    one, two = q[q[:, 0].argmax()], q[q[:, 2].argmax()]
    t = np.linspace(-1.0, 2.0, 6001)
    line = one + t[:, None] * (two - one)
    inside = line.min(axis=1) >= 0.0
    t, line = t[inside], line[inside]
    for W, colour, name in ((best, "tab:blue", "certified optimum"), (local, "#d62728", "local optimum")):
        lam = Mixture.of(support, W).multipliers(support, GAMMA)
        ax.plot(t, f(support, line) - line @ lam, color=colour, label=name)
    ax.axhline(0.0, color="0.3", lw=0.8)
    ax.plot([0.0, 1.0], [0.0, 0.0], "o", color="black", ms=8, mfc="white", mew=1.6, label="clusters of the optimum")
    ax.set_xlabel("position on the line through two clusters (left edge)")
    ax.set_ylabel("f(q) - λ·q, nats")
    ax.set_title("A cut along the left edge", fontsize=10)
    ax.legend(fontsize=8, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    joint, problem = ip.datasets.paper_nonuniform(), ip.bottleneck(GAMMA)
    support = Support(joint)
    best = ip.solve(joint, problem, Envelope(tol=1e-9))
    local = ip.solve(joint, problem, "blahut-arimoto", starts=16, rng=0, init="random", tol=1e-11)
    refuted = ip.certify(joint, problem, local.encoder)
    figure, axes = plt.subplots(1, 3, figsize=(14.5, 5.0), gridspec_kw={"width_ratios": [1, 1, 0.9]})
    draw_triangle(
        axes[0], support, best.encoder, f"Certified optimum, L = {best.loss:.6f} nats:\nthe plane supports f", None
    )
    draw_triangle(
        axes[1],
        support,
        local.encoder,
        f"16 random starts of Blahut-Arimoto, L = {local.loss:.6f} nats:\nthe plane cuts f",
        refuted.posterior,
    )
    draw_cut(axes[2], support, best.encoder, local.encoder)
    figure.tight_layout()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()

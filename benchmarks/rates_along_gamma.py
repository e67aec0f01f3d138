"""How fast each bottleneck solver converges near the certified optimum, along gamma: poles at the phase transitions.

    python benchmarks/rates_along_gamma.py --out docs/images/rates_along_gamma.png --page docs/explanation/rates.md

At every gamma the optimum is certified, each of its clusters is split in two, so that every way in which a cluster can part is seen, 2%
of a random encoder is mixed in, and the solver runs from there, without leaps. The factor r of the stationarity residual is fitted to the
tail; what is drawn is the number of iterations for one more decimal digit, -1/log10(r).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip
from page import write_block

SOLVERS = {"ib-1": "C0", "ib-2": "C1", "ib-1v": "C2", "blahut-arimoto": "k"}
JOINTS = ("paper_uniform", "paper_nonuniform")
NOISE, FLOOR, LIMIT = 0.02, 1e-12, 20_000


def start_near(found: ip.Solution, rng: np.random.Generator) -> Any:
    """Every cluster of an optimum in two halves, with some noise."""
    W = np.repeat(found.encoder / 2.0, 2, axis=0)
    return (1.0 - NOISE) * W + NOISE * rng.dirichlet(np.ones(len(W)), W.shape[1]).T


def factor(joint: ip.Joint, gamma: float, solver: str, start: Any) -> tuple[float, float]:
    """The factor per iteration of the stationarity residual, and r^2 of its fit."""
    method = solver if solver == "blahut-arimoto" else ip.DouglasRachford(solver, acceleration=False)
    run = ip.solve(joint, ip.bottleneck(gamma), method, init=start, max_iter=LIMIT, tol=1e-13)
    residual = np.asarray(run.trace.stationarity)
    ended = np.flatnonzero(residual <= FLOOR)
    last = int(ended[0]) if ended.size else len(residual)
    k = np.arange(last // 2, last)
    if len(k) < 4:
        return np.nan, np.nan
    y = np.log(residual[k])
    slope = np.polyfit(k, y, 1)[0]
    return float(np.exp(slope)), float(np.corrcoef(k, y)[0, 1] ** 2)


def grid(low: float, high: float, poles: list[float], points: int) -> list[float]:
    """Gammas from low to high, denser and denser towards the poles, which are left out."""
    near = [pole * (1.0 + side * 10.0**-e) for pole in poles for side in (-1, 1) for e in np.arange(1.0, 3.6, 0.25)]
    return sorted(g for g in [*np.geomspace(low, high, points), *near] if low <= g <= high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("rates_along_gamma.png"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--points", type=int, default=60)
    options = parser.parse_args()
    figure = Figure(figsize=(11, 5), layout="constrained")
    lines = [
        "| joint | transition at gamma | clusters below, above | solver | 10% below | 1% below | 1% above | 10% above |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for ax, name in zip(figure.subplots(1, 2, sharey=True), JOINTS, strict=True):
        joint = ip.datasets.load(name)
        critical = ip.critical_gamma(joint)
        changes = ip.transitions(joint, low=0.05)
        poles = [
            critical if change.low <= critical <= change.high else 0.5 * (change.low + change.high)
            for change in changes
        ]
        gammas = grid(0.05, 1.0, poles, options.points)
        optima = {g: ip.solve(joint, ip.bottleneck(g), certify=True, rng=0) for g in gammas}
        for solver, colour in SOLVERS.items():
            rng = np.random.default_rng(0)
            found = {g: factor(joint, g, solver, start_near(optima[g], rng)) for g in gammas}
            digits = {
                g: -1.0 / np.log10(r) if 0.0 < r < 1.0 and fit > 0.99 else np.nan for g, (r, fit) in found.items()
            }
            ax.plot(list(digits), list(digits.values()), ".-", color=colour, markersize=3, linewidth=1.0, label=solver)
            for pole, change in zip(poles, changes, strict=True):
                aims = [pole * share for share in (0.9, 0.99, 1.01, 1.1)]
                shown = [digits[gammas[int(np.abs(np.subtract(gammas, aim)).argmin())]] for aim in aims]
                cells = " | ".join("-" if np.isnan(one) else f"{one:.3g}" for one in shown)
                counts = f"{change.clusters_below}, {change.clusters_above}"
                lines.append(f"| {name} | {pole:.4f} | {counts} | {solver} | {cells} |")
        for pole in poles:
            ax.axvline(pole, color="0.6", linewidth=0.8, linestyle=":")
        beyond = np.linspace(critical * 1.0003, 1.0, 200)
        theory = -1.0 / np.log10(critical / beyond)
        ax.plot(beyond, theory, color="C3", linewidth=3, alpha=0.4, label="theory: r = critical gamma / gamma")
        ax.set(title=name, xlabel="gamma", yscale="log", xlim=(0.05, 1.0), ylim=(0.5, 3e5))
    figure.axes[0].set_ylabel("iterations for one more digit, -1/log10(r)")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), fontsize="small", loc="outside lower center", ncols=5)
    figure.savefig(options.out, dpi=150)
    print("\n".join(lines))
    if options.page:
        write_block(options.page, "along gamma", lines)


if __name__ == "__main__":
    main()

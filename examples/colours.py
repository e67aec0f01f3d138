"""
Naming systems on the plane
===========================

How efficient are colour systems of 3 to 11 terms, and what would the best ones look like? Hard systems are made by
clustering the 330 chips of the World Color Survey in CIELAB, and made worse by turning them by a quarter of the circle
of hues. Each is a point on the plane of complexity and accuracy, below the best of the same complexity; the charts show
some of them, the same turned, and the optimal system at the trade-off that each comes closest to.

*For linguists. You will know at the end*: how to score a naming system, real or invented, and how to see what it
lacks. You can give your own as a table of system, chip and word: ``infoplane efficiency colours naming.csv --prior capacity
--plot systems.png``.

*Added in 0.1.0.*
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import infoplane as ip
from infoplane.datasets.colour_chips import chips, cielab
from infoplane.view.colour_chart import plot_charts

SHOWN = (3, 5, 8, 11)
"""Numbers of terms of the systems that are drawn on the chart."""

TERMS = range(3, 12)
"""Numbers of terms of all systems."""

BETAS = np.geomspace(1.02, 1.3, 9)
"""Of the frontier: 3 to 11 terms have few bits, and so lie at betas a little above 1."""


# %%
# Two kinds of systems
# --------------------


def clustered(terms: int, rounds: int = 100) -> np.ndarray:
    """Chips grouped around so many centres in CIELAB (k-means), begun from chips that lie far apart: a term for each chip."""
    lab = cielab()
    chosen = [int(np.abs(lab[:, 0] - 50.0).argmin())]
    while len(chosen) < terms:
        distance = ((lab[:, None] - lab[chosen]) ** 2).sum(axis=2).min(axis=1)
        chosen.append(int(distance.argmax()))
    centres = lab[chosen]
    for _ in range(rounds):
        term = ((lab[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array([lab[term == z].mean(axis=0) for z in range(terms)])
    return term


def turned(term: np.ndarray, by: int = 10) -> np.ndarray:
    """The same system with every hue called what the hue so many columns further is called; greys keep their terms."""
    number = {chip.label: at for at, chip in enumerate(chips())}
    further = [f"{chip.row}{(chip.column - 1 + by) % 40 + 1 if chip.column else 0}" for chip in chips()]
    return term[[number[label] for label in further]]


# %%
# Their efficiency
# ----------------
# ``place`` finds the optimum nearest to each; epsilon is how much less the system tells.


def main(terms: Sequence[int] = TERMS, shown: Sequence[int] = SHOWN, betas: Sequence[float] = BETAS) -> None:
    joint = ip.datasets.colours()
    systems = {}
    for k in terms:
        systems[f"{k}"] = clustered(k)
        systems[f"{k}t"] = turned(systems[f"{k}"])
    frontier = ip.sweep(joint, ip.bottleneck, betas, notation="beta")
    frame = frontier.place(systems, tol=1e-4)
    columns = ["system", "ixz_bits", "iyz_bits", "beta", "epsilon_bits", "gnid", "optimum_clusters"]
    print(frame[columns].round(4).to_string(index=False))

    ax = frontier.plot(
        systems=frame,
        title="Colour systems of 3 to 11 terms, and the same turned (t)",
        labels={"frontier": "optimal", "systems": "given, with its epsilon"},
        xlabel="complexity  I(X;Z)  [bits]",
        ylabel="accuracy  I(Y;Z)  [bits]",
    )
    ax.figure.savefig("colours_plane.png", dpi=130)

    by_name, charts = frame.set_index("system"), []
    for k in shown:
        for name, said in ((f"{k}", f"{k} terms"), (f"{k}t", f"{k} terms, turned")):
            charts.append((f"{said}: {by_name.epsilon_bits[name]:.3f} bits below the frontier", systems[name]))
        best = by_name.optimum[f"{k}"]
        charts.append((f"optimal at β = {1.0 / best.parameter:.3f}: {best.clusters} clusters", best))
    plot_charts(charts, "colours_charts.png", columns=3)


if __name__ == "__main__":
    main()

"""
Why starts matter
=================

Blahut-Arimoto on the paper's non-uniform data, from sixteen random encoders and from one near-identity encoder.
Random starts are the usual choice, and the paper's. They miss optima that a single near-identity start finds.

*You will know at the end*: why "the best of sixteen random starts" is not a proof, and how to see it on the plane.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

joint = ip.datasets.paper_nonuniform()
grid = np.geomspace(0.1, 1.0, 16)
random = ip.sweep(joint, ip.bottleneck, grid, "blahut-arimoto", starts=16, rng=1, init="random")
identity = ip.sweep(joint, ip.bottleneck, grid, "blahut-arimoto", init="identity")
proven = ip.sweep(joint, ip.bottleneck, grid, certify=True)

# %%
# The loss of the best of each, above the optimum, which is proven (``certify=True``).

above = {
    name: [
        one.run.loss - best.run.lower_bound for one, best in zip(f.best_answers(), proven.best_answers(), strict=True)
    ]
    for name, f in (("sixteen random starts", random), ("one near-identity start", identity))
}
for name, gaps in above.items():
    print(f"{name}: {sum(gap > 1e-5 for gap in gaps)} of 16 optima missed, by up to {max(gaps):.1e} nats")

# %%
# This happens at gammas near which one optimum takes over from another: a start on the wrong side of a ridge stays there.

figure = Figure(figsize=(7.4, 4.4), layout="constrained")
ax = figure.subplots()
for (name, gaps), marker, colour in zip(above.items(), "os", ("#D55E00", "#0072B2"), strict=True):
    ax.semilogy(grid, np.maximum(gaps, 1e-7), marker, color=colour, label=name, alpha=0.85)
ax.axhspan(5e-8, 1.1e-6, color="#009E73", alpha=0.15)
ax.annotate("optimal: proven to 1e-6", (0.985, 1.3e-6), ha="right", va="bottom", color="#00704f")
ax.set(
    xlabel="gamma",
    ylabel="nats above the proven optimum",
    title="Blahut-Arimoto on 3 x 3: where all sixteen random starts miss the optimum",
    ylim=(5e-8, 1e-2),
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper right")
figure.savefig("starts.png", dpi=130)

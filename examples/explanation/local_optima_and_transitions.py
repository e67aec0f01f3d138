"""
Why there are local optima, and phase transitions
=================================================

*You will know at the end*: why the number of clusters jumps along gamma, why solvers get stuck there, and what
helps.

At a large gamma every bit about X is expensive: the best encoder tells nothing and has one cluster. As gamma falls, it
first pays to tell two kinds of letters apart, then three, and so on. In between, the number of clusters stays the same and
they only become sharper. Where the number changes there is a *phase transition*: a new optimum appears, or another one
becomes the best.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

# %%
# A strip of encoders
# -------------------
# Ten letters x, invented, in the order of what they tell about y. Each panel is the best encoder p(z|x) at one gamma,
# proven.

rng = np.random.default_rng(11)
lean = np.sort(rng.beta(0.6, 0.6, 10))
joint = ip.Joint.from_conditional(np.full(10, 0.1), np.column_stack([lean, 1 - lean]), axes="xy")
gammas = np.geomspace(0.02, 0.7, 36)
frontier = ip.sweep(joint, ip.bottleneck, gammas, certify=True)
best = [answer.run for answer in frontier.best_answers()]
print(frontier.best()[["parameter", "clusters", "ixz_bits", "status"]].iloc[::5].to_string(index=False))

# %%
# The package can say where the number of clusters changes, to many digits and with proof:

found = ip.transitions(joint, low=0.02, high=0.7)
for one in found:
    print(one)

# %%
# The picture: above, the strip; below, the number of clusters along gamma.

shown = [best[i] for i in (0, 7, 12, 15, 20, 25, 32)]
figure = Figure(figsize=(12, 5.6), layout="constrained")
grid = figure.add_gridspec(2, len(shown), height_ratios=[1.2, 1])
for column, run in enumerate(shown):
    ax = figure.add_subplot(grid[0, column])
    order = np.argsort(run.encoder @ (lean * joint.p_x) / np.maximum(run.p_z, 1e-12))
    W = run.encoder[order]
    ax.imshow(
        np.pad(W, ((0, max(0, 7 - len(W))), (0, 0)), constant_values=np.nan),
        cmap="Blues",
        vmin=0,
        vmax=1,
        aspect="auto",
    )
    ax.set(
        xticks=[],
        yticks=[],
        title=f"γ = {run.parameter:.2f}\n{run.clusters} cluster{'s' * (run.clusters > 1)}",
        xlabel="x",
    )
    ax.spines[:].set_visible(False)
figure.axes[0].set_ylabel("z")
steps = figure.add_subplot(grid[1, :])
steps.step([run.parameter for run in best], [run.clusters for run in best], where="mid", color="#0072B2", linewidth=2)
for one in found:
    steps.axvline(one.gamma, color="#D55E00", linewidth=1, alpha=0.7)
steps.set(
    xscale="log", xlabel="gamma, the weight of a bit about X", ylabel="clusters", title="Orange: phase transitions"
)
steps.invert_xaxis()
steps.spines[["top", "right"]].set_visible(False)
figure.savefig("strip.png", dpi=130)

# %%
# Why solvers get stuck
# ---------------------
# Near a transition two different encoders are almost equally good, with a ridge between them. A solver that goes
# downhill ends on the side on which it began. Three hundred random starts of Blahut-Arimoto at one gamma of the
# paper's non-uniform data, and how far above the proven optimum each ends:

small = ip.datasets.paper_nonuniform()
gamma = float(np.geomspace(0.1, 1.0, 16)[4])
proven = ip.solve(small, ip.bottleneck(gamma), certify=True)
runs = ip.sweep(small, ip.bottleneck, [gamma], "blahut-arimoto", starts=300, rng=0, init="random").runs
above = np.array([run.loss for run in runs]) - proven.lower_bound
places, counts = np.unique(above.round(5), return_counts=True)
print(dict(zip(places.tolist(), counts.tolist(), strict=True)))
figure = Figure(figsize=(7.6, 3.4), layout="constrained")
ax = figure.subplots()
ax.bar(range(len(places)), counts, color=["#009E73" if place < 1e-5 else "#D55E00" for place in places], width=0.6)
ax.set_xticks(range(len(places)), ["optimal" if place < 1e-5 else f"{place:.5f}" for place in places])
ax.set(xlabel="nats above the proven optimum", ylabel="starts", title=f"Where 300 random starts end, γ = {gamma:.4f}")
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("local_optima.png", dpi=130)

# %%
# What helps: follow the optimum as gamma grows (annealing), pool the clusters of many runs and let a linear programme
# mix them, and ask for a certificate, whose search finds the cluster that is missing. The default solver does the first two.

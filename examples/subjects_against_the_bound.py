"""
Are people on the bound?
========================

Twelve people sort sixteen tones into as few or as many categories as they like, 320 trials each. How efficient is
each: how many bits less about what the tone means than with the best categories of the same complexity? And with so
few trials, which losses are real?

*For psychologists and neuroscientists. You will know at the end*: how to put subjects on the plane with intervals,
and how to test "on the bound".

The people are invented, so that the truth is known: six are optimal at trade-offs of their own, three press a wrong
key in one of ten trials, three have many names for low tones and few for high ones.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

# %%
# The task
# --------
# Tones on a scale of sixteen steps. A tone means one of the steps, more likely a near one; all tones are equally frequent.

places = np.arange(16)
meaning = np.exp(-((places[:, None] - places) ** 2) / (2 * 1.8**2))
joint = ip.Joint.from_conditional(np.full(16, 1 / 16), meaning / meaning.sum(axis=1, keepdims=True), axes="xy")
print(joint)

# %%
# The people
# ----------

rng = np.random.default_rng(4)
TRIALS = 20  # of each tone


def answers(encoder: np.ndarray) -> np.ndarray:
    """Counts of each category for each tone."""
    return np.stack([rng.multinomial(TRIALS, p / p.sum()) for p in encoder.T], axis=1)


people = {}
for name, gamma in zip("ABCDEF", (0.12, 0.2, 0.3, 0.4, 0.5, 0.6), strict=True):
    people[name] = ip.solve(joint, ip.bottleneck(gamma), rng=0).encoder
for name, other in zip("GHI", "BCD", strict=True):  # a wrong key now and then
    people[name] = 0.9 * people[other] + 0.1 / len(people[other])
for name, edges in zip(
    "JKL", ([2], [2, 4, 7], [1, 2, 3, 5, 8]), strict=True
):  # many names for low tones, few for high ones
    people[name] = np.eye(len(edges) + 1)[:, np.searchsorted(edges, places, side="right")]
counts = {name: answers(encoder) for name, encoder in people.items()}

# %%
# On the plane
# ------------
# ``efficiency`` finds for each person the nearest optimum, with 95% intervals from redrawn trials, and the p-value of
# "optimal, and the rest is chance".

frame = ip.efficiency(joint, counts, counts=True, axes="zx", bootstrap=60, rng=0)
print(
    frame[["system", "ixz_bits", "beta", "epsilon_bits", "epsilon_ci_low_bits", "epsilon_ci_high_bits", "on_bound_p"]]
    .round(3)
    .to_string(index=False)
)

# %%
# The picture: left the plane, right the loss of each with its interval. Whoever is called off the bound (orange) has
# p < 0.05; among twelve people who all were optimal, one in twenty would be.

frontier = ip.sweep(joint, ip.bottleneck, np.geomspace(0.05, 0.95, 24))
off = (frame.on_bound_p < 0.05).to_numpy()
colours = np.where(off, "#D55E00", "#0072B2")
figure = Figure(figsize=(11, 4.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
frontier.plot(
    left,
    systems=frame,
    legend=None,
    title="Twelve people below the bound",
    colours={"frontier": "#333333", **dict(zip(frame.system, colours, strict=True))},
    xlabel="complexity  I(X;Z)  [bits]",
    ylabel="accuracy  I(Y;Z)  [bits]",
)
right.hlines(
    range(len(frame)), frame.epsilon_ci_low_bits, frame.epsilon_ci_high_bits, colors=colours, linewidth=4, alpha=0.5
)
right.scatter(frame.epsilon_bits, range(len(frame)), c=colours, s=22, zorder=3)
right.set(
    yticks=range(len(frame)),
    yticklabels=frame.system,
    xlabel="bits lost beside the optimum",
)
right.set_title("dots: as counted; bars: 95%, without the bias of few trials", fontsize="medium", loc="left")
right.invert_yaxis()
right.axvline(0, color="#8a8a8a", linewidth=1)
right.spines[["top", "right"]].set_visible(False)
figure.savefig("subjects.png", dpi=130)

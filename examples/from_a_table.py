"""
From a table of records to a release
====================================

Three answers of 2,000 people may be published if their region stays hidden. How much must the answers be
blurred?

*You will know at the end*: the shortest way from a frame of records to a mechanism p(z|x), and what it loses.

The table is invented. For caps that hold for every released value, and an audit to sign, see the page on releases.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import infoplane as ip

rng = np.random.default_rng(0)
region = rng.choice(["north", "south", "west"], size=2000, p=[0.5, 0.3, 0.2])
lean = {"north": [0.6, 0.3, 0.1], "south": [0.2, 0.3, 0.5], "west": [0.1, 0.7, 0.2]}
records = pd.DataFrame({"region": region, "answer": [rng.choice(["yes", "maybe", "no"], p=lean[r]) for r in region]})
joint = ip.Joint.from_frame(records, x="answer", y="region")
print(joint)

# %%
# How much of the answers can be kept if the released value tells at most so many bits about the region?
# Each point is the best possible release, with proof.

caps = [0.005, 0.02, 0.05, 0.1]
found = [ip.funnel_at_leakage(joint, max_iyz=cap * np.log(2)) for cap in caps]
for cap, one in zip(caps, found, strict=True):
    print(
        f"at most {cap:5.3f} bits about the region: {one.ixz / np.log(2):.3f} bits of the answer, certified: {one.certified}"
    )

# %%
# The mechanism at 0.02 bits: how each answer is released.

chosen = found[1]
table = chosen.encoder_frame()
print(table.round(3))

# %%
# The picture: left the cost of privacy, right the mechanism as a flow from answers to released values.

figure = Figure(figsize=(11, 4.4), layout="constrained")
left, right = figure.subplots(1, 2)
left.plot(caps, [one.ixz / np.log(2) for one in found], "o-", color="#0072B2")
left.plot([caps[1]], [chosen.ixz / np.log(2)], "o", color="#D55E00", markersize=10)
left.axhline(joint.entropy_x / np.log(2), color="#8a8a8a", linewidth=1)
left.annotate("all of the answer", (0, joint.entropy_x / np.log(2)), va="bottom", color="#666666")
left.set(
    xlabel="bits told about the region, at most",
    ylabel="bits kept of the answer",
    title="What hiding costs",
    ylim=(0, 1.7),
)
bottom = np.zeros(len(table))
for z, colour in zip(table.columns, ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"), strict=False):
    right.bar(
        table.index,
        table[z],
        bottom=bottom,
        color=colour,
        label=f"{z}: {chosen.cluster_names(2)[int(z[1:])]}",
        width=0.6,
    )
    bottom += table[z].to_numpy()
right.set(ylabel="share released as", title="The mechanism at 0.02 bits")
right.legend(frameon=False, bbox_to_anchor=(1.0, 0.5), loc="center left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("from_a_table.png", dpi=130)

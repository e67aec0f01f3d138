"""
Several secrets, one release
============================

Hide sex *and* death in the heart table, and see what each of them leaks. With an independent selector several secrets
are one secret: I(S';Z) is the weighted mean of the I(S_j;Z), exactly (``Joint.mixed``). The funnel, its exact solver
and its certificates work without change; several tasks become one task of the bottleneck in the same way.

*You will know at the end*: how to weigh secrets against each other, and what the weight changes.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

BIT = np.log(2.0)
heart = ip.datasets.heart()


def about(joint: ip.Joint, place: int, name: str) -> ip.Joint:
    """The joint of X and one word of the labels of Y, "woman alive"."""
    words = [str(label).split()[place] for label in joint.y_labels]
    values = sorted(set(words))
    table = joint.p_xy @ np.array([[float(word == value) for value in values] for word in words])
    return ip.Joint.from_matrix(table, joint.x_labels, values, joint.x_names, name)


sex, outcome = about(heart, 0, "sex"), about(heart, 1, "outcome")

# %%
# One cap on the weighted mean, 0.005 nats, for five weights of the first secret.

weights = (0.25, 1.0, 4.0, 16.0, 64.0)
leaks, kept = {"sex": [], "outcome": []}, []
for weight in weights:
    secrets = ip.Joint.mixed([(weight, sex), (1.0, outcome)])
    found = ip.funnel_at_leakage(secrets, max_iyz=0.005)
    kept.append(found.ixz / BIT)
    for name, nats in found.by_target.items():
        leaks[name].append(1000 * nats / BIT)
    print(
        f"weight of sex {weight:5g}: I(X;Z) {kept[-1]:.4f} bits, leaks "
        + ", ".join(f"{name} {values[-1]:.2f}" for name, values in leaks.items())
        + f" millibits; certified: {found.certified}"
    )

# %%
# The larger the weight of sex, the less of it leaks, and the more of the cap is left to the
# outcome. What is kept of the risk factors hardly changes.

figure = Figure(figsize=(7.4, 4.4), layout="constrained")
ax = figure.subplots()
for (name, values), colour in zip(leaks.items(), ("#D55E00", "#0072B2"), strict=True):
    ax.loglog(weights, values, "o-", color=colour)
    ax.annotate(f" {name}", (weights[-1], values[-1]), color=colour, va="center", fontsize=12)
for weight, bits in zip(weights, kept, strict=True):
    ax.annotate(f"{bits:.2f} bits kept", (weight, 1.7), ha="center", fontsize=8, color="#333333")
ax.set(
    xlabel="weight of sex beside outcome",
    ylabel="leaked  [millibits]",
    title="Two secrets under one cap",
    xlim=(0.15, 200),
    ylim=(1.5, 60),
)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("several_secrets.png", dpi=130)

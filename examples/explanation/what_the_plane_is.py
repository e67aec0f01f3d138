"""
What the information plane is
=============================

*You will know at the end*: what the two axes are, where all encoders lie, what "bottleneck" and "funnel" ask for, and
why one picture serves both.

Somebody sees X and says Z: a group for a patient, a word for a colour, a released value for a record. Z
may tell something about a third variable, Y. An *encoder* is the table p(z|x). Two numbers describe it:

- I(X;Z), how many bits Z tells about X: what the message costs, or what a release is worth;
- I(Y;Z), how many bits Z tells about Y: what the message is good for, or what a release gives away.

Every encoder is a point with these two coordinates, and that is the plane.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip
from infoplane.information import plane_point

# %%
# Eight kinds of weather reports (X) and four kinds of weather (Y), invented. Forty thousand encoders, drawn at random,
# hard and soft, with two to eight messages:

rng = np.random.default_rng(3)
joint = ip.Joint.from_counts(rng.dirichlet(np.full(4, 0.35), size=8) * rng.uniform(1, 4, size=(8, 1)))
points = []
for _ in range(40_000):
    messages = rng.integers(2, 9)
    W = rng.dirichlet(np.full(messages, 10 ** rng.uniform(-2.5, 0.5)), size=8).T
    points.append(plane_point(joint, W))
ixz, iyz = np.array(points).T / np.log(2)

# %%
# The two edges of the cloud are the two problems:
#
# - the **bottleneck** asks for the most about Y for a given number of bits about X: the upper edge. It minimises gamma I(X;Z) - I(Y;Z);
# - the **funnel** asks for the least about Y for a given number of bits about X: the lower edge. It minimises beta I(Y;Z) - I(X;Z).

upper = ip.sweep(joint, ip.bottleneck, np.geomspace(0.02, 0.98, 24), certify=True)
lower = ip.sweep(joint, ip.funnel, np.geomspace(1.02, 60, 14))
above, below = upper.pareto(), lower.pareto()
print(f"upper edge, proven: {upper.enclosure()}")

figure = Figure(figsize=(8.6, 5.6), layout="constrained")
ax = figure.subplots()
ax.plot(ixz, iyz, ",", color="#8a8a8a", alpha=0.35)
ax.plot(above.ixz_bits, above.iyz_bits, color="#0072B2", linewidth=2.4)
ax.plot([0.0, *below.ixz_bits], [0.0, *below.iyz_bits], color="#D55E00", linewidth=2.4)
all_x, all_y = joint.entropy_x / np.log(2), joint.mutual_information / np.log(2)
ax.plot([0, all_y, all_x], [0, all_y, all_y], color="#333333", linewidth=1, linestyle=":")
ax.plot([0, all_x], [0, all_y], "ko", markersize=5)
ax.annotate("say nothing", (0, 0), xytext=(10, -4), textcoords="offset points", va="top")
ax.annotate("say all of X", (all_x, all_y), xytext=(-4, 8), textcoords="offset points", ha="right")
ax.annotate(
    "no encoder is above: I(Y;Z) ≤ I(X;Z), I(X;Y)",
    (all_y, all_y),
    xytext=(0, 5),
    textcoords="offset points",
    color="#555555",
)
ax.annotate(
    "bottleneck: the most about Y",
    (1.0, float(np.interp(1.0, above.ixz_bits, above.iyz_bits))),
    xytext=(12, -22),
    textcoords="offset points",
    color="#0072B2",
    fontsize=12,
)
ax.annotate(
    "funnel: the least about Y",
    (2.0, float(np.interp(2.0, below.ixz_bits, below.iyz_bits))),
    xytext=(-60, -34),
    textcoords="offset points",
    color="#D55E00",
    fontsize=12,
)
ax.set(
    xlabel="I(X;Z): bits about X",
    ylabel="I(Y;Z): bits about Y",
    title="40,000 random encoders (grey) and the two edges",
    ylim=(-0.14, all_y * 1.12),
)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("what_the_plane_is.png", dpi=130)

# %%
# Three things to see:
#
# - random encoders are far from the edges, which only optimisation finds;
# - gamma, or 1/beta, is the slope of the edge at the point that it leads to: how many bits about Y one more bit about X brings;
# - the upper edge is drawn by a sweep that also *proves* it: :ref:`sphx_glr_gallery_explanation_what_a_certificate_proves.py`.

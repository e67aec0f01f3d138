"""
Which problem, which solver, what is proven?
============================================

*You will know at the end*: which of the problems is yours, which call answers it, and what an answer includes.

====================================================  ==========================================================
I want ...                                            call
====================================================  ==========================================================
few groups of X that still tell Y                     ``ip.sweep(joint, ip.bottleneck)``, ``ip.solve``
exactly k hard groups                                 ``ip.partition(joint, clusters=k)``
groups of columns before a model                      ``ip.BottleneckEncoder()`` in a pipeline
to publish X and hide Y, on average                   ``ip.funnel_at_leakage(joint, max_iyz=...)``
to publish X, with a cap on every released value      ``ip.release_mechanism(joint, max_lift=...)``
to keep U, hide S                                     ``ip.task_at_leakage(task_joint, max_isz=...)``
to know how good a given system is                    ``ip.efficiency(joint, systems)``
====================================================  ==========================================================

Leave ``solver`` out: the default, a portfolio, was the best in measurements at every size. Name a solver to study it.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

# %%
# Four questions about one table, heart, and their four pictures.

BIT = np.log(2)
joint = ip.datasets.heart()
soft = ip.sweep(joint, ip.bottleneck, np.geomspace(0.01, 0.3, 14), certify=True).pareto()
hard = ip.partition_curve(joint, clusters=8).to_frame()
caps = [0.005, 0.02, 0.05, 0.1]
funnels = [ip.funnel_at_leakage(joint, max_iyz=cap * BIT) for cap in caps]
systems = ip.efficiency(
    joint, {"every other": np.eye(2)[:, np.arange(16) % 2], "halves": np.eye(2)[:, np.arange(16) // 8]}
)

figure = Figure(figsize=(11, 8), layout="constrained")
(a, b), (c, d) = figure.subplots(2, 2)
a.plot(soft.ixz_bits, soft.iyz_bits, "o-", color="#0072B2")
a.set(xlabel="I(X;Z): bits about X", ylabel="I(Y;Z): bits about Y", title="bottleneck: few groups that still tell Y")
b.step(hard.clusters, hard.iyz_bits, where="mid", color="#009E73")
b.plot(hard.clusters, hard.upper_bound_bits, "v", color="#8a8a8a", label="no map keeps more")
b.set(xlabel="number of groups", ylabel="bits about Y", title="partition: exactly k hard groups")
b.legend(frameon=False)
c.plot(caps, [one.ixz / BIT for one in funnels], "s-", color="#D55E00")
c.set(xlabel="cap on bits about Y", ylabel="bits about X that are released", title="funnel: publish X, hide Y")
d.plot(soft.ixz_bits, soft.iyz_bits, color="#8a8a8a")
for row in systems.itertuples():
    d.plot([row.ixz_bits] * 2, [row.iyz_bits, row.iyz_bits + row.epsilon_bits], "-", color="#CC79A7")
    d.plot(row.ixz_bits, row.iyz_bits, "D", color="#CC79A7")
d.set(xlabel="I(X;Z)", ylabel="I(Y;Z)", title="efficiency: how far are given systems below?")
for ax in (a, b, c, d):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("which_problem.png", dpi=120)

# %%
# What an answer includes
# -----------------------
# Every answer has a status, and the status is a claim that was checked.

for asked in (False, True):
    found = ip.solve(joint, ip.bottleneck(0.1), certify=asked, rng=0)
    print(f"certify={asked}: {found.status.name}, gap {found.gap}: {found.message}")

# %%
# - ``STATIONARY``: no small change lowers the loss. A better encoder may exist.
# - ``CERTIFIED``: a lower bound over *every* encoder is within 1e-6 nats, or what you asked for.
# - anything else ended early, and says why.
#
# What can be proven: the bottleneck up to about ten letters of Y and thousands of X, funnels and caps of some hundred
# letters of X; larger ones end with the bound reached by then. Bounds of the deterministic bottleneck hold, but are in
# general not reached. Nothing is proven about the population behind the table.

"""
Why a sample is not a distribution
==================================

*You will know at the end*: why a table of few records shows information that is not there, why a proof does not help
against it, and which calls do.

Throw a die for X and another for Y. They have nothing to do with each other, but among 60 throws some pairs are more
frequent than others, and a table of the counts shows I(X;Y) > 0. The more letters and the fewer records, the more.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

# %%
# Noise with a certificate
# ------------------------
# 40 categories x that tell nothing about four classes y, and tables of 200, 500 and 2,000 records. The frontier of each
# table, proven; the truth is the line at 0.

rng = np.random.default_rng(5)


def drawn(records: int, conditional: np.ndarray) -> ip.Joint:
    """A table of so many records of 40 categories with such p(y|x)."""
    x = rng.integers(0, 40, records)
    y = (conditional[x].cumsum(axis=1) < rng.random(records)[:, None]).sum(axis=1)
    return ip.Joint.from_samples(x.tolist(), y.tolist())


noise = np.full((40, 4), 0.25)
grid = np.geomspace(0.01, 0.6, 16)
tables = {n: drawn(n, noise) for n in (200, 500, 2000)}
frontiers = {n: ip.sweep(joint, ip.bottleneck, grid, certify=True) for n, joint in tables.items()}

# %%
# What the package says about such tables, by itself and on request:

print(tables[200].caution)
print(tables[200].denoised().denoising)
print(frontiers[200].suggest())

# %%
# Something with a certificate
# ----------------------------
# The same size, but categories of three kinds. In these tables there is something to find. How much of it holds for other
# records?

kinds = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]])[np.arange(40) % 3]
truth = ip.Joint.from_conditional(np.full(40, 1 / 40), kinds, axes="xy")
table = drawn(1000, kinds)
of_table = ip.sweep(table, ip.bottleneck, grid, certify=True)
of_truth = ip.sweep(truth, ip.bottleneck, grid, certify=True)
bands = of_table.bands()

figure = Figure(figsize=(12, 4.6), layout="constrained")
left, right = figure.subplots(1, 2)
for (n, f), colour in zip(frontiers.items(), ("#D55E00", "#E69F00", "#56B4E9"), strict=True):
    frame = f.pareto()
    left.plot(frame.ixz_bits, frame.iyz_bits, color=colour, linewidth=2)
    end = (frame.ixz_bits.iloc[-1], frame.iyz_bits.iloc[-1])
    left.annotate(f"{n:,} records", end, xytext=(0, 4), textcoords="offset points", ha="center", color=colour)
left.axhline(0, color="#333333", linewidth=2.5)
left.annotate("the truth", (5, -0.004), ha="right", va="top")
left.set(xlabel="I(X;Z)  [bits]", ylabel="I(Y;Z)  [bits]", title="Certified frontiers of nothing", ylim=(-0.04, None))
of_table.plot(right, bands=bands, line=True, legend=None, title="1,000 records of something: table, 95% band, truth")
real = of_truth.pareto()
right.plot(
    [*real.ixz_bits, 4.3], [*real.iyz_bits, real.iyz_bits.iloc[-1]], color="#333333", linewidth=2.5, label="the truth"
)
right.annotate("the table", (2.6, 0.55), color="#0072B2")
right.annotate("the truth", (2.6, 0.46), color="#333333")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig("samples.png", dpi=130)

# %%
# A certificate says that no encoder does better *on this table*. What to call for the population:
#
# - ``joint.caution`` and ``joint.denoised()`` before, ``frontier.suggest()`` for the trade-off that held-out records prefer;
# - ``solution.interval()``, ``frontier.bands()`` and ``ip.evaluate(encoder, other_records)`` after;
# - ``ip.leakage_bound`` and ``confidence=0.95`` where a secret is at stake.

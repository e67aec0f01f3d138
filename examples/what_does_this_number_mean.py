"""
What does this number mean?
===========================

*You will know at the end*: the unit and the direction of every number, what it is about, and how to compare it with
that of another package.

=======================  =============  ========================================================================
number                   unit           is less better?
=======================  =============  ========================================================================
``loss``, ``loss_nats``  nats           yes: gamma I(X;Z) - I(Y;Z), or beta I(Y;Z) - I(X;Z); it may be negative
``gap``                  nats           yes: loss - lower bound, how far from optimal at most; None: not proven
``ixz``, ``ixz_bits``    nats, bits     bottleneck: yes, it is the cost. Funnel: no, it is the use
``iyz``, ``iyz_bits``    nats, bits     bottleneck: no, it is the use. Funnel: yes, it is the leak
``epsilon_bits``         bits           yes: what the best encoder with the same I(X;Z) tells more
``max_lift``             nats           yes: the worst case over released values, not the average
=======================  =============  ========================================================================

Python functions use nats; a column or an option in bits says so in its name.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import infoplane as ip

joint = ip.datasets.paper_uniform()

# %%
# Gamma and beta
# --------------
# The bottleneck's beta is 1/gamma, another name for the same trade-off: the same encoder, and the same loss.

a, b = ip.solve(joint, ip.bottleneck(gamma=0.2), rng=0), ip.solve(joint, ip.bottleneck(beta=5), rng=0)
print(f"gamma 0.2: loss {a.loss:.6f} nats; beta 5: loss {b.loss:.6f} nats")
print(f"I(X;Z) {a.ixz:.6f} nats = {a.ixz / np.log(2):.6f} bits; gamma is the slope of the frontier there")

# %%
# Table or population
# -------------------
# ``solve`` and ``certify`` speak of the table. For the population behind its records:

heart = ip.datasets.heart()
found = ip.solve(heart, ip.bottleneck(0.1), certify=True)
print(f"of the table: I(Y;Z) {found.iyz / np.log(2):.3f} bits, {found.status.name}")
print(f"of the population: {found.interval(rng=0)}")

# %%
# Other packages
# --------------
# A trade-off in bits and one in nats are the same number, *if both informations are in the same unit*: beta has none.
# Blahut-Arimoto as some packages write it mixes them: the divergence is computed in bits and put into ``exp``, which
# wants nats. What such a program calls beta is then ours times ln 2. So embo 1.1 and rdot are asked for beta ln 2 where
# we say beta, and dit 2.3 for beta; all three answer in bits. Their calls beside ours, from
# ``benchmarks/other_packages.py``:
#
# .. literalinclude:: /../benchmarks/other_packages.py
#    :pyobject: ours
#
# .. literalinclude:: /../benchmarks/other_packages.py
#    :pyobject: with_embo
#
# .. literalinclude:: /../benchmarks/other_packages.py
#    :pyobject: with_dit
#
# .. literalinclude:: /../benchmarks/other_packages.py
#    :pyobject: with_rdot
#
# and what that script printed, with ``P`` this page's joint:
#
# .. literalinclude:: /../benchmarks/results/other_packages.txt
#    :language: text
#
# Without the conversion the numbers are completely different. Here is a program of that kind, in a few lines:


def mixed(P: np.ndarray, beta: float, steps: int = 4000) -> tuple[float, float]:
    """I(X;Z) and I(Y;Z) in bits, by a program that puts bits into exp."""
    p_x, T = P.sum(axis=1), P / P.sum(axis=1, keepdims=True)
    W = np.eye(len(p_x)) * 0.98 + 0.01
    for _ in range(steps):
        W /= W.sum(axis=0)
        p_z = W @ p_x
        p_yz = (W * p_x) @ T / p_z[:, None]
        bits = (T[None] * np.log2(T[None] / p_yz[:, None])).sum(axis=2)
        W = p_z[:, None] * np.exp(-beta * bits)
    W /= W.sum(axis=0)
    p_z, told = W @ p_x, (W * p_x) @ T
    ixz = (W * p_x * np.log2(np.maximum(W / p_z[:, None], 1e-300))).sum()
    return float(ixz), float((told * np.log2(told / p_z[:, None] / (p_x @ T))).sum())


betas = np.linspace(1.5, 12, 12)
theirs = np.array([mixed(joint.p_xy, beta) for beta in betas])
same = [ip.solve(joint, ip.bottleneck(beta=beta), rng=0) for beta in betas]
turned = [ip.solve(joint, ip.bottleneck(beta=beta / np.log(2)), rng=0) for beta in betas]
ours, converted = ([s.iyz / np.log(2) for s in one] for one in (same, turned))
print(f"unconverted they differ by up to {np.abs(theirs[:, 1] - ours).max():.3f} bits,")
print(f"converted, our beta = theirs / ln 2, by {np.abs(theirs[:, 1] - converted).max():.1e} bits")

# %%

figure = Figure(figsize=(7.6, 4.4), layout="constrained")
ax = figure.subplots()
ax.plot(betas, theirs[:, 1], "o", color="#D55E00", markersize=9, label="bits put into exp")
ax.plot(betas, ours, "-", color="#8a8a8a", label="ours at the same beta")
ax.plot(betas, converted, "-", color="#0072B2", label="ours at beta / ln 2")
ax.set(xlabel="beta, as the other program has it", ylabel="I(Y;Z)  [bits]", title="One curve, two units of beta")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
figure.savefig("units.png", dpi=130)

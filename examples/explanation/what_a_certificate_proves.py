r"""
What a certificate proves
=========================

*You will know at the end*: how a finite computation can say something about *every* encoder, what the number "gap" is, and
what is not proven.

An encoder is a way to write p(x) as a mixture: sum_z p(z) q_z = p_x, where q_z = p(x|z). The bottleneck's loss is, up
to a constant, the mean of one function over the mixture, f(q) = H(Tq) - gamma H(q) with T = p(y|x). So the loss has a
simple geometry: if a plane lambda.q + m lies below f everywhere, then no mixture has a mean below the plane at p_x.
Find a plane that touches f at the clusters of your encoder, show that it is nowhere above f, and the encoder is
optimal. What remains is to show *nowhere above*.

*Added in 0.1.0.*
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import infoplane as ip

# %%
# Seven letters x and two outcomes y, invented, so that everything can be drawn: f(q) - lambda.q depends on q through u
# = p(y=1|z) alone, once the best q of each u is taken.

gamma = 0.12
lean = np.array([0.02, 0.1, 0.25, 0.45, 0.6, 0.85, 0.97])
joint = ip.Joint.from_conditional(np.full(7, 1 / 7), np.column_stack([lean, 1 - lean]), axes="xy")
best = ip.solve(joint, ip.bottleneck(gamma), certify=True)
print(best)
u_z = best.encoder @ (joint.p_x * lean) / best.p_z
k = np.exp((np.outer(np.log(u_z), lean) + np.outer(np.log(1 - u_z), 1 - lean)) / gamma)
multipliers = gamma * (np.log(joint.p_x) - np.log(best.p_z @ k))


def height(u: float) -> float:
    """The least f(q) - lambda.q over all q with p(y=1) = u: a concave maximum over one number."""
    inner = minimize_scalar(
        lambda m: m * u + gamma * logsumexp((multipliers - m * lean) / gamma), bounds=(-60, 60), method="bounded"
    )
    return float(-u * np.log(u) - (1 - u) * np.log(1 - u) - inner.fun)


def bound(low: float, high: float) -> float:
    """At least so high is every point of a cell low <= u <= high: the entropy is replaced by its chord, which lies below it."""
    ends = [-e * np.log(e) - (1 - e) * np.log(1 - e) for e in (low, high)]
    slope = (ends[1] - ends[0]) / (high - low)
    chord = ends[0] + slope * (lean - low)
    worst = minimize_scalar(
        lambda m: max(m * low, m * high) + gamma * logsumexp((multipliers - chord - m * lean) / gamma),
        bounds=(-60, 60),
        method="bounded",
    )
    return float(-worst.fun)


# %%
# Cells
# -----
# The range of u is cut into cells. For each cell a number is computed that is *below everything in the cell*. If it is
# above -tol the cell is closed: no posterior there lies more than tol below the plane. The other cells
# are cut in two.

tol = 2e-3
stages, cells, closed = [], [(0.02, 0.97)], []
for _ in range(8):
    bounds = [(low, high, bound(low, high)) for low, high in cells]
    stages.append((list(closed), bounds))
    closed += [one for one in bounds if one[2] >= -tol]
    cells = [
        part for low, high, b in bounds if b < -tol for part in ((low, (low + high) / 2), ((low + high) / 2, high))
    ]
    if not cells:
        break
stages.append((list(closed), []))
print(f"{len(closed)} cells close the whole range; the lowest bound is {min(one[2] for one in closed):.1e} nats")

u = np.linspace(0.021, 0.969, 240)
curve = np.array([height(one) for one in u])
figure = Figure(figsize=(12, 4.6), layout="constrained")
axes = figure.subplots(1, 4, sharey=True, width_ratios=[1, 1, 1, 1])
for ax, at in zip(axes, (0, 2, 3, len(stages) - 1), strict=True):
    done, still = stages[at]
    for group, colour in ((done, "#009E73"), (still, "#D55E00")):
        for low, high, b in group:
            ax.fill_between([low, high], max(b, -0.17), -0.17, color=colour, alpha=0.25, linewidth=0)
            ax.plot([low, high], [max(b, -0.165)] * 2, color=colour, linewidth=1.6)
    ax.plot(u, curve, color="#333333", linewidth=1.8)
    ax.plot(u_z, [0] * len(u_z), "o", color="#0072B2", zorder=5)
    ax.axhline(0, color="#8a8a8a", linewidth=0.8)
    count = len(done) + len(still)
    ax.set(title=f"{count} cell{'s' * (count > 1)}, {len(done)} closed", xlabel="u = p(y=1|z)", ylim=(-0.17, 0.12))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("f(q) - λ·q  [nats]")
figure.suptitle("Black: f above its plane; blue: the encoder's clusters. Flat lines: what is proven of each cell")
figure.savefig("cells.png", dpi=130)

# %%
# The same in the package
# -----------------------
# The package's cells are boxes of p(y|z), with a better bound than the chord's, and they also shrink without being
# cut. Whenever the search is stopped, what is proven by then holds: ``max_cells`` of the heart table.

heart, problem = ip.datasets.heart(), ip.bottleneck(0.1)
answer = ip.solve(heart, problem)
limits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
proofs = [ip.certify(heart, problem, answer.encoder, tol=1e-8, max_cells=limit) for limit in limits]
figure = Figure(figsize=(7.2, 3.8), layout="constrained")
ax = figure.subplots()
ax.loglog(limits, [max(proof.gap, 1e-9) for proof in proofs], "o-", color="#0072B2")
ax.axhline(1e-6, color="#009E73", linewidth=1)
ax.annotate("CERTIFIED at the default tolerance", (1, 1e-6), va="bottom", color="#00704f")
ax.set(
    xlabel="cells looked at",
    ylabel="gap: loss - lower bound  [nats]",
    title="Heart, γ = 0.1: how far from optimal the encoder may still be",
)
ax.spines[["top", "right"]].set_visible(False)
figure.savefig("gap.png", dpi=130)

# %%
# What is *not* proven: that the encoder is the only one, or anything about the population that the table was drawn
# from. The theorem with its proof is on the page on certificates.

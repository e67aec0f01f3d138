"""The paper's evaluation, figure by figure and claim by claim: ``infoplane reproduce``.

Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic Optimization
Problems. A module a figure: which runs it needs, how it is drawn, what is claimed of it. Everything is run the paper's way and with
exact steps, on the same axes, beside what is proven; a verdict follows from the runs alone.
"""

from __future__ import annotations

from .figure import Figure
from .figures import (
    bottleneck_heart,
    bottleneck_planes,
    bottleneck_rate,
    bottleneck_share,
    funnel_heart,
    funnel_planes,
    funnel_rate,
    funnel_share,
    iterations,
    linear_rates,
    penalty_threshold,
)

FIGURES: dict[str, Figure] = {
    module.FIGURE.name: module.FIGURE
    for module in (
        funnel_planes,
        funnel_heart,
        funnel_share,
        funnel_rate,
        bottleneck_planes,
        bottleneck_share,
        bottleneck_rate,
        iterations,
        bottleneck_heart,
        linear_rates,
        penalty_threshold,
    )
}
"""In the paper's order; the last two are its theorems."""

__all__ = ["FIGURES", "Figure"]

"""One module per figure of the paper: its pieces, its picture, its table, its claims. `FIGURES` is the list of them, by name."""

from __future__ import annotations

from ..verdict import Figure
from . import (
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
    published_shares,
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
        published_shares,
    )
}
"""In the paper's order; then its theorems, and its authors' scripts."""

__all__ = ["FIGURES"]

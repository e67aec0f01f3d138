"""One module per kind of figure: its pieces, pictures, tables and claims. `FIGURES` is the list of them, by name."""

from __future__ import annotations

from ..verdict import Figure
from . import planes, rates, shares, theorems

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        planes.FUNNEL,
        planes.FUNNEL_HEART,
        shares.FUNNEL,
        rates.FUNNEL,
        planes.BOTTLENECK,
        shares.BOTTLENECK,
        rates.BOTTLENECK,
        planes.ITERATIONS,
        planes.BOTTLENECK_HEART,
        theorems.RATES,
        theorems.THRESHOLD,
        shares.SCRIPTS,
    )
}
"""In the paper's order; then its theorems, and its authors' scripts."""

__all__ = ["FIGURES"]

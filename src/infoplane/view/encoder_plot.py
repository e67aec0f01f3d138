"""The trade-off of one encoded column: H(Z) against I(Y;Z) for each number of groups, and the point that was chosen.

The curve is that of the denoised joint. The band is the 95% interval of I(Y;Z) in the population, from training rows whose groups were
found without them (cross-fitting): only `fit_transform` has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..formatting import counted, label_text
from ..information import NATS_PER_BIT, Array, plane_point
from ..sampling.intervals import interval_of, relevance
from ..table.partition import partition_curve
from .plot import COLOURS, GREY, SIZES, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..table.encoded_feature import EncodedFeature


def plot_feature(feature: EncodedFeature, cross_fitted: Array | None = None, ax: Axes | None = None) -> Axes:
    """Draw it; ``cross_fitted`` are the counts of each group and class with groups that the rows themselves had no part in."""
    ax = new_axes(*SIZES["page"]) if ax is None else ax
    joint = feature.joint
    curve = partition_curve(joint, clusters=max(feature.clusters, 2))
    ax.plot(curve.ixz / NATS_PER_BIT, curve.iyz / NATS_PER_BIT, "o-", color=GREY, markersize=3, label="best for each k")
    ax.axhline(
        joint.mutual_information / NATS_PER_BIT, color=GREY, linestyle=":", linewidth=1, label="I(X;Y), denoised"
    )
    ixz, iyz = (value / NATS_PER_BIT for value in plane_point(joint, feature.encoder))
    chosen = counted(feature.clusters, "group")
    ax.plot([ixz], [iyz], "D", color=COLOURS[1], label=chosen)
    if cross_fitted is not None and len(cross_fitted) > 1:
        band = interval_of([relevance(np.eye(len(cross_fitted)), cross_fitted)], 0.95)
        ends = band.low / NATS_PER_BIT, band.high / NATS_PER_BIT
        ax.plot([ixz, ixz], ends, "-", color=COLOURS[1], linewidth=3, alpha=0.4, label="95%, cross-fitted rows")
    ax.set(xlabel="H(Z), bits", ylabel="I(Y;Z), bits", title=label_text(feature.name, 60))
    ax.legend(frameon=False)
    tidy(ax)
    return ax

"""What a worst case costs: the best release for every pair of an average cap r and a lift cap eps, beside the one without eps.

    cost(r, eps) = max I(X;Z) under r  -  max I(X;Z) under r and eps >= 0

The optimum is concave in r for a given eps, and only monotone in eps: nothing is interpolated between two values of eps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..checks import listed
from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import bits
from ..joint.joint import Joint, check_joint
from .release import Release, release_mechanism

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class ReleaseFrontier:
    """Releases over caps on the average and on the lift; nats, and bits in its frame.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.release_frontier(ip.datasets.paper_uniform(), [0.1], [0.3])
    >>> len(found.to_frame())
    2
    """

    joint: Joint
    """What is released, x, and what is hidden, y."""
    releases: tuple[Release, ...] = field(repr=False)
    """By average cap, each first without a lift cap, if there is an average one, then from the loosest lift cap to the tightest."""

    def without_lift_cap(self, max_leakage: float | None) -> float:
        """The I(X;Z) that costs are against: that of the average cap alone, or H(X) if there is none."""
        if max_leakage is None:
            return self.joint.entropy_x
        return next(one.ixz for one in self.releases if one.max_leakage == max_leakage and one.max_lift is None)

    def to_frame(self) -> pd.DataFrame:
        """A row for each release: its caps, utility I(X;Z), gap, worst and least lift, what the lift cap costs, and its smallest group."""
        import pandas as pd

        def row(one: Release) -> dict[str, object]:
            return {
                "max_leakage_bits": np.nan if one.max_leakage is None else bits(one.max_leakage),
                "max_lift_bits": np.nan if one.max_lift is None else bits(one.max_lift),
                "ixz_bits": bits(one.ixz),
                "gap_bits": bits(one.gap),
                "certified": one.certified,
                "iyz_bits": bits(one.iyz),
                "worst_lift_bits": bits(one.worst_lift.nats),
                "least_lift_bits": bits(one.least_lift.nats),
                "cost_bits": bits(self.without_lift_cap(one.max_leakage) - one.ixz),
                "clusters": one.clusters,
                "smallest_group": np.nan if one.smallest_group is None else one.smallest_group,
            }

        return pd.DataFrame([row(one) for one in self.releases])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Utility against the cap on the lift, a line for each average cap; dashed is what it reaches without. Needs the extra [plot]."""
        from ..view.pictures import plot_releases

        return plot_releases(self, ax)

    def __str__(self) -> str:
        capped = [one for one in self.releases if one.max_lift is not None]
        done = sum(one.certified for one in self.releases)
        cheapest = min(capped, key=lambda one: self.without_lift_cap(one.max_leakage) - one.ixz)
        cost = bits(self.without_lift_cap(cheapest.max_leakage) - cheapest.ixz)
        return (
            f"{counted(len(self.releases), 'release')}, {done} certified; the cheapest worst case, "
            f"{bits(cheapest.max_lift or 0.0):.4g} bits, costs {cost:.4f} bits"
        )


def release_frontier(
    joint: Joint,
    max_leakages: Iterable[float | None],
    max_lifts: Iterable[float],
    *,
    two_sided: bool = True,
    rng: int | None = None,
    tol: float = 1e-6,
    max_seconds: float = 60.0,
) -> ReleaseFrontier:
    """`release_mechanism` for every pair of caps, and for each average cap alone: what would a worst case of so many bits cost?

    Parameters
    ----------
    joint
        p(x, s): X is released, the joint's Y is the secret S.
    max_leakages
        Caps in **nats** on the average I(S;Z); None is none.
    max_lifts
        Caps in **nats** on the lift of every released value.
    two_sided, rng, tol
        As in `release_mechanism`.
    max_seconds
        For each release. What is not certified by then has its gap.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.release_frontier(ip.datasets.paper_uniform(), [0.01], [0.05], rng=0)
    >>> found.to_frame().cost_bits.round(3).tolist()[0], bool(found.to_frame().cost_bits[1] >= 0)
    (0.0, True)
    """
    check_joint(joint)
    averages = dict.fromkeys(listed("max_leakages", max_leakages, "caps in nats, or None"))
    lifts = sorted(dict.fromkeys(listed("max_lifts", max_lifts, "caps in nats")), reverse=True)
    if not averages or not lifts:
        raise InvalidOptionError("a frontier of releases needs a cap of each kind, one at least; found none.")
    found = []
    for average in averages:
        for lift in [*([] if average is None else [None]), *lifts]:
            found.append(release_mechanism(joint, average, lift, two_sided, rng=rng, tol=tol, max_seconds=max_seconds))
    return ReleaseFrontier(joint, tuple(found))

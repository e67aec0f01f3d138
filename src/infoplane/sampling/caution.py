"""What chance shows at a point of the plane, at this number of records; and the sentence that says so where it matters.

Of a **bottleneck** I(Y;Z) is what was searched for: in a table whose y had been dealt out anew the same search would find, on average, at
most E I(X;Y) of `information`, as I(Y;Z) <= I(X;Y). Of a **funnel** it is what was hidden: the population is the table plus noise that
the encoder was not made to hide, and leaks about I(Y;Z) + E0, E0 = df / 2n of this encoder (`fixed_encoder`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..formatting import counted
from ..information import Array, bits
from ..joint.joint import MOSTLY_SAMPLING
from .fixed_encoder import sampled_information

if TYPE_CHECKING:
    from ..joint.joint import Joint


def chance_of(joint: Joint, hidden_by: Array | None) -> float | None:
    """Nats of I(Y;Z) that chance shows at this point; None unless the joint is a table of records as they are.

    ``hidden_by`` is the encoder W[z, x] if it is a funnel's; of a bottleneck none is needed, and a stored one is not read for it.

    Examples
    --------
    >>> import numpy as np
    >>> from infoplane import datasets
    >>> heart = datasets.heart()
    >>> round(chance_of(heart, None), 3), round(chance_of(heart, np.full((2, 16), 0.5)), 3)
    (0.083, 0.0)
    """
    if joint.counts is None or joint.denoising is not None:
        return None
    return joint.expected_information if hidden_by is None else sampled_information(hidden_by, joint.counts).expected


def caution_of(joint: Joint, iyz: float, hidden_by: Array | None) -> str | None:
    """A sentence, if half of I(Y;Z) or more is what chance shows (bottleneck), or is added to it in the population (funnel); else None."""
    chance = chance_of(joint, hidden_by)
    # Nats of which nothing is to be said: a bottleneck that keeps nothing claims nothing, and a constant release leaks nothing.
    if chance is None or chance < MOSTLY_SAMPLING * iyz or max(iyz, 0.0 if hidden_by is None else chance) < 1e-9:
        return None
    n = counted(joint.records or 0, "record")
    if hidden_by is not None:
        return (
            f"I(Y;Z) is {bits(iyz):.3g} bits in this table and about {bits(iyz + chance):.3g} in the population: {n} do not show how "
            "little a release leaks (leakage_bound, funnel_at_leakage with confidence)"
        )
    return (
        f"I(Y;Z) is {bits(iyz):.3g} bits, of which up to {bits(chance):.3g} are what a search finds by chance in {n}: denoise, group "
        "letters, or take more records"
    )

"""The three-block ADMM of Bayat and Wei (2019), "Information bottleneck problem revisited".

It separates the Lagrangian into its three entropies, each with a variable of its own: W for H(Z|X), p(z) for H(Z), p(z|y) for H(Z|Y), tied
by p(z) = W p_x and p(z|y) = W K. One sweep minimises the augmented Lagrangian over W, then over p(z), then over p(z|y), and then moves both
dual variables. The two marginals meet in no constraint and no term, so minimising over one after the other is minimising over both at
once: a sweep is **exactly an iteration of ib-2 at relaxation 1**, and so it is run here (a test compares it with the three steps written
out). What Bayat and Wei report as empirical convergence is thereby proven, above the threshold of docs/explanation/theory.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ...checks import PYTHON_ONLY
from ...errors import InvalidOptionError
from .solver import DouglasRachford


@dataclass(frozen=True)
class ThreeBlockADMM(DouglasRachford):
    """The three-block ADMM for the bottleneck (Bayat, Wei 2019): ib-2 at relaxation 1, without leaps.

    The options are those of `DouglasRachford`. Bayat and Wei have one number as their penalty; ``"auto"`` gives every row its own.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.ThreeBlockADMM(), starts=4, rng=0)
    >>> s.converged, round(s.loss, 6)
    (True, -0.24076)
    """

    formulation: Literal["auto", "ib-1", "ib-2", "ib-1v", "pf-1", "pf-2", "pf-2v"] = field(
        default="ib-2", metadata=PYTHON_ONLY
    )
    relaxation: float = 1.0
    acceleration: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.formulation != "ib-2":
            raise InvalidOptionError(
                f"the three-block ADMM is a run of ib-2; found formulation = {self.formulation!r}."
            )

    @property
    def name(self) -> str:
        """The registered name."""
        return "admm-ib-3"

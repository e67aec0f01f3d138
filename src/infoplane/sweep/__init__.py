"""A grid of parameters, solved on all cores or on a cluster, that can be killed and resumed."""

from .progress import SweepProgress
from .sweep import sweep

__all__ = ["SweepProgress", "sweep"]

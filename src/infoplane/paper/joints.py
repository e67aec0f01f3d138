"""The joints of the evaluation by name: the built-in ones, and the heart data smoothed in the other way that the paper leaves open."""

from __future__ import annotations

from .. import datasets
from ..joint.joint import Joint

SMOOTHED = "heart_smoothed"
"""The heart data with 1e-3 added to the relative frequencies instead of the counts."""


def load(name: str) -> Joint:
    """The joint of that name."""
    return datasets.heart(smooth_probabilities=True) if name == SMOOTHED else datasets.load(name)


def call(name: str) -> str:
    """The Python that makes it."""
    return "ip.datasets.heart(smooth_probabilities=True)" if name == SMOOTHED else f"ip.datasets.{name}()"

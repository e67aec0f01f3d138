"""The joint distribution p(x, y), from matrices, counts, samples and frames.

Input is copied and checked here, once; the rest of the package relies on it. Every error is an `InvalidJointError` that says what was
expected, what was found and where, and what to do.
"""

from .joint import Joint

__all__ = ["Joint"]

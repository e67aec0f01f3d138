"""p(x, y): what people bring is checked here, once, and copied; behind this door nothing is checked again.

Every refusal is an `InvalidJointError` that says what was expected, what was found and where, and what to do.
"""

from .joint import Joint

__all__ = ["Joint"]

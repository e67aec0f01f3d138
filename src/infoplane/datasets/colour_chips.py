"""The 330 Munsell chips of the World Color Survey's stimulus chart, with their CIELAB coordinates.

Rows A to J run from white to black, columns 1 to 40 through the hues; column 0 is grey, and all that rows A and J have. Figures of the
survey's published chart: R. S. Cook, P. Kay, T. Regier, *The World Color Survey database: history and use* (2005).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from ..information import Array


class Chip(NamedTuple):
    """One chip: its position in the chart, and its lightness L and opponent coordinates a, b."""

    row: str
    column: int
    L: float
    a: float
    b: float

    @property
    def label(self) -> str:
        """Row and column: ``"C12"``."""
        return f"{self.row}{self.column}"


@cache
def chips() -> tuple[Chip, ...]:
    """All chips, row by row."""
    table = files(__package__).joinpath("colour_chips.csv").read_text(encoding="utf-8")
    cells = (line.split(",") for line in table.splitlines()[1:])
    return tuple(Chip(label[0], int(label[1:]), *map(float, lab)) for label, *lab in cells)


def cielab() -> Array:
    """(330, 3): L, a and b of every chip."""
    return np.array([(chip.L, chip.a, chip.b) for chip in chips()])


def srgb(lab: Array) -> Array:
    """The colours of a screen for CIELAB coordinates (n, 3): red, green, blue in [0, 1].

    CIE 1976, relative to the white of the screen; IEC 61966-2-1. Colours that a screen does not have are cut off.
    """
    L, a, b = lab.T
    fy = (L + 16.0) / 116.0
    f = np.stack([fy + a / 500.0, fy, fy - b / 200.0])
    relative = np.where(f > 6.0 / 29.0, f**3, 3.0 * (6.0 / 29.0) ** 2 * (f - 4.0 / 29.0))
    linear = np.clip(_TO_SRGB @ (_SCREEN_WHITE[:, None] * relative), 0.0, 1.0)
    shown: Array = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
    return shown.T


_SCREEN_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_SRGB = np.array(
    [[3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560], [0.0556434, -0.2040259, 1.0572252]]
)

"""Named joints with known answers.

>>> from infoplane import datasets
>>> datasets.names()
('paper_uniform', 'paper_nonuniform', 'heart', 'colours')
>>> datasets.load("heart")
Joint(16 x 4, 0 zero cells, H(X) = 3.76734, H(Y) = 1.84071, I(X;Y) = 0.292701 bits, 299 records)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..checks import positive_number
from ..errors import InvalidOptionError
from ..formatting import did_you_mean
from ..joint.joint import Joint
from .colour_chips import chips, cielab

_PAPER_Y_GIVEN_X = np.array(
    [
        [0.900, 0.080, 0.400],
        [0.025, 0.820, 0.050],
        [0.075, 0.100, 0.550],
    ]
)

_HEART_FACTORS = ("anaemia", "high_blood_pressure", "diabetes", "smoking")
_HEART_OUTCOMES = ("woman alive", "woman died", "man alive", "man died")
# Row x = 8 anaemia + 4 high_blood_pressure + 2 diabetes + smoking; columns as in _HEART_OUTCOMES.
_HEART_COUNTS = (
    (10, 5, 12, 8),
    (0, 0, 26, 6),
    (14, 3, 13, 4),
    (0, 0, 8, 4),
    (8, 2, 8, 4),
    (1, 0, 5, 3),
    (6, 3, 5, 3),
    (0, 1, 4, 4),
    (11, 2, 7, 10),
    (0, 0, 12, 3),
    (9, 6, 11, 3),
    (0, 1, 4, 2),
    (6, 4, 8, 3),
    (0, 1, 4, 5),
    (6, 6, 3, 0),
    (0, 0, 2, 0),
)


def paper_uniform() -> Joint:
    """p(x, y) = p(y|x) / 3 for the 3 x 3 channel of the paper's experiments.

    Origin: Huang, El Gamal, El Gamal, *A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian
    Information-Theoretic Optimization Problems*, evaluation section; p(y|x) has columns (.9, .025, .075),
    (.08, .82, .1) and (.4, .05, .55).
    """
    return Joint.from_matrix((_PAPER_Y_GIVEN_X * (1.0 / 3.0)).T)


def paper_nonuniform() -> Joint:
    """p(x, y) = p(y|x) p(x) with p(x) = (.1, .3, .6), for the channel of `paper_uniform`."""
    return Joint.from_matrix((_PAPER_Y_GIVEN_X * np.array([0.1, 0.3, 0.6])).T)


def heart(*, smooth_probabilities: bool = False) -> Joint:
    """Risk factors X against sex and death Y of 299 heart failure patients; 10^-3 added to each of the 16 x 4 counts.

    With ``smooth_probabilities`` 10^-3 is added to each of the 16 x 4 relative frequencies instead; I(X;Y) is 0.230 bits then.

    X is which of anaemia, high blood pressure, diabetes and smoking a patient has, row 8 anaemia +
    4 high_blood_pressure + 2 diabetes + smoking; labels are such as ``"anaemia+diabetes"``, and ``"none"``. Y is
    ``"woman alive"``, ``"woman died"``, ``"man alive"`` or ``"man died"`` within the follow-up.
    H(X) = 3.767341, H(Y) = 1.840707, I(X;Y) = 0.292701 bits.

    Origin: D. Chicco, G. Jurman, *Machine learning can predict survival of patients with heart failure from serum
    creatinine and ejection fraction alone*, BMC Medical Informatics and Decision Making 20:16 (2020). UCI Machine
    Learning Repository, data set 519, CC BY 4.0; tabulated here.
    """
    factors = [
        "+".join(name for bit, name in zip((8, 4, 2, 1), _HEART_FACTORS, strict=True) if x & bit) or "none"
        for x in range(16)
    ]
    smoothing = 1e-3 * sum(map(sum, _HEART_COUNTS)) if smooth_probabilities else 1e-3
    return Joint.from_counts(
        _HEART_COUNTS, smoothing, factors, _HEART_OUTCOMES, x_names=["risk_factors"], y_names=["outcome"]
    )


def colours(prior: ArrayLike | Mapping[Any, float] | Literal["uniform"] = "uniform", sigma2: float = 64.0) -> Joint:
    """Colours X and what is meant by them Y: p(y|x) proportional to exp(-|lab_x - lab_y|^2 / (2 sigma2)), 330 Munsell chips each.

    The problem of colour naming: a speaker who thinks of chip x is understood to mean y, which is near in CIELAB. Labels are positions in
    the chart, ``"A0"`` to ``"J0"``. H(Y) = 8.36026, I(X;Y) = 4.82914 bits with a uniform prior.

    Parameters
    ----------
    prior
        p(x): a Series or a mapping, matched by the labels; an array in their order; or ``"uniform"``. In the field it is
        `infoplane.capacity_prior` of the naming systems.
    sigma2
        Variance of the Gaussian, in squared units of CIELAB.

    Origin: N. Zaslavsky, C. Kemp, T. Regier, N. Tishby, *Efficient compression in color naming and its evolution*, PNAS 115 (2018), with
    the chips of the World Color Survey (`infoplane.datasets.colour_chips`).

    Examples
    --------
    >>> colours().x_labels[:3]
    ('A0', 'B0', 'B1')
    """
    lab = cielab()
    distance = ((lab[:, None] - lab[None]) ** 2).sum(axis=2)
    T = np.exp(-distance / (2.0 * positive_number("sigma2", sigma2)))
    labels = [chip.label for chip in chips()]
    return Joint.from_conditional(
        prior, T / T.sum(axis=1, keepdims=True), x_labels=labels, y_labels=labels, x_names="chip", y_names="meaning"
    )


@dataclass(frozen=True)
class DataSet:
    """A built-in joint: its name, one line on what it is, where it is from, and how to get it."""

    name: str
    title: str
    source: str
    load: Callable[[], Joint]


_PAPER = "Huang, El Gamal, El Gamal: Douglas-Rachford splitting for Markovian problems"
_DATA = (
    (paper_uniform, "The paper's 3 x 3 channel with uniform p(x)", _PAPER),
    (paper_nonuniform, "The paper's 3 x 3 channel with p(x) = (0.1, 0.3, 0.6)", _PAPER),
    (
        heart,
        "Risk factors (16) against sex and death (4) of 299 heart failure patients",
        "Chicco and Jurman 2020, UCI 519, CC BY 4.0",
    ),
    (
        colours,
        "Munsell chips (330) against the colours that are meant (330), Gaussian in CIELAB",
        "Zaslavsky, Kemp, Regier, Tishby 2018; chips of the World Color Survey",
    ),
)

REGISTRY: Mapping[str, DataSet] = MappingProxyType(
    {make.__name__: DataSet(make.__name__, title, source, make) for make, title, source in _DATA}
)


def names() -> tuple[str, ...]:
    """The names that `load` takes."""
    return tuple(REGISTRY)


def load(name: str) -> Joint:
    """The built-in joint of that name."""
    if name not in REGISTRY:
        raise InvalidOptionError(
            f"expected the name of a built-in joint, one of {', '.join(REGISTRY)}; found {name!r}{did_you_mean(name, names())}."
        )
    return REGISTRY[name].load()

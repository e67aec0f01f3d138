"""The smallest scale at which every figure of the paper can be run, and made-up runs of figures whose answers are known."""

from dataclasses import replace

import numpy as np

import infoplane as ip
import infoplane_paper
from infoplane_paper import FIGURES
from infoplane_paper.points import Points
from infoplane_paper.settings import Scale
from infoplane_paper.verdict import Runs

TINY = Scale(
    "tiny",
    points=2,
    heart=2,
    trials=1,
    many=4,
    few=4,
    limit=10,
    gradient_limit=10,
    heart_limit=10,
    penalties=2,
    sensitivity=False,
)

THREE = replace(TINY, penalties=3)
"""The smallest at which a smallest penalty can lie between others."""


def made_points(ixz=(0.5,), iyz=(0.1,), **columns):
    """`Points` at given places; what is not given is 0, or what most tests need."""
    n = len(ixz)
    filled = {
        "parameter": 0.2,
        "start": np.arange(n),
        "ixz": ixz,
        "iyz": iyz,
        "loss": 0.0,
        "converged": 1.0,
        "stationary": 0.0,
        "stationarity": 1.0,
        "iterations": 1.0,
        "lower_bound": 0.0,
        **columns,
    }
    return Points(**{name: np.broadcast_to(np.asarray(one, dtype=float), n) for name, one in filled.items()})


def made_runs(name, arrays, scale=THREE):
    """The pieces of a figure with given numbers; `Points` stand for their columns, and pieces not given hold one run each."""
    pieces = {piece.name: piece for piece in FIGURES[name].pieces(scale)}
    assert set(arrays) <= set(pieces)
    found = {piece: arrays.get(piece, made_points()) for piece in pieces}
    return Runs(pieces, {piece: one.columns() if isinstance(one, Points) else one for piece, one in found.items()})


def claim(figure, key):
    """A claim of a figure."""
    return next(one for one in FIGURES[figure].claims if one.key == key)


def made_shares(curve, at):
    """Ten runs at each penalty of a curve of convergence shares, of which the share ``at(c)`` has converged."""
    return {
        curve.name(c): made_points([0.5] * 10, [0.1] * 10, converged=np.arange(10) < 10 * at(c))
        for c in THREE.some(curve.penalties)
    }


def made_descent(loss, end):
    """The numbers of a `Descent` with one method, from its losses."""
    return {
        "loss": loss,
        "chosen": np.array([0]),
        "iterations": np.array([len(loss)]),
        "converged": np.ones(1),
        "end": np.array([end]),
        "lowest": np.array([end]),
    }


def repeated(code):
    """The names that a snippet of the report defines, and the value of its last line, which must be the one said behind it."""
    *lines, last = code.splitlines()
    names = {"ip": ip, "np": np, "infoplane_paper": infoplane_paper}
    exec("\n".join(lines), names)
    expression, _, said = last.partition("  # ")
    value = eval(expression, names)
    assert value == float(said), last
    return names, value

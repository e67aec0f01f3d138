"""Hypothesis strategies: joints and encoders, with the zeros and near-determinism that break careless formulas."""

import numpy as np
from hypothesis import strategies as st

from infoplane.joint.joint import Joint

_MASS = st.floats(0.01, 1.0, allow_nan=False)
_TINY = st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3])


@st.composite
def joints(draw, max_x=6, max_y=5, zeros=True):
    """A Joint: generic or nearly deterministic; with `zeros` also with empty cells, rows and columns."""
    n_x, n_y = draw(st.integers(1, max_x)), draw(st.integers(1, max_y))
    if draw(st.booleans()):
        cell = st.one_of(_MASS, st.just(0.0)) if zeros else _MASS
        table = np.array(draw(st.lists(cell, min_size=n_x * n_y, max_size=n_x * n_y))).reshape(n_x, n_y)
    else:
        noise = draw(st.one_of(_TINY, st.just(0.0)) if zeros else _TINY)
        table = np.full((n_x, n_y), noise)
        for x in range(n_x):
            table[x, draw(st.integers(0, n_y - 1))] = draw(_MASS)
    if zeros and n_x > 1 and draw(st.integers(0, 3)) == 0:
        table[draw(st.integers(0, n_x - 1)), :] = 0.0
    if zeros and n_y > 1 and draw(st.integers(0, 3)) == 0:
        table[:, draw(st.integers(0, n_y - 1))] = 0.0
    if not table.any():
        table[draw(st.integers(0, n_x - 1)), draw(st.integers(0, n_y - 1))] = 1.0
    return Joint.from_counts(table)


@st.composite
def encoders(draw, n_x, max_z=6):
    """W[z, x] = p(z|x): soft, hard or in between, so with exact zeros and, at times, empty clusters."""
    n_z = draw(st.integers(1, max_z))
    kind = draw(st.sampled_from(["soft", "hard", "mixed"]))
    if kind == "hard":
        return np.eye(n_z)[:, [draw(st.integers(0, n_z - 1)) for _ in range(n_x)]]
    cell = _MASS if kind == "soft" else st.one_of(_MASS, _TINY, st.just(0.0))
    W = np.array(draw(st.lists(cell, min_size=n_z * n_x, max_size=n_z * n_x))).reshape(n_z, n_x)
    W[0, W.sum(axis=0) == 0.0] = 1.0
    return W / W.sum(axis=0)


@st.composite
def positive_encoders(draw, n_x, max_z=6):
    """W[z, x] = p(z|x), every entry at least 1 / (10 |Z|): where the Lagrangian is smooth."""
    n_z = draw(st.integers(1, max_z))
    cells = draw(st.lists(st.floats(0.1, 1.0), min_size=n_z * n_x, max_size=n_z * n_x))
    W = np.array(cells).reshape(n_z, n_x)
    return W / W.sum(axis=0)


@st.composite
def chains(draw, encoder=encoders, **options):
    """A joint and an encoder for it: Y -> X -> Z; options are those of `joints`."""
    joint = draw(joints(**options))
    return joint, draw(encoder(joint.shape[0]))

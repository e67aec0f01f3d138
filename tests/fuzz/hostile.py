"""Tables that break careless formulas, from a random generator: every kind of joint that an attack on the package has used."""

import numpy as np

TINY = (1e-3, 1e-6, 1e-9, 1e-12, 1e-30, 1e-100, 1e-300, 5e-324)


def counts(rng, shape):
    return rng.integers(0, 6, shape).astype(float)


def smooth(rng, shape):
    return rng.dirichlet(np.full(shape[1], 1.0), size=shape[0]) * rng.random((shape[0], 1))


def peaked(rng, shape):
    return rng.dirichlet(np.full(shape[1], 0.2), size=shape[0]) * rng.random((shape[0], 1))


def faint_letters(rng, shape):
    """Rows or columns with all but no mass."""
    table = rng.random(shape)
    table[rng.integers(0, shape[0])] *= rng.choice(TINY)
    table[:, rng.integers(0, shape[1])] *= rng.choice((1.0, *TINY))
    return table


def faint_cells(rng, shape):
    return np.where(rng.random(shape) < 0.4, rng.choice(TINY, shape), rng.random(shape))


def nearly_deterministic(rng, shape):
    table = np.full(shape, rng.choice((0.0, *TINY)))
    table[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = rng.random(shape[0]) + 0.1
    return table


def duplicates(rng, shape):
    """Letters that say the same of y, some up to rounding only."""
    rows = rng.random((max(shape[0] // 2, 1), shape[1]))
    table = rows[rng.integers(0, len(rows), shape[0])] * rng.random((shape[0], 1))
    return table * (1.0 + rng.choice([0.0, 1e-15, 1e-12]) * rng.random(shape))


def independent(rng, shape):
    return np.outer(rng.random(shape[0]), rng.random(shape[1])) * (1.0 + rng.choice([0.0, 1e-9]) * rng.random(shape))


def huge(rng, shape):
    return rng.random(shape) * 10.0 ** rng.integers(0, 300)


def symmetric(rng, shape):
    size = min(shape)
    noise = rng.random() * 0.5
    return np.full((size, size), noise / size) + (1.0 - noise) * np.eye(size)


KINDS = (
    *(counts, counts, smooth, peaked, faint_letters, faint_cells),
    *(nearly_deterministic, duplicates, independent, huge, symmetric),
)


def table(rng, largest=(6, 5)):
    """A table of non-negative numbers, not all 0; with empty rows and columns now and then."""
    shape = int(rng.integers(1, largest[0] + 1)), int(rng.integers(1, largest[1] + 1))
    with np.errstate(under="ignore"):
        made = KINDS[rng.integers(len(KINDS))](rng, shape)
    if rng.random() < 0.15:
        made[rng.integers(len(made))] = 0.0
    if rng.random() < 0.15:
        made[:, rng.integers(made.shape[1])] = 0.0
    if not made.any():
        made[0, 0] = 1.0
    return made

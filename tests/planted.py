"""Samples of populations that are known."""

import numpy as np

CENTRES = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])


def three_kinds(rng, letters, records):
    """Counts of letters whose p(y|x) is one of `CENTRES`, so many records each; and p(y|x)."""
    truth = CENTRES[rng.choice(3, size=letters, p=[0.5, 0.3, 0.2])]
    return np.array([rng.multinomial(records, p) for p in truth]), truth

import itertools
from decimal import Decimal, localcontext

import numpy as np
import pytest

from infoplane.kernels import merging as kernel


def test_falls_keep_their_digits_where_information_nearly_vanishes():
    P = np.array(
        [
            [0.25, 0.25],
            [0.25 + 2.0**-40, 0.25 - 2.0**-40],
            [1e-30, 3e-30],
            [1e-50, 0.0],
            [1e-3, 2e-3],
            [1e-25, 0.5],
            [1e-25, 1e-9],
        ]
    )
    c = kernel.singletons(P, remember=False)
    for i, j in itertools.combinations(range(len(P)), 2):
        with localcontext(prec=120):
            p, q = ([Decimal(v) for v in P[x].tolist()] for x in (i, j))
            both = [u + v for u, v in zip(p, q, strict=True)]
            terms = [(r, sum(row), sign) for row, sign in ((p, 1), (q, 1), (both, -1)) for r in row if r > 0]
            fall = float(sum(sign * r * (r / total).ln() for r, total, sign in terms))
        assert kernel.falls(c.p_zy, c.p_z, i, j)[0] == pytest.approx(fall, rel=1e-8, abs=0)
        assert kernel.cost(c, 1.0, 0.0, i, j) == pytest.approx(fall, rel=1e-8, abs=0)

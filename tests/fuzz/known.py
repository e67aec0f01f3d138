"""Calls that once broke a promise: the first to be made again."""

import numpy as np

from .calls import Call

CALLS = (
    # NaN encoders from splitting solvers, where a letter has all but no mass.
    *(
        Call([[1e-12], [1.0], [2.0]], "ip.funnel(2.0)", {"solver": name, "init": np.eye(3)})
        for name in ("pf-2", "pf-2v", "drs")
    ),
    *(
        Call([[1e-30, 1e-30], [1.0, 0.5], [0.2, 2.0]], "ip.bottleneck(0.2)", {"solver": name, "rng": 0, "starts": 4})
        for name in ("ib-1", "admm-ib", "ib-2")
    ),
    Call([[1e-300, 2e-300], [1.0, 0.5], [0.2, 2.0]], "ip.bottleneck(0.1)", {"solver": "accelerated", "rng": 0}),
    # HiGHS gave up on ordinary tables at a large beta.
    Call([[3, 0], [0, 2], [2, 1], [2, 3], [0, 0]], "ip.funnel(311941.09)", {"certify": True}),
    Call([[3, 0], [0, 2], [2, 1], [2, 3]], "ip.funnel(1e6)", {"rng": 0}),
    # A wider gap than was asked for.
    Call([[3, 1, 0], [0, 2, 1], [1, 0, 4]], "ip.funnel(2.5)", {"solver": "columns", "certify": 1e-12}),
    # Overflow, and the logarithm of 0, in passing.
    Call([[1.0, 0.0], [0.5, 0.0], [5e-324, 0.0]], "ip.funnel(0.3)", {"solver": "pf-2v", "certify": 1e-3, "rng": 57}),
    Call([[0.5], [5e-324], [0.15], [1.0], [1e-300]], "ip.funnel(3.3)", {"solver": "portfolio", "rng": 33}),
    Call([[0.64, 5e-324], [0.22, 0.0], [4.3e-07, 0.0]], "ip.funnel(12.6)", {"rng": 23, "starts": 3, "max_iter": 30}),
    Call(
        [[0.95, 5e-324, 0.0], [0.32, 5e-324, 0.0], [5e-324, 5e-324, 0.0], [5e-324, 0.28, 0.0], [5e-324, 5e-324, 0.0]],
        "ip.funnel(29.8)",
        {"solver": "pf-1", "certify": True, "rng": 41, "starts": 1, "max_seconds": 2.0},
    ),
    Call(
        [[5e-324, 5e-324, 5e-324], [5e-324, 5e-324, 0.52], [5e-324, 5e-324, 0.78], [5e-324, 5e-324, 0.12]],
        "ip.funnel(7.0)",
        {"solver": "drs", "certify": True, "rng": 62, "starts": 1, "max_iter": 1, "max_seconds": 2.0},
    ),
    Call(
        [[0.49, 5e-324], [0.24, 5e-324], [5e-324, 0.75], [5e-324, 5e-324]],
        "ip.bottleneck(0.003971408194558617)",
        {"certify": True, "rng": 90, "starts": 2, "max_seconds": 2.0},
    ),
    # Without a seed, and documented to use no random start.
    Call([[3, 1, 0], [0, 2, 1], [1, 0, 4]], "ip.funnel(2.5)", {"certify": True}),
)

"""Leaps along a slow tail: Aitken's extrapolation of all of W, kept only if it does not raise the loss.

Near a limit the iterates of a splitting move along one slow mode, W_k - W* ~ r^k. Two successive displacements over a stride of
iterations, D0 and D1, give the mode's factor r = <D1, D0> / <D0, D0> over that stride, and D1 r / (1 - r) is the displacement that is
left. Where the mode grows, r >= 1, the run is leaving a saddle, and a short leap in the same direction leaves it sooner. nu is
extrapolated with W, and v = W M. The safeguard is the objective, not a residual: residuals are small at saddles too. (`advance` asks as
well that the augmented Lagrangian does not rise, and makes nu the gradient of the block that it follows.)
"""

import math

import numpy as np

from ...information import Array
from ...runtime.compiling import inlined
from .measure import lagrangian
from .tables import Split, Weights

STRIDE = 50  # iterations between two displacements


@inlined
def leap(
    split: Split, rho: Weights, W: Array, W_1: Array, W_0: Array, nu: Array, nu_1: Array
) -> tuple[bool, Array, Array]:
    """Extrapolate the slow mode from W, and W_1 and W_0 one and two strides earlier.

    Returns whether the leap is to be made, and W and nu: the new ones, or those given if it is not.
    """
    dot, square_0, square_1, largest = 0.0, 0.0, 0.0, 0.0
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            d_1, d_0 = W[z, i] - W_1[z, i], W_1[z, i] - W_0[z, i]
            dot += split.p_x[i] * d_1 * d_0
            square_0 += split.p_x[i] * d_0 * d_0
            square_1 += split.p_x[i] * d_1 * d_1
            largest = max(largest, abs(d_1))
    # Successive displacements of a cosine above 0.95 count as one mode.
    if dot <= 0.95 * math.sqrt(square_0 * square_1) or square_1 == 0.0:
        return False, W, nu
    r = dot / square_0
    # At most 100 times the last displacement, 5 times from a saddle; and no entry moves by more than 0.1: nu is extrapolated too, and a
    # mode is straight near its limit only.
    far = min(min(r / (1.0 - r), 100.0) if r < 1.0 else 5.0, 0.1 / largest)
    new, nu_new = np.empty_like(W), np.empty_like(nu)
    for z in range(W.shape[0]):
        for i in range(W.shape[1]):
            # A tenth of an entry stays: a cluster that vanishes does so by the recursion itself.
            new[z, i] = max(W[z, i] + far * (W[z, i] - W_1[z, i]), 0.1 * W[z, i])
        for j in range(nu.shape[1]):
            nu_new[z, j] = nu[z, j] + far * (nu[z, j] - nu_1[z, j])
    for i in range(W.shape[1]):
        total = 0.0
        for z in range(W.shape[0]):
            total += new[z, i]
        for z in range(W.shape[0]):
            new[z, i] /= total
    if lagrangian(split, new, rho) > lagrangian(split, W, rho):
        return False, W, nu
    return True, new, nu_new

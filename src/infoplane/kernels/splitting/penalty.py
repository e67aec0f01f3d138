"""The automatic penalty: each row of the constraint gets kappa times the curvature of its own entropy,

c_zj = kappa boost_zj max(|h_j|, floor) / mass_zj,   the curvature of h_j H(v_j) in v_zj being |h_j| / v_zj.

From some iteration on it may no longer be lowered (`Setting.settled`). Then it changes finitely often while masses stay above some eps:
each reset multiplies it by 1/LOW at least, and it never exceeds kappa |h| / eps. After the last reset it is constant, as theorems want it.
"""

from ...information import Array
from ...runtime.compiling import part
from ..common.rows import DEAD

# A penalty is reset only when it leaves this band around its target, so that it is constant near the limit.
LOW, HIGH = 0.85, 1.3
FLOOR = 0.05  # smallest weight, relative to the largest rho, that an entropy counts with in its penalty


@part
def retune(h: Array, mass: Array, c: Array, boost: Array, kappa: float, floor: float, may_fall: bool) -> None:
    """Reset the entries of c that have left [LOW, HIGH] times their target, in place; those above it only if c may fall."""
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            # 1e14 times a mass near 1 still leaves two digits beside it.
            target = min(kappa * boost[z, j] * max(abs(h[j]), floor) / max(mass[z, j], DEAD), 1e14)
            if c[z, j] < LOW * target or (may_fall and c[z, j] > HIGH * target):
                c[z, j] = target


@part
def remember_raises(boost: Array, c: Array, before: Array) -> None:
    """A row whose penalty a step had to raise keeps the factor, since otherwise `retune` would undo it in every iteration."""
    for z in range(c.shape[0]):
        for j in range(c.shape[1]):
            boost[z, j] *= c[z, j] / before[z, j]

"""What the name of a run claims: the coefficients (rho_z, rho_zx, rho_zy) of L = rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y).

=============================  =========  ==========  =======  ====================
name                           rho_z      rho_zx      rho_zy   parameter
=============================  =========  ==========  =======  ====================
bottleneck                     gamma - 1  -gamma      1        0 < gamma <= 1
deterministic_bottleneck       gamma - 1  0           1        0 < gamma <= 1
generalised_bottleneck         gamma - 1  -a gamma    1        the same; 0 <= a <= 1
funnel                         beta - 1   1           -beta    beta >= 0
perfect privacy                -1         1           0        none
lagrangian                     any        any         any      none
=============================  =========  ==========  =======  ====================

Of runs that keep U and hide S the three are (-gamma, keep, -hide) of L = gamma I(X;Z) - keep I(U;Z) + hide I(S;Z): gamma >= 0, keep = 1 and
hide = beta of a task_funnel; 0 < gamma <= 1 and keep = 1 of a side_information_bottleneck at gamma; none has a name but task_lagrangian.

A file has the name, the parameter and the coefficients; whoever reads it believes the name.
"""

from __future__ import annotations

from .numbers import UNIT, at_most

Rho = tuple[float, float, float]

CONSTRAINED = "perfect privacy"
"""A name whose bounds hold under a constraint, I(Y;Z) = 0, that a file does not carry."""

NAMELESS = "lagrangian"
"""A run whose coefficients are all that it says."""

GAMMAS = ("bottleneck", "deterministic_bottleneck", "generalised_bottleneck")
"""Names with a parameter gamma; some write 1/gamma, and call it beta."""

TASKS = ("task_funnel", "side_information_bottleneck", "task_lagrangian")
"""Names of runs that keep one target and hide another."""

LARGEST = 1e100
"""No number of a file is beyond this, no coefficient but 0 below its inverse: products of three of them neither overflow nor vanish."""


def contradiction(name: str, parameter: float | None, rho: Rho) -> str:
    """What is wrong with a name and a parameter for these coefficients; "" if nothing is."""
    if not all(size == 0.0 or (at_most(1.0 / LARGEST, size) and at_most(size, LARGEST)) for size in map(abs, rho)):
        return f"coefficients rho = {rho} that no proof can be computed with"
    if not any(rho):
        return "coefficients that are all 0"
    if name in TASKS:
        return _of_tasks(name, parameter, rho)
    if name in (NAMELESS, CONSTRAINED):
        if parameter is not None:
            return f"a {name} with a parameter, which has none"
        return "" if name == NAMELESS or rho == (-1.0, 1.0, 0.0) else f"{name} with rho = {rho}, expected (-1, 1, 0)"
    if name != "funnel" and name not in GAMMAS:
        return f"a family {name!r} that is not known"
    if parameter is None or not at_most(0.0, parameter) or not (name == "funnel" or 0.0 < parameter <= 1.0):
        return f"a {name} with parameter {parameter}"
    expected = _coefficients(name, parameter, rho)
    if not all(at_most(abs(one - other), 4.0 * UNIT * abs(other)) for one, other in zip(rho, expected, strict=True)):
        return f"a {name} with parameter {parameter:.12g} and rho = {rho}, expected {expected}"
    return ""


def _of_tasks(name: str, parameter: float | None, rho: Rho) -> str:
    gamma, keep, hide = -rho[0], rho[1], -rho[2]
    if not (gamma >= 0.0 and keep > 0.0 and hide > 0.0):
        return f"a {name} with rho = {rho}, expected (-gamma, keep, -hide) with gamma >= 0, keep > 0 and hide > 0"
    if name == "task_lagrangian":
        return "" if parameter is None else f"a {name} with a parameter, which has none"
    is_so = keep == 1.0 and parameter == (hide if name == "task_funnel" else gamma)
    return (
        "" if is_so and (name == "task_funnel" or 0.0 < gamma <= 1.0) else f"a {name} at {parameter} with rho = {rho}"
    )


def _coefficients(name: str, parameter: float, rho: Rho) -> Rho:
    """Of a family's member; the a of a generalised bottleneck is what its own rho_zx says, if that is in [0, 1]."""
    if name == "funnel":
        return parameter - 1.0, 1.0, -parameter
    a = {"bottleneck": 1.0, "deterministic_bottleneck": 0.0}.get(name, -rho[1] / parameter)
    return parameter - 1.0, -(min(max(a, 0.0), 1.0) * parameter) + 0.0, 1.0


def is_of(name: str, parameter: float | None, varied: float) -> bool:
    """Whether what a sweep varied is the parameter, or for gamma its inverse, the older notation; anything, if there is no parameter."""
    if parameter is None:
        return True
    ways = (parameter, 1.0 / parameter) if name in GAMMAS else (parameter,)
    return any(at_most(abs(varied - way), 4.0 * UNIT * way) for way in ways)

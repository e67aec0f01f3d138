"""Several targets as one: with an independent selector J, P(J = j) = theta_j, and S' = (J, S_J),

    p(s'|x) = theta_j p(s_j|x),      I(S';Z) = sum_j theta_j I(S_j;Z)      for every encoder p(z|x).

So the joint of X and S' turns several tasks into one task of the bottleneck, and several secrets into one of the funnel, exactly. The names
of its two y columns say that it is such a mixture; a label is (name of the target, value), and the theta are the masses of the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ..checks import positive_number
from ..errors import InvalidJointError
from ..information import Array, IntArray, mutual_information
from .tables import aligned, dense, scaled_rows

if TYPE_CHECKING:
    from .joint import Joint

MIXED = ("mixture of", "value")
"""The names of the y columns of a mixture of targets."""

ROLES = ("keep or hide", "value")
"""The same of a mixture of one target to keep and one to hide (`infoplane.TaskJoint`)."""


class Target(NamedTuple):
    """One target of a mixture."""

    name: str
    weight: float
    """theta."""
    columns: IntArray
    """Its letters among those of the mixture."""


def is_mixed(joint: Joint) -> bool:
    """Whether a joint is a mixture of targets."""
    return joint.y_names in (MIXED, ROLES)


def targets_of(joint: Joint) -> tuple[Target, ...]:
    """The targets that a joint mixes, in order; the whole of Y by its name if it is no mixture."""
    if not is_mixed(joint):
        return (Target(named(joint), 1.0, np.arange(joint.shape[1])),)
    places: dict[str, list[int]] = {}
    for place, label in enumerate(joint.y_labels):
        assert isinstance(label, tuple)
        places.setdefault(str(label[0]), []).append(place)
    return tuple(Target(name, float(joint.p_y[columns].sum()), np.array(columns)) for name, columns in places.items())


def target_informations(joint: Joint, encoder: Array) -> dict[str, float]:
    """I(S_j;Z) of every target by name, in nats."""
    p_zy = encoder @ joint.p_xy
    return {one.name: mutual_information(p_zy[:, one.columns] / one.weight) for one in targets_of(joint)}


def target_weights(joint: Joint) -> Array:
    """For every letter y the theta of its target, by which p(y|z) becomes p(s_j|z); 1 if the joint is no mixture."""
    found = np.ones(joint.shape[1])
    for one in targets_of(joint):
        found[one.columns] = one.weight
    return found


def named(joint: Joint) -> str:
    """What a target is called: its columns."""
    return ", ".join(joint.y_names)


def stacked(parts: Iterable[tuple[str, float, Joint]]) -> tuple[Any, list[tuple[str, Any]]]:
    """theta_j p(x, s_j) side by side, rows in the order of the first joint, and the labels of the columns; dense if one of them is."""
    listed = list(parts)
    first = listed[0][2]
    tables: list[Any] = []
    labels: list[tuple[str, Any]] = []
    for name, theta, joint in listed:
        if joint.x_names != first.x_names:
            raise InvalidJointError(
                f"all targets must be of the same x; {listed[0][0]!r} has the columns {', '.join(first.x_names)} and {name!r} has "
                f"{', '.join(joint.x_names)}. Make both from the same x columns."
            )
        order = aligned(joint.x_labels, first.x_labels, f"the joint of {listed[0][0]!r}")
        apart = np.abs(joint.p_x[order] - first.p_x)
        # How far p(x) of two joints may differ: the information of the mixture is then off by no more than that.
        if apart.max() > 1e-12:
            x = int(apart.argmax())
            raise InvalidJointError(
                f"all targets must have the same p(x); x = {first.x_labels[x]!r} has {first.p_x[x]:.12g} with {listed[0][0]!r} and "
                f"{joint.p_x[order][x]:.12g} with {name!r}. Count them from the same rows, with the same weights and no smoothing of "
                "one alone, or give one the prior of the other: joint.with_prior(other.p_x)."
            )
        tables.append(theta * _with_mass(joint.p_xy[order], joint.p_x[order], first.p_x))
        labels += [(name, label) for label in joint.y_labels]
    if all(joint.is_sparse for *_, joint in listed):
        return sparse.csr_array(sparse.hstack(tables)), labels
    return np.hstack([dense(table) for table in tables]), labels


def _with_mass(table: Any, mass: Array, wanted: Array) -> Any:
    """The rows scaled to the masses wanted, from which they differ by rounding: columns of p(s|x) then sum to one to the last digits."""
    ratio = np.divide(wanted, mass, out=np.ones(len(mass)), where=mass > 0.0)
    if (ratio == 1.0).all():
        return table
    return scaled_rows(table, ratio)


def roles(joint: Joint) -> tuple[Target, Target]:
    """What a joint of tasks keeps and what it hides; an error for any other joint."""
    found = targets_of(joint) if joint.y_names == ROLES else ()
    if len(found) != 2:
        raise InvalidJointError(
            "a problem that keeps one target and hides another needs infoplane.TaskJoint(keep=..., hide=...); found a joint of one Y."
        )
    return found[0], found[1]


def shares(given: object, check: Callable[[object], None]) -> list[tuple[str, float, Joint]]:
    """(name, theta, joint) of every (weight, joint) given; refuses what is none, and targets of equal name. ``check`` refuses no joint."""
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InvalidJointError(
            f"a mixture needs a list of (weight, joint); found a value of type {type(given).__name__}."
        )
    pairs = list(given)
    if not pairs or any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in pairs):
        raise InvalidJointError(
            f"a mixture needs one or more pairs (weight, joint); found {len(pairs)} things, not all of them pairs."
        )
    weights = []
    for weight, joint in pairs:
        check(joint)
        weights.append(positive_number(f"the weight of {named(joint)!r}", weight))
    names = [named(joint) for _, joint in pairs]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidJointError(
                f"the targets of a mixture are told apart by their columns; found {name!r} twice. Give one another y_names."
            )
    whole = sum(weights)
    return [(name, weight / whole, joint) for name, weight, (_, joint) in zip(names, weights, pairs, strict=True)]

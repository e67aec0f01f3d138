"""Several releases of one table on one plane: what each keeps, what it tells, and which of them another makes needless.

    a dominates b:  utility(a) >= utility(b),  I(S;Z_a) <= I(S;Z_b),  worst lift(a) <= worst lift(b),  and one of these strictly

Utility is I(X;Z), or I(U;Z) of a `TaskJoint`. Releases may come from anywhere; the usual ones, columns left out, values in coarser groups,
and values merged, are made on request.

Of best releases, `release_frontier` says what a worst case costs, for every pair of an average cap r and a lift cap eps:

    cost(r, eps) = max I(X;Z) under r  -  max I(X;Z) under r and eps >= 0

The optimum is concave in r for a given eps, and only monotone in eps: nothing is interpolated between two values of eps.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..checks import cap_in_nats, listed, whole_number
from ..encoder.encoder import encoder_for, hard_map
from ..errors import InvalidOptionError
from ..formatting import alternatives, counted
from ..frontier.release import Release, kept_and_hidden, release_mechanism
from ..information import Array, bits, plane_point
from ..joint.binning import Bin, quantile_edges
from ..joint.joint import Joint, check_joint
from ..joint.tables import MISSING, by_column
from ..joint.task_joint import TaskJoint
from ..posterior.merge_path import merge_two
from .audit import Told, utility

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ROUNDING = 1e-9
"""Nats within which two numbers of releases count as equal: sums over a table of a million cells agree to about 1e-12, and a difference
below this is nobody's reason to choose."""


class ComparedRelease(NamedTuple):
    """One release on the plane; nats."""

    name: str
    encoder: Array
    utility: float
    leakage: float
    """I(S;Z)."""
    worst_lift: float
    """The largest log p(s|z)/p(s)."""
    smallest_group: float
    """Records expected for the rarest released value; nan if the joint is no table of records."""

    def dominates(self, other: ComparedRelease) -> bool:
        """Whether it is as good in everything, and better in something."""
        less, lower = other.leakage - self.leakage, other.worst_lift - self.worst_lift
        better = np.array([self.utility - other.utility, less, lower])
        return bool((better >= -ROUNDING).all() and (better > ROUNDING).any())


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """Releases side by side, in the order given; its text says which to take.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.datasets.paper_uniform()
    >>> found = ip.compare_releases(joint, {"best": ip.release_mechanism(joint, max_leakage=0.01, rng=0)}, merged=[2])
    >>> found.to_frame().name.tolist()
    ['best', 'merged to 2']
    """

    kept: str
    """``"X"``, or ``"U"`` of a `TaskJoint`: utility is what Z tells of it."""
    releases: tuple[ComparedRelease, ...] = field(repr=False)
    """Each with its utility, its leaks and what an attacker gains."""

    def dominated_by(self, one: ComparedRelease) -> ComparedRelease | None:
        """The release that makes this one needless, of several that of most utility; None if there is none."""
        better = [other for other in self.releases if other.dominates(one)]
        return max(better, key=lambda other: other.utility, default=None)

    def to_frame(self) -> pd.DataFrame:
        """A row for each release: utility, leakage, worst lift, smallest group, and which other one dominates it."""
        import pandas as pd

        kept, leakage = ("ixz_bits", "iyz_bits") if self.kept == "X" else ("iuz_bits", "isz_bits")
        by = [self.dominated_by(one) for one in self.releases]
        return pd.DataFrame(
            {
                "name": [one.name for one in self.releases],
                kept: [bits(one.utility) for one in self.releases],
                leakage: [bits(one.leakage) for one in self.releases],
                "worst_lift_bits": [bits(one.worst_lift) for one in self.releases],
                "smallest_group": [one.smallest_group for one in self.releases],
                "dominated": [one is not None for one in by],
                "dominated_by": ["" if one is None else one.name for one in by],
            }
        )

    def advice(self, max_leakage: float | None = None, max_lift: float | None = None) -> str:
        """Which release to take, and why: of those within the caps, in **nats**, that of most utility."""
        asked = (("max_leakage", max_leakage, "I(S;Z)"), ("max_lift", max_lift, "worst lift"))
        caps = [f"{said} <= {bits(cap_in_nats(name, cap)):.4g} bits" for name, cap, said in asked if cap is not None]
        useful = [one for one in self.releases if self.dominated_by(one) is None]
        if not caps and len(useful) > 1:
            return (
                f"{len(self.releases) - len(useful)} of {len(self.releases)} releases are dominated: another keeps as much, and tells no "
                f"more. Take one of {', '.join(repr(one.name) for one in useful)}, by what may be told: advice(max_leakage, max_lift) says "
                "which."
            )
        leakage, lift = (math.inf if cap is None else cap + ROUNDING for cap in (max_leakage, max_lift))
        within = [one for one in useful if one.leakage <= leakage and one.worst_lift <= lift]
        if not within:
            least = min(self.releases, key=lambda one: one.leakage)
            return (
                f"Take none of them: none has {' and '.join(caps)}; {least.name!r} tells least, {bits(least.leakage):.4g} bits, with a "
                f"worst lift of {bits(least.worst_lift):.4g} bits."
            )
        best = max(within, key=lambda one: one.utility)
        said = f"Take {best.name!r}: I({self.kept};Z) = {bits(best.utility):.4g} bits, the most "
        said += f"of those with {' and '.join(caps)}" if caps else "of all, and no other tells less"
        more = [one for one in self.releases if one.utility > best.utility + ROUNDING]
        if not more:
            return f"{said}."
        next_to = min(more, key=lambda one: one.utility)
        return (
            f"{said}; {next_to.name!r} keeps {bits(next_to.utility):.4g}, but tells {bits(next_to.leakage):.4g} bits, with a worst lift "
            f"of {bits(next_to.worst_lift):.4g}."
        )

    def plot(self) -> Figure:
        """Utility against leakage and against the worst lift, side by side; dominated releases are hollow. Needs the extra [plot]."""
        from ..view.pictures import plot_comparison

        return plot_comparison(self)

    def __str__(self) -> str:
        return self.advice()


def compare_releases(
    joint: Joint | TaskJoint,
    releases: Mapping[str, Any],
    *,
    dropped: Iterable[str | Sequence[str]] = (),
    levels: Mapping[str, Iterable[int | Mapping[Any, Hashable]]] | None = None,
    merged: Iterable[int] = (),
) -> ReleaseComparison:
    """Put several releases on one plane: utility against leakage and against the worst lift, and which of them to take.

    Parameters
    ----------
    joint
        p(x, s): X is released, the joint's Y is the secret S. Or a `TaskJoint`: utility is what Z tells of its ``keep``.
    releases
        Names, and p(z|x) of each as an array W[z, x], a result that has an ``encoder`` (a `Release`, a `Solution`, a `HardPartition`), or
        the path of a mechanism file, ``m.json`` of ``infoplane release``.
    dropped
        Columns of x, or lists of them: beside the others, the release of x without these.
    levels
        A generalisation hierarchy for each column that has one, from fine to coarse: a number k puts numbers or dates into k bins of about
        equal mass, a mapping gives values their group, and those that it does not name stay. Beside the others, the release for every
        combination of levels, other columns as they are.
    merged
        Numbers of released values: beside the others, the partition into so many on the path of `merge_two`.

    Examples
    --------
    >>> import pandas as pd
    >>> import infoplane as ip
    >>> people = pd.DataFrame({"age": [1, 1, 2, 2] * 9, "job": list("aabbbbcca") * 4, "sex": list("fmf") * 12})
    >>> joint = ip.Joint.from_frame(people, ["age", "job"], "sex")
    >>> found = ip.compare_releases(joint, {}, dropped=["job"], levels={"age": [2], "job": [{"b": "a or b", "a": "a or b"}]})
    >>> found.to_frame().name.tolist()
    ['without job', 'job at level 1', 'age in 2 bins', 'age in 2 bins, job at level 1']
    """
    task, hide = kept_and_hidden(joint)
    given = [
        *((str(name), _encoder(hide, one)) for name, one in releases.items()),
        *_without(hide, dropped),
        *_coarser(hide, levels or {}),
        *_merged(hide, merged),
    ]
    if not given:
        raise InvalidOptionError("a comparison needs a release at least; found none.")
    if len({name for name, _ in given}) < len(given):
        raise InvalidOptionError("every release needs a name of its own; one of those made on request has the same.")
    found = []
    for name, W in given:
        told = Told(hide, W)
        worst, group = float(told.lifts.max()), told.records(float(told.p_z.min()))
        found.append(ComparedRelease(name, W, utility(hide, W, task), plane_point(hide, W).iyz, worst, group))
    return ReleaseComparison("X" if task is None else "U", tuple(found))


def _encoder(joint: Joint, one: Any) -> Array:
    """p(z|x) of what a caller gives."""
    if isinstance(one, str | os.PathLike):
        from ..storage.mechanism import read_mechanism

        one = read_mechanism(one)
    return encoder_for(joint, one.encoder_for(joint) if hasattr(one, "encoder_for") else one)


def _columns(joint: Joint, asked: str, names: Iterable[str]) -> dict[str, list[Any]]:
    """The value of every letter in each column of x; an error if one that is named is none of them."""
    for name in names:
        if name not in joint.x_names:
            raise InvalidOptionError(
                f"{asked} must be columns of x, {alternatives(name, joint.x_names)}; found {name!r}."
            )
    return by_column(joint.x_labels, joint.x_names)


def _apart(columns: Sequence[Sequence[Any]], letters: int) -> Array:
    """x with equal values in these columns are one z."""
    return hard_map([*zip(*columns, strict=True)] or [()] * letters)


def _without(joint: Joint, dropped: Iterable[str | Sequence[str]]) -> Iterator[tuple[str, Array]]:
    """The other columns as they are."""
    for some in dropped:
        names = [some] if isinstance(some, str) else list(some)
        columns = _columns(joint, "dropped", names)
        rest = [values for name, values in columns.items() if name not in names]
        yield f"without {', '.join(names)}", _apart(rest, joint.shape[0])


def _coarser(joint: Joint, levels: Mapping[str, Iterable[int | Mapping[Any, Hashable]]]) -> Iterator[tuple[str, Array]]:
    """Every combination of levels but that of the values as they are, which releases X itself."""
    columns = _columns(joint, "levels", levels)
    ways = []
    for name, values in columns.items():
        asked = listed(f"levels of {name!r}", levels.get(name, ()), "numbers of bins, or mappings of values")
        steps = (_level(joint, name, values, at, step) for at, step in enumerate(asked, 1))
        ways.append([("", values), *steps])
    for some in product(*ways):
        if said := ", ".join(name for name, _ in some if name):
            yield said, _apart([values for _, values in some], joint.shape[0])


def _level(joint: Joint, name: str, values: list[Any], at: int, step: Any) -> tuple[str, list[Any]]:
    """What a level is called, and the group of every letter."""
    if isinstance(step, Mapping):
        if not any(value in step for value in values):
            raise InvalidOptionError(
                f"level {at} of {name!r} must name values of that column, {values[0]!r} for example; it names none of them."
            )
        return f"{name} at level {at}", [step.get(value, value) for value in values]
    k = whole_number(f"a level of {name!r}", step)
    known = {value for value in values if value != MISSING}
    if not all(isinstance(value, Real | date | Bin) for value in known):
        raise InvalidOptionError(
            f"{k} bins of {name!r} need numbers, dates or bins of them; found other values. Give a mapping of its values to groups."
        )
    rank: dict[Any, int] = {value: at for at, value in enumerate(sorted(known))}
    mass = dict.fromkeys(rank.values(), 0.0)
    for value, p in zip(values, joint.p_x.tolist(), strict=True):
        if value in rank:
            mass[rank[value]] += p
    edges = quantile_edges(mass, k)
    groups = [value if value == MISSING else bisect_right(edges, rank[value]) for value in values]
    return f"{name} in {counted(k, 'bin')}", groups


def _merged(joint: Joint, numbers: Iterable[int]) -> Iterator[tuple[str, Array]]:
    path = None
    for k in [whole_number("a number of merged values", one) for one in numbers]:
        path = path or merge_two(joint)
        yield f"merged to {k}", path.encoder_at(k)


@dataclass(frozen=True, eq=False)
class ReleaseFrontier:
    """Releases over caps on the average and on the lift; nats, and bits in its frame.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.release_frontier(ip.datasets.paper_uniform(), [0.1], [0.3])
    >>> len(found.to_frame())
    2
    """

    joint: Joint
    """What is released, x, and what is hidden, y."""
    releases: tuple[Release, ...] = field(repr=False)
    """By average cap, each first without a lift cap, if there is an average one, then from the loosest lift cap to the tightest."""

    def without_lift_cap(self, max_leakage: float | None) -> float:
        """The I(X;Z) that costs are against: that of the average cap alone, or H(X) if there is none."""
        if max_leakage is None:
            return self.joint.entropy_x
        return next(one.ixz for one in self.releases if one.max_leakage == max_leakage and one.max_lift is None)

    def _cost(self, one: Release) -> float:
        return bits(self.without_lift_cap(one.max_leakage) - one.ixz)

    def to_frame(self) -> pd.DataFrame:
        """A row for each release: its caps, utility I(X;Z), gap, worst and least lift, what the lift cap costs, and its smallest group."""
        import pandas as pd

        def row(one: Release) -> dict[str, object]:
            return {
                "max_leakage_bits": np.nan if one.max_leakage is None else bits(one.max_leakage),
                "max_lift_bits": np.nan if one.max_lift is None else bits(one.max_lift),
                "ixz_bits": bits(one.ixz),
                "gap_bits": bits(one.gap),
                "certified": one.certified,
                "iyz_bits": bits(one.iyz),
                "worst_lift_bits": bits(one.worst_lift.nats),
                "least_lift_bits": bits(one.least_lift.nats),
                "cost_bits": self._cost(one),
                "clusters": one.clusters,
                "smallest_group": np.nan if one.smallest_group is None else one.smallest_group,
            }

        return pd.DataFrame([row(one) for one in self.releases])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Utility against the cap on the lift, a line for each average cap; dashed is what it reaches without. Needs the extra [plot]."""
        from ..view.pictures import plot_releases

        return plot_releases(self, ax)

    def __str__(self) -> str:
        cheapest = min((one for one in self.releases if one.max_lift is not None), key=self._cost)
        done = sum(one.certified for one in self.releases)
        return (
            f"{counted(len(self.releases), 'release')}, {done} certified; the cheapest worst case, "
            f"{bits(cheapest.max_lift or 0.0):.4g} bits, costs {self._cost(cheapest):.4f} bits"
        )


def release_frontier(
    joint: Joint,
    max_leakages: Iterable[float | None],
    max_lifts: Iterable[float],
    *,
    two_sided: bool = True,
    rng: int | None = None,
    tol: float = 1e-6,
    max_seconds: float = 60.0,
) -> ReleaseFrontier:
    """`release_mechanism` for every pair of caps, and for each average cap alone: what would a worst case of so many bits cost?

    Parameters
    ----------
    joint
        p(x, s): X is released, the joint's Y is the secret S.
    max_leakages
        Caps in **nats** on the average I(S;Z); None is none.
    max_lifts
        Caps in **nats** on the lift of every released value.
    two_sided, rng, tol
        As in `release_mechanism`.
    max_seconds
        For each release. What is not certified by then has its gap.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.release_frontier(ip.datasets.paper_uniform(), [0.01], [0.05], rng=0)
    >>> found.to_frame().cost_bits.round(3).tolist()[0], bool(found.to_frame().cost_bits[1] >= 0)
    (0.0, True)
    """
    check_joint(joint)
    averages = dict.fromkeys(listed("max_leakages", max_leakages, "caps in nats, or None"))
    lifts = sorted(dict.fromkeys(listed("max_lifts", max_lifts, "caps in nats")), reverse=True)
    if not averages or not lifts:
        raise InvalidOptionError("a frontier of releases needs a cap of each kind, one at least; found none.")
    pairs = [(one, lift) for one in averages for lift in ([] if one is None else [None]) + lifts]
    make = partial(release_mechanism, joint, two_sided=two_sided, rng=rng, tol=tol, max_seconds=max_seconds)
    return ReleaseFrontier(joint, tuple(make(average, lift) for average, lift in pairs))

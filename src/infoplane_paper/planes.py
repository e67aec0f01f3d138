"""Information planes: the plane as a set of pieces, its table and picture, and the questions that claims put to it. All in bits.

Which solver leaks less, recovers Merge-Two, is stuck, spans more of the frontier? Only runs that converged by their method's own rule
count, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .drawing import Row, draw_multiples
from .pieces import BASELINE, KINDS, Certified, Merges, Method, Piece, Private, Starts, Sweep
from .points import Array, Arrays, Points, excess, least_leakage
from .settings import SEED, SLIGHT, VISIBLE, Scale
from .verdict import SEPARATOR, Figure, Finding, Runs, all_of, with_other_settings

UTILITIES = 200
"""Levels of I(X;Z) at which two frontiers are compared."""

DRAWS = 200
"""How often starts are drawn again to see how far a comparison hangs on them."""

SHOWN = 5
"""Missed points that a sentence lists, at most."""

COMPARABLE, TIE = 0.01, 1e-4
"""Bits between best losses that still count as comparable, and that count as the same."""


@dataclass(frozen=True)
class Plane:
    """One information plane of the paper: solvers with their c and alpha, along a grid of one joint."""

    title: str
    joint: str
    family: str
    solvers: Mapping[str, tuple[float, float]]
    """Penalty and relaxation."""
    clusters: int
    trials: int
    grid: tuple[float, float, int]
    """First and last parameter, and how many."""
    less: int
    """Trials under other settings."""
    others: tuple[int, ...]
    """Other numbers of clusters."""
    open_penalty: bool = False
    """Whether the paper leaves c open."""

    def run(self, solver: str, kind: str) -> str:
        """The name of the sweep of a solver in one way of running."""
        return run_of(self.title, solver, kind)

    def sweeps(self, scale: Scale) -> list[Sweep]:
        """All methods; on bottlenecks Blahut-Arimoto too."""
        methods = [
            Method(solver, kind, c, alpha).within(scale.within(kind, self.joint))
            for solver, (c, alpha) in self.solvers.items()
            for kind in KINDS
        ]
        if self.family == "bottleneck":
            limit = scale.within("majorise", self.joint) if self.joint == "heart" else scale.limit
            methods.append(Method(BASELINE, "majorise").within(limit))
        grid, trials = scale.grid(*self.grid, self.joint), min(self.trials, scale.trials)
        return [
            Sweep(f"{self.title}: {method.label}", self.joint, self.family, grid, method, self.clusters, trials)
            for method in methods
        ]

    def pieces(self, scale: Scale) -> list[Piece]:
        """The certified optima, the reference points of funnels, all methods, and the gradient runs under other settings.

        On the heart data it matters where random starts lie, and what is possible without leakage.
        """
        title, joint, funnel = self.title, self.joint, self.family == "funnel"
        hard = funnel and joint == "heart"
        # The more certified parameters, the tighter the bound on the frontier; those of the heart's funnel take long.
        grid = scale.grid(*self.grid, joint, fine=not hard)
        found: list[Piece] = [Certified(f"{title}: certified", joint, self.family, grid)]
        if funnel:
            found.append(Merges(f"{title}: Merge-Two", joint))
        if hard:
            found.append(Private(f"{title}: without leakage", joint))
            found.append(Starts(f"{title}: starts", joint, self.clusters, self.trials))
        found += self.sweeps(scale)
        varied = with_other_settings(found, scale, self.less, penalties=self.open_penalty, clusters=self.others)
        return [*found, *varied]


def run_of(title: str, solver: str, way: str) -> str:
    """The name of the sweep of a solver on the plane of a title; Blahut-Arimoto has one way."""
    return f"{title}: {solver}" if solver == BASELINE else f"{title}: {solver}, {way}"


def plane_table(runs: Runs) -> list[Row]:
    """One row per method and parameter: its best converged run, beside the lower bound proven there."""
    certified = {piece.joint: runs.points(name) for name, piece in runs.pieces.items() if isinstance(piece, Certified)}
    rows: list[Row] = []
    for name, piece in runs.pieces.items():
        if not isinstance(piece, Sweep) or SEPARATOR in name:
            continue
        points, known = runs.points(name), certified[piece.joint]
        for parameter in np.unique(points.parameter):
            here = points.where(points.parameter == parameter)
            best = here.ended().best()
            place = {one: float(getattr(best, one)[0]) if len(best) else np.nan for one in ("ixz", "iyz", "loss")}
            proven = known.lower_bound[np.isclose(known.parameter, parameter)]
            bound = float(proven[0]) if len(proven) else np.nan
            row: dict[str, Any] = {
                "runs": name,
                "parameter": parameter,
                "trials": len(here),
                "converged": float(here.converged.mean()),
                "stationary": float(here.stationary.mean()),
                "median_iterations": float(np.median(here.iterations)),
                **{f"{one}_bits": value for one, value in place.items()},
                "lower_bound_bits": bound,
                "gap_bits": place["loss"] - bound,
            }
            rows.append(row)
    return rows


def plane_figure(planes: Sequence[Plane], **said: Any) -> Figure:
    """A figure of one plane or several: what is said of it, and its claims."""
    return Figure(
        pieces=lambda scale: [piece for plane in planes for piece in plane.pieces(scale)],
        table=plane_table,
        redraw=partial(draw_multiples, planes=planes),
        see="One solver a panel, in grey the proven frontier: no encoder lies on its shaded side. A mark is the best converged run of one "
        "parameter; circles: the authors' way; squares: our steps at the paper's c; crosses: with automatic c.",
        **said,
    )


# -- questions ---------------------------------------------------------------------------------------------------------


def leaks_less(ours: Points, theirs: Points, names: tuple[str, str], low: float = 0.0, high: float = np.inf) -> Finding:
    """Whether the first frontier leaks less than the second, on average over the utilities in [low, high] that both reach.

    A frontier at u is the least I(Y;Z) of a run with I(X;Z) >= u. Less means by more than `SLIGHT`, and by more than two standard errors of
    the random starts; more, or equal to within `SLIGHT`, likewise. What lies between is not decided.
    """
    ours, theirs = ours.ended(), theirs.ended()
    reach = [float(points.ixz.max(initial=0.0)) for points in (ours, theirs)]
    top = min(*reach, high)
    if top <= low:
        return Finding(
            None,
            f"not both reach I(X;Z) > {low:g}: the largest of a converged run is {reach[0]:.3f} ({names[0]}) and "
            f"{reach[1]:.3f} bits ({names[1]})",
        )
    u = np.linspace(low, top, UTILITIES)
    difference = theirs.leakage(u) - ours.leakage(u)
    mean, worst, best = (float(value) for value in (difference.mean(), difference.min(), difference.max()))
    error = _starts_error(ours, theirs, u)
    return Finding(
        _decided(mean, error),
        f"{names[1]} leaks {signed(mean)} bits more than {names[0]} on average over I(X;Z) in [{low:g}, {top:.2f}] "
        f"(from {signed(worst)} to {signed(best)}; two standard errors of the mean, over starts: {2.0 * error:.4f}); they reach "
        f"{reach[1]:.2f} and {reach[0]:.2f} bits",
    )


def _decided(mean: float, error: float) -> bool | None:
    """Whether a mean difference is positive, if two standard errors and `SLIGHT` let one say so."""
    if abs(mean) <= 2.0 * error and (abs(mean) > SLIGHT or 2.0 * error > SLIGHT):
        return None
    return mean > SLIGHT


def _starts_error(ours: Points, theirs: Points, u: Array) -> float:
    """The standard error of the mean difference of two frontiers: starts are drawn again, with replacement, from those that there were.

    The same starts are drawn for both, as both were run from the same ones. They are compared at the utilities that both reach.
    """
    rng = np.random.default_rng(SEED)
    starts = np.union1d(ours.start, theirs.start)
    means = []
    for _ in range(DRAWS):
        some = rng.choice(starts, len(starts))
        drawn = [points.where(np.isin(points.start, some)).leakage(u) for points in (theirs, ours)]
        reached = np.isfinite(drawn).all(axis=0)
        if reached.any():
            means.append(float((drawn[0][reached] - drawn[1][reached]).mean()))
    return float(np.std(means)) if len(means) > 1 else 0.0


def left_their_start(points: Points, starts: Arrays) -> Points:
    """The converged runs that lie more than `VISIBLE` outside of the rectangle in the plane in which all random starts lie.

    A random start with many clusters has little of both informations: a run that stopped where it began says nothing of its solver.
    """
    ended = points.ended()
    outside = np.zeros(len(ended), dtype=bool)
    for axis in ("ixz", "iyz"):
        value = getattr(ended, axis)
        outside |= (value < starts[axis].min() - VISIBLE) | (value > starts[axis].max() + VISIBLE)
    return ended.where(outside)


def less_than_merging(ours: Points, merges: Arrays, name: str, low: float, high: float) -> Finding:
    """Whether a solver leaks less than Merge-Two on average over I(X;Z) in [low, high]; None if it does, but does not reach all of them.

    The same measure as `leaks_less`; the trivial point (0, 0) does not count, runs are compared at `VISIBLE` less utility.
    """
    ours = ours.ended()
    u, difference = _between(ours, merges, low, high)
    reached = np.isfinite(difference)
    if not reached.any():
        return Finding(None, f"no converged run of {name} has I(X;Z) in [{low:g}, {high:g}]")
    mean, worst = float(difference[reached].mean()), float(difference[reached].min())
    where = u[reached][int(difference[reached].argmin())]
    return Finding(
        False if mean <= SLIGHT else True if reached.all() else None,
        f"{name} reaches {reached.mean():.0%} of [{low:g}, {high:g}] bits; there Merge-Two leaks {signed(mean)} bits more on average "
        f"(least, {signed(worst)}, at I(X;Z) = {where:.2f})",
    )


def _between(ours: Points, merges: Arrays, low: float, high: float) -> tuple[Array, Array]:
    """Utilities in [low, high], as far as Merge-Two comes, and how much more it leaks there; not finite where no run of ours has them."""
    u = np.linspace(max(low, VISIBLE), min(high, float(merges["ixz"].max())), UTILITIES)
    return u, least_leakage(merges["ixz"], merges["iyz"], u) - ours.leakage(u - VISIBLE)


def recovers(ours: Points, merges: Arrays, name: str) -> Finding:
    """Whether every Merge-Two point is met or beaten by a run, and less leaks in between.

    One tolerance for both axes: met is a point if some run has at most `VISIBLE` less utility and at most `VISIBLE` more leakage, and
    between the points too runs are compared at `VISIBLE` less utility. The trivial point (0, 0) does not count. A point is missed only
    where runs come that far; if all that lie within reach are met, the claim is not decided until the others are reached.
    """
    ours = ours.ended()
    seen = merges["ixz"] > VISIBLE
    utility, leakage = merges["ixz"][seen], merges["iyz"][seen]
    near = utility - VISIBLE <= ours.ixz.max(initial=0.0)
    met = ours.leakage(utility - VISIBLE) <= leakage + VISIBLE
    _, difference = _between(ours, merges, 0.0, np.inf)
    reached = np.isfinite(difference)
    mean = float(difference[reached].mean()) if reached.any() else np.nan
    worst = float(difference[reached].min()) if reached.any() else np.nan
    failed = bool((near & ~met).any()) or bool(reached.any() and (mean <= SLIGHT or worst < -VISIBLE))
    misses = utility[near & ~met]
    missed = ", ".join(f"{one:.2f}" for one in misses[:SHOWN]) + (", ..." if len(misses) > SHOWN else "")
    more = f", where Merge-Two leaks {signed(mean)} bits more on average (at least {signed(worst)})"
    return Finding(
        None if not near.any() else False if failed else True if near.all() and reached.all() else None,
        f"of Merge-Two's {len(utility)} points there {int(near.sum())} lie within the reach of {name}'s runs, which meet or beat "
        f"{int(met.sum())}{f' (miss I(X;Z) = {missed})' * bool(missed)}; they reach {reached.mean():.0%} of the range"
        f"{more * bool(reached.any())}",
    )


def more_points(ours: Points, merges: Arrays, name: str, low: float, high: float) -> Finding:
    """Whether a solver has more points of the plane with I(X;Z) in [low, high] than Merge-Two, told apart by `VISIBLE` on both axes."""
    ours = ours.ended().between(low, high)
    seen = (merges["ixz"] >= low) & (merges["ixz"] <= high)
    counts = [
        len({(round(x / VISIBLE), round(y / VISIBLE)) for x, y in zip(ixz, iyz, strict=True)})
        for ixz, iyz in ((ours.ixz, ours.iyz), (merges["ixz"][seen], merges["iyz"][seen]))
    ]
    return Finding(
        counts[0] > counts[1] if len(ours) else None,
        f"points of the plane with I(X;Z) in [{low:g}, {high:g}], {VISIBLE:g} bits apart: {name} {counts[0]}, Merge-Two {counts[1]}",
    )


def stuck(points: Points, certified: Points, family: str, name: str, low: float, high: float) -> Finding:
    """Whether runs with I(X;Z) in [low, high] end farther than `VISIBLE` from the proven bound; None if there is no run there.

    Every run counts by itself, as every one is a point in the paper's figures, where `VISIBLE` can be told apart.
    """
    near = points.ended().between(low, high)
    if not len(near):
        return Finding(None, f"no converged run of {name} has I(X;Z) in [{low:g}, {high:g}]")
    distances = excess(near, certified, family)
    row = int(np.argmin(distances))
    least = float(distances[row])
    side = "above the least leakage" if family == "funnel" else "below the greatest relevance"
    off = int((distances > VISIBLE).sum())
    return Finding(
        off > 0,
        f"of {len(near)} converged runs of {name} with I(X;Z) in [{low:g}, {high:g}] {off} lie more than {VISIBLE:g} bits {side} proven "
        f"possible, the farthest {float(distances.max()):.4f}, the nearest {abs(least):.4f} (parameter {near.parameter[row]:.4g}, start "
        f"{near.start[row]:.0f})",
    )


def higher(ours: Points, theirs: Points, names: tuple[str, str], low: float, high: float) -> Finding:
    """Whether the first's best run has more I(Y;Z) than the second's, by more than `SLIGHT`, somewhere with I(X;Z) in [low, high]."""
    ours, theirs = ours.ended().between(low, high), theirs.ended().between(low, high)
    if not len(ours) or not len(theirs):
        missing = " and ".join(one for one, points in zip(names, (ours, theirs), strict=True) if not len(points))
        return Finding(None, f"no converged run of {missing} has I(X;Z) in [{low:g}, {high:g}]")
    gains = []
    for x, y in zip(ours.ixz, ours.iyz, strict=True):
        allowed = theirs.iyz[theirs.ixz <= x + SLIGHT]
        if len(allowed):
            gains.append(float(y - allowed.max()))
    most = max(gains, default=float("nan"))
    return Finding(
        most > SLIGHT if gains else None,
        f"with I(X;Z) in [{low:g}, {high:g}] the best run of {names[0]} has {signed(most)} bits of I(Y;Z) more than any "
        f"of {names[1]} with no more I(X;Z)",
    )


def spans_more(
    ours: Points, theirs: Points, certified: Points, names: tuple[str, str], low: float, high: float
) -> Finding:
    """Whether the first has runs on the bottleneck's frontier in more intervals of I(X;Z), of width `VISIBLE`, within [low, high].

    On the frontier: at most `SLIGHT` below the proven bound. As many in both is a tie on this grid, and not decided.
    """
    counts = []
    for points in (ours.ended().between(low, high), theirs.ended().between(low, high)):
        on = points.where(excess(points, certified, "bottleneck") <= SLIGHT)
        # The origin of the plane is the trivial encoder, which every solver finds: it does not count.
        counts.append(len(np.unique(np.floor(on.ixz[on.ixz > VISIBLE / 2] / VISIBLE))))
    intervals = round((high - low) / VISIBLE)
    return Finding(
        None if counts[0] == counts[1] else counts[0] > counts[1],
        f"on the frontier in [{low:g}, {high:g}] bits, out of {intervals} intervals of {VISIBLE:g}: {names[0]} in {counts[0]}, "
        f"{names[1]} in {counts[1]}",
    )


def trapped(theirs: Points, ours: Points, certified: Points, names: tuple[str, str], by: float) -> Finding:
    """Whether runs of the first end above the optimum, and none of the second does at those parameters.

    Every converged run counts by itself, as every one is a point in the paper's figures. Above: by more than ``by`` bits.
    """
    certified = certified.where(np.isclose(certified.parameter[:, None], theirs.parameter).any(axis=1))
    if not len(ours.ended()):
        return Finding(None, f"no run of {names[1]} converged")
    shares = []
    for points in (theirs.ended(), ours.ended()):
        share = np.full(len(certified), np.nan)
        for row, parameter in enumerate(certified.parameter):
            losses = points.loss[np.isclose(points.parameter, parameter)]
            if len(losses):
                share[row] = float((losses - certified.lower_bound[row] > by).mean())
        shares.append(share)
    caught = shares[0] > 0.0
    free = shares[1][caught] == 0.0
    return Finding(
        bool(caught.any() and free.all()),
        f"of the converged runs of {names[0]} {np.nanmean(shares[0]):.0%} end more than {by:g} bits above the optimum, some at "
        f"{int(caught.sum())} of {len(certified)} parameters; of {names[1]} {np.nanmean(shares[1]):.0%} do, and none at "
        f"{int(free.sum())} of those parameters",
    )


def signed(bits: float) -> str:
    """Four digits after the point, with their sign, and never -0.0000."""
    return f"{round(bits, 4) + 0.0:+.4f}"


# -- what claims ask ---------------------------------------------------------------------------------------------------


def moved(runs: Runs, title: str, name: str) -> Points:
    """The converged runs of a piece; those that stopped where they began are left out where the figure has the starts."""
    starts, points = f"{title}: starts", runs.points(name)
    return left_their_start(points, runs[starts]) if starts in runs.pieces else points.ended()


def asked(
    ask: Callable[..., Finding], title: str, solvers: Sequence[str], beside: str = "", **options: Any
) -> Callable[[Runs, str], Finding]:
    """The question of a claim: ``ask`` of what moved of some solvers on a plane, of the piece ``beside`` them, and of their names.

    It is not decided where none of the converged runs of a solver has left its start.
    """

    def answer(runs: Runs, way: str) -> Finding:
        names = [run_of(title, one, way) for one in solvers]
        used = {name: moved(runs, title, name) for name in names}
        before = {name: len(runs.points(name).ended()) for name in names}
        still = [
            f"none of the {before[name]} converged runs of {name} has left its random start"
            for name in names
            if before[name] and not len(used[name])
        ]
        if still:
            return Finding(None, "; ".join(still)).on(*names)
        piece = f"{title}: {beside}"
        merged = beside and isinstance(runs.piece(piece), Merges)
        references = [runs[piece] if merged else runs.points(piece)] if beside else []
        said = tuple(solvers) if len(solvers) > 1 else solvers[0]
        return ask(*used.values(), *references, said, **options).on(*names)

    return answer


Losses = Mapping[str, Array]
"""The best loss of every solver, in bits, at the parameters at which all have a converged run."""


def are_comparable(losses: Losses) -> Finding:
    """Whether the best losses of some solvers agree, in the median over parameters, to `COMPARABLE` bits."""
    spread = np.ptp([*losses.values()], axis=0)
    if not len(spread):
        return Finding(None, "no parameter at which all of them have a converged run")
    middle = float(np.median(spread))
    return Finding(
        middle <= COMPARABLE,
        f"the best losses of {', '.join(losses)} differ by {middle:.4f} bits in the median over {len(spread)} parameters, "
        f"{spread.max():.4f} at most",
    )


def is_best(losses: Losses, solver: str) -> Finding:
    """Whether a solver has a lower best loss than each other at more parameters than chance would give (sign test, 5%)."""
    from scipy.stats import binomtest  # half a second, which a help text need not take

    said, answers = [], []
    for other in (one for one in losses if one != solver):
        gaps = losses[other] - losses[solver]
        wins, defeats = int((gaps > TIE).sum()), int((gaps < -TIE).sum())
        said.append(f"{solver} is lower than {other} at {wins} of {len(gaps)} parameters, higher at {defeats}")
        clear = wins + defeats > 0 and binomtest(wins, wins + defeats).pvalue < 0.05
        answers.append(wins > defeats if clear else None)
    return Finding(all_of(answers) if len(losses[solver]) else None, "; ".join(said))


def is_lower_somewhere(losses: Losses, solver: str, other: str) -> Finding:
    """Whether one solver's best loss is below another's at some parameter."""
    gaps = losses[other] - losses[solver]
    wins = gaps[gaps > TIE]
    return Finding(
        len(wins) > 0 if len(gaps) else None,
        f"{solver} has a lower loss than {other} at {len(wins)} of {len(gaps)} parameters, by up to {wins.max(initial=0.0):.4f} bits",
    )


def asked_of_losses(
    ask: Callable[..., Finding], title: str, solvers: Sequence[str], *chosen: str
) -> Callable[[Runs, str], Finding]:
    """The same of the best losses of some solvers, and of the names of those ``chosen``."""

    def answer(runs: Runs, way: str) -> Finding:
        names = [run_of(title, one, way) for one in solvers]
        best = [runs.points(name).ended().best() for name in names]
        held = [dict(zip(one.parameter.tolist(), one.loss.tolist(), strict=True)) for one in best]
        at = [parameter for parameter in held[0] if all(parameter in one for one in held)]
        losses = {solver: np.array([one[g] for g in at]) for solver, one in zip(solvers, held, strict=True)}
        return ask(losses, *chosen).on(*names)

    return answer


def stuck_on(
    runs: Runs, way: str, plane: Plane, solver: str, low: float, high: float, others: tuple[str, ...] = ()
) -> Finding:
    """Whether one solver is off the frontier in an interval where others are on it."""
    proven = f"{plane.title}: certified"
    found = [
        stuck(runs.points(plane.run(one, way)), runs.points(proven), plane.family, one, low, high)
        for one in (solver, *others)
    ]
    answers = [one.holds for one in found]
    holds = None if None in answers else answers[0] and not any(answers[1:])
    return Finding(holds, "; ".join(one.said for one in found)).on(plane.run(solver, way), proven)

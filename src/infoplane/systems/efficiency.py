"""How far a given encoder is from the frontier, and at which trade-off it comes closest.

    epsilon(W) = min over gamma of  L_gamma(W) - L*_gamma  =  I*(Y;Z) at the same I(X;Z), minus I(Y;Z) of W

Encoders share what was solved (`curve`), and are placed by falling I(X;Z), so that bottlenecks are annealed upwards.

Reference for the efficiency loss and for the fitted beta: Zaslavsky, Kemp, Regier, Tishby, *Efficient compression in color naming and its
evolution*, PNAS 115 (2018).

Of groups of systems there is the mean of each number with its standard error, and the paired difference of two groups:

    s.e. = sd / sqrt(m)  of m systems;    of pairs (a_i, b_i) the mean and the s.e. of a_i - b_i

Systems of one group are taken for independent; what each owes to its own trials is part of what they differ by.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import positive_number, whole_number
from ..errors import FarSideWarning, InvalidOptionError, UnsupportedProblemError
from ..frontier.frontier import Frontier
from ..frontier.target import vertices
from ..information import bits, plane_points
from ..joint.joint import Joint, check_joint
from ..problem import Family, ProblemFamily, bottleneck, check_family, family_of, record_of, siblings
from ..solvers.job import NO_PROOF, ProofOptions, Seed, takes
from .curve import KnownCurve, Placement, Search
from .given import System, read_systems
from .trials import ACCURACY, FEW, checked_trials, columns_of, inverse, noise_of

if TYPE_CHECKING:
    import pandas as pd

MAX_SOLVES = 30
"""Most slopes that are solved for one encoder: two and a half times what any took in docs/benchmarks/efficiency.md."""

TOL = 1e-7
"""Nats between the two sides of epsilon at which to stop: seven digits of it, more than are shown."""


class Placements:
    """The encoders in the order given, and everything that was solved on the way."""

    def __init__(self, curve: KnownCurve, placed: list[Placement]) -> None:
        self.curve, self.placed = curve, placed

    def __len__(self) -> int:
        return len(self.placed)

    def __getitem__(self, number: int) -> Placement:
        return self.placed[number]

    @property
    def frontier(self) -> Frontier:
        """The optima that were solved."""
        return Frontier(self.curve.joint, self.curve.runs or [corner.run for corner in self.curve.corners])

    def with_systems(self) -> Frontier:
        """The same, and the systems beside it, each at the parameter that it comes closest to; ``provenance["systems"]`` is their table."""
        curve = self.curve
        given = [
            curve.made(curve.slope(one.parameter), one.system.encoder, f"given: {one.system.name}")
            for one in self.placed
        ]
        known = [*curve.runs, *(one.optimum for one in self.placed)]
        runs = [*{id(run): run for run in known}.values(), *given]
        said = self.to_frame().drop(columns="optimum").to_dict("records")
        return Frontier(curve.joint, runs, provenance={"solver": "efficiency", "systems": said})

    def with_noise(self, draws: int, rng: np.random.Generator) -> Placements:
        """The same with what trials leave open, in so many experiments for each system, and as many of optimal subjects."""
        search = Search(self.curve, ACCURACY, FEW)
        with warnings.catch_warnings():  # a draw may lie beyond the optima found by less than the accuracy
            warnings.simplefilter("ignore", FarSideWarning)
            noises = [noise_of(search, one, draws, rng) for one in self.placed]
        both = zip(self.placed, noises, strict=True)
        return Placements(self.curve, [replace(one, noise=noise) for one, noise in both])

    def to_frame(self) -> pd.DataFrame:
        """One row per encoder; units in the column names. The last column holds the optimal `Solution`."""
        import pandas as pd

        hides_y = self.curve.hides_y
        return pd.DataFrame(
            [
                {
                    "system": one.system.name,
                    "clusters": len(one.system.encoder),
                    "ixz_bits": bits(one.ixz),
                    "iyz_bits": bits(one.iyz),
                    **({} if hides_y else {"gamma": one.parameter}),
                    "beta": one.parameter if hides_y else inverse(one.parameter),
                    "epsilon_bits": bits(one.epsilon),
                    "epsilon_proven_low_bits": bits(one.low),
                    "epsilon_proven_high_bits": bits(one.high) if math.isfinite(one.high) else math.nan,
                    "gnid": one.gnid,
                    "optimum_ixz_bits": bits(one.optimum.ixz),
                    "optimum_iyz_bits": bits(one.optimum.iyz),
                    "optimum_clusters": one.optimum.clusters,
                    "solves": one.solves,
                    **({} if one.noise is None else columns_of(one.noise, hides_y)),
                    "optimum": one.optimum,
                }
                for one in self.placed
            ]
        )


@takes(ProofOptions)
def efficiency(
    joint: Joint,
    encoders: Any,
    family: ProblemFamily = bottleneck,
    *,
    counts: bool = False,
    axes: Literal["zx", "xz"] | None = None,
    bootstrap: int = 0,
    rng: Seed = None,
    tol: float = TOL,
    max_solves: int = MAX_SOLVES,
    certify: bool | float = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
) -> pd.DataFrame:
    """How far each encoder is from the frontier: a pandas frame with one row per encoder.

    With ``certify`` a bound is proven at the fitted parameter, so that epsilon has a proven upper end; without it that is NaN.

    Parameters
    ----------
    joint
        p(x, y).
    encoders
        A mapping from names to systems, a list of systems, or one: arrays (|Z|, |X|) whose columns sum to 1; frames with a row per x and a
        column per z, matched by the labels of x; hard labels, in order or by label; a `Solution`. |Z| may differ.
    family
        `bottleneck`, or `funnel`: then epsilon is the excess leakage at equal I(X;Z).
    counts
        Whether tables hold counts of words per item, p(z|x) being their shares.
    axes
        Of arrays, which axis is which: ``"zx"`` for a row per z and a column per x, ``"xz"`` for a row per x. It must be said where neither
        the shape nor the sums tell, as of a square array of counts; frames have a row per x, and are matched by its labels.
    bootstrap
        With counts of trials: so many experiments are drawn anew for 95% intervals of epsilon, beta and gNID, and as many of a subject that
        is optimal, for a test of whether this one may be (`infoplane.systems.trials`). 0 asks for none; 200 will do, 1,000 for print.
    rng
        For these draws: a seed or a generator.
    tol
        Nats to which epsilon is found, if the optima that were solved are optimal.
    max_solves
        Most slopes that are solved for an encoder.
    {ProofOptions}

    Returns
    -------
    pandas.DataFrame
        ``system``, ``clusters``, ``ixz_bits``, ``iyz_bits``; the fitted ``gamma`` and ``beta`` = 1/gamma (for the funnel its beta);
        ``epsilon_bits``; ``epsilon_proven_low_bits``, which an encoder with the same I(X;Z) is known to gain, and
        ``epsilon_proven_high_bits``, which none exceeds: an enclosure of this encoder's number, **no confidence interval**;
        ``gnid``, the generalised NID to the optimum (see `gnid`); ``optimum_ixz_bits``, ``optimum_iyz_bits``,
        ``optimum_clusters``, ``solves``; and ``optimum``, the optimal `Solution` itself. With ``bootstrap`` also ``trials``,
        ``ixz_corrected_bits``, ``ixz_ci_low_bits``, ``ixz_ci_high_bits``, ``epsilon_ci_low_bits``, ``epsilon_ci_high_bits``,
        ``beta_ci_low``, ``beta_ci_high``, ``gnid_ci_low``, ``gnid_ci_high``, and ``on_bound_p``, the p-value of "on the bound".

    Examples
    --------
    >>> import infoplane as ip
    >>> frame = ip.efficiency(ip.datasets.paper_uniform(), {"ab|c": ["u", "u", "v"], "ac|b": ["u", "v", "u"]})
    >>> frame[["system", "ixz_bits", "iyz_bits", "epsilon_bits"]].round(4).values.tolist()
    [['ab|c', 0.9183, 0.2334, 0.2752], ['ac|b', 0.9183, 0.5076, 0.001]]
    """
    check_joint(joint)
    check_family(family)
    systems, draws = read_systems(joint, encoders, counts, axes), whole_number("bootstrap", bootstrap, least=0)
    for one in systems if draws else ():
        checked_trials(one)
    placed = place(
        KnownCurve(joint, checked(family)),
        systems,
        tol=tol,
        max_solves=max_solves,
        proof=ProofOptions(certify, max_cells, max_seconds),
    )
    return (placed.with_noise(draws, np.random.default_rng(rng)) if draws else placed).to_frame()


def checked(family: ProblemFamily) -> Family:
    """Refuse functions that are no `Family`, and families whose loss is not a combination of I(X;Z) and I(Y;Z)."""
    wanted = "efficiency is a distance on the information plane, for infoplane.bottleneck and infoplane.funnel"
    found = record_of(family)
    if found is None:
        raise InvalidOptionError(f"{wanted}: give one of them; found {family!r}.")
    if not found.has_posterior_form:
        raise UnsupportedProblemError(f"{wanted}; the loss of {found.title} is {found.loss}.")
    return found


def known(frontier: Frontier) -> KnownCurve:
    """The curve that a frontier's best runs know."""
    first = vertices(frontier)[0].run.problem
    if siblings(first).make is None:
        raise UnsupportedProblemError("efficiency needs a frontier of infoplane.bottleneck or infoplane.funnel.")
    curve = KnownCurve(frontier.joint, checked(family_of(first)))
    for answer in frontier.best_answers():
        curve.add(curve.slope(answer.run.parameter), answer.run)
    return curve


def place(
    curve: KnownCurve,
    systems: list[System],
    *,
    tol: float = TOL,
    max_solves: int = MAX_SOLVES,
    proof: ProofOptions = NO_PROOF,
) -> Placements:
    """Place every system; see `efficiency`."""
    tol, max_solves = positive_number("tol", tol), whole_number("max_solves", max_solves, least=0)
    points = plane_points(curve.joint, [one.encoder for one in systems])
    search = Search(curve, tol, max_solves)
    placed: dict[int, Placement] = {}
    for number in sorted(range(len(systems)), key=lambda at: -points[at].ixz):
        placed[number] = search.place(systems[number], curve.line(points[number]), proof)
    return Placements(curve, [placed[number] for number in range(len(systems))])


NUMBERS = ("ixz_bits", "iyz_bits", "beta", "epsilon_bits", "gnid")
"""Columns of `efficiency` that are summed up."""


def efficiency_summary(frame: pd.DataFrame, group: str, pair: str | None = None) -> pd.DataFrame:
    """Mean and standard error of each group, and the paired difference of two; a pandas frame.

    Parameters
    ----------
    frame
        What `efficiency` returned, with a column that says to which group each system belongs.
    group
        That column.
    pair
        With two groups, the column that says which systems belong together, such as a subject that was tested twice: a row ``difference``,
        first group minus second in sorted order, over the pairs that are complete.

    Returns
    -------
    pandas.DataFrame
        One row per group: ``systems``, how many, and of ``ixz_bits``, ``iyz_bits``, ``beta``, ``epsilon_bits`` and ``gnid`` the mean and,
        with ``_se`` behind the name, its standard error (NaN of one system). A beta that is infinite is left out of its mean.

    Examples
    --------
    >>> import infoplane as ip
    >>> names = {"a1": [0, 0, 1], "a2": [0, 1, 0], "b1": [0, 1, 2], "b2": [0, 0, 0]}
    >>> frame = ip.efficiency(ip.datasets.paper_uniform(), names)
    >>> frame["group"] = frame["system"].str[0]
    >>> frame["who"] = frame["system"].str[1]
    >>> ip.efficiency_summary(frame, "group", "who")[["systems", "epsilon_bits"]].round(3).values.tolist()
    [[2.0, 0.138], [2.0, 0.0], [2.0, 0.138]]
    """
    import pandas as pd

    wanted = [group, *([] if pair is None else [pair])]
    for name in wanted:
        if name not in frame.columns:
            raise InvalidOptionError(
                f"the frame needs the column {name!r}; it has {', '.join(map(str, frame.columns))}."
            )
    rows = {name: _row(part) for name, part in frame.groupby(group)}
    if pair is not None:
        if len(rows) != 2:
            raise InvalidOptionError(f"a paired difference needs two groups in {group!r}; found {len(rows)}.")
        first, second = (part.set_index(pair) for _, part in frame.groupby(group))
        for part in (first, second):
            if part.index.duplicated().any():
                twice = part.index[part.index.duplicated()][0]
                raise InvalidOptionError(f"{pair!r} must name each system of a group once; found {twice!r} twice.")
        both = [at for at in first.index if at in second.index]
        rows["difference"] = _row(first.loc[both, [*NUMBERS]] - second.loc[both, [*NUMBERS]])
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(group)


def _row(part: pd.DataFrame) -> dict[str, float]:
    found: dict[str, float] = {"systems": len(part)}
    for name in NUMBERS:
        values = part[name].replace([math.inf, -math.inf], math.nan).dropna()
        found[name] = float(values.mean())
        found[f"{name}_se"] = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return found

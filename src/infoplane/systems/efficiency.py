"""How far a given encoder is from the frontier, at which trade-off it comes closest, and what few trials leave open of that.

    epsilon(W) = min over gamma of  L_gamma(W) - L*_gamma  =  I*(Y;Z) at the same I(X;Z), minus I(Y;Z) of W

Encoders share what was solved (`curve`), and are placed by falling I(X;Z), so that bottlenecks are annealed upwards. Reference for the
efficiency loss and for the fitted beta: Zaslavsky, Kemp, Regier, Tishby, *Efficient compression in color naming and its evolution*, PNAS
115 (2018).

**Systems that were counted in a few trials.** W^[z, x] = N[z, x] / n_x is noisy, and noise only leads away from the frontier: a subject
that is exactly optimal has a positive epsilon in every experiment. So

- I(X;Z) is corrected by its expected bias, to first order

      E I^(X;Z) - I(X;Z) = sum_x p_x (k_x - 1) / 2n_x - sum_zx p_x^2 W (1 - W) / (2 n_x p_z),    k_x words seen for x;

- intervals are basic bootstrap intervals: trials are drawn anew from W^, item by item, and if t^ is the number and t* those of the draws,
  the interval is [2t^ - q_.975(t*), 2t^ - q_.025(t*)], which takes the bias off twice as large as the percentiles would leave it in;
- that of I(X;Z) is the wider of this and of one by test inversion, since W^ is sharper than what it was drawn from, and its draws show too
  little bias: the I(X;Z) of those W_t = (1 - t) W^ + t p^(z), sharper for t < 0, of whose draws I^(X;Z) is between q_.025 and q_.975;
- that of beta (gamma) is what the frontier's slope has over the interval of I(X;Z): it falls along the frontier. On a straight piece all of
  it may be one number, and a bootstrap of beta itself, whose draws fall on that piece or beside it, held in 82 to 88% of experiments;
- the hypothesis "on the bound" is tested by simulation: trials drawn from an optimum give epsilons that an optimal subject would show, and
  p is the share of them that is at least the subject's, itself counted. Which optimum is not known: p is the largest at the corrected
  I(X;Z) and at both ends of its basic interval (with the corrected one alone, 6 of 20 optimal subjects of one kind were rejected at 5%).

The proven interval of epsilon (``epsilon_proven_low_bits``, ``epsilon_proven_high_bits``) is about this W^ and knows nothing of this.

**Groups of systems** have the mean of each number with its standard error, and two of them their paired difference:

    s.e. = sd / sqrt(m)  of m systems;    of pairs (a_i, b_i) the mean and the s.e. of a_i - b_i

Systems of one group are taken for independent; what each owes to its own trials is part of what they differ by.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..checks import positive_number, whole_number
from ..errors import FarSideWarning, InvalidOptionError, UnsupportedProblemError
from ..frontier.frontier import Frontier
from ..frontier.target import vertices
from ..information import Array, bits, plane_point, plane_points
from ..joint.joint import Joint, check_joint
from ..problem import Family, ProblemFamily, bottleneck, check_family, family_of, record_of, siblings
from ..solvers.job import NO_PROOF, ProofOptions, Seed, takes
from .curve import KnownCurve, Placement, Search, TrialNoise
from .given import System, read_systems

if TYPE_CHECKING:
    import pandas as pd

ACCURACY, FEW = 1e-5, 3
"""Nats to which a draw's epsilon is found, and slopes solved for one at most: far below what trials can tell."""


class TrialEffort(NamedTuple):
    """How closely a draw is looked at."""

    level: float = 0.05
    """One minus the confidence of an interval."""
    sharpest: float = -8.0
    halvings: int = 12
    """Where the search for a sharper W_t begins, W^ to the ninth power being hard; and its halvings, to a thousandth of t."""


EFFORT = TrialEffort()


def noise_of(search: Search, placed: Placement, draws: int, rng: np.random.Generator) -> TrialNoise:
    """Intervals and the test for one system, in 4 ``draws`` experiments; the search is for them, and its curve is shared."""
    W, curve = placed.system.encoder, search.curve
    n_x, p_x = checked_trials(placed.system), curve.joint.p_x
    again = [_placed(search, _drawn(W, n_x, rng)) for _ in range(draws)]
    u = corrected_ixz(W, n_x, p_x)
    ends = _basic(placed.ixz, [one.ixz for one in again])
    inverted = inverted_ixz(W, n_x, p_x, draws, rng)
    low, high = min(ends[0], inverted[0]), max(ends[1], inverted[1])
    # Optima differ in how much noise moves them, and which of them it is, if any, is not known exactly: the least certain counts.
    shares = []
    for ixz in (u, *ends):
        best = _placed(search, _shrunk_to(curve.joint, W, ixz)).optimum.encoder
        shown = [_placed(search, _drawn(best, n_x, rng)).epsilon for _ in range(draws)]
        shares.append((1 + sum(one >= placed.epsilon - ACCURACY for one in shown)) / (draws + 1))
    return TrialNoise(
        trials=int(n_x.sum()),
        ixz_corrected=u,
        ixz=(low, high),
        epsilon=_basic(placed.epsilon, [one.epsilon for one in again]),
        parameter=(curve.parameter(search.slopes_at(high)[0]), curve.parameter(search.slopes_at(low)[1])),
        gnid=_basic(placed.gnid, [one.gnid for one in again], most=1.0),
        on_bound_p=max(shares),
    )


def checked_trials(system: System) -> Array:
    """How often each item was named, or an error that says what is missing."""
    n_x = system.trials
    if n_x is None or (n_x != np.floor(n_x)).any():
        raise InvalidOptionError(
            f"bootstrap draws trials anew, and needs whole-number counts of them: system {system.name!r} has shares. Give tables of counts "
            "with counts=True."
        )
    return n_x


def corrected_ixz(W: Array, n_x: Array, p_x: Array) -> float:
    """I(X;Z) without the bias of few trials, at least 0 and at most the plug-in; nats."""
    seen, p_z = (W > 0.0).sum(axis=0), W @ p_x
    within = float((p_x * (seen - 1) / (2.0 * n_x)).sum())
    between = (p_x**2 / (2.0 * n_x) * W * (1.0 - W)).sum(axis=1)
    bias = within - float((between[p_z > 0.0] / p_z[p_z > 0.0]).sum())
    value = float(_ixz(W, p_x))
    return min(max(value - bias, 0.0), value)


def _ixz(W: Array, p_x: Array) -> Array:
    """I(X;Z) = sum_x p_x KL(W_x || p_z); of many encoders at once, too."""
    ratio = np.divide(W, (W @ p_x)[..., None], out=np.ones_like(W), where=W > 0.0)
    value: Array = (W * np.log(ratio)).sum(axis=-2) @ p_x
    return value


def inverted_ixz(W: Array, n_x: Array, p_x: Array, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Between which I(X;Z) the encoders W_t lie, in nats, whose experiments show that of W neither too seldom above nor below."""
    given = _ixz(W, p_x)
    uniform = [rng.random((draws, int(n))) for n in n_x]  # the same for every t, so that what is shown falls as t grows

    def shown(V: Array) -> Array:
        counts = np.empty((draws, *V.shape))
        for x, u in enumerate(uniform):
            steps = np.cumsum(V[:, x])
            word = np.minimum(np.searchsorted(steps / steps[-1], u, side="right"), len(V) - 1)
            at = np.arange(draws)[:, None] * len(V) + word
            counts[:, :, x] = np.bincount(at.ravel(), minlength=draws * len(V)).reshape(draws, len(V)) / n_x[x]
        return _ixz(counts, p_x)

    def blurred(t: float) -> Array:
        made = (1.0 - t) * W + t * (W @ p_x)[:, None] if t > 0.0 else W ** (1.0 - t)
        made /= made.sum(axis=0)
        return made

    def end(quantile: float) -> float:
        def too_much(t: float) -> bool:
            return bool(np.quantile(shown(blurred(t)), quantile) > given)

        low, high = (0.0, 1.0) if too_much(0.0) else (EFFORT.sharpest, 0.0)
        for _ in range(EFFORT.halvings):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if too_much(middle) else (low, middle)
        return float(_ixz(blurred(0.5 * (low + high)), p_x))

    return end(1.0 - EFFORT.level / 2.0), end(EFFORT.level / 2.0)


def _placed(search: Search, W: Array) -> Placement:
    system = System("a draw", W, tuple(range(len(W))))
    return search.place(system, search.curve.line(plane_point(search.curve.joint, W)), NO_PROOF)


def _drawn(W: Array, n_x: Array, rng: np.random.Generator) -> Array:
    """Shares of trials that are drawn from W."""
    counts = [rng.multinomial(int(n), column / column.sum()) for n, column in zip(n_x, W.T, strict=True)]
    return np.array(counts).T / n_x


def _shrunk_to(joint: Joint, W: Array, u: float) -> Array:
    """W shrunk towards its own p(z) until I(X;Z) is u: the optimum nearest to it has about that."""
    from scipy.optimize import brentq

    flat = (W @ joint.p_x)[:, None]

    def above(share: float) -> float:
        return plane_point(joint, (1.0 - share) * W + share * flat).ixz - u

    share = brentq(above, 0.0, 1.0) if above(0.0) > 0.0 > above(1.0) else 0.0
    return np.asarray((1.0 - share) * W + share * flat)


def _basic(value: float, draws: list[float], most: float = np.inf) -> tuple[float, float]:
    low, high = np.quantile(draws, [EFFORT.level / 2.0, 1.0 - EFFORT.level / 2.0])
    return min(max(2.0 * value - float(high), 0.0), most), min(max(2.0 * value - float(low), 0.0), most)


def columns_of(noise: TrialNoise, hides_y: bool) -> dict[str, float]:
    """The columns that a frame of efficiencies gets from it."""
    beta = noise.parameter if hides_y else tuple(map(inverse, noise.parameter[::-1]))
    ends = {"ixz": noise.ixz, "epsilon": noise.epsilon, "beta": beta, "gnid": noise.gnid}
    found = {"trials": noise.trials, "ixz_corrected_bits": bits(noise.ixz_corrected)}
    for name, both in ends.items():
        in_bits = name in ("ixz", "epsilon")
        for side, end in zip(("low", "high"), both, strict=True):
            found[f"{name}_ci_{side}{'_bits' if in_bits else ''}"] = bits(end) if in_bits else end
    return {**found, "on_bound_p": noise.on_bound_p}


MAX_SOLVES = 30
"""Most slopes that are solved for one encoder: two and a half times what any took in docs/benchmarks/efficiency.md."""

TOL = 1e-7
"""Nats between the two sides of epsilon at which to stop: seven digits of it, more than are shown."""


class Placements(NamedTuple):
    """The encoders in the order given, and everything that was solved on the way."""

    curve: KnownCurve
    placed: list[Placement]

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
            placed = [replace(one, noise=noise_of(search, one, draws, rng)) for one in self.placed]
        return Placements(self.curve, placed)

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
        is optimal, for a test of whether this one may be (`infoplane.systems.efficiency`). 0 asks for none; 200 will do, 1,000 for print.
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
    curve, proof = KnownCurve(joint, checked(family)), ProofOptions(certify, max_cells, max_seconds)
    placed = place(curve, systems, tol=tol, max_solves=max_solves, proof=proof)
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
    order = sorted(range(len(systems)), key=lambda at: -points[at].ixz)
    placed = {at: search.place(systems[at], curve.line(points[at]), proof) for at in order}
    return Placements(curve, [placed[at] for at in range(len(systems))])


def inverse(gamma: float) -> float:
    """Beta of a gamma: 1 / gamma."""
    return np.inf if gamma == 0.0 else 1.0 / gamma


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

    for name in (group, pair):
        if name is not None and name not in frame.columns:
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
        values = part[name].replace([math.inf, -math.inf], math.nan)
        found |= {name: float(values.mean()), f"{name}_se": float(np.asarray(values.sem()))}
    return found

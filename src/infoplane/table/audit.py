"""An audit: what a release tells about the secret, in the measures that reviewers ask for, each with a sentence; an attacker who learns.

Nothing here depends on how the release was made: the joint p(x, s), S its Y, the secret, and p(z|x) are enough. It is not differential
privacy of the data set: it is about what a released value tells, to somebody who knows p(x, s) and sees it once, about the secret of its
own record. Letters: J[z, s] = p(z, s) of the clusters and secret values of positive mass; a lift is log p(s|z)/p(s).

The attacker learns from half of the records, released values with their secrets, and guesses the secrets of the others:

    share right on k of n unseen records;    interval [B(a/2; k, n - k + 1), B(1 - a/2; k + 1, n - k)],  B quantiles of the beta law

(Clopper, Pearson 1934). It is what somebody with such a table and a common learner does: less than the best guess that there is, beyond
the noise of a finite number of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..checks import check_one_of, extra, number, real_array
from ..encoder.encoder import cluster_names, encoder_for
from ..errors import InvalidOptionError
from ..formatting import label_text
from ..frontier.release import Release, rare_values, release_mechanism
from ..information import NATS_PER_BIT, Array, bits, entr, plane_point, rel_entr
from ..joint.joint import Joint, check_joint
from ..joint.tables import by_column, dense
from ..joint.task_joint import TaskJoint
from ..runtime.budget import cores
from ..sampling.intervals import leakage_bound

if TYPE_CHECKING:
    import pandas as pd

LOW, HIGH, LESS, MORE, COMPARE = "0 is best", "1 is best", "less is better", "more is better", "to compare"

MEASURES = {
    "mutual information": ("bits", LOW, "I(S;Z)", "Shannon 1948"),
    "best guess, before": ("share", LESS, "max_s p(s)", "Smith 2009"),
    "best guess, after": ("share", LESS, "sum_z max_s p(s,z)", "Smith 2009"),
    "min-entropy leakage": ("bits", LOW, "log V(S|Z)/V(S)", "Smith 2009"),
    "Bayes security": ("share", HIGH, "(1 - V(S|Z)) / (1 - V(S))", "Cherubin, Chatzikokolakis, Palamidessi 2019"),
    "Bayes security, worst prior": ("share", HIGH, "1 - max TV(p(z|s), p(z|s'))", "Chatzikokolakis et al. 2023"),
    "pointwise maximal leakage": ("bits", LOW, "quantile over z of max_s log p(s|z)/p(s)", "Saeidian et al. 2023"),
    "pointwise maximal leakage, worst": ("bits", LOW, "max_z,s log p(s|z)/p(s)", "Saeidian et al. 2023"),
    "local information privacy": ("bits", LOW, "max |log p(s|z)/p(s)|", "Jiang et al. 2021"),
    "local differential privacy of S": ("bits", LOW, "max log p(z|s)/p(z|s')", "Kasiviswanathan et al. 2011"),
    "maximal leakage": ("bits", LOW, "log sum_z max_s p(z|s)", "Issa, Wagner, Kamath 2020"),
    "l-diversity": ("values", MORE, "min_z |{s : p(s|z) > 0}|", "Machanavajjhala et al. 2007"),
    "t-closeness": ("share", LOW, "max_z TV(p(s|z), p(s))", "Li, Li, Venkatasubramanian 2007"),
    "smallest expected group": ("records", MORE, "n min_z p(z)", "after Sweeney 2002"),
    "utility": ("bits", MORE, "I(X;Z)", "Shannon 1948"),
    "g-vulnerability, before": ("gain", LESS, "max_w sum_s p(s) g(w,s)", "Alvim et al. 2012"),
    "g-vulnerability, after": ("gain", LESS, "sum_z max_w sum_s p(s,z) g(w,s)", "Alvim et al. 2012"),
    "mutual information, population": ("bits", LOW, "upper confidence bound of I(S;Z)", "docs/explanation/samples.md"),
    "utility of the best release": ("bits", COMPARE, "max I(X;Z) with this I(S;Z), upper bound", "docs/explanation/exact_funnel.md"),
    "held-out attacker": ("share", LESS, "boosted trees on half of the records", "Clopper, Pearson 1934"),
}  # fmt: skip
"""Unit, direction, formula and reference of each line; of a task the utility is I(U;Z), and a quantile has its share behind the name."""

Finding = tuple[str, float, str]
"""A measure, its value, and a sentence."""


def audit(
    joint: Joint,
    encoder: Any,
    *,
    by: Literal["measure", "value", "secret", "record", "attribute"] = "measure",
    gain: Any = None,
    max_seconds: float = 10.0,
) -> pd.DataFrame:
    """What a release tells about the secret S, the joint's Y.

    Parameters
    ----------
    joint
        p(x, s): X is released through the encoder, the joint's Y is the secret S.
    encoder
        W[z, x] = p(z|x), or a result that has an ``encoder``; of a `Release` of a `TaskJoint` utility is I(U;Z).
    by
        ``"measure"``: a row for each measure, with its value, unit, direction, formula, reference and a sentence. ``"value"``: a row for
        each released value, worst first: p(z), expected records, the secret that it makes most likelier, lifts, the best guess.
        ``"secret"``: a row for each value of the secret: its prior, its largest and smallest lift, and how often it is guessed right.
        ``"record"``: a row for each kind of record, x and s, worst first: how many there are, what their released values tell of their own
        secret on average and at most, and how often the best guess is right for them. ``"attribute"``: a row for each value of each column
        of x: the same of those records, and how much the released value tells of it.
    gain
        For g-leakage: gain[w, s], what a guess w gains if the secret is s; a row for each guess.
    max_seconds
        For the certified utility of the best release that leaks as much; 0 leaves it out.

    Returns
    -------
    pandas.DataFrame
        Units are in its columns; everything is about the table, but for the line that gives the bound for the population.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.datasets.heart()
    >>> found = ip.audit(joint, ip.perfect_privacy(joint), max_seconds=0)
    >>> bool(found.value["mutual information"] < 1e-9), found.direction["mutual information"]
    (True, '0 is best')
    """
    check_joint(joint)
    check_one_of("by", by, ["measure", *FRAMES])
    seconds = number("max_seconds", max_seconds, "a number of seconds, 0 or more", least=0.0)
    W = encoder_for(joint, encoder)
    told = Told(joint, W)
    if by != "measure":
        return FRAMES[by](told)
    task = getattr(encoder, "task", None)
    found = [*_lines(told, W, task), *_of_gain(told, gain), *_of_samples(joint, encoder, W)]
    if seconds > 0.0:
        found.append(_best_possible(joint, W, task, encoder, seconds))
    return measured(found, "X" if task is None else "U")


class Told:
    """p(z, s) of a release, released values and secrets without mass left out, and what follows from it; nats."""

    def __init__(self, joint: Joint, W: Array) -> None:
        self.joint = joint
        self.letters: NDArray[np.int64] = np.flatnonzero(joint.p_y > 0.0)
        """The s of the columns."""
        J = np.asarray(W @ joint.p_xy)[:, self.letters]
        self.rows: NDArray[np.int64] = np.flatnonzero(J.sum(axis=1) > 0.0)
        """The z of the rows."""
        self.W, self.J = W[self.rows], J[self.rows]
        self.p_z, self.prior = self.J.sum(axis=1), self.J.sum(axis=0)
        self.p_s_given_z, self.p_z_given_s = self.J / self.p_z[:, None], self.J / self.prior
        with np.errstate(divide="ignore"):
            self.lifts: Array = np.log(self.p_s_given_z) - np.log(self.prior)
        """log p(s|z)/p(s), a row per released value; -inf where s is ruled out."""
        self.apart: Array = 0.5 * np.abs(self.p_s_given_z - self.prior).sum(axis=1)
        """TV(p(s|z), p(s)) of every released value."""

    @property
    def guess(self) -> tuple[float, float]:
        """How often the best guess is right, without Z and with it; less with it is rounding, as the guess from before still stands."""
        before = float(self.prior.max())
        return before, max(float(self.J.max(axis=1).sum()), before)

    def names(self, columns: Any) -> list[str]:
        """What the secrets of these columns are called."""
        return [label_text(self.joint.y_labels[self.letters[s]]) for s in columns]

    def records(self, share: Any) -> Any:
        """How many records a share is; NaN if the joint is no table of records."""
        return np.nan if self.joint.records is None else share * self.joint.records


def quantile(values: Array, weights: Array, share: float) -> float:
    """The least of some values that so much of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    first = int(np.searchsorted(reached, share * reached[-1] * (1.0 - 1e-12)))
    return float(values[order[min(first, len(values) - 1)]])


def measured(found: list[Finding], kept: str = "X") -> pd.DataFrame:
    """The frame of an audit; utility is what Z tells of ``kept``."""
    import pandas as pd

    rows = []
    for name, value, sentence in found:
        unit, direction, formula, reference = MEASURES[name if name in MEASURES else name.rpartition(",")[0]]
        rows.append((name, value, unit, direction, formula.replace("I(X;Z)", f"I({kept};Z)"), reference, sentence))
    columns = ["measure", "value", "unit", "direction", "formula", "reference", "sentence"]
    return pd.DataFrame(rows, columns=columns).set_index("measure")


def _lines(told: Told, W: Array, task: TaskJoint | None) -> Iterator[Finding]:
    """The measures that need nothing but p(z, s), by the formulas of `MEASURES`."""
    from scipy.spatial.distance import pdist  # its import takes longer than all the measures

    joint, J, given = told.joint, told.J, told.p_z_given_s
    (before, after), pml = told.guess, told.lifts.max(axis=1)
    known = bits(plane_point(joint, W).iyz)
    said = f"On average a released value tells {known:.4g} of the {bits(joint.entropy_y):.4g} bits of the secret."
    yield "mutual information", known, said
    said = f"Without the release the best guess of the secret is right for {before:.2%} of the records."
    yield "best guess, before", before, said
    said = f"With it the best guess is right for {after:.2%}: {after - before:+.2%}."
    yield "best guess, after", after, said
    said = f"The best guess is {after / before:.3g} times as often right as before."
    yield "min-entropy leakage", bits(float(np.log(after / before))), said
    left = (1.0 - after) / (1.0 - before) if before < 1.0 else 1.0
    yield "Bayes security", left, f"{left:.2%} of the errors of the best guess are left."
    left = 1.0 - 0.5 * float(pdist(given.T, "cityblock").max(initial=0.0))
    said = f"Whatever the prior, at least {left:.2%} of the errors are left."
    yield "Bayes security, worst prior", left, said
    for share in (0.5, 0.95):
        most = bits(quantile(pml, told.p_z, share))
        said = f"For {share:.0%} of the records no secret becomes more than {2**most:.3g} times as likely."
        yield f"pointwise maximal leakage, {share:.0%}", most, said
    most = bits(float(pml.max()))
    said = f"No released value makes any secret more than {2**most:.3g} times as likely as it was."
    yield "pointwise maximal leakage, worst", most, said
    unbounded = "Unbounded: some released value rules a secret out."
    most = bits(float(np.abs(told.lifts).max()))
    said = f"No secret becomes likelier, or less likely, by a factor of more than {2**most:.3g}."
    yield "local information privacy", most, unbounded if np.isinf(most) else said
    with np.errstate(divide="ignore", invalid="ignore"):
        most = bits(float(np.ptp(np.log(given), axis=1).max()))
    said = f"No released value is more than {2**most:.3g} times as likely under one secret as under another."
    yield "local differential privacy of S", most, unbounded if np.isinf(most) else said
    most = bits(float(np.log(given.max(axis=1).sum())))
    said = (
        f"Whatever function of the secret somebody guesses, he is right at most {2**most:.3g} times as often as before."
    )
    yield "maximal leakage", most, said
    # The same count with rare secrets for less: min_z exp H(S|z).
    diversity, effective = int((J > 0.0).sum(axis=1).min()), float(np.exp(entr(told.p_s_given_z).sum(axis=1).min()))
    said = f"Every released value leaves at least {diversity} of {J.shape[1]} secrets possible, as uncertain as {effective:.3g} equal ones."
    yield "l-diversity", float(diversity), said
    apart = float(told.apart.max())
    said = f"Among the records of any released value the secrets' shares differ by {apart:.2%} in all from everybody's."
    yield "t-closeness", apart, said
    if joint.records is not None:
        group, rare = float(told.p_z.min()) * joint.records, rare_values(told.p_z, joint.records)
        said = f"The rarest released value is expected for {group:.3g} of the {joint.records:,} records"
        yield "smallest expected group", group, f"{said}; {rare}." if rare else f"{said}."
    whole, of = joint.entropy_x, "what is released"
    if task is not None:
        whole = task.keep.mutual_information
        of = f"what {', '.join(task.keep.x_names)} tell of {', '.join(task.keep.y_names)}"
    kept = bits(utility(joint, W, task))
    yield "utility", kept, f"The release keeps {kept:.4g} of the {bits(whole):.4g} bits of {of}."


def utility(joint: Joint, W: Array, task: TaskJoint | None) -> float:
    """I(X;Z), or I(U;Z) of a task; nats."""
    return plane_point(joint, W).ixz if task is None else plane_point(task.keep, W).iyz


def _of_gain(told: Told, gain: Any) -> Iterator[Finding]:
    """g-leakage, if there is a gain."""
    if gain is None:
        return
    table, secrets = real_array("gain", gain), told.joint.shape[1]
    if table.ndim != 2 or table.shape[1] != secrets or not np.isfinite(table).all() or table.shape[0] == 0:
        raise InvalidOptionError(
            f"gain must be a table with a row for each guess and a column for each of the {secrets} values of the secret, all "
            f"finite; found shape {table.shape}."
        )
    g = table[:, told.letters]
    before, after = float((g @ told.prior).max()), float((told.J @ g.T).max(axis=1).sum())
    said = f"Without the release the best guess gains {before:.4g} on average."
    yield "g-vulnerability, before", before, said
    said = f"With it the best guess gains {after:.4g}: {after - before:+.4g}."
    yield "g-vulnerability, after", after, said


def _of_samples(joint: Joint, encoder: Any, W: Array) -> Iterator[Finding]:
    """What the records say of the population, if there are any."""
    if joint.counts is None or (joint.records or 0) < 2:
        return
    found = leakage_bound(encoder if hasattr(encoder, "encoder") else W, joint)
    yield "mutual information, population", bits(found.bound), f"{found}.".replace("I(Y;Z)", "I(S;Z)")


def _best_possible(joint: Joint, W: Array, task: TaskJoint | None, encoder: Any, seconds: float) -> Finding:
    """What utility any release with this leakage could have; a release under a cap on it alone knows."""
    leakage = plane_point(joint, W).iyz
    alone = isinstance(encoder, Release) and encoder.max_lift is None and encoder.min_group is None
    best = encoder if alone else release_mechanism(task or joint, max_leakage=leakage, max_seconds=seconds)
    most, lost = bits(best.upper_bound), bits(best.upper_bound - utility(joint, W, task))
    said = f"No release that leaks {bits(leakage):.4g} bits on average keeps more than {most:.4g} bits, which is proven: at most "
    return "utility of the best release", most, f"{said}{max(lost, 0.0):.2g} above this one."


def _by_value(told: Told) -> pd.DataFrame:
    """A row for each released value, the largest lift first."""
    import pandas as pd

    J, lifts = told.J, told.lifts
    frame = pd.DataFrame(
        {
            "p_z": told.p_z,
            "expected_records": told.records(told.p_z),
            "stands_for": cluster_names(told.joint, told.W),
            "likelier_secret": told.names(lifts.argmax(axis=1)),
            "max_lift_bits": lifts.max(axis=1) / NATS_PER_BIT,
            "min_lift_bits": lifts.min(axis=1) / NATS_PER_BIT,
            "best_guess": told.names(J.argmax(axis=1)),
            "guess_right": J.max(axis=1) / told.p_z,
            "total_variation": told.apart,
        },
        index=pd.Index(told.rows, name="z"),
    )
    return frame.sort_values("max_lift_bits", ascending=False, kind="stable")


def _by_secret(told: Told) -> pd.DataFrame:
    """A row for each value of the secret."""
    import pandas as pd

    J, secrets = told.J, len(told.prior)
    return pd.DataFrame(
        {
            "prior": told.prior,
            "max_lift_bits": told.lifts.max(axis=0) / NATS_PER_BIT,
            "min_lift_bits": told.lifts.min(axis=0) / NATS_PER_BIT,
            "guessed_right": np.bincount(J.argmax(axis=1), J.max(axis=1), minlength=secrets) / told.prior,
        },
        index=pd.Index(told.names(range(secrets)), name=", ".join(told.joint.y_names)),
    )


def _of_its_own(told: Told) -> tuple[Array, Array, Array]:
    """Of each kind of record: p(x, s); sum_z p(z|x) log p(s|z)/p(s), of which I(S;Z) is the mean; how often s is guessed from z."""
    finite = np.where(np.isfinite(told.lifts), told.lifts, 0.0)  # a z that rules s out is never that of a record with s
    guesses = np.eye(len(told.prior))[told.J.argmax(axis=1)]
    return dense(told.joint.p_xy)[:, told.letters], told.W.T @ finite, told.W.T @ guesses


def _by_record(told: Told) -> pd.DataFrame:
    """A row for each x and s that occur, the largest lift of a z with p(z|x) > 0 first."""
    import pandas as pd

    P, mean, right = _of_its_own(told)
    most = [np.where(told.W > 0.0, lift[:, None], -np.inf).max(axis=0) for lift in told.lifts.T]
    x, s = np.nonzero(P)
    frame = pd.DataFrame(
        {
            "x": [label_text(told.joint.x_labels[one]) for one in x],
            "secret": told.names(s),
            "share": P[x, s],
            "records": told.records(P[x, s]),
            "mean_lift_bits": mean[x, s] / NATS_PER_BIT,
            "max_lift_bits": np.array(most)[s, x] / NATS_PER_BIT,
            "guessed_right": right[x, s],
        }
    )
    return frame.sort_values("max_lift_bits", ascending=False, kind="stable", ignore_index=True)


def _by_attribute(told: Told) -> pd.DataFrame:
    """A row for each value of each column of x; its largest lift is that of any secret, which such a record may meet."""
    import pandas as pd

    P, mean, right = _of_its_own(told)
    p_x, prior = P.sum(axis=1), int(P.sum(axis=0).argmax())
    p_z, worst = told.W @ p_x, np.where(told.W > 0.0, told.lifts.max(axis=1)[:, None], -np.inf).max(axis=0)
    rows = []
    for name, values in by_column(told.joint.x_labels, told.joint.x_names).items():
        letters: dict[Any, list[int]] = {}
        for x in np.flatnonzero(p_x > 0.0).tolist():
            letters.setdefault(values[x], []).append(x)
        for value, some in letters.items():
            mass = float(p_x[some].sum())
            given = told.W[:, some] @ p_x[some] / mass
            rows.append(
                {
                    "column": name,
                    "value": label_text(value),
                    "share": mass,
                    "records": told.records(mass),
                    "mean_lift_bits": float((P[some] * mean[some]).sum()) / mass / NATS_PER_BIT,
                    "max_lift_bits": float(worst[some].max()) / NATS_PER_BIT,
                    "guessed_right": float((P[some] * right[some]).sum()) / mass,
                    "guessed_before": float(P[some, prior].sum()) / mass,
                    "told_of_it_bits": float(rel_entr(given, p_z).sum()) / NATS_PER_BIT,
                }
            )
    return pd.DataFrame(rows)


FRAMES = {"value": _by_value, "secret": _by_secret, "record": _by_record, "attribute": _by_attribute}
"""What ``by`` may ask for beside the measures."""

FEWEST = 20
"""Records that an attack needs: half of fewer teach and show nothing."""


@dataclass(frozen=True)
class HeldOutAttack:
    """How often an attacker was right on records that he had not seen.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.HeldOutAttack(right=90, tested=100, prior_right=52, low=0.82, high=0.95, confidence=0.95)
    >>> found.share, found.prior_share
    (0.9, 0.52)
    """

    right: int
    """Records guessed right,"""
    tested: int
    """of so many."""
    prior_right: int
    """Those that the commonest secret of the first half is right for."""
    low: float
    """The share guessed right in the population is at least this,"""
    high: float
    """and at most this,"""
    confidence: float
    """in so many of all samples; Clopper and Pearson's interval."""

    @property
    def share(self) -> float:
        """The share guessed right."""
        return self.right / self.tested

    @property
    def prior_share(self) -> float:
        """The share that is guessed right without the release."""
        return self.prior_right / self.tested

    def __str__(self) -> str:
        return (
            f"An attacker who learned from other records guesses {self.share:.2%} of {self.tested:,} unseen ones right "
            f"({self.low:.2%} to {self.high:.2%} with {self.confidence:.0%} confidence); without the release {self.prior_share:.2%}"
        )


def held_out_attack(
    released: Any, secret: Any, *, confidence: float = 0.95, rng: int | np.random.Generator | None = None
) -> HeldOutAttack:
    """Attack a released table by boosted trees, fitted on half of its records and tested on the others; needs the extra [sklearn].

    Parameters
    ----------
    released
        The released values: a pandas frame or Series, a row for each record. Numbers are taken as such, everything else as categories.
    secret
        The secret of each record, in the same order.
    confidence
        Of the interval.
    rng
        Seed of the split and of the learner.

    Examples
    --------
    >>> import pandas as pd
    >>> import infoplane as ip
    >>> found = ip.held_out_attack(pd.Series(["a", "b"] * 200), [0, 1] * 200, rng=0)  # the secret itself
    >>> found.share, found.tested
    (1.0, 200)
    """
    import pandas as pd

    ensemble = extra("sklearn.ensemble", "an attack needs scikit-learn 1.6", "sklearn")
    sure = number("confidence", confidence, "a share between 0 and 1", above=0.0, below=1.0)
    frame = released.to_frame() if isinstance(released, pd.Series) else pd.DataFrame(released)
    hidden, _ = pd.factorize(pd.Series([*secret], dtype=object), use_na_sentinel=False)
    if len(hidden) != len(frame) or len(frame) < FEWEST:
        raise InvalidOptionError(
            f"an attack needs a secret for each released record, and {FEWEST} records at least; found {len(frame):,} and {len(hidden):,}."
        )
    random = np.random.default_rng(rng)
    order = random.permutation(len(hidden))
    learned, unseen = order[: len(order) // 2], order[len(order) // 2 :]
    prior = int((hidden[unseen] == np.bincount(hidden[learned]).argmax()).sum())
    features, kinds = zip(*(_feature(frame.iloc[:, at]) for at in range(frame.shape[1])), strict=True)
    table = np.column_stack(features)
    if len(np.unique(hidden[learned])) < 2:
        right = prior
    else:
        seed = int(random.integers(2**31))
        learner = ensemble.HistGradientBoostingClassifier(categorical_features=list(kinds), random_state=seed)
        # OpenMP would start a thread for every core of the machine, and they would wait for each other on those that there are.
        with threadpool_limits(cores(), user_api="openmp"):
            right = int((learner.fit(table[learned], hidden[learned]).predict(table[unseen]) == hidden[unseen]).sum())
    low, high = clopper_pearson(right, len(unseen), sure)
    return HeldOutAttack(right, len(unseen), prior, low, high, sure)


def clopper_pearson(right: int, tested: int, confidence: float) -> tuple[float, float]:
    """The interval of a share of which ``right`` of ``tested`` were seen."""
    from scipy import stats  # the same

    tail = 0.5 * (1.0 - confidence)
    low = 0.0 if right == 0 else float(stats.beta.ppf(tail, right, tested - right + 1))
    high = 1.0 if right == tested else float(stats.beta.ppf(1.0 - tail, right + 1, tested - right))
    return low, high


def _feature(column: Any) -> tuple[Array, bool]:
    """A column as numbers, and whether they number categories."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return column.to_numpy(dtype=float, na_value=np.nan), False
    codes, _ = pd.factorize(column, use_na_sentinel=False)
    rank = np.argsort(np.argsort(-np.bincount(codes), kind="stable"), kind="stable")
    # Values of a released column that are told apart: scikit-learn's boosting takes 255. Rarer ones are one.
    return np.minimum(rank[codes], 250).astype(float), True

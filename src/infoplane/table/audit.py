"""An audit: what does a release tell about the secret, in the measures that reviewers ask for, each with a sentence.

Nothing here depends on how the release was made: the joint p(x, s), S its Y, the secret, and p(z|x) are enough. It is not differential
privacy of the data set: it is about what a released value tells, to somebody who knows p(x, s) and sees it once, about the secret of its
own record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import check_one_of, number, real_array
from ..encoder.encoder import check_encoder, cluster_names
from ..errors import InvalidOptionError
from ..formatting import label_text
from ..frontier.release import Release, rare_values, release_mechanism
from ..information import NATS_PER_BIT, Array, bits, plane_point, rel_entr
from ..joint.joint import Joint, check_joint
from ..joint.tables import dense
from ..joint.task_joint import TaskJoint
from ..sampling.leakage import leakage_bound
from . import measures

if TYPE_CHECKING:
    import pandas as pd

DIRECTIONS = {
    "low": "0 is best",
    "high": "1 is best",
    "less": "less is better",
    "more": "more is better",
    "bound": "to compare",
}


class AuditLine(NamedTuple):
    """One measure of an audit."""

    measure: str
    value: float
    unit: str
    direction: str
    formula: str
    reference: str
    sentence: str


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
    import pandas as pd

    check_joint(joint)
    check_one_of("by", by, ["measure", "value", "secret", "record", "attribute"])
    seconds = number("max_seconds", max_seconds, "a number of seconds, 0 or more", least=0.0)
    W = check_encoder(joint, getattr(encoder, "encoder", encoder))
    seen = joint.p_y > 0.0
    J = np.asarray(W @ joint.p_xy)[:, seen]
    held = J.sum(axis=1) > 0.0
    if by == "value":
        return _by_value(joint, W, J, held, seen)
    if by == "secret":
        return _by_secret(joint, J[held], seen)
    if by in ("record", "attribute"):
        told = Told.of(joint, W[held], J[held], seen)
        return _by_record(told) if by == "record" else _by_attribute(told)
    task = getattr(encoder, "task", None)
    lines = [*_lines(joint, W, J[held], task), *_of_gain(joint, J[held], seen, gain), *_of_samples(joint, encoder, W)]
    if seconds > 0.0:
        lines.append(_best_possible(joint, W, task, encoder, seconds))
    return pd.DataFrame(
        [line[1:] for line in lines], index=[line[0] for line in lines], columns=AuditLine._fields[1:]
    ).rename_axis("measure")


def _lines(joint: Joint, W: Array, J: Array, task: TaskJoint | None) -> Iterator[AuditLine]:
    """The measures that need nothing but p(z, s)."""
    point = plane_point(joint, W)
    p_z = J.sum(axis=1)
    guess, pml = measures.bayes_vulnerability(J), measures.pointwise_maximal_leakage(J)
    low, high = DIRECTIONS["low"], DIRECTIONS["high"]
    iyz = bits(point.iyz)
    yield AuditLine(
        "mutual information",
        iyz,
        "bits",
        low,
        "I(S;Z)",
        "Shannon 1948",
        f"On average a released value tells {iyz:.4g} of the {bits(joint.entropy_y):.4g} bits of the secret.",
    )
    yield AuditLine(
        "best guess, before",
        guess.before,
        "share",
        DIRECTIONS["less"],
        "max_s p(s)",
        "Smith 2009",
        f"Without the release the best guess of the secret is right for {guess.before:.2%} of the records.",
    )
    yield AuditLine(
        "best guess, after",
        guess.after,
        "share",
        DIRECTIONS["less"],
        "sum_z max_s p(s,z)",
        "Smith 2009",
        f"With it the best guess is right for {guess.after:.2%}: {guess.after - guess.before:+.2%}.",
    )
    yield AuditLine(
        "min-entropy leakage",
        bits(guess.leakage),
        "bits",
        low,
        "log V(S|Z)/V(S)",
        "Smith 2009",
        f"The best guess is {guess.after / guess.before:.3g} times as often right as before.",
    )
    security, worst_security = measures.bayes_security(J), measures.min_bayes_security(J)
    yield AuditLine(
        "Bayes security",
        security,
        "share",
        high,
        "(1 - V(S|Z)) / (1 - V(S))",
        "Cherubin, Chatzikokolakis, Palamidessi 2019",
        f"{security:.2%} of the errors of the best guess are left.",
    )
    yield AuditLine(
        "Bayes security, worst prior",
        worst_security,
        "share",
        high,
        "1 - max TV(p(z|s), p(z|s'))",
        "Chatzikokolakis et al. 2023",
        f"Whatever the prior, at least {worst_security:.2%} of the errors are left.",
    )
    for share in (0.5, 0.95):
        value = bits(measures.quantile(pml, p_z, share))
        yield AuditLine(
            f"pointwise maximal leakage, {share:.0%}",
            value,
            "bits",
            low,
            "quantile over z of max_s log p(s|z)/p(s)",
            "Saeidian et al. 2023",
            f"For {share:.0%} of the records no secret becomes more than {2**value:.3g} times as likely.",
        )
    worst = bits(float(pml.max()))
    yield AuditLine(
        "pointwise maximal leakage, worst",
        worst,
        "bits",
        low,
        "max_z,s log p(s|z)/p(s)",
        "Saeidian et al. 2023",
        f"No released value makes any secret more than {2**worst:.3g} times as likely as it was.",
    )
    for name, nats, formula, reference, both in (
        (
            "local information privacy",
            measures.local_information_privacy(J),
            "max |log p(s|z)/p(s)|",
            "Jiang et al. 2021",
            "likelier, or less likely, ",
        ),
        (
            "local differential privacy of S",
            measures.local_differential_privacy(J),
            "max log p(z|s)/p(z|s')",
            "Kasiviswanathan et al. 2011",
            "",
        ),
    ):
        value = bits(nats)
        yield AuditLine(
            name,
            value,
            "bits",
            low,
            formula,
            reference,
            (
                "Unbounded: some released value rules a secret out."
                if np.isinf(value)
                else f"No secret becomes {both}by a factor of more than {2**value:.3g}."
                if both
                else f"No released value is more than {2**value:.3g} times as likely under one secret as under another."
            ),
        )
    value = bits(measures.maximal_leakage(J))
    yield AuditLine(
        "maximal leakage",
        value,
        "bits",
        low,
        "log sum_z max_s p(z|s)",
        "Issa, Wagner, Kamath 2020",
        f"Whatever function of the secret somebody guesses, he is right at most {2**value:.3g} times as often as before.",
    )
    diversity, effective = measures.distinct_diversity(J), measures.entropy_diversity(J)
    yield AuditLine(
        "l-diversity",
        float(diversity),
        "values",
        DIRECTIONS["more"],
        "min_z |{s : p(s|z) > 0}|",
        "Machanavajjhala et al. 2007",
        f"Every released value leaves at least {diversity} of {J.shape[1]} secrets possible, as uncertain as {effective:.3g} equal ones.",
    )
    apart = float(measures.closeness(J).max())
    yield AuditLine(
        "t-closeness",
        apart,
        "share",
        low,
        "max_z TV(p(s|z), p(s))",
        "Li, Li, Venkatasubramanian 2007",
        f"Among the records of any released value the secrets' shares differ by {apart:.2%} in all from everybody's.",
    )
    if joint.records is not None:
        group = float(p_z.min()) * joint.records
        yield AuditLine(
            "smallest expected group",
            group,
            "records",
            DIRECTIONS["more"],
            "n min_z p(z)",
            "after Sweeney 2002",
            f"The rarest released value is expected for {group:.3g} of the {joint.records:,} records"
            + (f"; {rare}." if (rare := rare_values(p_z, joint.records)) else "."),
        )
    kept = bits(utility(joint, W, task))
    whole, of = (
        (joint.entropy_x, "what is released") if task is None else (task.keep.mutual_information, what_is_kept(task))
    )
    yield AuditLine(
        "utility",
        kept,
        "bits",
        DIRECTIONS["more"],
        "I(X;Z)" if task is None else "I(U;Z)",
        "Shannon 1948",
        f"The release keeps {kept:.4g} of the {bits(whole):.4g} bits of {of}.",
    )


def utility(joint: Joint, W: Array, task: TaskJoint | None) -> float:
    """I(X;Z), or I(U;Z) of a task; nats."""
    return plane_point(joint, W).ixz if task is None else plane_point(task.keep, W).iyz


def what_is_kept(task: TaskJoint) -> str:
    """What the bits of a task are about, in words."""
    return f"what {', '.join(task.keep.x_names)} tell of {', '.join(task.keep.y_names)}"


def _of_gain(joint: Joint, J: Array, seen: NDArray[np.bool_], gain: Any) -> Iterator[AuditLine]:
    """g-leakage, if there is a gain."""
    if gain is None:
        return
    table = real_array("gain", gain)
    if table.ndim != 2 or table.shape[1] != joint.shape[1] or not np.isfinite(table).all() or table.shape[0] == 0:
        raise InvalidOptionError(
            f"gain must be a table with a row for each guess and a column for each of the {joint.shape[1]} values of the secret, all "
            f"finite; found shape {table.shape}."
        )
    found = measures.gain_vulnerability(J, table[:, seen])
    yield AuditLine(
        "g-vulnerability, before",
        found.before,
        "gain",
        DIRECTIONS["less"],
        "max_w sum_s p(s) g(w,s)",
        "Alvim et al. 2012",
        f"Without the release the best guess gains {found.before:.4g} on average.",
    )
    yield AuditLine(
        "g-vulnerability, after",
        found.after,
        "gain",
        DIRECTIONS["less"],
        "sum_z max_w sum_s p(s,z) g(w,s)",
        "Alvim et al. 2012",
        f"With it the best guess gains {found.after:.4g}: {found.after - found.before:+.4g}.",
    )


def _of_samples(joint: Joint, encoder: Any, W: Array) -> Iterator[AuditLine]:
    """What the records say of the population, if there are any."""
    if joint.counts is None or (joint.records or 0) < 2:
        return
    found = leakage_bound(encoder if hasattr(encoder, "encoder") else W, joint)
    yield AuditLine(
        "mutual information, population",
        bits(found.bound),
        "bits",
        DIRECTIONS["low"],
        "upper confidence bound of I(S;Z)",
        "docs/explanation/samples.md",
        f"{found}.".replace("I(Y;Z)", "I(S;Z)"),
    )


def _best_possible(joint: Joint, W: Array, task: TaskJoint | None, encoder: Any, seconds: float) -> AuditLine:
    """What utility any release with this leakage could have; a release under a cap on it alone knows."""
    point = plane_point(joint, W)
    alone = isinstance(encoder, Release) and encoder.max_lift is None and encoder.min_group is None
    best = encoder if alone else release_mechanism(task or joint, max_leakage=point.iyz, max_seconds=seconds)
    most, lost = bits(best.upper_bound), bits(best.upper_bound - utility(joint, W, task))
    return AuditLine(
        "utility of the best release",
        most,
        "bits",
        DIRECTIONS["bound"],
        f"max {'I(X;Z)' if task is None else 'I(U;Z)'} with this I(S;Z), upper bound",
        "docs/explanation/exact_funnel.md",
        f"No release that leaks {bits(point.iyz):.4g} bits on average keeps more than {most:.4g} bits, which is proven: at "
        f"most {max(lost, 0.0):.2g} above this one.",
    )


def _by_value(joint: Joint, W: Array, J: Array, held: NDArray[np.bool_], seen: NDArray[np.bool_]) -> pd.DataFrame:
    """A row for each released value, the largest lift first."""
    import pandas as pd

    lifts, letters = measures.lifts(J[held]), np.flatnonzero(seen)
    p_z, rows = J[held].sum(axis=1), np.flatnonzero(held)
    frame = pd.DataFrame(
        {
            "p_z": p_z,
            "expected_records": p_z * joint.records if joint.records is not None else np.nan,
            "stands_for": cluster_names(joint, W[rows]),
            "likelier_secret": [label_text(joint.y_labels[letters[s]]) for s in lifts.argmax(axis=1)],
            "max_lift_bits": lifts.max(axis=1) / NATS_PER_BIT,
            "min_lift_bits": lifts.min(axis=1) / NATS_PER_BIT,
            "best_guess": [label_text(joint.y_labels[letters[s]]) for s in J[held].argmax(axis=1)],
            "guess_right": J[held].max(axis=1) / p_z,
            "total_variation": measures.closeness(J[held]),
        },
        index=pd.Index(rows, name="z"),
    )
    return frame.sort_values("max_lift_bits", ascending=False, kind="stable")


def _by_secret(joint: Joint, J: Array, seen: NDArray[np.bool_]) -> pd.DataFrame:
    """A row for each value of the secret."""
    import pandas as pd

    lifts, prior = measures.lifts(J), J.sum(axis=0)
    guesses = J.argmax(axis=1)
    right = np.bincount(guesses, J.max(axis=1), minlength=J.shape[1]) / prior
    return pd.DataFrame(
        {
            "prior": prior,
            "max_lift_bits": lifts.max(axis=0) / NATS_PER_BIT,
            "min_lift_bits": lifts.min(axis=0) / NATS_PER_BIT,
            "guessed_right": right,
        },
        index=pd.Index([label_text(joint.y_labels[s]) for s in np.flatnonzero(seen)], name=", ".join(joint.y_names)),
    )


class Told(NamedTuple):
    """What the released values of each kind of record, x and s, tell of its own secret; tables (|X|, |S|) of the letters seen."""

    joint: Joint
    letters: NDArray[np.int64]
    """The s of the columns."""
    P: Array
    """p(x, s)."""
    mean: Array
    """sum_z p(z|x) log p(s|z)/p(s): I(S;Z) is their mean."""
    most: Array
    """The largest log p(s|z)/p(s) of a z with p(z|x) > 0."""
    right: Array
    """How often the best guess of s from z is right."""
    worst: Array
    """max over s of the same, of each x: the pointwise maximal leakage that such a record may meet."""
    kept: Array
    """p(z|x)."""

    @classmethod
    def of(cls, joint: Joint, W: Array, J: Array, seen: NDArray[np.bool_]) -> Told:
        """Of the released values with mass."""
        P = dense(joint.p_xy)
        lifts = measures.lifts(J)
        finite = np.where(np.isfinite(lifts), lifts, 0.0)  # a z that rules s out is never that of a record with s
        may = W > 0.0
        most = np.stack([np.where(may, lifts[:, [s]], -np.inf).max(axis=0) for s in range(J.shape[1])], axis=1)
        guesses = np.eye(J.shape[1])[J.argmax(axis=1)]
        worst = np.where(may, lifts.max(axis=1)[:, None], -np.inf).max(axis=0)
        return cls(joint, np.flatnonzero(seen), P[:, seen], W.T @ finite, most, W.T @ guesses, worst, W)


def _by_record(told: Told) -> pd.DataFrame:
    """A row for each x and s that occur, the largest lift first."""
    import pandas as pd

    joint, (x, s) = told.joint, np.nonzero(told.P)
    share = told.P[x, s]
    frame = pd.DataFrame(
        {
            "x": [label_text(joint.x_labels[one]) for one in x],
            "secret": [label_text(joint.y_labels[one]) for one in told.letters[s]],
            "share": share,
            "records": share * joint.records if joint.records is not None else np.nan,
            "mean_lift_bits": told.mean[x, s] / NATS_PER_BIT,
            "max_lift_bits": told.most[x, s] / NATS_PER_BIT,
            "guessed_right": told.right[x, s],
        }
    )
    return frame.sort_values("max_lift_bits", ascending=False, kind="stable", ignore_index=True)


def _by_attribute(told: Told) -> pd.DataFrame:
    """A row for each value of each column of x."""
    import pandas as pd

    joint, p_x = told.joint, told.P.sum(axis=1)
    p_z, prior = told.kept @ p_x, int(told.P.sum(axis=0).argmax())
    rows = []
    for at, name in enumerate(joint.x_names):
        values = [label[at] if len(joint.x_names) > 1 else label for label in joint.x_labels]  # type: ignore[index]
        places: dict[Any, list[int]] = {}
        for x, value in enumerate(values):
            if p_x[x] > 0.0:
                places.setdefault(value, []).append(x)
        for value, some in places.items():
            mass = float(p_x[some].sum())
            given = told.kept[:, some] @ p_x[some] / mass
            rows.append(
                {
                    "column": name,
                    "value": label_text(value),
                    "share": mass,
                    "records": mass * joint.records if joint.records is not None else np.nan,
                    "mean_lift_bits": float((told.P[some] * told.mean[some]).sum()) / mass / NATS_PER_BIT,
                    "max_lift_bits": float(told.worst[some].max()) / NATS_PER_BIT,
                    "guessed_right": float((told.P[some] * told.right[some]).sum()) / mass,
                    "guessed_before": float(told.P[some, prior].sum()) / mass,
                    "told_of_it_bits": float(rel_entr(given, p_z).sum()) / NATS_PER_BIT,
                }
            )
    return pd.DataFrame(rows)

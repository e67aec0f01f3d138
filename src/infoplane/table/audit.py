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
from ..joint.tables import by_column, dense
from ..joint.task_joint import TaskJoint
from ..sampling.leakage import leakage_bound
from ..table import measures

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
    found = [*_lines(joint, W, J[held], task), *_of_gain(joint, J[held], seen, gain), *_of_samples(joint, encoder, W)]
    if seconds > 0.0:
        found.append(_best_possible(joint, W, task, encoder, seconds))
    return measured(found, "X" if task is None else "U")


def measured(found: list[Finding], kept: str = "X") -> pd.DataFrame:
    """The frame of an audit; utility is what Z tells of ``kept``."""
    import pandas as pd

    rows = []
    for name, value, sentence in found:
        unit, direction, formula, reference = MEASURES[name if name in MEASURES else name.rpartition(",")[0]]
        rows.append((name, value, unit, direction, formula.replace("I(X;Z)", f"I({kept};Z)"), reference, sentence))
    columns = ["measure", "value", "unit", "direction", "formula", "reference", "sentence"]
    return pd.DataFrame(rows, columns=columns).set_index("measure")


def _lines(joint: Joint, W: Array, J: Array, task: TaskJoint | None) -> Iterator[Finding]:
    """The measures that need nothing but p(z, s)."""
    p_z, guess, pml = J.sum(axis=1), measures.bayes_vulnerability(J), measures.pointwise_maximal_leakage(J)
    told = bits(plane_point(joint, W).iyz)
    said = f"On average a released value tells {told:.4g} of the {bits(joint.entropy_y):.4g} bits of the secret."
    yield "mutual information", told, said
    said = f"Without the release the best guess of the secret is right for {guess.before:.2%} of the records."
    yield "best guess, before", guess.before, said
    said = f"With it the best guess is right for {guess.after:.2%}: {guess.after - guess.before:+.2%}."
    yield "best guess, after", guess.after, said
    said = f"The best guess is {guess.after / guess.before:.3g} times as often right as before."
    yield "min-entropy leakage", bits(guess.leakage), said
    left = measures.bayes_security(J)
    yield "Bayes security", left, f"{left:.2%} of the errors of the best guess are left."
    left = measures.min_bayes_security(J)
    said = f"Whatever the prior, at least {left:.2%} of the errors are left."
    yield "Bayes security, worst prior", left, said
    for share in (0.5, 0.95):
        most = bits(measures.quantile(pml, p_z, share))
        said = f"For {share:.0%} of the records no secret becomes more than {2**most:.3g} times as likely."
        yield f"pointwise maximal leakage, {share:.0%}", most, said
    most = bits(float(pml.max()))
    said = f"No released value makes any secret more than {2**most:.3g} times as likely as it was."
    yield "pointwise maximal leakage, worst", most, said
    unbounded = "Unbounded: some released value rules a secret out."
    most = bits(measures.local_information_privacy(J))
    said = f"No secret becomes likelier, or less likely, by a factor of more than {2**most:.3g}."
    yield "local information privacy", most, unbounded if np.isinf(most) else said
    most = bits(measures.local_differential_privacy(J))
    said = f"No released value is more than {2**most:.3g} times as likely under one secret as under another."
    yield "local differential privacy of S", most, unbounded if np.isinf(most) else said
    most = bits(measures.maximal_leakage(J))
    said = (
        f"Whatever function of the secret somebody guesses, he is right at most {2**most:.3g} times as often as before."
    )
    yield "maximal leakage", most, said
    diversity, effective = measures.distinct_diversity(J), measures.entropy_diversity(J)
    said = f"Every released value leaves at least {diversity} of {J.shape[1]} secrets possible, as uncertain as {effective:.3g} equal ones."
    yield "l-diversity", float(diversity), said
    apart = float(measures.closeness(J).max())
    said = f"Among the records of any released value the secrets' shares differ by {apart:.2%} in all from everybody's."
    yield "t-closeness", apart, said
    if joint.records is not None:
        group, rare = float(p_z.min()) * joint.records, rare_values(p_z, joint.records)
        said = f"The rarest released value is expected for {group:.3g} of the {joint.records:,} records"
        yield "smallest expected group", group, f"{said}; {rare}." if rare else f"{said}."
    kept = bits(utility(joint, W, task))
    whole, of = (
        (joint.entropy_x, "what is released") if task is None else (task.keep.mutual_information, what_is_kept(task))
    )
    yield "utility", kept, f"The release keeps {kept:.4g} of the {bits(whole):.4g} bits of {of}."


def utility(joint: Joint, W: Array, task: TaskJoint | None) -> float:
    """I(X;Z), or I(U;Z) of a task; nats."""
    return plane_point(joint, W).ixz if task is None else plane_point(task.keep, W).iyz


def what_is_kept(task: TaskJoint) -> str:
    """What the bits of a task are about, in words."""
    return f"what {', '.join(task.keep.x_names)} tell of {', '.join(task.keep.y_names)}"


def _of_gain(joint: Joint, J: Array, seen: NDArray[np.bool_], gain: Any) -> Iterator[Finding]:
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
    said = f"Without the release the best guess gains {found.before:.4g} on average."
    yield "g-vulnerability, before", found.before, said
    said = f"With it the best guess gains {found.after:.4g}: {found.after - found.before:+.4g}."
    yield "g-vulnerability, after", found.after, said


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
    for name, values in by_column(joint.x_labels, joint.x_names).items():
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

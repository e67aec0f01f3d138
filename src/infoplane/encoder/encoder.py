"""Encoders W[z, x] = p(z|x): whether a matrix is one, which of its clusters coincide, what they hold, and what
follows from it (`EncoderView`).

Two clusters coincide if their posteriors p(x|z) = p(z|x) p(x) / p(z) agree to `SAME_POSTERIOR` in total variation. For the Lagrangians with
a posterior form merging clusters of equal posterior changes nothing. A letter x is the more typical of z, the more it adds to what z says
of y,

    D(p(y|z) || p(y)) = sum_x p(x|z) sum_y p(y|x) log(p(y|z) / p(y))
                      = sum_x p(x|z) (D(p(y|x) || p(y)) - D(p(y|x) || p(y|z)))

so that it is frequent in z, differs from the average as z does, and does not differ from z. A letter whose p(y|x) is average adds nothing,
however frequent it is; one that speaks against z adds less than nothing. Of a cluster that says nothing of y, as a funnel's may, those x
are typical that add most to D(p(x|z) || p(x)): frequent in z and rarer elsewhere.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from ..checks import SUM_TOLERANCE, check_one_of
from ..errors import InvalidEncoderError
from ..formatting import label_text
from ..information import Array, IntArray, PlanePoint, plane_point, rel_entr
from ..joint.joint import Joint, check_joint, same_records
from ..joint.tables import positions

if TYPE_CHECKING:
    import pandas as pd

SMALLEST_MASS = 1e-6
"""p(z) above which a cluster counts: one record in a million. Runs that end before a cluster is quite empty leave less in it."""

SAME_POSTERIOR = 1e-2
"""Total variation within which posteriors count as equal: far above what a stationarity of 1e-8 leaves between equal clusters, far below
the distance of different ones."""


def check_encoder(joint: Joint, encoder: Array) -> Array:
    """The encoder as a float array, or an error that names the first column that is not a distribution over z."""
    check_joint(joint)
    if hasattr(encoder, "columns"):
        raise InvalidEncoderError(
            "an encoder must be an array W[z, x] = p(z|x); found a frame, whose rows would be taken for z. Give frame.to_numpy().T, with "
            "the x in the joint's order."
        )
    try:
        W = np.asarray(encoder, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidEncoderError(
            f"an encoder must be a table of numbers, W[z, x] = p(z|x); found {reprlib.repr(encoder)}."
        ) from None
    if W.ndim != 2 or W.shape[1] != joint.shape[0] or W.shape[0] == 0:
        raise InvalidEncoderError(
            f"an encoder must have shape (|Z|, |X|) = (any, {joint.shape[0]}), found {W.shape}; W[z, x] = p(z|x)."
        )
    bad = ~np.isfinite(W) | (W < 0)
    if bad.any():
        z, x = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidEncoderError(f"an encoder holds probabilities, found {W[z, x]} at z = {z}, x = {x}.")
    error = np.abs(W.sum(axis=0) - 1.0)
    if error.max() > SUM_TOLERANCE:
        x = int(error.argmax())
        raise InvalidEncoderError(
            f"each column of an encoder must sum to 1; column x = {x} sums to {W[:, x].sum():.12g}. "
            "If rows sum to 1 instead, pass its transpose."
        )
    return W


def encoder_for(joint: Joint, given: Any) -> Array:
    """p(z|x) with a column for each x of the joint: of an array as it is, of a result that has an ``encoder`` by the labels of its x."""
    made = getattr(given, "joint", None)
    if not isinstance(made, Joint):
        return check_encoder(joint, getattr(given, "encoder", given))
    columns = {label: x for x, label in enumerate(made.x_labels)}
    unknown = next((label for label in joint.x_labels if label not in columns), None)
    if unknown is not None:
        raise InvalidEncoderError(
            f"the encoder has no column for x = {unknown!r}, which these records have: say what is released for it, as one more "
            "column, or leave its records out."
        )
    return check_encoder(joint, np.asarray(given.encoder)[:, [columns[label] for label in joint.x_labels]])


def made_from(joint: Joint, given: Any) -> bool:
    """Whether a result was made from the records of this joint: from their table, their shares, or a mixture of targets with this one."""
    made = [getattr(given, of, None) for of in ("joint", "secret")]
    return any(isinstance(one, Joint) and (same_records(joint, one) or _has_shares(one, joint)) for one in made)


def _has_shares(made: Joint, joint: Joint) -> bool:
    """Whether a joint without records has the p(x, y) of a table of them, as a whole or as one of its targets."""
    rows = positions(joint.x_labels, made.x_labels)
    if joint.counts is None or made.counts is not None or (rows < 0).any() or len(made.x_labels) != len(rows):
        return False
    shares = joint.counts / joint.counts.sum()
    parts = (made.p_xy[rows][:, one.columns] / one.weight for one in made.targets)
    return any(part.shape == shares.shape and abs(part - shares).max() <= SUM_TOLERANCE for part in parts)


def hard_map(values: Iterable[Hashable]) -> Array:
    """W[z, x] = 1 where x has the z-th of the values that differ, in the order in which they appear."""
    some = [*values]
    clusters = {value: z for z, value in enumerate(dict.fromkeys(some))}
    return np.eye(len(clusters))[:, [clusters[value] for value in some]]


def distinct_clusters(W: Array, p_x: Array, smallest: float = SMALLEST_MASS) -> list[list[int]]:
    """The clusters of mass p(z) > ``smallest`` that differ, largest first, each followed by those that coincide with it.

    No set of letters has masses under two posteriors that are farther apart than their total variation: eight sets, drawn once, tell nearly
    all pairs apart, and only the others are looked at letter by letter.
    """
    p_z = W @ p_x
    alive = [int(z) for z in np.argsort(-p_z, kind="stable") if p_z[z] > smallest]
    posteriors = W * p_x / np.where(p_z > smallest, p_z, 1.0)[:, None]
    masses = posteriors @ np.random.default_rng(0).integers(0, 2, (W.shape[1], 8)).astype(float)
    groups: list[list[int]] = []
    for z in alive:
        heads = np.array([group[0] for group in groups], dtype=np.int64)
        near = np.flatnonzero(np.abs(masses[heads] - masses[z]).max(axis=1) <= SAME_POSTERIOR + 1e-9)
        distance = 0.5 * np.abs(posteriors[heads[near]] - posteriors[z]).sum(axis=1)
        if len(near) and distance.min() <= SAME_POSTERIOR:
            groups[int(near[np.argmin(distance)])].append(z)
        else:
            groups.append([z])
    return groups


def compact(W: Array, p_x: Array) -> Array:
    """The encoder with coinciding clusters merged and empty ones left out, so that mixtures of mixtures do not grow."""
    groups = distinct_clusters(W, p_x, smallest=0.0)
    merged = np.array([W[group].sum(axis=0) for group in groups])
    # A letter of zero mass may have had all its weight in clusters of zero mass, which are gone: it gets p(z).
    p_z = merged @ p_x
    merged[:, p_x == 0.0] = (p_z / p_z.sum())[:, None]
    merged /= merged.sum(axis=0)
    return merged


SEEN = 0.005
"""A letter with p(z|x) below this is not counted as one of the cluster's: tables and pictures show two digits of it, 0.00."""

NEGLIGIBLE = 1e-4
"""Nats that a letter adds to a divergence: one that adds less is not typical. No digit that is shown of a divergence would change."""


class Cluster(NamedTuple):
    """One cluster."""

    z: int
    """Its row of the encoder."""
    mass: float
    """p(z)."""
    letters: int
    """How many x have p(z|x) >= `SEEN`."""
    typical: tuple[int, ...]
    """The x that are most typical, by index, the most typical first."""
    p_y: Array
    """p(y|z); of a joint that mixes several targets, of each target on its own."""


def by_mass(joint: Joint, encoder: Array, letters: int, most: int | None = None) -> Iterator[Cluster]:
    """The clusters, largest p(z) first, or the ``most`` largest; each with so many typical letters."""
    p_z, weights = encoder @ joint.p_x, joint.target_weights
    for z in np.argsort(-p_z, kind="stable")[:most].tolist():
        mass = max(float(p_z[z]), np.finfo(float).tiny)
        yield Cluster(
            z,
            float(p_z[z]),
            int(np.count_nonzero(encoder[z] >= SEEN)),
            typical(joint, encoder[z], letters),
            (encoder[z] @ joint.p_xy) / mass / weights,
        )


def typical(joint: Joint, row: Array, most: int) -> tuple[int, ...]:
    """The letters that are most typical of a cluster, at most so many; ``row`` is its p(z|x). Those that add nothing are left out.

    Where no letter adds anything (a single cluster for all), the most frequent are typical.
    """
    posterior = _posterior(joint, row)
    said = told(joint, row) / max(float(row @ joint.p_x), np.finfo(float).tiny)
    return _first(said if said.sum() > NEGLIGIBLE else _set_apart(joint, posterior), posterior, most)


def cluster_names(joint: Joint, encoder: Array, letters: int = 3) -> list[str]:
    """What each cluster stands for, whatever Y is: the x that set it apart, those that add most to D(p(x|z) || p(x)), and how many more.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.Joint.from_counts([[8, 1], [9, 1], [1, 9]], x_labels=["cook", "clerk", "judge"])
    >>> cluster_names(joint, ip.partition(joint, clusters=2).encoder)
    ['clerk; cook', 'judge']
    """
    said = []
    for row in encoder:
        posterior = _posterior(joint, row)
        first = _first(_set_apart(joint, posterior), posterior, letters)
        more = int(np.count_nonzero(row >= SEEN)) - len(first)
        shown = [label_text(joint.x_labels[x], 40) for x in first]
        said.append("; ".join([*shown, f"{more:,} more"] if more > 0 else shown))
    return said


def _posterior(joint: Joint, row: Array) -> Array:
    """p(x|z) of a cluster, whose p(z|x) is ``row``."""
    found: Array = row * joint.p_x / max(float(row @ joint.p_x), np.finfo(float).tiny)
    return found


def _set_apart(joint: Joint, posterior: Array) -> Array:
    """What each x adds to D(p(x|z) || p(x))."""
    return rel_entr(posterior, np.where(joint.p_x > 0.0, joint.p_x, 1.0))


def _first(added: Array, posterior: Array, most: int) -> tuple[int, ...]:
    """The letters that add most, at most so many, and none that adds nothing beside some that do."""
    # Rounded, so that letters of equal weight keep the order of the alphabet; where nothing is added, by frequency.
    order = np.lexsort((-posterior.round(12), -added.round(12)))
    kept = posterior > 0.0
    if (added > NEGLIGIBLE).any():
        kept &= added > NEGLIGIBLE
    return tuple(int(x) for x in order[kept[order]][:most])


def told(joint: Joint, row: Array) -> Array:
    """What each x adds to p(z) D(p(y|z) || p(y)), the cluster's share of I(Y;Z); ``row`` is the cluster's p(z|x), nats."""
    p_zy = row @ joint.p_xy
    seen = p_zy > 0.0
    ratio = np.zeros(len(p_zy))
    ratio[seen] = np.log(p_zy[seen] / joint.p_y[seen] / p_zy.sum())
    added: Array = row * (joint.p_xy @ ratio)
    return added


def predicted(cluster: Cluster, y_labels: tuple[Hashable, ...], most: int) -> str:
    """p(y|z) in words, the largest first: ``ham 0.94, spam 0.06``; of several targets, ``keep income: low 0.62; hide sex: f 0.58``."""
    if cluster.p_y.sum() > 1.5:  # each target has a p(y|z) of its own, and stands first in its labels
        parts: dict[Hashable, dict[int, Hashable]] = {}
        for y, label in enumerate(y_labels):
            assert isinstance(label, tuple)
            parts.setdefault(label[0], {})[y] = label[1:]
        return "; ".join(f"{label_text(name, 24)}: {_largest(cluster.p_y, part, most)}" for name, part in parts.items())
    return _largest(cluster.p_y, dict(enumerate(y_labels)), most)


def _largest(p_y: Array, labels: dict[int, Hashable], most: int) -> str:
    order = [y for y in sorted(labels, key=lambda y: -p_y[y])[:most] if p_y[y] >= SEEN]
    return ", ".join(f"{label_text(labels[y], 24)} {p_y[y]:.2f}" for y in order)


UNSEEN_RULES = ("error", "marginal", "suppress")
"""What may become of a record whose x the joint has never met."""


class EncoderView:
    """What follows from a joint and an encoder p(z|x), which a subclass has as ``joint`` and ``encoder``; nats."""

    if TYPE_CHECKING:

        @property
        def joint(self) -> Joint: ...  # noqa: D102
        @property
        def encoder(self) -> Array: ...  # noqa: D102

    @cached_property
    def _point(self) -> PlanePoint:
        return plane_point(self.joint, self.encoder)

    @property
    def ixz(self) -> float:
        """I(X;Z)."""
        return self._point.ixz

    @property
    def iyz(self) -> float:
        """I(Y;Z)."""
        return self._point.iyz

    @cached_property
    def by_target(self) -> dict[str, float]:
        """I(S_j;Z) by the name of each target of a mixture (`Joint.mixed`); of any other joint I(Y;Z) by the name of Y."""
        return self.joint.target_informations(self.encoder)

    @cached_property
    def _tasks(self) -> tuple[float, float]:
        """I(U;Z) of what is kept, and I(S;Z) of what is hidden."""
        kept, hidden = self.joint.roles()
        return self.by_target[kept.name], self.by_target[hidden.name]

    @property
    def iuz(self) -> float:
        """I(U;Z) of what a `TaskJoint` keeps; an error for any other joint."""
        return self._tasks[0]

    @property
    def isz(self) -> float:
        """I(S;Z) of what a `TaskJoint` hides; an error for any other joint."""
        return self._tasks[1]

    @property
    def clusters(self) -> int:
        """|Z|: rows of the encoder."""
        return int(self.encoder.shape[0])

    @property
    def p_z(self) -> Array:
        """p(z) = sum_x p(z|x) p(x)."""
        return self.encoder @ self.joint.p_x

    def encoder_frame(self) -> pd.DataFrame:
        """The encoder as a pandas frame: one row per letter x with the joint's labels, one column per cluster."""
        import pandas as pd

        columns = [f"z{z}" for z in range(self.clusters)]
        return pd.DataFrame(self.encoder.T.copy(), index=self._index(), columns=columns)

    def labels(self) -> Any:
        """The cluster z with the largest p(z|x) of every letter x, as a pandas Series by the joint's labels; the first, if several have it.

        It is a system of hard labels: `infoplane.efficiency` and `infoplane.gnid` take it as it is.

        Examples
        --------
        >>> import infoplane as ip
        >>> ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), rng=0).labels().nunique()
        3
        """
        import pandas as pd

        return pd.Series(self.encoder.argmax(axis=0), index=self._index(), name="cluster")

    def cluster_names(self, letters: int = 3) -> Any:
        """What each cluster stands for, as a pandas Series by z: the x that set it apart, at most ``letters``, and how many more.

        Examples
        --------
        >>> import infoplane as ip
        >>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(0.2), rng=0)
        >>> print(s.labels().map(s.cluster_names(1)).value_counts().to_string())
        cluster
        none; 15 more      12
        smoking; 7 more     4
        """
        import pandas as pd

        held = cluster_names(self.joint, self.encoder, letters)
        return pd.Series(held, index=pd.RangeIndex(self.clusters, name="z"), name="stands_for")

    def assign(
        self,
        labels: Any,
        *,
        rng: int | np.random.Generator | None = None,
        ids: Any = None,
        key: bytes | None = None,
        unseen: Literal["error", "marginal", "suppress"] = "error",
    ) -> IntArray:
        """A released value z for each record, drawn from p(z|x) of its label x.

        **Without ids every call draws anew**, and two draws for one record may tell together what each hides alone
        (docs/howto/release.md): release once, or give ``ids`` and ``key``.

        Parameters
        ----------
        labels
            The label x of each record, as ``joint.x_labels`` has them: tuples if there are several columns.
        rng
            Seed of the draws, if there are no ids.
        ids, key
            An id for each record and a secret key of 16 to 64 random bytes: the same record, by the text of its id, always gets the same z.
        unseen
            Labels that the joint has never met: ``"error"`` refuses them, by how many there are; ``"marginal"`` draws from p(z), which
            tells nothing of them; ``"suppress"`` gives -1.

        Examples
        --------
        >>> import infoplane as ip
        >>> kept = ip.perfect_privacy(ip.datasets.paper_uniform())
        >>> key = bytes(range(32))
        >>> kept.assign([0, 1, 2], ids=["a", "b", "c"], key=key).tolist() == kept.assign([0, 1, 2], ids=["a", "b", "c"], key=key).tolist()
        True
        """
        from .letters import letters_of_labels

        check_one_of("unseen", unseen, UNSEEN_RULES)
        letters = letters_of_labels(self.joint, labels, refuse_unseen=unseen == "error")
        return self._drawn(letters, rng, ids, key, suppress=unseen == "suppress")

    def _drawn(self, letters: IntArray, rng: Any, ids: Any, key: bytes | None, *, suppress: bool) -> IntArray:
        from .applying import drawn

        W = np.column_stack([self.encoder, self.p_z])
        return drawn(W, letters, np.random.default_rng(rng), ids, key, suppress=suppress)

    def transform(
        self,
        frame: Any,
        *,
        rng: int | np.random.Generator | None = None,
        ids: Any = None,
        key: bytes | None = None,
        unseen: Literal["error", "marginal", "suppress"] = "error",
    ) -> Any:
        """A released value z for each row, as a pandas Series ``z`` on the frame's index; the joint's bins are applied.

        The frame, of pandas, polars or pyarrow, has the joint's columns of x; other columns play no part. **Without ids every call draws
        anew**, see `assign`, which explains the options; ``ids`` may name a column of the frame. With ``unseen="suppress"`` the Series is
        of pandas' Int64, and missing where the joint has never met the row.

        Examples
        --------
        >>> import infoplane as ip, pandas as pd
        >>> rows = pd.DataFrame({"age": [31, 40, 52, 67], "ill": [0, 0, 1, 1]})
        >>> joint = ip.Joint.from_frame(rows, "age", "ill", bins={"age": 2})
        >>> z = ip.solve(joint, ip.bottleneck(0.1), rng=0).transform(pd.DataFrame({"age": [18, 99, 20]}), rng=0)
        >>> bool(z[0] == z[2] != z[1])
        True
        """
        import pandas as pd

        from .letters import column_of, in_memory, letters_of_rows

        check_one_of("unseen", unseen, UNSEEN_RULES)
        letters = letters_of_rows(self.joint, frame, refuse_unseen=unseen == "error")
        if isinstance(ids, str):
            ids = column_of(in_memory(frame), ids).tolist()
        z = self._drawn(letters, rng, ids, key, suppress=unseen == "suppress")
        index = frame.index if isinstance(frame, pd.DataFrame) else None
        made = pd.Series(z, index=index, name="z")
        return made.astype("Int64").mask(made < 0) if unseen == "suppress" else made

    def _index(self) -> Any:
        import pandas as pd

        joint = self.joint
        if len(joint.x_names) > 1:
            return pd.MultiIndex.from_tuples(cast(Any, joint.x_labels), names=joint.x_names)
        return pd.Index(joint.x_labels, name=joint.x_names[0], tupleize_cols=False)

    def clusters_frame(self, letters: int = 5) -> pd.DataFrame:
        """What each cluster holds, as a pandas frame: one row per cluster, largest p(z) first.

        Columns: ``p_z``; ``letters``, how many x have p(z|x) >= 0.005; ``typical``, the labels of the x that add most to
        what the cluster says of y, D(p(y|z) || p(y)), at most ``letters`` of them (`infoplane.encoder.encoder`); and p(y|z), one column
        per y, named ``p(y|z)`` with y's label for y.

        Examples
        --------
        >>> import infoplane as ip
        >>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(0.2), rng=0)
        >>> s.clusters_frame().p_z.round(3).tolist()
        [0.785, 0.215]
        """
        import pandas as pd

        joint = self.joint
        held = list(by_mass(joint, self.encoder, letters))
        index = pd.Index([one.z for one in held], name="z")
        facts = {
            "p_z": [one.mass for one in held],
            "letters": [one.letters for one in held],
            "typical": [tuple(joint.x_labels[x] for x in one.typical) for one in held],
        }
        names = [f"p({label_text(label)}|z)" for label in joint.y_labels]
        posteriors = pd.DataFrame(np.array([one.p_y for one in held]), index=index, columns=names)
        return pd.concat([pd.DataFrame(facts, index=index), posteriors], axis=1)

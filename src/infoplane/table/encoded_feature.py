"""One feature, encoded: a column, or several as one, with what every letter of it becomes.

A letter that was never met becomes what the prior p(y) says: the cluster nearest to it, p(y) itself, p(z).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..encoder.encoder import by_mass, predicted, typical
from ..errors import InvalidJointError
from ..formatting import label_text
from ..information import Array, IntArray, plane_point
from ..joint.joint import Joint
from ..joint.tables import LARGEST_TABLE
from .column_groups import ColumnGroups, cross_counts, grouped_categories, interval_centres
from .letters import IntervalLetters, Letters, looked_up
from .operating_point import OperatingPoint

if TYPE_CHECKING:
    import pandas as pd

OUTPUTS = ("cluster", "posterior", "log_posterior", "soft")

OTHER = "other"
"""The label of all categories that are too rare to stand alone, if a least count is asked for."""

TYPICAL = 5
"""Categories of a cluster that are called typical of it."""


@dataclass(frozen=True, eq=False)
class EncodedFeature:
    """A feature's letters, their counts and their clusters."""

    name: str
    columns: tuple[int, ...]
    letters: Letters = field(repr=False)
    rows: IntArray = field(repr=False)
    """The row of ``counts`` of every letter: rare letters share the last."""
    counts: Array = field(repr=False)
    """N[x, y] of the training rows, or their weight."""
    labels: tuple[Hashable, ...] = field(repr=False)
    """What every row of ``counts`` is called."""
    prior: Array = field(repr=False)
    """p(y)."""
    groups: ColumnGroups | None = field(repr=False)
    """None for intervals of numbers, which are clusters as they are."""

    @classmethod
    def of(
        cls,
        name: str,
        columns: tuple[int, ...],
        letters: Letters,
        codes: IntArray,
        y: IntArray,
        weights: Array,
        outcomes: int,
        *,
        point: OperatingPoint,
        min_count: int,
    ) -> EncodedFeature:
        """The feature whose letters the training rows have as ``codes``, with the classes ``y``."""
        if letters.size * outcomes > LARGEST_TABLE:
            raise InvalidJointError(
                f"the counts of a feature are a table of at most {LARGEST_TABLE:,} cells; {name!r} has {letters.size:,} categories, and "
                f"there are {outcomes:,} classes. Group rare categories first."
            )
        N = cross_counts(codes, y, weights, (letters.size, outcomes))
        intervals = isinstance(letters, IntervalLetters)
        rows, labels = np.arange(len(N)), letters.labels
        rare = (N.sum(axis=1) < min_count) & (not intervals)
        if rare.sum() > 1:
            kept = np.flatnonzero(~rare)
            rows = np.where(rare, len(kept), np.cumsum(~rare) - 1)
            names = [labels[i] for i in kept]
            labels = [*names, OTHER if OTHER not in names else f"{OTHER} (rare)"]
            N = np.vstack([N[kept], N[rare].sum(axis=0)])
        total = np.asarray(N.sum(axis=0))
        groups = None if intervals else grouped_categories(N, point)
        prior = interval_centres(total[None])[0] if groups is None else np.asarray(groups.denoising.prior)
        return cls(name, columns, letters, rows, N, tuple(labels), prior, groups)

    @property
    def clusters(self) -> int:
        """|Z|."""
        return len(self.counts) if self.groups is None else self.groups.clusters

    @cached_property
    def centres(self) -> Array:
        """p(y|z)."""
        return interval_centres(self.counts) if self.groups is None else self.groups.centres

    def codes(self, columns: Sequence[pd.Series[Any]]) -> IntArray:
        """Rows of the tables for other rows of the columns; one past the last for what was never met."""
        return looked_up(self.letters, self.rows, len(self.counts), columns)

    def table(self, output: str, counts: Array | None = None) -> Array:
        """What every letter becomes, and in the last row what was never met; from other counts of the same letters, if they are given."""
        table: Array = self.tables(output, counts)[0]
        return table

    def tables(self, output: str, counts: Array | None = None) -> tuple[Any, IntArray]:
        """The same, and the cluster of each."""
        if self.groups is None:
            nearest = int((np.log(self.centres) @ self.prior).argmax())
            labels: IntArray = np.array([*range(self.clusters), nearest])
            centres = np.vstack([self.centres, self.prior])
            shares = self.counts.sum(axis=1) / self.counts.sum()
            soft = np.vstack([np.eye(self.clusters), shares])
            kinds: dict[str, Any] = {"cluster": labels[:, None], "posterior": centres, "log_posterior": np.log(centres)}
            return kinds.get(output, soft), labels
        N = np.vstack([self.counts if counts is None else counts, np.zeros(len(self.prior))])
        p_y_given_x = self.groups.conditional(N)
        labels = self.groups.labels(p_y_given_x)
        if output == "log_posterior":
            return np.log(p_y_given_x), labels
        if output == "soft":
            return self.groups.soft(N, p_y_given_x), labels
        return (labels[:, None] if output == "cluster" else self.centres[labels]), labels

    @property
    def width(self) -> int:
        """Columns of ``table("soft")``."""
        return int(self.table("soft", np.zeros((0, len(self.prior)))).shape[1]) if self.groups else self.clusters

    def descriptions(self, classes: Sequence[Hashable]) -> list[str]:
        """What each cluster holds, in words: how many of the records, its likeliest classes, its typical categories."""
        said = []
        for one in by_mass(self.joint, self.encoder, TYPICAL):
            names = "; ".join(label_text(self.labels[x], 40) for x in one.typical)
            text = f"{one.mass:.1%} of the records; {predicted(one, tuple(classes), 3)}; {names}"
            said.append((one.z, text))
        return [text for _, text in sorted(said)]

    def mapping(self, classes: Sequence[Hashable]) -> pd.DataFrame:
        """A row for each category: count, cluster, p(y|z), and whether it is typical of its cluster."""
        import pandas as pd

        labels = self.table("cluster")[:-1, 0].astype(np.int64)
        frame = pd.DataFrame(
            {
                "feature": self.name,
                "category": pd.Series(self.labels, dtype=object),
                "count": self.counts.sum(axis=1),
                "cluster": labels,
            }
        )
        for y, one in enumerate(classes):
            frame[f"p({label_text(one)}|z)"] = self.centres[labels, y]
        joint = self.joint
        best = {x for z in range(self.clusters) for x in typical(joint, (labels == z).astype(float), TYPICAL)}
        frame["typical"] = [x in best for x in range(len(frame))]
        return frame.sort_values(["cluster", "count"], ascending=[True, False], kind="stable", ignore_index=True)

    @cached_property
    def encoder(self) -> Array:
        """The hard map of the letters, W[z, x] = 0 or 1."""
        W: Array = np.eye(self.clusters)[:, self.tables("cluster")[1][:-1]]
        return W

    @property
    def iyz(self) -> float:
        """I(Y;Z) of the hard map on the denoised joint, in nats."""
        return plane_point(self.joint, self.encoder).iyz

    @cached_property
    def joint(self) -> Joint:
        """What the records support of p(x, y): denoised, or of intervals as it is."""
        T = self.centres if self.groups is None else self.groups.conditional(self.counts)
        return Joint.from_counts(self.counts.sum(axis=1)[:, None] * T, x_labels=self.labels)

"""A mechanism: columns of a row -> a cluster, as data that can be written down, read by a person, and applied to other rows.

    row -> letter x of its columns -> z drawn from p(z|x);     what was never met has a column of p(z|x) of its own

An encoder's is deterministic; a release may be random, and then needs an ``rng``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidMechanismError
from ..formatting import alternatives, counted
from ..information import Array, IntArray
from ..options import Seed
from ..solvers.shared.starts import seed_sequence
from .letters import IntervalLetters, Letters, ProductLetters, looked_up

if TYPE_CHECKING:
    import pandas as pd

    from .bottleneck_encoder import BottleneckEncoder


@dataclass(frozen=True, eq=False)
class MechanismFeature:
    """One column that comes out, and the columns that it is made from."""

    name: str
    columns: tuple[str, ...]
    letters: Letters = field(repr=False)
    rows: IntArray = field(repr=False)
    """For every letter the column of ``encoder`` that it has; rare letters share one."""
    encoder: Array = field(repr=False)
    """p(z|x), (|Z|, columns); the last is that of what was never met."""
    clusters: tuple[str, ...] = ()
    """What the clusters are called."""
    descriptions: tuple[str, ...] = field(default=(), repr=False)
    """What each holds, in words."""

    @property
    def deterministic(self) -> bool:
        """Whether every letter has one cluster."""
        return bool(np.isin(self.encoder, (0.0, 1.0)).all())

    def codes(self, frame: pd.DataFrame) -> IntArray:
        """The column of ``encoder`` for every row."""
        import pandas as pd

        for name in self.columns:
            if name not in frame:
                names = [str(one) for one in frame.columns]
                raise InvalidMechanismError(
                    f"rows must have the column {name!r}; expected {alternatives(name, names)}."
                )
        parts = self.letters.parts if isinstance(self.letters, ProductLetters) else (self.letters,)
        columns = []
        for name, part in zip(self.columns, parts, strict=True):
            column: Any = frame[name]
            if isinstance(part, IntervalLetters):
                numbers = pd.to_numeric(column, errors="coerce").astype(float)
                wrong = np.flatnonzero(numbers.isna() & ~column.isna())
                if len(wrong):
                    found = column.iloc[wrong[0]]
                    raise InvalidMechanismError(
                        f"column {name!r} must hold numbers; found {found!r} in row {wrong[0]}."
                    )
                column = numbers
            columns.append(column)
        return looked_up(self.letters, self.rows, self.encoder.shape[1] - 1, columns)


@dataclass(frozen=True, eq=False)
class Mechanism:
    """All columns of a mechanism, and what it was made for."""

    kind: str
    """``"encoder"`` or ``"release"``."""
    target: tuple[str, ...]
    """The columns that an encoder keeps, or that a release hides."""
    classes: tuple[Hashable, ...]
    """Their values."""
    features: tuple[MechanismFeature, ...]
    note: str = ""
    """What a person should know of it."""

    @classmethod
    def of_encoder(cls, encoder: BottleneckEncoder, target: str) -> Mechanism:
        """The mechanism of a fitted encoder: rows to the numbers of their groups, ``z0``, ``z1``, ..."""
        names = encoder._names_in(None)
        classes = tuple(encoder.classes_.tolist())
        features = []
        for one in encoder.features_:
            W = np.eye(one.clusters)[:, one.table("cluster")[:, 0].astype(np.int64)]
            called = tuple(f"z{z}" for z in range(one.clusters))
            columns = tuple(names[at] for at in one.columns)
            said = tuple(one.descriptions(classes))
            features.append(MechanismFeature(one.name, columns, one.letters, one.rows, W, called, said))
        return cls("encoder", (target,), classes, tuple(features), f"groups that keep what predicts {target}")

    @property
    def deterministic(self) -> bool:
        """Whether equal rows always get equal clusters."""
        return all(feature.deterministic for feature in self.features)

    def apply(self, frame: pd.DataFrame, *, rng: Seed = None) -> pd.DataFrame:
        """The clusters of other rows, a categorical column for each feature; drawn at random where p(z|x) is not 0 or 1."""
        import pandas as pd

        random = np.random.default_rng(seed_sequence(rng))
        made = {}
        for feature in self.features:
            codes = feature.codes(frame)
            if feature.deterministic:
                homes = feature.encoder.argmax(axis=0)[codes]
            else:
                below = np.cumsum(feature.encoder, axis=0)[:, codes]
                homes = np.minimum(
                    (random.random(len(codes)) * below[-1] >= below).sum(axis=0), len(feature.encoder) - 1
                )
            made[feature.name] = pd.Categorical.from_codes(homes, pd.Index(feature.clusters))
        return pd.DataFrame(made, index=frame.index)

    def unknown(self, frame: pd.DataFrame) -> dict[str, int]:
        """How many rows of each feature hold what was never met, where there are any."""
        found = {one.name: int((one.codes(frame) == one.encoder.shape[1] - 1).sum()) for one in self.features}
        return {name: count for name, count in found.items() if count}

    def __str__(self) -> str:
        sizes = ", ".join(f"{one.name} ({counted(len(one.clusters), 'group')})" for one in self.features)
        return f"{self.kind} of {sizes}: {self.note}"

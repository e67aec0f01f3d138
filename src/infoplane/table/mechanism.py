"""A mechanism: columns of a row -> a cluster, as data that can be written down, read by a person, and applied to other rows.

    row -> letter x of its columns -> z drawn from p(z|x);     what was never met has a column of p(z|x) of its own

An encoder's is deterministic; a release's is random, drawn anew or by id and key (`encoder.applying`). Letters are categories, intervals of
numbers, or products of both; each kind knows the letters 0, ..., size - 1 that it met, and gives -1 to values that it did not. A missing
value is a letter of its own where one was met.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ..checks import check_one_of
from ..encoder.applying import UNSEEN, Draw, second_key, uniforms
from ..encoder.encoder import UNSEEN_RULES, check_encoder, cluster_names
from ..errors import InvalidMechanismError, InvalidOptionError
from ..formatting import alternatives, counted, label_text
from ..information import Array, IntArray
from ..joint.binning import Bin, Cut
from ..joint.joint import Joint
from ..joint.tables import MISSING, by_column
from ..solvers.base import seed_sequence
from ..solvers.job import Seed

if TYPE_CHECKING:
    from .transformers import BottleneckEncoder


@dataclass(frozen=True, eq=False)
class CategoryLetters:
    """The distinct values of a column, sorted if they can be compared, else as they first appear; missing ones are the last letter."""

    values: pd.Index[Any]
    has_missing: bool

    @classmethod
    def of(cls, column: pd.Series[Any]) -> tuple[CategoryLetters, IntArray]:
        """The letters of a column, and its codes."""
        try:
            codes, values = pd.factorize(column, sort=True)
        except TypeError:  # values of kinds that cannot be compared
            codes, values = pd.factorize(column)
        values = pd.Index(values.categories[values.codes] if isinstance(values, pd.CategoricalIndex) else values)
        missing = codes < 0
        found = np.where(missing, len(values), codes).astype(np.int64)
        return cls(values, bool(missing.any())), found

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.values) + self.has_missing

    @property
    def labels(self) -> list[Hashable]:
        """The value of each letter."""
        return [*self.values.tolist(), *([MISSING] if self.has_missing else [])]

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The letters of other values; of a categorical column each category is looked up once."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            places = np.append(self._places(column.cat.categories), self._missing)
            return places[column.cat.codes.to_numpy()]
        return self._places(pd.Index(column))

    @property
    def _missing(self) -> int:
        return len(self.values) if self.has_missing else UNSEEN

    def _places(self, values: pd.Index[Any]) -> IntArray:
        places = self.values.get_indexer(values).astype(np.int64, copy=False)
        if self.has_missing and (unknown := np.flatnonzero(places < 0)).size:
            places[unknown[np.asarray(pd.isna(values[unknown]))]] = self._missing
        return places


@dataclass(frozen=True, eq=False)
class IntervalLetters:
    """Intervals of numbers: letter i holds edges[i-1] <= value < edges[i]; missing ones are the last letter."""

    edges: tuple[float, ...]
    has_missing: bool

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.edges) + 1 + self.has_missing

    @property
    def labels(self) -> list[Hashable]:
        """``under 35``, ``35 to under 50``, ``50 and over``."""
        cut = Cut("edges", self.edges)
        return [*(cut.label(i) for i in range(len(self.edges) + 1)), *([MISSING] if self.has_missing else [])]

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The letters of other numbers."""
        values = column.to_numpy(dtype=float, na_value=np.nan)
        codes = np.searchsorted(np.array(self.edges, dtype=float), values, side="right").astype(np.int64)
        codes[np.isnan(values)] = len(self.edges) + 1 if self.has_missing else UNSEEN
        return codes


@dataclass(frozen=True, eq=False)
class ProductLetters:
    """Letters of several columns together: those combinations that were met."""

    parts: tuple[CategoryLetters | IntervalLetters, ...]
    keys: pd.Index[Any]

    @classmethod
    def of(
        cls, parts: Sequence[CategoryLetters | IntervalLetters], codes: Sequence[IntArray]
    ) -> tuple[ProductLetters, IntArray]:
        """The letters of columns with these codes, and their codes together."""
        found, keys = pd.factorize(_together(parts, codes), sort=True)
        return cls(tuple(parts), pd.Index(keys)), found.astype(np.int64)

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.keys)

    @property
    def labels(self) -> list[Hashable]:
        """A tuple of values for each letter."""
        sizes = tuple(part.size for part in self.parts)
        several = np.unravel_index(self.keys.to_numpy(), sizes)
        columns = [[part.labels[code] for code in codes] for part, codes in zip(self.parts, several, strict=True)]
        return [*zip(*columns, strict=True)]

    def codes(self, columns: Sequence[pd.Series[Any]]) -> IntArray:
        """The letters of other rows."""
        codes = [part.codes(column) for part, column in zip(self.parts, columns, strict=True)]
        unknown = np.any([one < 0 for one in codes], axis=0)
        places = self.keys.get_indexer(pd.Index(_together(self.parts, [np.maximum(one, 0) for one in codes])))
        return np.where(unknown, UNSEEN, places).astype(np.int64)


Letters = CategoryLetters | IntervalLetters | ProductLetters


def looked_up(letters: Letters, rows: IntArray, unknown: int, columns: Sequence[pd.Series[Any]]) -> IntArray:
    """The row of a table for each row of some columns: ``rows`` of its letter, or ``unknown`` for what was never met."""
    codes = letters.codes(columns) if isinstance(letters, ProductLetters) else letters.codes(columns[0])
    return np.append(rows, unknown)[codes]  # -1 is the last


def _together(parts: Sequence[CategoryLetters | IntervalLetters], codes: Sequence[IntArray]) -> IntArray:
    sizes = tuple(part.size for part in parts)
    return np.ravel_multi_index(tuple(codes), sizes).astype(np.int64)


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

    @property
    def parts(self) -> dict[str, CategoryLetters | IntervalLetters]:
        """The letters of each column."""
        parts = self.letters.parts if isinstance(self.letters, ProductLetters) else (self.letters,)
        return dict(zip(self.columns, parts, strict=True))

    @property
    def edges(self) -> dict[str, tuple[float, ...]]:
        """Where columns of numbers are cut into bins, as `Joint.from_frame` takes it."""
        return {name: part.edges for name, part in self.parts.items() if isinstance(part, IntervalLetters)}

    def codes(self, frame: pd.DataFrame) -> IntArray:
        """The column of ``encoder`` for every row."""
        for name in self.columns:
            if name not in frame:
                names = [str(one) for one in frame.columns]
                raise InvalidMechanismError(
                    f"rows must have the column {name!r}; expected {alternatives(name, names)}."
                )
        return looked_up(self.letters, self.rows, self.encoder.shape[1] - 1, [*self._columns(frame).values()])

    def unmet_in(self, frame: pd.DataFrame) -> str:
        """Which columns hold values that were never met, in words; all of them, if it is a combination that was not."""
        parts, columns = self.parts, self._columns(frame)
        own = [repr(name) for name, column in columns.items() if (parts[name].codes(column) < 0).any()]
        return ", ".join(own) or f"{', '.join(map(repr, self.columns))}, whose values were met, but not together"

    def _columns(self, frame: pd.DataFrame) -> dict[str, Any]:
        """The columns of rows, as their letters know them."""
        columns = {}
        for name, part in self.parts.items():
            columns[name] = column = frame[name]
            if isinstance(part, IntervalLetters):
                columns[name] = numbers = pd.to_numeric(column, errors="coerce").astype(float)
                wrong = np.flatnonzero(numbers.isna() & ~column.isna())
                if len(wrong):
                    # The value is somebody's: it is not shown.
                    raise InvalidMechanismError(
                        f"column {name!r} must hold numbers; found {counted(len(wrong), 'value')} of {len(column):,} that are none, the "
                        f"first in row {wrong[0]}."
                    )
            elif pd.api.types.is_numeric_dtype(part.values) and column.dtype == object:
                # A text file with an empty cell may say 1.0 where another says 1.
                number = pd.to_numeric(column, errors="coerce")
                columns[name] = column.where(~number.isin(part.values), number)
        return columns


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
            W, columns = np.eye(one.clusters)[:, one.tables("cluster")[1]], tuple(names[at] for at in one.columns)
            called, said = _numbered(one.clusters), tuple(one.descriptions(classes))
            features.append(MechanismFeature(one.name, columns, one.letters, one.rows, W, called, said))
        return cls("encoder", (target,), classes, tuple(features), f"groups that keep what predicts {target}")

    @classmethod
    def of_joint(
        cls, joint: Joint, encoder: Array, kind: str, *, name: str = "z", clusters: Sequence[str] = (), note: str = ""
    ) -> Mechanism:
        """The mechanism of an encoder p(z|x) of a joint made from columns (`Joint.from_frame`), its bins included.

        A row becomes a cluster of the one feature ``name``; a row with values, or a combination of them, that the joint does not have is
        drawn from p(z).

        Examples
        --------
        >>> import pandas as pd
        >>> import infoplane as ip
        >>> people = pd.DataFrame({"age": [20, 25, 34, 35, 40, 61], "sex": list("fmfmfm"), "ill": [0, 0, 0, 1, 1, 1]})
        >>> joint = ip.Joint.from_frame(people, ["age", "sex"], "ill", bins={"age": 2})
        >>> found = ip.partition(joint, clusters=2)
        >>> Mechanism.of_joint(joint, found.encoder, "release").apply(people).z.tolist()
        ['z0', 'z0', 'z0', 'z1', 'z1', 'z1']
        """
        W = check_encoder(joint, encoder)
        columns = by_column(joint.x_labels, joint.x_names).items()
        parts: list[Any] = [_letters_of(column, values, joint.bins.get(column)) for column, values in columns]
        letters, rows = ProductLetters.of(*zip(*parts, strict=True)) if len(parts) > 1 else parts[0]
        homes = np.full(letters.size, len(joint.x_labels), dtype=np.int64)  # also a bin in which no record fell
        homes[rows] = np.arange(len(joint.x_labels))
        W = np.column_stack([W, W @ joint.p_x])
        called, said = tuple(clusters) or _numbered(len(W)), tuple(cluster_names(joint, W[:, :-1]))
        feature = MechanismFeature(name, joint.x_names, letters, homes, W, called, said)
        # A file has plain values only: those of several columns are told in words.
        classes = joint.y_labels if len(joint.y_names) == 1 else tuple(map(label_text, joint.y_labels))
        return cls(kind, joint.y_names, classes, (feature,), note)

    @property
    def deterministic(self) -> bool:
        """Whether equal rows always get equal clusters."""
        return all(feature.deterministic for feature in self.features)

    def apply(
        self,
        frame: pd.DataFrame,
        *,
        rng: Seed = None,
        ids: Sequence[Any] | None = None,
        key: bytes | None = None,
        unseen: Literal["error", "marginal", "suppress"] = "marginal",
    ) -> pd.DataFrame:
        """The clusters of other rows, a categorical column for each feature; drawn as `EncoderView.assign` does.

        What was never met has its own p(z|x) (``"marginal"``: p(z) of a release), is refused by its number, or is left empty.
        """
        check_one_of("unseen", unseen, UNSEEN_RULES)
        random = np.random.default_rng(seed_sequence(rng))
        made = {}
        for feature in self.features:
            codes, W = feature.codes(frame), feature.encoder
            unmet = codes == W.shape[1] - 1
            if unseen == "error" and unmet.any():
                raise InvalidMechanismError(
                    f"rows must hold values that the mechanism has met; found {int(unmet.sum()):,} of {len(codes):,} without, in "
                    f"{feature.unmet_in(frame)}. unseen='marginal' draws for them, unseen='suppress' leaves them empty."
                )
            if feature.deterministic:
                homes = W.argmax(axis=0)[codes]
            else:
                homes = Draw(W)(codes, uniforms(len(codes), random, ids, key))
                key = None if key is None else second_key(key)  # the next feature's draws are its own
            homes = np.where(unmet, -1, homes) if unseen == "suppress" else homes
            made[feature.name] = pd.Categorical.from_codes(homes, pd.Index(feature.clusters))
        return pd.DataFrame(made, index=frame.index)

    def encoder_for(self, joint: Joint) -> Array:
        """p(z|x) of the letters of a joint with the columns of its one feature, (|Z|, |X|); what it has never met as it says of that."""
        if len(self.features) > 1:
            raise InvalidMechanismError(
                f"a mechanism must release one column to be compared or audited; found {len(self.features)} of them."
            )
        (feature,) = self.features
        for name in feature.columns:
            if name not in joint.x_names:
                raise InvalidMechanismError(
                    f"the mechanism releases the column {name!r}, which x has not; expected {alternatives(name, joint.x_names)}."
                )
        columns = by_column(joint.x_labels, joint.x_names)
        frame = pd.DataFrame(index=range(len(joint.x_labels)))
        for name, part in feature.parts.items():
            for value in columns[name]:
                edges = feature.edges.get(name, ()) if isinstance(value, Bin) else ()
                if inside := [edge for edge in edges if _cuts(edge, value)]:
                    raise InvalidMechanismError(
                        f"the mechanism cuts {name!r} at {inside[0]:g}, within the joint's {str(value)!r}: make the joint with "
                        f"bins={{{name!r}: {list(feature.edges[name])}}}, or finer ones."
                    )
            frame[name] = pd.Series([_plain(value, part) for value in columns[name]], dtype=object)
        codes = feature.codes(frame)
        if (codes == feature.encoder.shape[1] - 1).all():
            raise InvalidMechanismError("the mechanism has met none of the values of x: is it of another table?")
        return feature.encoder[:, codes]

    def unknown(self, frame: pd.DataFrame) -> dict[str, int]:
        """How many rows of each feature hold what was never met, where there are any."""
        found = {one.name: int((one.codes(frame) == one.encoder.shape[1] - 1).sum()) for one in self.features}
        return {name: count for name, count in found.items() if count}

    def __str__(self) -> str:
        sizes = ", ".join(f"{one.name} ({counted(len(one.clusters), 'group')})" for one in self.features)
        return f"{self.kind} of {sizes}: {self.note}"


def _numbered(clusters: int) -> tuple[str, ...]:
    return tuple(f"z{z}" for z in range(clusters))


def _cuts(edge: float, one: Bin) -> bool:
    """Whether an edge lies within a bin."""
    return (one.low is None or one.low < edge) and (one.high is None or edge < one.high)


def _plain(value: Any, part: CategoryLetters | IntervalLetters) -> Any:
    """A value of a joint as rows have it: a number within its bin, None if it is missing."""
    if isinstance(value, Bin) and isinstance(part, IntervalLetters):
        return -np.inf if value.low is None else value.low
    return None if value == MISSING else value


def _letters_of(
    name: str, values: list[Any], rule: str | tuple[Any, ...] | None
) -> tuple[CategoryLetters | IntervalLetters, IntArray]:
    """The letters of one column of a joint, and those of its labels."""
    if rule is None:
        return CategoryLetters.of(pd.Series([None if value == MISSING else value for value in values], dtype=object))
    if isinstance(rule, str) or not all(isinstance(edge, Real) for edge in rule):
        raise InvalidOptionError(f"a mechanism knows bins of numbers; column {name!r} has bins of dates.")
    letters = IntervalLetters(tuple(float(edge) for edge in rule), MISSING in values)
    return letters, letters.codes(pd.Series([_plain(value, letters) for value in values], dtype=float))

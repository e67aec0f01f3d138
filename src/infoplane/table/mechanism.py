"""A mechanism: columns of a row -> a cluster, as data that can be written down, read by a person, and applied to other rows.

    row -> letter x of its columns -> z drawn from p(z|x);     what was never met has a column of p(z|x) of its own

An encoder's is deterministic; a release's is random, drawn anew or by id and key (`encoder.applying`). Letters are those of
`encoder.letters`: categories, intervals of numbers, or products of both.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from ..checks import check_one_of
from ..encoder.applying import drawn, second_key
from ..encoder.encoder import UNSEEN_RULES, check_encoder, cluster_names
from ..encoder.letters import UNSEEN, CategoryLetters, IntervalLetters, RowLetters, group_names, unmet_in
from ..errors import InvalidJointError, InvalidMechanismError, InvalidOptionError
from ..formatting import counted, label_text, offered
from ..information import Array, IntArray
from ..joint.binning import Bin
from ..joint.joint import Joint
from ..joint.tables import MISSING, by_column
from ..solvers.base import seed_sequence
from ..solvers.job import Seed

if TYPE_CHECKING:
    from .transformers import BottleneckEncoder


@dataclass(frozen=True, eq=False)
class MechanismFeature:
    """One column that comes out, and the columns that it is made from."""

    name: str
    columns: tuple[str, ...]
    letters: RowLetters = field(repr=False)
    rows: IntArray = field(repr=False)
    """For every letter the column of ``encoder`` that it has; rare letters share one, and a bin in which no record fell has the last."""
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
        return dict(zip(self.columns, self.letters.parts, strict=True))

    @property
    def edges(self) -> dict[str, tuple[float, ...]]:
        """Where columns of numbers are cut into bins, as `Joint.from_frame` takes it."""
        return {name: part.edges for name, part in self.parts.items() if isinstance(part, IntervalLetters)}

    def codes(self, frame: pd.DataFrame) -> IntArray:
        """The column of ``encoder`` for every row; -1 is the last, of what was never met."""
        last = self.encoder.shape[1] - 1
        try:
            rows = np.append(self.rows, last)[self.letters.codes(self.read(frame))]
        except InvalidJointError as error:
            raise InvalidMechanismError(str(error)) from None
        return np.where(rows == last, UNSEEN, rows)

    def read(self, frame: pd.DataFrame) -> list[pd.Series[Any]]:
        """The columns of rows, as their letters know them."""
        columns = []
        for name, part in self.parts.items():
            if name not in frame:
                names = [str(one) for one in frame.columns]
                raise InvalidMechanismError(f"rows must have the column {name!r}; found {offered(name, names)}.")
            column = frame[name]
            columns.append(_as_met(column, part.values) if isinstance(part, CategoryLetters) else column)
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
            called, said = group_names(one.clusters), tuple(one.descriptions(classes))
            features.append(MechanismFeature(one.name, columns, one.letters, one.rows, W, called, said))
        return cls("encoder", (target,), classes, tuple(features), f"groups that keep what predicts {target}")

    @classmethod
    def of_joint(cls, joint: Joint, encoder: Array, note: str = "") -> Mechanism:
        """The release of a joint made from columns (`Joint.from_frame`), its bins included, through p(z|x).

        A row becomes a cluster of the one feature ``z``; a row with values, or a combination of them, that the joint does not have is
        drawn from p(z).

        Examples
        --------
        >>> import pandas as pd
        >>> import infoplane as ip
        >>> people = pd.DataFrame({"age": [20, 25, 34, 35, 40, 61], "sex": list("fmfmfm"), "ill": [0, 0, 0, 1, 1, 1]})
        >>> joint = ip.Joint.from_frame(people, ["age", "sex"], "ill", bins={"age": 2})
        >>> found = ip.partition(joint, clusters=2)
        >>> Mechanism.of_joint(joint, found.encoder).apply(people).z.tolist()
        ['z0', 'z0', 'z0', 'z1', 'z1', 'z1']
        """
        W = check_encoder(joint, encoder)
        columns = by_column(joint.x_labels, joint.x_names).items()
        parts = [_letters_of(column, values, joint.bins.get(column)) for column, values in columns]
        letters, codes = RowLetters.of(*zip(*parts, strict=True))
        rows = np.full(letters.size, len(joint.x_labels), dtype=np.int64)
        rows[codes] = np.arange(len(joint.x_labels))
        said, with_unmet = tuple(cluster_names(joint, W)), np.column_stack([W, W @ joint.p_x])
        feature = MechanismFeature("z", joint.x_names, letters, rows, with_unmet, group_names(len(W)), said)
        # A file has plain values only: those of several columns are told in words.
        classes = joint.y_labels if len(joint.y_names) == 1 else tuple(map(label_text, joint.y_labels))
        return cls("release", joint.y_names, classes, (feature,), note)

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
            codes, W, suppress = feature.codes(frame), feature.encoder, unseen == "suppress"
            unmet = codes < 0
            if unseen == "error" and unmet.any():
                where = unmet_in(feature.columns, feature.letters.of_columns(feature.read(frame)))
                raise InvalidMechanismError(
                    f"rows must hold values that the mechanism has met; found {int(unmet.sum()):,} of {len(codes):,} without, in {where}. "
                    "unseen='marginal' draws for them, unseen='suppress' leaves them empty."
                )
            if feature.deterministic:
                z = np.where(unmet & suppress, UNSEEN, W.argmax(axis=0)[codes])
            else:
                z = drawn(W, codes, random, ids, key, suppress=suppress)
                key = None if key is None else second_key(key)  # the next feature's draws are its own
            made[feature.name] = pd.Categorical.from_codes(z, pd.Index(feature.clusters))
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
                    f"the mechanism releases the column {name!r}, which x has not; found {offered(name, joint.x_names)}."
                )
        columns = by_column(joint.x_labels, joint.x_names)
        frame = pd.DataFrame(index=range(len(joint.x_labels)))
        for name, part in feature.parts.items():
            edges = feature.edges.get(name, ())
            for value in columns[name]:
                if isinstance(value, Bin) and (inside := [edge for edge in edges if _cuts(edge, value)]):
                    raise InvalidMechanismError(
                        f"the mechanism cuts {name!r} at {inside[0]:g}, within the joint's {str(value)!r}: make the joint with "
                        f"bins={{{name!r}: {list(edges)}}}, or finer ones."
                    )
            frame[name] = pd.Series([_plain(value, part) for value in columns[name]], dtype=object)
        codes = feature.codes(frame)
        if (codes < 0).all():
            raise InvalidMechanismError("the mechanism has met none of the values of x: is it of another table?")
        return feature.encoder[:, codes]

    def unknown(self, frame: pd.DataFrame) -> dict[str, int]:
        """How many rows of each feature hold what was never met, where there are any."""
        found = {one.name: int((one.codes(frame) < 0).sum()) for one in self.features}
        return {name: count for name, count in found.items() if count}

    def __str__(self) -> str:
        sizes = ", ".join(f"{one.name} ({counted(len(one.clusters), 'group')})" for one in self.features)
        return f"{self.kind} of {sizes}: {self.note}"


NUMBERS = ("integer", "floating", "mixed-integer-float")
"""What pandas calls columns of numbers, whatever their dtype."""


def _as_met(column: pd.Series[Any], values: pd.Index[Any]) -> pd.Series[Any]:
    """A column in which text is a number, or a number text, where that was met: two files with the same cells may be read in either way."""
    is_number, were_numbers = (pd.api.types.infer_dtype(one) in NUMBERS for one in (column, values))
    if is_number and not were_numbers:
        other = column.map(lambda value: str(value).removesuffix(".0"), na_action="ignore")
    elif were_numbers and (column.dtype == object or pd.api.types.is_string_dtype(column.dtype)):
        other = pd.to_numeric(column, errors="coerce")
    else:
        return column
    return column.astype(object).where(~other.isin(values) | column.isin(values), other)


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
        return CategoryLetters.of_labels(values)
    if isinstance(rule, str) or not all(isinstance(edge, Real) for edge in rule):
        raise InvalidOptionError(f"a mechanism knows bins of numbers; column {name!r} has bins of dates.")
    letters = IntervalLetters(tuple(float(edge) for edge in rule), MISSING in values)
    return letters, letters.codes(pd.Series([_plain(value, letters) for value in values], dtype=float))

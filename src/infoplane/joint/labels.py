"""Labels of rows and columns, the names of the variables that they are values of, and tables of labelled samples."""

from __future__ import annotations

import math
import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from ..errors import InvalidJointError
from .tables import SPARSE_CELLS, SPARSE_SHARE

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .tables import Table

    Labels: TypeAlias = tuple[Hashable, ...]
    Cells: TypeAlias = Mapping[tuple[Hashable, Hashable], float]

# Tables of samples are stored sparse when they are both this large and this empty.
MISSING = "missing"
"""The label of a value that is not there, where missing values are a category; it comes after all others."""

MISSING_RULES = ("error", "category", "drop")
"""What may become of a missing value: it is refused, it is a label of its own, or its row is left out."""


def checked_labels(given: Any, n: int, names: tuple[str, ...], role: str) -> Labels:
    """Distinct labels, one per row or column, 0, 1, 2, ... by default; if there are several names, tuples with one value per name."""
    labels = tuple(range(n) if given is None else listed(given, role))
    if len(labels) != n:
        raise InvalidJointError(f"{role} must have one label each: expected {n}, found {len(labels)}.")
    first: dict[Hashable, int] = {}
    for i, label in enumerate(labels):
        if first.setdefault(label, i) != i:
            raise InvalidJointError(
                f"{role} must be distinct; found {label!r} at {first[label]} and at {i}. Rename one."
            )
        if len(names) > 1 and not (isinstance(label, tuple) and len(label) == len(names)):
            raise InvalidJointError(
                f"{role} must be tuples, one value for each of {', '.join(names)}; found {label!r}."
            )
    return labels


def checked_names(given: Any, role: str) -> tuple[str, ...]:
    """The names of one or more columns."""
    one = isinstance(given, str) or not isinstance(given, Iterable)
    names: tuple[Any, ...] = (given,) if one else tuple(listed(given, role))
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidJointError(
            f"{role} must name one or more columns, by text; found {given!r}. Rename them if need be."
        )
    return names


def table_labels(table: Any, x_labels: Any, y_labels: Any, x_names: Any, y_names: Any) -> tuple[Any, Any, Any, Any]:
    """Labels and names as given; where none are, those of a pandas frame: its index and columns, with their names."""
    index: Any = getattr(table, "index", None)
    columns: Any = getattr(table, "columns", None)
    if not hasattr(index, "nlevels") or not hasattr(columns, "nlevels"):
        return x_labels, y_labels, x_names, y_names
    kept: list[Any] = []
    for axis, labels, names, letter in ((index, x_labels, x_names, "x"), (columns, y_labels, y_names, "y")):
        own = [name if isinstance(name, str) else letter for name in axis.names]
        if len(own) > 1:
            own = [name if isinstance(name, str) else f"{letter}{at}" for at, name in enumerate(axis.names)]
        # Labels that somebody gives are not values of the frame's levels.
        kept.append((axis.tolist(), own if names is None else names) if labels is None else (labels, names))
    (x_labels, x_names), (y_labels, y_names) = kept
    return x_labels, y_labels, x_names, y_names


def listed(values: Any, role: str) -> list[Hashable]:
    """Plain Python values of a 1-D sequence, all of them hashable and none missing."""
    if isinstance(values, str | bytes | Set | Mapping) or not isinstance(values, Iterable):
        raise InvalidJointError(f"{role} must be a sequence, in order; found {reprlib.repr(values)}. Pass a list.")
    dimensions = getattr(values, "ndim", 1)
    if dimensions != 1:
        raise InvalidJointError(f"{role} must be 1-D; found {dimensions} dimensions. For several columns use tuples.")
    # numpy's tolist turns nanosecond dates into integers, so it is not used for dates.
    dates = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    method = next((m for m in ("to_list", "tolist", "to_pylist") if hasattr(values, m) and not dates), None)
    plain: list[Hashable] = list(values) if method is None else getattr(values, method)()
    try:
        missing = any(is_missing(value) for value in dict.fromkeys(plain))
    except TypeError as error:
        raise InvalidJointError(
            f"{role} must hold hashable values; found an {error}. Turn lists into tuples."
        ) from None
    _check_alike(plain, role)
    if missing:
        at = [i for i, value in enumerate(plain) if is_missing(value)]
        raise InvalidJointError(
            f"{role} must have no missing values; found {len(at)}, the first at position {at[0]} (counting from 0). "
            'Drop it, or give it a label of its own such as "missing".'
        )
    return plain


def _check_alike(values: list[Hashable], role: str) -> None:
    """Refuse values that are equal but of different types, 1, True and 1.0: as labels they would be one."""
    if len({type(value) for value in values} - {str}) < 2 and not any(isinstance(value, tuple) for value in values[:1]):
        return
    first: dict[Hashable, Hashable] = {}
    for value in values:
        known = first.setdefault(value, value)
        if known is not value and _kind(known) != _kind(value):
            raise InvalidJointError(
                f"{role} must not hold values that are equal but of different types; found {known!r} and {value!r}, which would be one "
                "label. Convert them to one type, or to text."
            )


def _kind(value: object) -> object:
    """What kind of value it is; numpy's scalars are of the kind of Python's."""
    if isinstance(value, tuple):
        return tuple(map(_kind, value))
    kinds = ((bool, bool | np.bool_), (int, Integral), (float, float | np.floating), (str, str))
    return next((kind for kind, members in kinds if isinstance(value, members)), type(value))


def own_labels(given: Any) -> Labels | None:
    """The labels that a thing brings: the keys of a mapping, or a pandas index; None for one without, or whose index only counts rows."""
    if isinstance(given, Mapping):
        return tuple(given)
    index: Any = getattr(given, "index", None)
    if not hasattr(index, "nlevels") or type(index).__name__ == "RangeIndex":
        return None
    return tuple(index.tolist())


def aligned(given: Labels, wanted: Labels, what: str) -> list[int]:
    """For each label wanted, its place among those given; an error unless they are the same labels, each once."""
    place: dict[Hashable, int] = {}
    for at, label in enumerate(given):
        if place.setdefault(label, at) != at:
            raise InvalidJointError(f"each x must be there once; found {label!r} twice, at {place[label]} and at {at}.")
    there = set(wanted)
    unknown = [label for label in place if label not in there]
    missing = [label for label in wanted if label not in place]
    if unknown or missing:
        said = [f"{what} has no x {_some(unknown)}"] if unknown else []
        said += [f"nothing is said of x = {_some(missing)}"] if missing else []
        raise InvalidJointError(f"the labels of x must be those of {what}; {', and '.join(said)}.")
    return [place[label] for label in wanted]


def _some(labels: list[Hashable]) -> str:
    more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
    return ", ".join(repr(label) for label in labels[:5]) + more


def sample_cells(x: Any, y: Any) -> Cells:
    """(x, y) -> how many samples, in order of first appearance."""
    rows = own_labels(x), own_labels(y)
    if None not in rows and rows[0] != rows[1]:
        raise InvalidJointError(
            "x and y are series whose rows have different labels, or the same ones in another order: take both from one frame, or say "
            "x.to_numpy() and y.to_numpy() if they are meant in this order."
        )
    xs, ys = listed(x, "x"), listed(y, "y")
    if len(xs) != len(ys) or not xs:
        raise InvalidJointError(
            f"x and y must have one value per sample, and at least one sample; found {len(xs)} values of x and {len(ys)} of y. "
            "Take both from the same rows."
        )
    return Counter(zip(xs, ys, strict=True))


def tabulated(cells: Cells) -> tuple[Table, Labels, Labels]:
    """The table of cells (x, y) -> amount, and its labels: sorted if they can be compared, else as they appeared."""
    x_labels, y_labels = (_ordered(dict.fromkeys(cell[axis] for cell in cells)) for axis in (0, 1))
    rows, columns = ({label: i for i, label in enumerate(labels)} for labels in (x_labels, y_labels))
    amounts = np.fromiter(cells.values(), dtype=float, count=len(cells))
    at = [rows[x] for x, _ in cells], [columns[y] for _, y in cells]
    table = sparse.csr_array((amounts, at), shape=(len(rows), len(columns)))
    size = math.prod(table.shape)
    large_and_empty = size > SPARSE_CELLS and len(cells) < SPARSE_SHARE * size
    return table if large_and_empty else table.toarray(), x_labels, y_labels


def is_missing(value: object) -> bool:
    """None, NaN, NaT, NA, or a tuple with one of them."""
    if isinstance(value, tuple):
        return any(is_missing(v) for v in value)
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def _ordered(labels: Iterable[Any]) -> Labels:
    try:
        return tuple(sorted(labels, key=_missing_last))
    except TypeError:
        return tuple(labels)


def _missing_last(label: Any) -> Any:
    """A key that can be compared although a label of another type stands for what is missing."""
    if isinstance(label, tuple):
        return tuple(_missing_last(value) for value in label)
    return (label == MISSING) is True, label


def by_column(labels: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """The value of every letter in each of the columns that letters are made of."""
    rows = labels if len(names) > 1 else [(label,) for label in labels]
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}

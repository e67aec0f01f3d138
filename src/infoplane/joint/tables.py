"""Tables p(x, y) or counts, dense or ``scipy.sparse``, with their labels: checked, made from samples, or from p(x) and p(y|x).

Nothing is normalised silently: what does not sum to 1 is refused, with where it stands. A prior is an array, in the order of x; a Series or
a mapping, matched by the labels of x; or the word ``"uniform"``.
"""

from __future__ import annotations

import math
import reprlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from ..checks import SUM_TOLERANCE, number
from ..errors import InvalidJointError, InvalidOptionError
from ..information import Array, IntArray

if TYPE_CHECKING:
    from .joint import Joint

# A float64 array or csr_array; the stubs cannot say what operators that both have return.
Table: TypeAlias = Any

LARGEST_TABLE = 50_000_000
"""Cells of a dense |X| x |Y| table that is made of a sparse one, or filled by smoothing: 400 MB, of which a solve needs several."""

SPARSE_CELLS, SPARSE_SHARE = 1_000_000, 0.1
"""A table is sparse if it has at least so many cells and at most this share of them is not 0; else dense BLAS is faster."""


def checked_table(P: Any, what: str) -> Table:
    """A copy of P: a float64 array or canonical ``csr_array`` of finite entries >= 0, not all of them 0."""
    is_sparse = sparse.issparse(P)
    raw: Any = P if is_sparse else _asarray(P, what)
    if raw.ndim != 2 or 0 in raw.shape:
        raise InvalidJointError(
            f"{what} must be a 2-D table with a row for each x and a column for each y; found a {type(P).__name__} of "
            f"shape {raw.shape}. For samples use Joint.from_samples, for a frame Joint.from_frame."
        )
    if raw.dtype.kind not in "fiu":
        cells = () if is_sparse else np.ndenumerate(raw)
        odd = next((f", {v!r} at {_cell(*at)}" for at, v in cells if not isinstance(v, Real)), "")
        raise InvalidJointError(
            f"{what} must hold real numbers; found dtype {raw.dtype}{odd}. If they mean numbers, use P.astype(float)."
        )
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf, which is refused below
        if is_sparse:
            table: Table = sparse.csr_array(raw, dtype=float, copy=True)
            table.sum_duplicates()
            table.eliminate_zeros()
        else:
            table = np.array(raw, dtype=float, order="C")
            table += 0.0  # -0.0 becomes 0.0
    values = stored(table)
    if not (np.isfinite(values) & (values >= 0.0)).all():
        bad = sparse.coo_array(table)
        check_amounts(bad.data, what, lambda i: _cell(bad.row[i], bad.col[i]))
    if not values.any():
        raise InvalidJointError(
            f"{what} must have a positive sum; found only zeros, in a table of shape {table.shape}. Check its source: "
            "smoothing cannot help, there is nothing to smooth."
        )
    return table


def check_amounts(values: Array, what: str, where: Callable[[int], str]) -> None:
    """Refuse the first value that is NaN, infinite or negative; where(i) says where value i stands."""
    for bad, expected, advice in (
        (np.isnan(values), "numbers", "Fill missing values, or drop them, first."),
        (np.isinf(values), "finite", "Replace it by a finite value first."),
        (values < 0.0, "non-negative", "Correct the sign, or set it to 0."),
    ):
        if bad.any():
            i = int(bad.argmax())
            raise InvalidJointError(f"{what} must be {expected}; found {values[i]} at {where(i)}. {advice}")


def smoothed(table: Table, smoothing: Any) -> Table:
    """The table with `smoothing` added to every cell, which makes a sparse one dense."""
    try:
        smoothing = number("smoothing", smoothing, "a finite number, at least 0", least=0.0)
    except InvalidOptionError as error:
        raise InvalidJointError(f"{error} It is added to every cell; 0 is none.") from None
    if smoothing == 0.0:
        return table
    if not isinstance(table, np.ndarray):
        _check_fits(math.prod(table.shape), "smoothing", "Use smoothing=0, or merge rare labels.")
        table = dense(table)
    return table + smoothing


def total(table: Table) -> float:
    """The sum of all cells, as `exact_sum`: the same bits for dense and sparse, on every machine."""
    return exact_sum(stored(table).data)


def exact_sum(amounts: Iterable[float]) -> float:
    """The sum, rounded once, whatever the order."""
    try:
        return math.fsum(amounts)
    except OverflowError:
        raise InvalidJointError("the sum must be finite; found one beyond 1.8e308. Scale the values down.") from None


def whole_counts(table: Table) -> Table | None:
    """How often each (x, y) was seen, as read-only int64, dense or sparse as the table is, if all entries are whole numbers; else None."""
    values = stored(table)
    if not (values == np.floor(values)).all() or total(table) > 2.0**53:
        return None
    return sealed(table.astype(np.int64))


def dense(table: Table) -> Any:
    """The table as an array."""
    return table if isinstance(table, np.ndarray) else table.toarray()


def scaled_rows(table: Table, by: Any) -> Table:
    """Each row times a number; sparse if the table is."""
    return table * by[:, None] if isinstance(table, np.ndarray) else sparse.csr_array(sparse.diags_array(by) @ table)


def sealed(table: Table) -> Table:
    """The same table, read-only."""
    for array in (table,) if isinstance(table, np.ndarray) else (table.data, table.indices, table.indptr):
        array.flags.writeable = False
    return table


def conditional(P: Table, p: Array, q: Array) -> Table:
    """T[j, i] = P[i, j] / p[i], and q[j] where p[i] = 0; read-only, sparse if P is."""
    empty = p == 0.0
    divisor = np.where(empty, 1.0, p)
    if isinstance(P, np.ndarray):
        return sealed(np.ascontiguousarray(P.T / divisor + np.outer(q, empty)))
    filled = int(empty.sum()) * int(np.count_nonzero(q))
    _check_fits(filled, "a conditional on labels of zero mass", "Drop them, Joint.support says which they are.")
    cells = sparse.coo_array(P.T)
    seen = sparse.csr_array((cells.data / divisor[cells.col], (cells.row, cells.col)), shape=cells.shape)
    return sealed(seen + sparse.csr_array(q[:, None]) @ sparse.csr_array(empty[None, :].astype(float)))


def _asarray(P: Any, what: str) -> Any:
    """An array, with NaN where a masked one is masked, whatever lies there; as it is if something else in that is no number."""
    if np.ma.isMaskedArray(P):
        filled: Any = P.astype(object).filled(np.nan)  # type: ignore[attr-defined]
        return filled.astype(float) if all(isinstance(value, Real) for value in filled.flat) else np.ma.getdata(P)
    try:
        return np.asarray(P)
    except ValueError as error:
        raise InvalidJointError(
            f"{what} must be a 2-D table whose rows all have one length; found ragged rows ({error})."
        ) from None


def _check_fits(cells: int, what: str, advice: str) -> None:
    if cells > LARGEST_TABLE:
        raise InvalidJointError(f"{what} may fill at most {LARGEST_TABLE:,} cells; found {cells:,}. {advice}")


def _cell(row: int, column: int) -> str:
    return f"row {row}, column {column} (counting from 0)"


def stored(table: Table) -> Array:
    """The cells that are kept, in a row: all of a dense table, those that are not 0 of a sparse one."""
    values: Array = table if isinstance(table, np.ndarray) else table.data
    return values.ravel()


Labels: TypeAlias = tuple[Hashable, ...]
Cells: TypeAlias = Mapping[tuple[Hashable, Hashable], float]

MISSING = "missing"
"""The label of a value that is not there, where missing values are a category; it comes after all others."""

MISSING_RULES = ("error", "category", "drop")
"""What may become of a missing value: it is refused, it is a label of its own, or its row is left out."""


def checked_labels(given: Any, n: int, names: tuple[str, ...], role: str) -> Labels:
    """Distinct labels, one per row or column, 0, 1, 2, ... by default; if there are several names, tuples with one value per name."""
    labels = tuple(range(n) if given is None else plain_values(given, role))
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
    names: tuple[Any, ...] = (given,) if one else tuple(plain_values(given, role))
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidJointError(
            f"{role} must name one or more columns, by text; found {given!r}. Rename them if need be."
        )
    return names


def table_labels(table: Any, x_labels: Any, y_labels: Any, x_names: Any, y_names: Any) -> tuple[Any, Any, Any, Any]:
    """Labels and names as given; where none are, those of a pandas frame: its index and columns, with their names."""
    axes: list[Any] = [getattr(table, name, None) for name in ("index", "columns")]
    if not all(hasattr(axis, "nlevels") for axis in axes):
        return x_labels, y_labels, x_names, y_names
    kept: list[tuple[Any, Any]] = []
    for axis, labels, names, letter in ((axes[0], x_labels, x_names, "x"), (axes[1], y_labels, y_names, "y")):
        unnamed = [letter] if axis.nlevels == 1 else [f"{letter}{at}" for at in range(axis.nlevels)]
        own = [name if isinstance(name, str) else other for name, other in zip(axis.names, unnamed, strict=True)]
        # Labels that somebody gives are not values of the frame's levels.
        kept.append((axis.tolist(), own if names is None else names) if labels is None else (labels, names))
    (x_labels, x_names), (y_labels, y_names) = kept
    return x_labels, y_labels, x_names, y_names


def plain_values(values: Any, role: str) -> list[Hashable]:
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


def positions(wanted: Labels, given: Labels) -> IntArray:
    """Where each wanted label is among those given; -1 if it is not."""
    at = {label: position for position, label in enumerate(given)}
    return np.array([at.get(label, -1) for label in wanted])


def aligned(given: Labels, wanted: Labels, what: str) -> list[int]:
    """For each label wanted, which it is of those given; an error unless they are the same labels, each once."""
    rows: dict[Hashable, int] = {}
    for at, label in enumerate(given):
        if rows.setdefault(label, at) != at:
            raise InvalidJointError(f"each x must be there once; found {label!r} twice, at {rows[label]} and at {at}.")
    there = set(wanted)
    unknown = [label for label in rows if label not in there]
    missing = [label for label in wanted if label not in rows]
    if unknown or missing:
        said = [f"{what} has no x {_some(unknown)}"] if unknown else []
        said += [f"nothing is said of x = {_some(missing)}"] if missing else []
        raise InvalidJointError(f"the labels of x must be those of {what}; {', and '.join(said)}.")
    return [rows[label] for label in wanted]


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
    xs, ys = plain_values(x, "x"), plain_values(y, "y")
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


def stacked(parts: Sequence[tuple[str, float, Joint]]) -> tuple[Table, list[tuple[str, Any]]]:
    """theta_j p(x, s_j) side by side, rows in the order of the first joint, and the labels of the columns; dense if one of them is."""
    chief, _, first = parts[0]
    beside: list[Table] = []
    labels: list[tuple[str, Any]] = []
    for name, theta, joint in parts:
        if joint.x_names != first.x_names:
            raise InvalidJointError(
                f"all targets must be of the same x; {chief!r} has the columns {', '.join(first.x_names)} and {name!r} has "
                f"{', '.join(joint.x_names)}. Make both from the same x columns."
            )
        order = aligned(joint.x_labels, first.x_labels, f"the joint of {chief!r}")
        p_x = joint.p_x[order]
        apart = np.abs(p_x - first.p_x)
        # How far p(x) of two joints may differ: the information of the mixture is then off by no more than that.
        if apart.max() > 1e-12:
            x = int(apart.argmax())
            raise InvalidJointError(
                f"all targets must have the same p(x); x = {first.x_labels[x]!r} has {first.p_x[x]:.12g} with {chief!r} and "
                f"{p_x[x]:.12g} with {name!r}. Count them from the same rows, with the same weights and no smoothing of "
                "one alone, or give one the prior of the other: joint.with_prior(other.p_x)."
            )
        # Rows get the masses of the first, from which they differ by rounding: columns of p(s|x) then sum to one to the last digits.
        ratio = np.divide(first.p_x, p_x, out=np.ones(len(p_x)), where=p_x > 0.0)
        beside.append(theta * scaled_rows(joint.p_xy[order], ratio))
        labels += [(name, label) for label in joint.y_labels]
    if all(joint.is_sparse for *_, joint in parts):
        return sparse.csr_array(sparse.hstack(beside)), labels
    return np.hstack([dense(table) for table in beside]), labels


def checked_prior(prior: Any, x_labels: Labels) -> Array:
    """p(x) of these letters: finite, >= 0, sum 1; or ``"uniform"``. What has labels, a Series or a mapping, is put in order by them."""
    letters = len(x_labels)
    if isinstance(prior, str):
        if prior != "uniform":
            raise InvalidJointError(f'prior must be a list of probabilities or "uniform"; found {prior!r}.')
        return np.full(letters, 1.0 / letters)
    if hasattr(prior, "columns"):
        raise InvalidJointError(
            "prior must be one column; found a frame. Take that of the probabilities, with the labels of x as index."
        )
    own = own_labels(prior)
    try:
        p = np.array(list(prior.values()) if isinstance(prior, Mapping) else prior, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidJointError(f'prior must be a list of probabilities or "uniform"; found {error}.') from None
    if own is not None and p.ndim == 1:
        try:
            p = p[aligned(own, x_labels, "the joint")]
        except InvalidJointError as error:
            raise InvalidJointError(
                f"prior: {error} For probabilities in the order of the joint take an array."
            ) from None
    if p.shape != (letters,):
        raise InvalidJointError(f"prior must have one probability for each of {letters} x; found shape {p.shape}.")
    check_amounts(p, "prior", lambda x: f"x = {x} (counting from 0)")
    if abs(p.sum() - 1.0) > SUM_TOLERANCE:
        raise InvalidJointError(
            f"prior must sum to 1 within {SUM_TOLERANCE:g}; found the sum {p.sum():.12g}. Divide weights by their sum."
        )
    return np.asarray(p / p.sum())


def rows_for_x(conditional: Any, axes: str) -> Any:
    """A conditional p(y|x) turned so that each x has a row; arrays, frames and sparse tables all know ``.T``."""
    if axes not in ("xy", "yx"):
        raise InvalidJointError(
            f'axes must be "xy" (a row for each x) or "yx" (a row for each y, as Joint.p_y_given_x has); found {axes!r}.'
        )
    if axes == "yx":
        return conditional.T if hasattr(conditional, "T") else np.asarray(conditional).T
    return conditional


def joint_table(prior: Any, conditional: Any, axes: str, x_labels: list[Hashable] | None = None) -> Table:
    """P[x, y] = prior[x] conditional[x, y]; the conditional has a row for each x by now, ``axes`` is how it came."""
    T = checked_table(conditional, "p(y|x)")
    line = "row" if axes == "xy" else "column"
    mass = T.sum(axis=1)
    wrong = np.abs(mass - 1.0) > SUM_TOLERANCE
    if wrong.any():
        x = int(wrong.argmax())
        other = np.abs(T.sum(axis=0) - 1.0) <= SUM_TOLERANCE
        turned = f' The {"columns" if line == "row" else "rows"} do: say axes="{axes[::-1]}".' if other.all() else ""
        raise InvalidJointError(
            f"p(y|x) must sum to 1 over y for every x, within {SUM_TOLERANCE:g}; found the sum {mass[x]:.12g} in {line} {x} (counting "
            f"from 0).{turned or ' Divide it by its sum, or use Joint.from_counts for counts.'}"
        )
    p_x = checked_prior(prior, checked_labels(x_labels, T.shape[0], ("x",), "x_labels"))
    return scaled_rows(T, p_x / mass)


def reweighted(P: Table, p_x: Array, prior: Any, x_labels: tuple[Any, ...]) -> Table:
    """P with another prior of x and the same p(y|x), which must be known wherever the prior is positive."""
    new = checked_prior(prior, x_labels)
    unknown = (new > 0.0) & (p_x == 0.0)
    if unknown.any():
        x = int(unknown.argmax())
        raise InvalidJointError(
            f"the prior must be 0 where the joint says nothing about p(y|x); found {new[x]:g} at x = {x_labels[x]!r}, whose mass was 0."
        )
    return scaled_rows(P, new / np.where(p_x > 0.0, p_x, 1.0))


def by_column(labels: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """The value of every letter in each of the columns that letters are made of."""
    rows = labels if len(names) > 1 else [(label,) for label in labels]
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}

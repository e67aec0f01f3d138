"""Tables of probabilities or counts, dense or ``scipy.sparse``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from ..checks import number
from ..errors import InvalidJointError, InvalidOptionError
from ..information import Array, IntArray

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
        odd = next((f", {v!r} at {_place(*at)}" for at, v in cells if not isinstance(v, Real)), "")
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
    values = _values(table)
    if not (np.isfinite(values) & (values >= 0.0)).all():
        bad = sparse.coo_array(table)
        check_amounts(bad.data, what, lambda i: _place(bad.row[i], bad.col[i]))
    if not values.any():
        raise InvalidJointError(
            f"{what} must have a positive sum; found only zeros, in a table of shape {table.shape}. Check its source: "
            "smoothing cannot help, there is nothing to smooth."
        )
    return table


def check_amounts(values: Array, what: str, place: Callable[[int], str]) -> None:
    """Refuse the first value that is NaN, infinite or negative; place(i) says where value i stands."""
    for bad, expected, advice in (
        (np.isnan(values), "numbers", "Fill missing values, or drop them, first."),
        (np.isinf(values), "finite", "Replace it by a finite value first."),
        (values < 0.0, "non-negative", "Correct the sign, or set it to 0."),
    ):
        if bad.any():
            i = int(bad.argmax())
            raise InvalidJointError(f"{what} must be {expected}; found {values[i]} at {place(i)}. {advice}")


def smoothed(table: Table, smoothing: Any) -> Table:
    """The table with `smoothing` added to every cell, which makes a sparse one dense."""
    try:
        smoothing = number("smoothing", smoothing, lambda amount: amount >= 0.0, "a finite number, at least 0")
    except InvalidOptionError as error:
        raise InvalidJointError(f"{error} It is added to every cell; 0 is none.") from None
    if smoothing == 0.0:
        return table
    if not isinstance(table, np.ndarray):
        _check_fits(math.prod(table.shape), "smoothing", "Use smoothing=0, or merge rare labels.")
        table = table.toarray()
    return table + smoothing


def total(table: Table) -> float:
    """The sum of all cells, as `exact_sum`: the same bits for dense and sparse, on every machine."""
    return exact_sum(_values(table).ravel().data)


def exact_sum(amounts: Iterable[float]) -> float:
    """The sum, rounded once, whatever the order."""
    try:
        return math.fsum(amounts)
    except OverflowError:
        raise InvalidJointError("the sum must be finite; found one beyond 1.8e308. Scale the values down.") from None


def whole_counts(table: Table) -> Table | None:
    """How often each (x, y) was seen, as read-only int64, dense or sparse as the table is, if all entries are whole numbers; else None."""
    values = _values(table)
    if not (values == np.floor(values)).all() or total(table) > 2.0**53:
        return None
    return sealed(table.astype(np.int64))


def margins(counts: Table) -> tuple[IntArray, IntArray]:
    """How often each x and each y was seen, read-only."""
    rows, columns = (np.asarray(counts.sum(axis=axis)).astype(np.int64) for axis in (1, 0))
    return sealed(rows), sealed(columns)


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
    try:
        return _unmasked(P) if np.ma.isMaskedArray(P) else np.asarray(P)
    except ValueError as error:
        raise InvalidJointError(
            f"{what} must be a 2-D table whose rows all have one length; found ragged rows ({error})."
        ) from None


def _unmasked(P: Any) -> Any:
    """A masked table with NaN where it is masked, whatever lies there; as it is if something else in it is no number."""
    if P.dtype.kind != "O":
        return np.asarray(np.ma.filled(P.astype(float), np.nan)) if P.dtype.kind in "biuf" else np.ma.getdata(P)
    filled = np.asarray(P.filled(np.nan))
    is_number = all(isinstance(value, Real) for value in filled.flat)
    return filled.astype(float) if is_number else filled


def _check_fits(cells: int, what: str, advice: str) -> None:
    if cells > LARGEST_TABLE:
        raise InvalidJointError(f"{what} may fill at most {LARGEST_TABLE:,} cells; found {cells:,}. {advice}")


def _place(row: int, column: int) -> str:
    return f"row {row}, column {column} (counting from 0)"


def _values(table: Table) -> Array:
    values: Array = table if isinstance(table, np.ndarray) else table.data
    return values

"""The joint distribution p(x, y): validated once, at the door, and immutable afterwards.

P[x, y] = p(x, y),  T[y, x] = p(y|x),  K[x, y] = p(x|y)

Every constructor copies its input, checks it, and raises an `InvalidJointError` that says what was expected, what was
found and where, and what to do. Rows and columns of zero mass are legal: see `Joint.support`.
"""

from __future__ import annotations

import hashlib
import math
import reprlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import rel_entr

from .errors import InvalidJointError
from .information import Array, bits, entropy

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    SparseArray: TypeAlias = sparse.csr_array[np.float64, tuple[int, int]]
    SparseLike: TypeAlias = sparse.sparray | sparse.spmatrix
    Table: TypeAlias = Array | SparseArray
    SameTable = TypeVar("SameTable", Array, SparseArray, Table)

SUM_TOLERANCE = 1e-9
MAX_DENSE_CELLS = 50_000_000
# Tables tabulated from frames and samples are stored sparse when they are both this large and this empty.
_SPARSE_CELLS, _SPARSE_DENSITY = 1_000_000, 0.1


class Joint:
    """p(x, y) >= 0 with sum 1, its labels, marginals and conditionals; immutable.

    ``Joint(P)`` is `Joint.from_matrix`; see also `from_counts`, `from_frame` and `from_samples`. Two joints are equal
    when their probabilities, labels and names are.

    Attributes
    ----------
    x_labels, y_labels : tuple
        What the rows and the columns stand for; 0, 1, 2, ... unless given.
    x_names, y_names : tuple of str
        The columns of the frame that X and Y came from; empty for the other constructors.

    Examples
    --------
    >>> from infoplane.joint import Joint
    >>> Joint.from_counts([[3, 1], [1, 3]])
    Joint(2 x 2, 0 zero cells, H(X) = 1, H(Y) = 1, I(X;Y) = 0.188722 bits)
    """

    x_labels: tuple[Hashable, ...]
    y_labels: tuple[Hashable, ...]
    x_names: tuple[str, ...]
    y_names: tuple[str, ...]
    _p_xy: Table

    def __init__(
        self,
        P: ArrayLike | SparseLike,
        x_labels: Iterable[Hashable] | None = None,
        y_labels: Iterable[Hashable] | None = None,
    ) -> None:
        table = _table(P, "p(x, y)", "probabilities")
        total = _total(table)
        if not abs(total - 1.0) <= SUM_TOLERANCE:
            if total == 0.0:
                raise InvalidJointError(
                    f"p(x, y) must sum to 1; found only zeros in a {_size(table)} table. Check its source."
                )
            raise InvalidJointError(
                f"p(x, y) must sum to 1 within {SUM_TOLERANCE:g}; found the sum {total:.12g}. "
                "For counts or weights use Joint.from_counts, which normalises."
            )
        # A table that was already normalised keeps its bits, so that p_xy -> Joint -> p_xy is the identity.
        if abs(total - 1.0) > 4.0 * np.finfo(float).eps:
            table = _divided(table, total)
        self._fill(table, _labels(x_labels, table, 0), _labels(y_labels, table, 1))

    def _fill(
        self,
        table: Table,
        x_labels: tuple[Hashable, ...],
        y_labels: tuple[Hashable, ...],
        x_names: tuple[str, ...] = (),
        y_names: tuple[str, ...] = (),
    ) -> None:
        self.__dict__.update(
            _p_xy=_sealed(table), x_labels=x_labels, y_labels=y_labels, x_names=x_names, y_names=y_names
        )

    @classmethod
    def _trusted(cls, *parts: Any) -> Self:
        """A joint from parts that have passed the door already: see `_fill`."""
        joint = cls.__new__(cls)
        joint._fill(*parts)
        return joint

    # -- doors ---------------------------------------------------------------------------------------------------------

    @classmethod
    def from_matrix(
        cls,
        P: ArrayLike | SparseLike,
        x_labels: Iterable[Hashable] | None = None,
        y_labels: Iterable[Hashable] | None = None,
    ) -> Self:
        """P[x, y] = p(x, y), which must sum to 1 within 1e-9.

        Parameters
        ----------
        P
            A 2-D table of probabilities: nested lists, an array, or a ``scipy.sparse`` array, which stays sparse.
        x_labels, y_labels
            One distinct, hashable label a row, a column; 0, 1, 2, ... by default.

        Examples
        --------
        >>> Joint.from_matrix([[0.5, 0.0], [0.25, 0.25]], x_labels=["a", "b"]).p_x
        array([0.5, 0.5])
        """
        return cls(P, x_labels, y_labels)

    @classmethod
    def from_counts(
        cls,
        N: ArrayLike | SparseLike,
        smoothing: float = 0.0,
        x_labels: Iterable[Hashable] | None = None,
        y_labels: Iterable[Hashable] | None = None,
    ) -> Self:
        """p(x, y) = (N[x, y] + smoothing) / sum of the same.

        Parameters
        ----------
        N
            A 2-D table of counts or other non-negative weights, dense or ``scipy.sparse``.
        smoothing
            Added to every cell, the empty ones too: a sparse table becomes dense, and may then have 50 million cells at
            most.
        x_labels, y_labels
            One distinct, hashable label a row, a column; 0, 1, 2, ... by default.

        Examples
        --------
        >>> Joint.from_counts([[3, 0], [0, 1]], smoothing=1.0).p_xy.tolist()
        [[0.5, 0.125], [0.125, 0.25]]
        """
        smoothing = _smoothing(smoothing)
        table = _table(N, "a table of counts", "counts")
        return cls._from_table(table, smoothing, _labels(x_labels, table, 0), _labels(y_labels, table, 1))

    @classmethod
    def from_frame(
        cls,
        df: IntoDataFrame,
        x: str | Sequence[str],
        y: str | Sequence[str],
        weight: str | None = None,
        smoothing: float = 0.0,
    ) -> Self:
        """p(x, y) = share of the rows, or of their weight, in which the columns `x` and `y` take these values.

        Parameters
        ----------
        df
            A pandas, polars or pyarrow frame with one row a sample; or one row a group, with `weight` its size.
        x, y
            A column, or a list of columns that are taken together. Labels are the values of one column, tuples of
            values of several; only combinations that occur get a label. They are sorted if they can be compared,
            otherwise they keep the order of first appearance.
        weight
            A column of finite non-negative weights. A label whose weights are all zero stays, with zero mass.
        smoothing
            Added to every cell, before normalising.

        Examples
        --------
        >>> import pandas as pd
        >>> df = pd.DataFrame({"drug": ["a", "b", "b", "b"], "sex": ["f", "f", "m", "m"]})
        >>> joint = Joint.from_frame(df, x="drug", y="sex")
        >>> joint.x_labels, joint.y_labels, joint.p_xy.tolist()
        (('a', 'b'), ('f', 'm'), [[0.25, 0.0], [0.25, 0.5]])
        """
        smoothing = _smoothing(smoothing)
        frame = _frame(df)
        x_names, y_names = _names(x, "x", frame), _names(y, "y", frame)
        both = [name for name in x_names if name in y_names]
        if both:
            raise InvalidJointError(f"a column is either in x or in y; found {both[0]!r} in both. Leave it out of one.")
        if weight is not None:
            _check_weight(weight, x_names, y_names, frame)
        if len(frame) == 0:
            raise InvalidJointError(
                "a frame must have at least one row; found none. Check how it was read or filtered."
            )
        cells = _frame_cells(frame, x_names, y_names, weight)
        return cls._from_cells(cells, smoothing, x_names, y_names)

    @classmethod
    def from_samples(cls, x: Iterable[Hashable], y: Iterable[Hashable], smoothing: float = 0.0) -> Self:
        """p(x, y) = share of the i with (x[i], y[i]) = (x, y).

        Parameters
        ----------
        x, y
            Two 1-D sequences of equal length, of hashable values: lists, arrays, series. Labels are ordered as in
            `from_frame`.
        smoothing
            Added to every cell, before normalising.

        Examples
        --------
        >>> Joint.from_samples(["a", "b", "b", "a"], [0, 1, 1, 0]).p_xy.tolist()
        [[0.5, 0.0], [0.0, 0.5]]
        """
        smoothing = _smoothing(smoothing)
        xs, ys = _samples(x, "x"), _samples(y, "y")
        if len(xs) != len(ys):
            raise InvalidJointError(
                f"x and y must have one value a sample each; found {len(xs)} values of x and {len(ys)} of y. "
                "Take both from the same rows."
            )
        if not xs:
            raise InvalidJointError("x and y must have at least one sample; found none.")
        return cls._from_cells(Counter(zip(xs, ys, strict=True)), smoothing)

    @classmethod
    def _from_cells(
        cls,
        cells: dict[tuple[Hashable, Hashable], float] | Counter[tuple[Hashable, Hashable]],
        smoothing: float,
        x_names: tuple[str, ...] = (),
        y_names: tuple[str, ...] = (),
    ) -> Self:
        """The joint of cells (x, y) -> amount, listed in order of first appearance."""
        x_labels, y_labels = (_ordered(dict.fromkeys(cell[axis] for cell in cells)) for axis in (0, 1))
        rows, columns = ({label: i for i, label in enumerate(labels)} for labels in (x_labels, y_labels))
        at = [rows[x] for x, _ in cells], [columns[y] for _, y in cells]
        # A weight of -0.0 is 0.
        amounts = np.abs(np.fromiter(cells.values(), dtype=float, count=len(cells)))
        shape = len(x_labels), len(y_labels)
        table: Table
        if math.prod(shape) > _SPARSE_CELLS and len(cells) < _SPARSE_DENSITY * math.prod(shape):
            table = sparse.csr_array((amounts, at), shape=shape)
        else:
            table = np.zeros(shape)
            table[at] = amounts
        return cls._from_table(table, smoothing, x_labels, y_labels, x_names, y_names)

    @classmethod
    def _from_table(
        cls,
        table: Table,
        smoothing: float,
        x_labels: tuple[Hashable, ...],
        y_labels: tuple[Hashable, ...],
        *names: tuple[str, ...],
    ) -> Self:
        """Smooth and normalise a table of our own that holds non-negative finite amounts."""
        if not (table.any() if isinstance(table, np.ndarray) else table.data.any()):
            raise InvalidJointError(
                f"counts must have a positive sum; found only zeros in a {_size(table)} table. Smoothing cannot help: "
                "there is nothing to smooth."
            )
        if smoothing > 0.0:
            if not isinstance(table, np.ndarray):
                if math.prod(table.shape) > MAX_DENSE_CELLS:
                    raise InvalidJointError(
                        f"smoothing fills every cell of a sparse table, at most {MAX_DENSE_CELLS:,} of them; found "
                        f"{_size(table)} = {math.prod(table.shape):,}. Use smoothing=0, or merge rare rows and columns."
                    )
                table = table.toarray()
            table += smoothing
        total = _total(table)
        if math.isinf(total):
            raise InvalidJointError(
                "counts must have a finite sum; found one beyond 1.8e308. Divide them by the largest."
            )
        return cls._trusted(_divided(table, total), x_labels, y_labels, *names)

    # -- what it holds -------------------------------------------------------------------------------------------------

    @property
    def p_xy(self) -> Any:
        """P[x, y] = p(x, y): a read-only array, or a ``csr_array`` if `is_sparse`."""
        # Typed Any, as the conditionals are: the stubs cannot say that W @ (array or csr_array) is an array.
        return self._p_xy

    @property
    def shape(self) -> tuple[int, int]:
        """(|X|, |Y|)."""
        n_x, n_y = self._p_xy.shape
        return n_x, n_y

    @property
    def is_sparse(self) -> bool:
        """Whether p_xy, p_y_given_x and p_x_given_y are ``csr_array``."""
        return not isinstance(self._p_xy, np.ndarray)

    @cached_property
    def p_x(self) -> Array:
        """p(x) = sum_y p(x, y)."""
        return _sealed(self._p_xy.sum(axis=1))

    @cached_property
    def p_y(self) -> Array:
        """p(y) = sum_x p(x, y)."""
        return _sealed(self._p_xy.sum(axis=0))

    @cached_property
    def p_y_given_x(self) -> Any:
        """T[y, x] = p(y|x) = p(x, y) / p(x); p(y) where p(x) = 0. Sparse if `is_sparse`."""
        return _conditional(self._p_xy, self.p_x, self.p_y)

    @cached_property
    def p_x_given_y(self) -> Any:
        """K[x, y] = p(x|y) = p(x, y) / p(y); p(x) where p(y) = 0. Sparse if `is_sparse`."""
        return _conditional(self._p_xy.T, self.p_y, self.p_x)

    @cached_property
    def entropy_x(self) -> float:
        """H(X), in nats."""
        return entropy(self.p_x)

    @cached_property
    def entropy_y(self) -> float:
        """H(Y), in nats."""
        return entropy(self.p_y)

    @cached_property
    def mutual_information(self) -> float:
        """I(X;Y) = sum_x p(x) D(p(y|x) || p(y)), in nats."""
        # One factor at a time: p(x) p(y) would underflow to 0 for the smallest masses and make the divergence infinite.
        x, y, p_xy = _nonzero(self._p_xy)
        p_x = self.p_x[x]
        return max(float((p_x * rel_entr(p_xy / p_x, self.p_y[y])).sum()), 0.0)

    def support(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Two masks: the x with p(x) > 0, the y with p(y) > 0."""
        return self.p_x > 0.0, self.p_y > 0.0

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of the shape and the non-zero cells: the same for dense and sparse, whatever the labels."""
        x, y, p_xy = _nonzero(self._p_xy)
        digest = hashlib.sha256(b"infoplane joint 1")
        for part, kind in ((np.array(self.shape), "<i8"), (x, "<i8"), (y, "<i8"), (p_xy, "<f8")):
            digest.update(np.ascontiguousarray(part, dtype=kind).data)
        return digest.hexdigest()

    # -- manners -------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        n_x, n_y = self.shape
        zeros = n_x * n_y - len(_nonzero(self._p_xy)[2])
        h_x, h_y, i_xy = (bits(v) for v in (self.entropy_x, self.entropy_y, self.mutual_information))
        return (
            f"Joint({n_x} x {n_y}{' sparse' if self.is_sparse else ''}, {zeros} zero cell{'s' if zeros != 1 else ''}, "
            f"H(X) = {h_x:.6g}, H(Y) = {h_y:.6g}, I(X;Y) = {i_xy:.6g} bits)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joint):
            return NotImplemented
        return self._labelling() == other._labelling() and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _labelling(self) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...], tuple[str, ...], tuple[str, ...]]:
        return self.x_labels, self.y_labels, self.x_names, self.y_names

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Joint is immutable: cannot set {name!r}. Build another one.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Joint is immutable: cannot delete {name!r}.")

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writable: going through `_fill` makes them read-only again.
        return type(self)._trusted, (self._p_xy, *self._labelling())


# -- arithmetic on a table, dense or sparse ----------------------------------------------------------------------------


def _sealed(table: SameTable) -> SameTable:
    """The same table, read-only."""
    for array in (table,) if isinstance(table, np.ndarray) else (table.data, table.indices, table.indptr):
        array.flags.writeable = False
    return table


def _size(table: Table) -> str:
    return " x ".join(str(n) for n in table.shape)


def _nonzero(table: Table) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Rows, columns and values of the positive cells, row by row."""
    if isinstance(table, np.ndarray):
        x, y = np.nonzero(table)
        return x, y, table[x, y]
    return np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)), table.indices.astype(np.intp), table.data


def _total(table: Table) -> float:
    """The correctly rounded sum: the same bits for dense and sparse, on every machine; inf if too large."""
    return _sum(np.ravel(table if isinstance(table, np.ndarray) else table.data).data)


def _sum(values: Iterable[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def _divided(table: Table, total: float) -> Table:
    """The table over its total, in place: it must be ours."""
    if isinstance(table, np.ndarray):
        table /= total
    else:
        table.data /= total
        table.eliminate_zeros()
    return table


def _conditional(P: Any, p: Array, q: Array) -> Table:
    """The transpose of P with its columns divided by p, equal to q where p = 0."""
    empty = np.flatnonzero(p == 0.0)
    divisor = np.where(p > 0.0, p, 1.0)
    if isinstance(P, np.ndarray):
        dense = P.T / divisor
        dense[:, empty] = q[:, None]
        return _sealed(np.ascontiguousarray(dense))
    rows = np.flatnonzero(q)
    if len(empty) * len(rows) > MAX_DENSE_CELLS:
        raise InvalidJointError(
            f"a conditional has at most {MAX_DENSE_CELLS:,} cells for labels of zero mass; found {len(empty):,} such "
            f"labels with {len(rows):,} cells each. Drop them: Joint.support says which they are."
        )
    cells = sparse.coo_array(P.T)
    values = np.concatenate([cells.data / divisor[cells.col], np.tile(q[rows], len(empty))])
    at = (
        np.concatenate([cells.row, np.tile(rows, len(empty))]),
        np.concatenate([cells.col, np.repeat(empty, len(rows))]),
    )
    return _sealed(sparse.csr_array((values, at), shape=cells.shape))


# -- the door: tables --------------------------------------------------------------------------------------------------


def _table(P: Any, what: str, entries: str) -> Table:
    """A copy of P, a float64 array or canonical csr_array of finite non-negative entries; or an error.

    `what` names the table and `entries` what it holds, for the messages.
    """
    table = _sparse_copy(P, what) if sparse.issparse(P) else _dense_copy(P, what)
    values = table if isinstance(table, np.ndarray) else table.data
    for bad, expected, advice in (
        (np.isnan(values), "numbers", "Fill missing values, or drop their rows, first."),
        (np.isinf(values), "finite", "Replace it by a finite value first."),
        (values < 0.0, "non-negative", "Correct the sign, or set the cell to 0."),
    ):
        if bad.any():
            row, column, value = _where(table, bad)
            raise InvalidJointError(
                f"{entries} must be {expected}; found {value} at row {row}, column {column} (counting from 0). {advice}"
            )
    # -0.0 passed the test above; it is 0.
    np.abs(values, out=values)
    if not isinstance(table, np.ndarray):
        table.eliminate_zeros()
    return table


def _sparse_copy(P: Any, what: str) -> SparseArray:
    _check_shape(P, P.shape, what)
    _check_dtype(P.dtype, None, what)
    with np.errstate(over="ignore"):
        table: SparseArray = sparse.csr_array(P, dtype=float, copy=True)
    table.sum_duplicates()
    return table


def _dense_copy(P: Any, what: str) -> Array:
    if np.ma.isMaskedArray(P) and np.ma.getmaskarray(P).any():
        raise InvalidJointError(f"{what} must not have masked cells; found some. Fill them: P.filled(0).")
    try:
        raw = np.asarray(P)
    except ValueError as error:
        raise InvalidJointError(
            f"{what} must be a 2-D table whose rows all have one length; found ragged rows ({error})."
        ) from None
    _check_shape(P, raw.shape, what)
    _check_dtype(raw.dtype, raw, what)
    with np.errstate(over="ignore"):
        return np.array(raw, dtype=float, order="C")


def _where(table: Table, bad: NDArray[np.bool_]) -> tuple[int, int, float]:
    if isinstance(table, np.ndarray):
        row, column = (int(i) for i in np.argwhere(bad)[0])
        return row, column, float(table[row, column])
    first = int(bad.argmax())
    row = int(np.searchsorted(table.indptr, first, side="right")) - 1
    return row, int(table.indices[first]), float(table.data[first])


def _check_shape(P: object, shape: tuple[int, ...], what: str) -> None:
    if len(shape) != 2:
        kind = f" ({type(P).__name__})" if len(shape) == 0 else ""
        raise InvalidJointError(
            f"{what} must be a 2-D table, one row an x and one column a y; found {len(shape)} dimensions{kind}. "
            "For samples use Joint.from_samples, for a frame Joint.from_frame."
        )
    if 0 in shape:
        raise InvalidJointError(f"{what} must have at least one row and one column; found an empty table, {shape}.")


def _check_dtype(dtype: np.dtype[Any], values: NDArray[Any] | None, what: str) -> None:
    if dtype.kind in "fiu":
        return
    found, advice = f"dtype {dtype}", "Convert it first: P.astype(float)."
    if dtype.kind == "b":
        advice = "If True is to count as 1, say so: Joint.from_counts(P.astype(float))."
    elif dtype.kind == "c":
        advice = "Take the real part first, if that is what is meant: P.real."
    elif values is not None:
        odd = next((at for at, value in np.ndenumerate(values) if not _is_number(value)), None)
        if odd is not None:
            found = f"{values[odd]!r} at row {odd[0]}, column {odd[1]} (counting from 0)"
            advice = "Convert it to a number, or fill it, first."
    raise InvalidJointError(f"{what} must hold real numbers; found {found}. {advice}")


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, str | bytes)


def _smoothing(value: Any) -> float:
    if not (_is_number(value) and 0.0 <= float(value) < math.inf):
        raise InvalidJointError(
            f"smoothing must be a finite number, at least 0; found {value!r}. It is added to every cell; 0 is none."
        )
    return float(value)


# -- the door: labels --------------------------------------------------------------------------------------------------


def _labels(given: Iterable[Hashable] | None, table: Table, axis: int) -> tuple[Hashable, ...]:
    n = table.shape[axis]
    if given is None:
        return tuple(range(n))
    name, line = (("x_labels", "row"), ("y_labels", "column"))[axis]
    labels = tuple(_listed(given, name))
    if len(labels) != n:
        raise InvalidJointError(f"{name} must have one label a {line}: expected {n}, found {len(labels)}.")
    first: dict[Hashable, int] = {}
    for i, label in enumerate(labels):
        if first.setdefault(label, i) != i:
            raise InvalidJointError(
                f"{name} must be distinct; found {label!r} for {line}s {first[label]} and {i}. "
                f"Rename one, or add the two {line}s up."
            )
    return labels


def _listed(values: Any, name: str) -> list[Hashable]:
    """Plain Python values of a 1-D sequence of hashables."""
    if isinstance(values, str | bytes | Set | Mapping) or not isinstance(values, Iterable):
        raise InvalidJointError(
            f"{name} must be a sequence of values, in order; found {reprlib.repr(values)}. Pass a list."
        )
    if getattr(values, "ndim", 1) != 1:
        raise InvalidJointError(
            f"{name} must be 1-D; found {getattr(values, 'ndim', None)} dimensions. For several columns use "
            "Joint.from_frame, or a list of tuples."
        )
    # numpy lists nanosecond dates as integers, so it is not asked to.
    dates = isinstance(values, np.ndarray) and values.dtype.kind in "mM"
    method = next((m for m in ("to_list", "tolist", "to_pylist") if hasattr(values, m) and not dates), None)
    listed: list[Hashable] = list(values) if method is None else getattr(values, method)()
    for i, value in enumerate(listed):
        try:
            hash(value)
        except TypeError:
            raise InvalidJointError(
                f"{name} must hold hashable values; found a {type(value).__name__} at position {i} (counting from 0). "
                "Turn lists into tuples."
            ) from None
    return listed


def _samples(values: Any, name: str) -> list[Hashable]:
    listed = _listed(values, name)
    if any(_is_missing(value) for value in dict.fromkeys(listed)):
        at = [i for i, value in enumerate(listed) if _is_missing(value)]
        raise InvalidJointError(
            f"{name} must have no missing values; found {len(at)}, the first at position {at[0]} (counting from 0). "
            'Drop those samples, or give them a label of their own such as "missing".'
        )
    return listed


def _is_missing(value: object) -> bool:
    """None, NaN, NaT, NA, or a tuple with one of them."""
    if isinstance(value, tuple):
        return any(_is_missing(v) for v in value)
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def _ordered(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    listed: list[Any] = list(labels)
    try:
        return tuple(sorted(listed))
    except TypeError:
        return tuple(listed)


# -- the door: frames --------------------------------------------------------------------------------------------------


def _frame(df: Any) -> nw.DataFrame[Any]:
    # Imported on use, as below: it costs 0.1 s that matrices and samples need not pay.
    import narwhals as nw

    try:
        frame = nw.from_native(df, eager_only=True, pass_through=True)
    except nw.exceptions.NarwhalsError as error:
        found = " ".join(str(error).split())
        raise InvalidJointError(f"columns of a frame must have distinct names. {found}. Rename them first.") from None
    if not isinstance(frame, nw.DataFrame):
        advice = "Call .collect() first." if hasattr(df, "collect") else "For a matrix use Joint.from_counts."
        raise InvalidJointError(f"expected a pandas, polars or pyarrow frame; found {type(df).__name__}. {advice}")
    return frame


def _check_column(name: object, role: str, frame: nw.DataFrame[Any]) -> None:
    if not isinstance(name, str):
        raise InvalidJointError(
            f"{role} must name columns by text; found {name!r}. Rename such columns, df.columns.astype(str)."
        )
    if name not in frame.columns:
        known = ", ".join(repr(column) for column in frame.columns[:20]) + (", ..." if len(frame.columns) > 20 else "")
        raise InvalidJointError(f"{role} must name columns of the frame; found {name!r}, expected one of {known}.")


def _names(given: Any, role: str, frame: nw.DataFrame[Any]) -> tuple[str, ...]:
    """The columns that make up X or Y, all present and without missing or unhashable values."""
    one = isinstance(given, str) or not isinstance(given, Iterable)
    names: tuple[Any, ...] = (given,) if one else tuple(_listed(given, role))
    if not names:
        raise InvalidJointError(f"{role} must name at least one column; found an empty list.")
    for name in names:
        _check_column(name, role, frame)
        if names.count(name) > 1:
            raise InvalidJointError(f"{role} must name each column once; found {name!r} {names.count(name)} times.")
        column = frame[name]
        missing = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
        if missing.any():
            raise InvalidJointError(
                f"column {name!r} must have no missing values; found {missing.sum()} in {len(frame)} rows, the first "
                f"in row {missing.to_list().index(True)} (counting from 0). Drop those rows, or fill them with a label."
            )
        if str(column.dtype) == "Object" or column.dtype.is_nested():
            _samples(column, f"column {name!r}")
    return names


def _check_weight(weight: str, x_names: tuple[str, ...], y_names: tuple[str, ...], frame: nw.DataFrame[Any]) -> None:
    import narwhals as nw

    _check_column(weight, "weight", frame)
    if weight in x_names or weight in y_names:
        raise InvalidJointError(
            f"the weight column cannot be part of x or y; found {weight!r} in {'x' if weight in x_names else 'y'} too."
        )
    column = frame[weight]
    if not column.dtype.is_numeric():
        raise InvalidJointError(
            f"the weight column {weight!r} must be numeric; found {column.dtype}. Convert it first."
        )
    values = column.cast(nw.Float64).to_numpy()
    for bad, expected in (
        (np.isnan(values), "a number in every row"),
        (np.isinf(values), "finite"),
        (values < 0.0, "non-negative"),
    ):
        if bad.any():
            row = int(bad.argmax())
            raise InvalidJointError(
                f"the weight column {weight!r} must be {expected}; found {values[row]} in row {row} (counting from 0). "
                "Correct or drop that row."
            )


def _frame_cells(
    frame: nw.DataFrame[Any], x_names: tuple[str, ...], y_names: tuple[str, ...], weight: str | None
) -> dict[tuple[Hashable, Hashable], float]:
    """(x, y) -> number of rows, or their weight, in order of first appearance."""
    import narwhals as nw

    names = [*x_names, *y_names]
    # Names of our own cannot clash. Rows are grouped by weight as well: (rows of that weight) x weight, summed exactly,
    # does not depend on the order in which a multi-threaded frame visits its rows.
    columns = [nw.col(name).alias(f"c{i}") for i, name in enumerate(names)]
    keys = [f"c{i}" for i in range(len(names))]
    if weight is not None:
        columns.append(nw.col(weight).cast(nw.Float64).alias("w"))
        keys.append("w")
    groups = frame.select(columns).with_row_index("row").group_by(*keys).agg(nw.len().alias("n"), nw.col("row").min())
    groups = groups.sort("row")
    values = [groups[key].to_list() for key in keys]
    xs, ys = (
        part[0] if len(part) == 1 else list(zip(*part, strict=True))
        for part in (values[: len(x_names)], values[len(x_names) : len(names)])
    )
    amounts: dict[tuple[Hashable, Hashable], list[float]] = {}
    for x, y, n, w in zip(xs, ys, groups["n"].to_list(), [1] * len(xs) if weight is None else values[-1], strict=True):
        amounts.setdefault((x, y), []).append(n * w)
    return {cell: _sum(parts) for cell, parts in amounts.items()}

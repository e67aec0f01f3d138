"""Systems that people bring, read as encoders W[z, x] = p(z|x): naming systems, quantisers, trained layers.

A system is an array (|Z|, |X|) whose columns sum to 1; a frame with a row for each x and a column for each z, matched by the labels of x;
hard labels, one z for each x, in order or by label; or anything with an ``encoder``, such as a `Solution`. With ``counts`` a table holds
how often each x was called z, and p(z|x) is its share. |Z| may differ from one system to the next. An array whose x may be in either
axis, as a square one of counts, is refused unless ``axes`` says which.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ..checks import SUM_TOLERANCE, check_flag, check_one_of
from ..encoder.encoder import hard_map
from ..errors import InvalidEncoderError, InvalidJointError
from ..information import Array, Result
from ..joint.joint import Joint
from ..joint.tables import aligned, checked_names, own_labels, plain_values

Labels = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class System(Result):
    """One system: its name, its encoder, and what its z stand for."""

    name: str
    encoder: Array = field(repr=False)
    z_labels: Labels = field(repr=False)
    x_labels: Labels | None = field(default=None, repr=False)
    """Of its columns; None if they have none."""
    trials: Array | None = field(default=None, repr=False)
    """How often each x was named; None unless it was given as counts."""


def read_systems(joint: Joint, encoders: Any, counts: bool = False, axes: str | None = None) -> list[System]:
    """Every system as an encoder of the joint's x: a mapping from names to systems, a sequence of systems, or a single one.

    ``axes`` says of bare arrays which axis is which, "zx" or "xz"; it must be said where neither shape nor numbers tell.

    Examples
    --------
    >>> from infoplane import datasets
    >>> joint = datasets.paper_uniform()
    >>> [(one.name, one.encoder.shape) for one in read_systems(joint, {"two": ["a", "b", "a"], "all": [0, 1, 2]})]
    [('two', (2, 3)), ('all', (3, 3))]
    """
    if isinstance(encoders, Mapping):
        named = [*zip(_distinct(encoders), encoders.values(), strict=True)]
    elif _is_one_system(encoders):
        named = [("0", encoders)]
    else:
        several = [*encoders]
        _refuse_nested(several)
        named = [(str(number), given) for number, given in enumerate(several)]
    if not named:
        raise InvalidEncoderError("expected at least one system; found none.")
    return [read_system(given, joint, counts, axes, name) for name, given in named]


def systems_from_frame(
    df: Any,
    x: str | Sequence[str],
    z: str,
    system: str | None = None,
    weight: str | None = None,
    *,
    counts: bool = False,
) -> dict[str, Any]:
    """Naming data, one row per naming, as systems: from each name to a frame of p(z|x), a row per x and a column per z.

    Parameters
    ----------
    df
        A pandas, polars or pyarrow frame.
    x, z
        The column (or columns) of items, and the column of words.
    system
        The column that says whose naming it is; None if all are of one system, which is then called ``"0"``.
    weight
        A column of counts, or of probabilities, for rows that stand for more or less than one naming.
    counts
        Whether frames hold how often each x was called z, not its share: what `infoplane.efficiency` takes with ``counts=True``.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"who": ["a", "a", "a", "b", "b"], "item": [0, 0, 1, 0, 1], "word": list("uvvuu")})
    >>> systems_from_frame(rows, "item", "word", "who")["a"].to_numpy().tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    items = checked_names(x, "x")
    namings = Joint.from_frame(df, [*([] if system is None else [system]), *items], [z], weight)
    return systems_of(namings, system is not None, counts)


def systems_of(namings: Joint, named: bool, counts: bool = False, alone: str = "0") -> dict[str, Any]:
    """Systems from the table of their namings: X holds the items, behind the name of the system if they are ``named``; Y the words.

    A system without a name is called ``alone``.
    """
    import pandas as pd

    if counts and namings.counts is None:
        raise InvalidEncoderError("counts of namings must be whole numbers; found weights or probabilities.")
    tables = {alone: namings}
    if named:
        names = dict.fromkeys(label[0] for label in namings.x_labels)  # type: ignore[index]
        tables = {text: _part(namings, name) for text, name in zip(_distinct(names), names, strict=True)}
    found = {}
    for name, table in tables.items():
        if (table.p_x == 0.0).any():
            item = table.x_labels[int((table.p_x == 0.0).argmax())]
            raise InvalidEncoderError(f"system {name!r}: the item x = {item!r} has no naming: all its counts are 0.")
        used = table.p_y > 0.0
        index = pd.Index(table.x_labels, tupleize_cols=len(table.x_names) > 1)
        words = [word for word, kept in zip(table.y_labels, used, strict=True) if kept]
        held = table.counts if counts else table.p_y_given_x.T
        rows = held.toarray() if table.is_sparse else held
        found[name] = pd.DataFrame(rows[:, used], index=index, columns=pd.Index(words, tupleize_cols=False))
    return found


def _distinct(names: Iterable[Hashable]) -> list[str]:
    """The names of systems as text, which must tell them apart."""
    seen: dict[str, Hashable] = {}
    for name in names:
        if seen.setdefault(str(name), name) is not name:
            raise InvalidEncoderError(
                f"systems must have different names; found {seen[str(name)]!r} and {name!r}, both written {str(name)!r}. Rename one."
            )
    return list(seen)


def _part(whole: Joint, name: Hashable) -> Joint:
    """The namings of one system among all."""
    rows: dict[int, Any] = {at: label for at, label in enumerate(whole.x_labels) if label[0] == name}  # type: ignore[index]
    labels = [label[1:] if len(whole.x_names) > 2 else label[1] for label in rows.values()]
    try:
        held = (whole.p_xy if whole.counts is None else whole.counts)[[*rows]]
        return Joint.from_counts(held, 0.0, labels, whole.y_labels, whole.x_names[1:], whole.y_names)
    except InvalidJointError:
        raise InvalidEncoderError(f"system {name!r} has no naming: all its counts are 0.") from None


def _is_one_system(given: Any) -> bool:
    """Whether this is a system rather than a sequence of them: a table, a column of labels, or something with an encoder."""
    if hasattr(given, "encoder") or hasattr(given, "columns"):
        return True
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise InvalidEncoderError(
            f"expected a system, a list of systems, or a mapping from names to systems; found {given!r}."
        )
    dimensions = getattr(given, "ndim", None)
    if dimensions is not None:
        return bool(dimensions < 3)
    return _is_column(given) and len(list(given)) > 0


def _refuse_nested(several: list[Any]) -> None:
    """Refuse lists of numbers that are one table p(z|x) and so many systems of hard labels alike."""
    if not all(isinstance(one, list | tuple) and all(isinstance(z, Real) for z in one) for one in several):
        return
    if (
        len(several) > 1
        and len({len(one) for one in several}) == 1
        and np.abs(np.sum(several, axis=0) - 1.0).max() <= SUM_TOLERANCE
    ):
        raise InvalidEncoderError(
            f"lists of numbers whose columns sum to 1 may be one table p(z|x), or {len(several)} systems of hard labels: give "
            "numpy.array(...) for a table, or a mapping from names to systems."
        )


def read_system(
    given: Any,
    joint: Joint | None = None,
    counts: bool = False,
    axes: str | None = None,
    name: str = "",
    match: bool = True,
) -> System:
    """One system as an encoder of the joint's x, or whatever its x are called if there is no joint; ``name`` is what an error calls it.

    Without ``match`` it keeps the labels that it has itself, of which the joint may have others; if it has none, its x are the joint's.

    Examples
    --------
    >>> read_system(["red", "red", "green"]).encoder.tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    check_flag("counts", counts)
    made = getattr(given, "joint", None)
    if hasattr(given, "encoder"):  # a solution's, which is known to be (|Z|, |X|)
        given, axes = given.encoder, "zx"
    try:
        table, x_labels, z_labels = _table(given, joint, counts, axes)
        if joint is not None and isinstance(made, Joint):
            x_labels = made.x_labels
        if joint is not None and (match or x_labels is None):
            table, x_labels = _matched(table, x_labels, joint), joint.x_labels
        W = _checked(table, x_labels or tuple(range(table.shape[1])), counts)
    except (InvalidEncoderError, InvalidJointError) as error:
        raise InvalidEncoderError(f"system {name!r}: {error}" if name else str(error)) from None
    return System(name, W, z_labels, x_labels, table.sum(axis=0) if counts else None)


def _table(given: Any, joint: Joint | None, counts: bool, axes: str | None) -> tuple[Array, Labels | None, Labels]:
    """W[z, x], or counts, as they were given; the labels of x, if there are any, and those of z."""
    if hasattr(given, "columns"):
        return _framed(given, joint)
    if not _is_column(given):
        table = _oriented(_numbers(given), None if joint is None else joint.shape[0], counts, axes)
        return table, None, tuple(range(len(table)))
    table, x_labels, z_labels = _hard(given)
    if counts and any(isinstance(word, Real) for word in z_labels):
        raise InvalidEncoderError(
            "with counts a system is a table; found a flat list of numbers. For a table give an array; hard labels are no counts."
        )
    return table, x_labels, z_labels


def _is_column(given: Any) -> bool:
    """Hard labels: a mapping from x to z, a 1-D array, a series of any library, or a flat sequence."""
    if isinstance(given, Mapping) or getattr(given, "ndim", None) == 1:
        return True
    if hasattr(given, "to_list") or hasattr(given, "to_pylist"):  # of polars and pyarrow; tables have columns
        return True
    flat = isinstance(given, Sequence) and not isinstance(given, str)
    return flat and not any(hasattr(one, "__len__") and not isinstance(one, (str, bytes)) for one in given)


def _hard(given: Any) -> tuple[Array, Labels | None, Labels]:
    """One z for each x: the encoder of 0 and 1, the labels of x if there are any, and those of z in order of appearance."""
    words = plain_values(list(given.values()) if isinstance(given, Mapping) else given, "hard labels")
    if any(isinstance(word, float) and not word.is_integer() for word in words):
        raise InvalidEncoderError(
            "hard labels must be names or whole numbers; found fractions. A table of probabilities is an array (|Z|, |X|) or a frame."
        )
    if not words:
        raise InvalidEncoderError("hard labels must name a z for each x; found none.")
    return hard_map(words), own_labels(given), tuple(dict.fromkeys(words))


def _framed(given: Any, joint: Joint | None) -> tuple[Array, Labels | None, Labels]:
    """A frame with a row for each x: in its index, or in columns that are called what the joint's x is called."""
    import narwhals as nw

    names = () if joint is None else joint.x_names
    x_labels = own_labels(given)
    frame = given if hasattr(given, "iloc") else nw.from_native(given, eager_only=True)
    columns = list(frame.columns)
    if names and all(name in columns for name in names):
        held = [frame[name].to_list() for name in names]
        x_labels = tuple(held[0]) if len(names) == 1 else tuple(zip(*held, strict=True))
        frame = frame[[name for name in columns if name not in names]]
    words = tuple(frame.columns)
    if joint is not None and x_labels is None and len(words) > 1 and set(words) == set(joint.x_labels):
        raise InvalidEncoderError(
            "a frame has a row for each x; here the columns have the labels of x. Give its transpose."
        )
    return _numbers(frame.to_numpy()).T, x_labels, words


def _numbers(given: Any) -> Array:
    try:
        table = np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidEncoderError(f"expected a table of numbers; found {error}.") from None
    if table.ndim != 2 or 0 in table.shape:
        raise InvalidEncoderError(
            f"expected an array of shape (|Z|, |X|), a frame x by z, or one label per x; found shape {table.shape}."
        )
    return table


def _oriented(table: Array, letters: int | None, counts: bool, axes: str | None) -> Array:
    """A bare array turned so that it has a column for each x. Which axis is which is said, or follows from the numbers; else it is refused.

    Of probabilities the columns sum to 1 over z, and the rows do not, but by chance. Of counts nothing is known: only the number of letters
    of x, if it is another than that of z, tells.
    """
    if axes is not None:
        check_one_of("axes", axes, ("zx", "xz"))
        return table.T if axes == "xz" else table
    if counts:
        told = letters is not None and table.shape[0] != table.shape[1]
    else:
        rows, columns = (np.abs(table.sum(axis=axis) - 1.0).max() <= SUM_TOLERANCE for axis in (1, 0))
        told = not rows
        if rows and not columns:
            raise InvalidEncoderError(
                'p(z|x) must sum to 1 over z for every x; here the rows do, not the columns. For a row per x say axes="xz".'
            )
    if told or (table.shape[0] == table.shape[1] and np.array_equal(table, table.T)):
        return table
    raise InvalidEncoderError(
        f"a table of shape {table.shape} may have its x in either axis, which numbers alone do not tell: say "
        'axes="zx" for a row per z and a column per x, or axes="xz" for a row per x; or give a frame with the labels of x.'
    )


def _matched(table: Array, x_labels: Labels | None, joint: Joint) -> Array:
    """The columns in the order of the joint's x."""
    letters = joint.shape[0]
    if x_labels is not None:
        return table[:, aligned(x_labels, joint.x_labels, "the joint")]
    if table.shape[1] == letters:
        return table
    turned = ' For a row per x say axes="xz".' if table.shape[0] == letters else ""
    raise InvalidEncoderError(f"an encoder must have shape (|Z|, |X|) = (any, {letters}); found {table.shape}.{turned}")


def _checked(table: Array, labels: Labels, counts: bool) -> Array:
    """Columns that are distributions, to the last bit; or counts divided by their sums."""
    what = "counts" if counts else "probabilities"
    bad = ~np.isfinite(table) | (table < 0.0)
    if bad.any():
        z, x = (int(at) for at in np.argwhere(bad)[0])
        raise InvalidEncoderError(
            f"{what} must be finite and not negative; found {table[z, x]} at x = {labels[x]!r}, z = {z}."
        )
    mass = table.sum(axis=0)
    if counts:
        if (mass == 0.0).any():
            x = int((mass == 0.0).argmax())
            raise InvalidEncoderError(
                f"the item x = {labels[x]!r} was never named: all its counts are 0. Leave it out of the joint, or give it a name."
            )
    elif np.abs(mass - 1.0).max() > SUM_TOLERANCE:
        x = int(np.abs(mass - 1.0).argmax())
        raise InvalidEncoderError(
            f"p(z|x) must sum to 1 over z for every x; found the sum {mass[x]:.12g} at x = {labels[x]!r}. "
            "If these are counts of words per item, say counts=True, and of a bare array axes= too."
        )
    W: Array = table / mass
    return W

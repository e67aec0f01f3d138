"""The joint distribution p(x, y): validated once, when it is made, and immutable afterwards.

P[x, y] = p(x, y),  T[y, x] = p(y|x),  K[x, y] = p(x|y)

Every constructor copies its input and refuses what is not a joint distribution. Rows and columns of zero mass are allowed: solvers work on
the letters of positive mass (`Support`), and encoders are lifted back to the full alphabet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..checks import SUM_TOLERANCE, positive_number
from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import counted, html_facts, html_note, html_page, rounded
from ..information import BLOCK, Array, IntArray, bits, entropy, mutual_information
from ..information import expected_information as chance_information
from ..information import largest_expected_information as most_chance_information
from . import tables
from .binning import bins_of
from .tables import checked_names, positions, sealed

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from ..sampling.denoising import Denoising
    from .binning import BinRule

Matrix: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
Labels: TypeAlias = Iterable[Hashable] | None
Names: TypeAlias = str | Sequence[str] | None

MOSTLY_SAMPLING = 0.5
"""Share of I(X;Y), if independence alone would show it at this sample size, from which every display of I(X;Y) says so: from one half
on there is more noise in it than anything else."""


MIXED = ("mixture of", "value")
"""The names of the y columns of a mixture of targets: a label is (name of the target, value), and the theta are the masses of the names."""

ROLES = ("keep or hide", "value")
"""The same of a mixture of one target to keep and one to hide (`infoplane.TaskJoint`)."""


class Target(NamedTuple):
    """One target of a mixture."""

    name: str
    weight: float
    """theta."""
    columns: IntArray
    """Its letters among those of the mixture."""


class Immutable:
    """What its constructor has put into ``__dict__`` stays."""

    def __setattr__(self, name: str, *_value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} is immutable: cannot change {name!r}. Build another one.")

    __delattr__ = __setattr__


class Joint(Immutable):
    """p(x, y) >= 0 with sum 1, its labels, marginals and conditionals; immutable.

    ``Joint(P)`` is `Joint.from_matrix`; see also `from_counts`, `from_frame`, `from_samples` and `from_conditional`. Two joints are equal
    when their probabilities, labels and names are.

    Attributes
    ----------
    p_xy : array or csr_array
        P[x, y] = p(x, y), read-only; sparse if `is_sparse`.
    p_x, p_y : array
        p(x) = sum_y p(x, y) and p(y) = sum_x p(x, y), read-only.
    counts : array or csr_array of int64, or None
        N[x, y], how many records have this x and this y, read-only and without what ``smoothing`` added; None unless the joint was made
        from samples, rows or whole-number counts.
    denoising : Denoising or None
        How `denoised` made it; None of any other joint.
    x_labels, y_labels : tuple
        What the rows and the columns stand for; 0, 1, 2, ... unless given.
    x_names, y_names : tuple of str
        The columns of a frame that X and Y came from; ("x",) and ("y",) unless given.

    Examples
    --------
    >>> from infoplane.joint import Joint
    >>> Joint.from_counts([[30, 10], [10, 30]])
    Joint(2 x 2, 0 zero cells, H(X) = 1, H(Y) = 1, I(X;Y) = 0.188722 bits, 80 records)
    """

    # Typed Any, as the conditionals are: the stubs cannot say that W @ (array or csr_array) is an array.
    p_xy: Any
    p_x: Array
    p_y: Array
    counts: Any
    denoising: Denoising | None
    x_labels: tuple[Hashable, ...]
    y_labels: tuple[Hashable, ...]
    x_names: tuple[str, ...]
    y_names: tuple[str, ...]

    def __init__(
        self, P: Matrix, x_labels: Labels = None, y_labels: Labels = None, x_names: Names = None, y_names: Names = None
    ) -> None:
        x_labels, y_labels, x_names, y_names = tables.table_labels(P, x_labels, y_labels, x_names, y_names)
        table = tables.checked_table(P, "p(x, y)")
        mass = tables.total(table)
        if abs(mass - 1.0) > SUM_TOLERANCE:
            raise InvalidJointError(
                f"p(x, y) must sum to 1 within {SUM_TOLERANCE:g}; found the sum {mass:.12g}. "
                "For counts or weights use Joint.from_counts, which normalises."
            )
        # A table that was already normalised keeps its bits, so that p_xy -> Joint -> p_xy is the identity.
        if abs(mass - 1.0) > 4.0 * np.finfo(float).eps:
            table = table / mass
        for axis, name, labels, names in ((0, "x", x_labels, x_names), (1, "y", y_labels, y_names)):
            kept = checked_names(name if names is None else names, f"{name}_names")
            self.__dict__[f"{name}_names"] = kept
            self.__dict__[f"{name}_labels"] = tables.checked_labels(labels, table.shape[axis], kept, f"{name}_labels")
        marginals = {"p_x": sealed(table.sum(axis=1)), "p_y": sealed(table.sum(axis=0))}
        self.__dict__.update(p_xy=sealed(table), counts=None, denoising=None, **marginals)

    # -- constructors --------------------------------------------------------------------------------------------------

    @classmethod
    def from_matrix(
        cls, P: Matrix, x_labels: Labels = None, y_labels: Labels = None, x_names: Names = None, y_names: Names = None
    ) -> Self:
        """P[x, y] = p(x, y), which must sum to 1 within 1e-9.

        Parameters
        ----------
        P
            A 2-D table of probabilities: nested lists, an array, or a ``scipy.sparse`` array, which stays sparse.
        x_labels, y_labels
            Distinct, hashable labels, one per row and one per column; 0, 1, 2, ... by default.
        x_names, y_names
            The variables that the labels are values of. If there are several, each label is a tuple, one value per name.

        Examples
        --------
        >>> Joint.from_matrix([[0.5, 0.0], [0.25, 0.25]], x_labels=["a", "b"], x_names=["drug"]).p_x
        array([0.5, 0.5])
        """
        return cls(P, x_labels, y_labels, x_names, y_names)

    @classmethod
    def from_counts(
        cls,
        N: Matrix,
        smoothing: float = 0.0,
        x_labels: Labels = None,
        y_labels: Labels = None,
        x_names: Names = None,
        y_names: Names = None,
    ) -> Self:
        """p(x, y) = (N[x, y] + smoothing) / sum of the same.

        Parameters
        ----------
        N
            A 2-D table of counts or other non-negative weights, dense or ``scipy.sparse``; or a pandas frame, whose index and
            columns are then the labels. Whole numbers are taken for counts of records: see `records`.
        smoothing
            Added to every cell, the empty ones too. A sparse table becomes dense, and may then have at most 50 million
            cells.
        x_labels, y_labels, x_names, y_names
            As in `from_matrix`.

        Examples
        --------
        >>> Joint.from_counts([[3, 0], [0, 1]], smoothing=1.0).p_xy.tolist()
        [[0.5, 0.125], [0.125, 0.25]]
        """
        counts = tables.checked_table(N, "counts")
        table = tables.smoothed(counts, smoothing)
        with np.errstate(under="ignore"):  # the smallest counts may become 0, whatever the caller's np.seterr says
            shares = table / tables.total(table)
        made = cls(shares, *tables.table_labels(N, x_labels, y_labels, x_names, y_names))
        made.__dict__["counts"] = tables.whole_counts(counts)
        return made

    @classmethod
    def from_frame(
        cls,
        df: IntoFrame,
        x: str | Sequence[str],
        y: str | Sequence[str],
        weight: str | None = None,
        smoothing: float = 0.0,
        bins: Mapping[str, BinRule] | None = None,
        missing: Literal["error", "category", "drop"] = "error",
    ) -> Self:
        """p(x, y) = share of the rows, or of their weight, in which the columns `x` and `y` take these values.

        Parameters
        ----------
        df
            A frame with one row per sample; or one row per group, with `weight` its size. In memory, of pandas, polars or pyarrow. Or
            elsewhere: a LazyFrame of polars, a relation of duckdb, a frame of dask or pyspark, a dataset of pyarrow. Those are counted
            where they are, and only the counts come here.
        x, y
            A column, or a list of columns that are taken together. Labels are the values of one column, tuples of
            values of several; only combinations that occur get a label. They are sorted if they can be compared,
            otherwise they keep the order of first appearance.
        weight
            A column of finite non-negative weights. A label whose weights are all zero stays, with zero mass.
        smoothing
            Added to every cell, before normalising.
        bins
            Columns of numbers or dates, and what their values are put into: so many bins of about equal mass, ``{"age": 5}``; bins between
            given edges, ``{"age": [18, 65]}``; for dates also ``"year"``, ``"month"`` or ``"weekday"``. Labels are intervals that
            leave no hole, ``"35 to under 50"``; `bins` of the joint is what puts other rows into the same ones.
        missing
            What becomes of a missing value (null or NaN) in `x` or `y`: ``"error"`` refuses it, ``"category"`` makes it the label
            ``"missing"``, which is a bin of its own where there are bins, and ``"drop"`` leaves the row out.

        Examples
        --------
        >>> import pandas as pd
        >>> df = pd.DataFrame({"drug": ["a", "b", "b", "b"], "sex": ["f", "f", "m", "m"]})
        >>> joint = Joint.from_frame(df, x="drug", y="sex")
        >>> joint.x_labels, joint.y_labels, joint.p_xy.tolist()
        (('a', 'b'), ('f', 'm'), [[0.25, 0.0], [0.25, 0.5]])
        """
        # Imported on use: narwhals costs 0.1 s that matrices and samples need not pay.
        from .frames import frame_cells

        x_names, y_names = checked_names(x, "x"), checked_names(y, "y")
        cells = frame_cells(df, x_names, y_names, weight, bins or {}, missing)
        table, x_labels, y_labels = tables.tabulated(cells)
        return cls.from_counts(table, smoothing, x_labels, y_labels, x_names, y_names)

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
        table, x_labels, y_labels = tables.tabulated(tables.sample_cells(x, y))
        return cls.from_counts(table, smoothing, x_labels, y_labels)

    @classmethod
    def from_conditional(
        cls,
        prior: ArrayLike | Mapping[Any, float] | Literal["uniform"],
        p_y_given_x: Matrix,
        *,
        axes: Literal["xy", "yx"] = "xy",
        x_labels: Labels = None,
        y_labels: Labels = None,
        x_names: Names = None,
        y_names: Names = None,
    ) -> Self:
        """p(x, y) = p(x) p(y|x).

        Parameters
        ----------
        prior
            p(x), which must sum to 1 within 1e-9: an array, in the order of x; a Series or a mapping, matched by the labels of x; or
            ``"uniform"``.
        p_y_given_x
            A 2-D table, dense, ``scipy.sparse`` or a pandas frame, in which every x has a distribution over y.
        axes
            ``"xy"``: a row for each x. ``"yx"``: a row for each y, as `p_y_given_x` of a joint has it.
        x_labels, y_labels, x_names, y_names
            As in `from_matrix`.

        Examples
        --------
        >>> Joint.from_conditional("uniform", [[0.9, 0.1], [0.5, 0.5]]).p_xy.tolist()
        [[0.45, 0.05], [0.25, 0.25]]
        >>> joint = Joint.from_counts([[3, 1], [1, 1]])
        >>> Joint.from_conditional(joint.p_x, joint.p_y_given_x, axes="yx") == joint.with_prior(joint.p_x)
        True
        """
        turned = tables.rows_for_x(p_y_given_x, axes)
        labels, *others = tables.table_labels(turned, x_labels, y_labels, x_names, y_names)
        labels = None if labels is None else tables.plain_values(labels, "x_labels")
        return cls(tables.joint_table(prior, turned, axes, labels), labels, *others)

    @classmethod
    def mixed(cls, targets: Iterable[tuple[float, Joint]]) -> Self:
        """Several targets of the same x as one: I(S';Z) = sum_j theta_j I(S_j;Z) for every encoder, exactly.

        S' = (J, S_J) with an independent selector J, P(J = j) = theta_j, so that p(s'|x) = theta_j p(s_j|x). Several tasks in one
        bottleneck (views of relevance), or several secrets in one funnel (sources of privacy), certificates included. A cap r on I(S';Z)
        bounds the weighted average: a single target may have up to r / theta_j. The joint is no table of records (`records` is None).
        ``Solution.by_target`` has the information about each, by name.

        Parameters
        ----------
        targets
            Pairs (weight, joint), each joint of the same x and p(x), with its own y; weights are positive, and normalised. A target is
            named by the y columns of its joint.

        Examples
        --------
        >>> import pandas as pd
        >>> df = pd.DataFrame({"town": ["a", "a", "b", "b"], "sex": ["f", "m", "m", "m"], "ill": [0, 1, 1, 1]})
        >>> both = Joint.mixed([(2, Joint.from_frame(df, "town", "sex")), (1, Joint.from_frame(df, "town", "ill"))])
        >>> both.y_labels, [(one.name, round(one.weight, 3)) for one in both.targets]
        ((('sex', 'f'), ('sex', 'm'), ('ill', 0), ('ill', 1)), [('sex', 0.667), ('ill', 0.333)])
        """
        pairs = list(targets) if isinstance(targets, Iterable) and not isinstance(targets, str) else None
        if not pairs or any(not isinstance(one, tuple | list) or len(one) != 2 for one in pairs):
            found = f"a value of type {type(targets).__name__}"
            found = found if pairs is None else f"{len(pairs)} things, not all of them pairs"
            raise InvalidJointError(f"a mixture needs a list of one or more pairs (weight, joint); found {found}.")
        parts: dict[str, tuple[float, Joint]] = {}
        for weight, joint in pairs:
            check_joint(joint)
            if (name := target_name(joint)) in parts:
                raise InvalidJointError(
                    f"the targets of a mixture are told apart by their columns; found {name!r} twice. Give one another y_names."
                )
            parts[name] = positive_number(f"the weight of {name!r}", weight), joint
        whole = sum(weight for weight, _ in parts.values())
        table, labels = tables.stacked([(name, weight / whole, one) for name, (weight, one) in parts.items()])
        first = pairs[0][1]
        return cls(table, first.x_labels, labels, first.x_names, MIXED)

    def with_prior(self, prior: ArrayLike | Mapping[Any, float] | Literal["uniform"]) -> Self:
        """The joint with the same p(y|x) and another p(x); it is no table of records any more.

        The prior is an array, in the order of x; a Series or a mapping, matched by the labels of x; or ``"uniform"``.

        Examples
        --------
        >>> Joint.from_counts([[3, 1], [1, 1]]).with_prior("uniform").p_xy.tolist()
        [[0.375, 0.125], [0.25, 0.25]]
        """
        return type(self)(tables.reweighted(self.p_xy, self.p_x, prior, self.x_labels), *self._labelling())

    # -- contents ------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(|X|, |Y|)."""
        n_x, n_y = self.p_xy.shape
        return n_x, n_y

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The targets that `mixed` has put together, each with its name, weight and columns; one, the whole of Y, for any other joint."""
        if not self.is_mixed:
            return (Target(target_name(self), 1.0, np.arange(self.shape[1])),)
        columns: dict[str, list[int]] = {}
        for column, label in enumerate(self.y_labels):
            assert isinstance(label, tuple)
            columns.setdefault(str(label[0]), []).append(column)
        return tuple(Target(name, float(self.p_y[own].sum()), np.array(own)) for name, own in columns.items())

    @property
    def is_mixed(self) -> bool:
        """Whether it is a mixture of targets."""
        return self.y_names in (MIXED, ROLES)

    @property
    def target_weights(self) -> Array:
        """For every letter y the theta of its target, by which p(y|z) becomes p(s_j|z); 1 if the joint is no mixture."""
        found = np.ones(self.shape[1])
        for one in self.targets:
            found[one.columns] = one.weight
        return found

    def target_informations(self, encoder: Array) -> dict[str, float]:
        """I(S_j;Z) of every target by name, in nats."""
        p_zy = encoder @ self.p_xy
        return {one.name: mutual_information(p_zy[:, one.columns] / one.weight) for one in self.targets}

    def roles(self) -> tuple[Target, Target]:
        """What a joint of tasks keeps and what it hides; an error for any other joint."""
        if self.y_names != ROLES or len(self.targets) != 2:
            raise InvalidJointError(
                "a problem that keeps one target and hides another needs infoplane.TaskJoint(keep=..., hide=...); found a joint of one Y."
            )
        return self.targets[0], self.targets[1]

    @property
    def bins(self) -> dict[str, str | tuple[Any, ...]]:
        """How columns were put into bins, edges or the calendar's rule, as `from_frame` takes it: other rows then fall into the same ones.

        Examples
        --------
        >>> import pandas as pd
        >>> ages = pd.DataFrame({"age": [20, 25, 34, 35, 40, 61], "ill": [0, 0, 0, 1, 1, 1]})
        >>> joint = Joint.from_frame(ages, "age", "ill", bins={"age": 2})
        >>> joint.x_labels, joint.bins
        (('under 35', '35 and over'), {'age': (35,)})
        """
        return bins_of(self.x_names, self.x_labels) | bins_of(self.y_names, self.y_labels)

    @property
    def is_sparse(self) -> bool:
        """Whether p_xy, p_y_given_x and p_x_given_y are ``csr_array``."""
        return not isinstance(self.p_xy, np.ndarray)

    @cached_property
    def p_y_given_x(self) -> Any:
        """T[y, x] = p(y|x) = p(x, y) / p(x); p(y) where p(x) = 0. Sparse if `is_sparse`."""
        return tables.conditional(self.p_xy, self.p_x, self.p_y)

    @cached_property
    def p_x_given_y(self) -> Any:
        """K[x, y] = p(x|y) = p(x, y) / p(y); p(x) where p(y) = 0. Sparse if `is_sparse`."""
        return tables.conditional(self.p_xy.T, self.p_y, self.p_x)

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
        """I(X;Y), in nats."""
        return mutual_information(self.p_xy)

    # -- the sample that it came from ------------------------------------------------------------------------------------

    @property
    def records(self) -> int | None:
        """Of how many records the joint is the table; None if it was not made from samples, rows or whole-number counts."""
        return None if self.counts is None else int(self.counts.sum())

    @cached_property
    def expected_information(self) -> float | None:
        """I(X;Y) in nats that independent x and y with the same counts would show on average; None without `records`.

        See `infoplane.information`. What was added by ``smoothing`` is not counted.
        """
        return None if self._margins is None else chance_information(*self._margins)

    @cached_property
    def caution(self) -> str | None:
        """A sentence, if half of I(X;Y) or more is what independent x and y would show at this sample size; else None."""
        if self._margins is None or self.denoising is not None or self.mutual_information <= 0.0:
            return None
        least = MOSTLY_SAMPLING * self.mutual_information
        # The bound is a formula, the expectation a sum over all pairs of counts.
        expected = self.expected_information if most_chance_information(*self._margins) >= least else None
        if expected is None or expected < least:
            return None
        return (
            f"I(X;Y) is {bits(self.mutual_information):.3g} bits, of which {bits(expected):.3g} bits are what x and y with these counts "
            f"would show if they were independent ({self.records:,} records): group letters or bin numbers"
        )

    @cached_property
    def _margins(self) -> tuple[IntArray, IntArray] | None:
        """How often each x and each y was seen."""
        if self.counts is None:
            return None
        return self.counts.sum(axis=1).astype(np.int64), self.counts.sum(axis=0).astype(np.int64)

    def denoised(self, *, groups: int | None = None) -> Self:
        """The joint that the records support: p~(y|x) of every letter pooled with letters like it, as far as its records are few.

        (n_x / n) sum_z p(z|x) q_z(y),  p(z|x) ~ p(z) exp(sum_y n_xy log q_z(y)): the bottleneck's equation with beta = n_x for each letter
        (`infoplane.sampling.denoising`). A table of up to 32 letters keeps them all, shrunk. If the records support no difference between
        letters, I(X;Y) is 0. `counts` and `records` stay, what ``smoothing`` added goes, and `denoising` says how it was made.

        Parameters
        ----------
        groups
            How many groups z; by default chosen by penalised likelihood, one if BIC prefers that (`infoplane.sampling.denoising`).

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> noise = Joint.from_samples(rng.integers(0, 500, 2000), rng.integers(0, 3, 2000))  # x says nothing about y
        >>> round(noise.mutual_information, 3), abs(round(noise.denoised().mutual_information, 12))
        (0.295, 0.0)
        >>> str(noise.denoised().denoising)
        'one group: the records support no difference between letters; held-out gain 0 millinats a record'
        """
        from ..sampling.denoising import denoised

        return denoised(self, groups)  # type: ignore[return-value]

    def support(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Two masks: the x with p(x) > 0, the y with p(y) > 0."""
        return self.p_x > 0.0, self.p_y > 0.0

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of the shape and the non-zero cells: the same for dense and sparse, whatever the labels."""
        cells = sparse.coo_array(self.p_xy)
        digest = hashlib.sha256(b"infoplane joint 1")
        for part, kind in ((self.shape, "<i8"), (cells.row, "<i8"), (cells.col, "<i8"), (cells.data, "<f8")):
            digest.update(np.ascontiguousarray(part, dtype=kind).data)
        return digest.hexdigest()

    # -- Python's protocols ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        n_x, n_y = self.shape
        zeros = n_x * n_y - (self.p_xy.nnz if self.is_sparse else np.count_nonzero(self.p_xy))
        h_x, h_y, i_xy = (bits(v) for v in (self.entropy_x, self.entropy_y, self.mutual_information))
        expected = "" if self.caution is None else f" (if independent, {bits(self.expected_information or 0.0):.3g})"
        records = "" if self.records is None else f", {counted(self.records, 'record')}"
        records += "" if self.denoising is None else f", denoised ({self.denoising.summary})"
        return (
            f"Joint({n_x} x {n_y}{' sparse' if self.is_sparse else ''}, {zeros} zero cell{'s' if zeros != 1 else ''}, "
            f"H(X) = {h_x:.6g}, H(Y) = {h_y:.6g}, I(X;Y) = {i_xy:.6g} bits{expected}{records})"
        )

    def _repr_html_(self) -> str:
        rows = [
            *(
                (name, f"{', '.join(names)}: {counted(len(labels), 'letter')}")
                for name, names, labels in (("X", self.x_names, self.x_labels), ("Y", self.y_names, self.y_labels))
            ),
            ("H(X)", f"{rounded(bits(self.entropy_x))} bits"),
            ("H(Y)", f"{rounded(bits(self.entropy_y))} bits"),
            ("I(X;Y)", f"{rounded(bits(self.mutual_information))} bits"),
            *([] if self.records is None else [("records", f"{self.records:,}")]),
            *([] if self.denoising is None else [("denoised", str(self.denoising))]),
        ]
        said = "" if self.caution is None else html_note(f"Caution: {self.caution}.")
        return html_page(f"Joint, {self.shape[0]:,} x {self.shape[1]:,}", html_facts(rows), said)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joint):
            return NotImplemented
        return self._labelling() == other._labelling() and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _labelling(self) -> tuple[Any, ...]:
        return self.x_labels, self.y_labels, self.x_names, self.y_names

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays are writable: the constructor makes them read-only again.
        return type(self), (self.p_xy, *self._labelling()), {"counts": self.counts, "denoising": self.denoising}

    def __setstate__(self, sample: Mapping[str, Any]) -> None:
        counts = sample["counts"]
        self.__dict__.update(sample, counts=None if counts is None else sealed(counts))

    def with_counts(self, counts: Matrix) -> Self:
        """The same probabilities, as what is said of a population from which these records were drawn.

        Parameters
        ----------
        counts
            N[x, y], whole numbers, dense or ``scipy.sparse``, in the shape of the joint.

        Examples
        --------
        >>> Joint.from_matrix([[0.5, 0.0], [0.1, 0.4]]).with_counts([[5, 0], [1, 4]]).records
        10
        """
        table = tables.checked_table(counts, "counts")
        if table.shape != self.shape:
            raise InvalidJointError(f"counts must have the joint's shape {self.shape}; found {table.shape}.")
        whole = tables.whole_counts(table)
        if whole is None:
            raise InvalidJointError("counts of records must be whole numbers, at most 2^53 together; found others.")
        return self._drawn(self.p_xy, whole, self.denoising)

    def _drawn(self, P: Matrix, counts: Any, denoising: Denoising | None) -> Self:
        """A joint over the same letters, with its records and how it was made of them."""
        made = type(self)(P, *self._labelling())
        made.__dict__.update(counts=counts, denoising=denoising)
        return made


def target_name(joint: Joint) -> str:
    """What a target is called: its columns."""
    return ", ".join(joint.y_names)


def same_records(joint: Joint, other: object) -> bool:
    """Whether another table is one of the same records, in whatever order its letters are."""
    if not isinstance(other, Joint) or joint.counts is None or other.counts is None or joint.shape != other.shape:
        return False
    rows, columns = (
        positions(ours, theirs) for ours, theirs in ((joint.x_labels, other.x_labels), (joint.y_labels, other.y_labels))
    )
    known = (rows >= 0).all() and (columns >= 0).all()
    return bool(known and abs(joint.counts - other.counts[rows][:, columns]).sum() == 0)


def check_joint(joint: object) -> None:
    """Refuse what is not a joint, with how to make one of it."""
    if not isinstance(joint, Joint):
        raise InvalidOptionError(
            f"a joint must be an infoplane.Joint; found a value of type {type(joint).__name__}. Make one with Joint.from_matrix, "
            "from_counts, from_frame or from_samples."
        )


def unlabelled(joint: Joint) -> Joint:
    """The probabilities without labels, which may be anything; a mixture of targets keeps their names."""
    if not joint.is_mixed:
        return Joint.from_matrix(joint.p_xy)
    names = [(one.name, int(column)) for one in joint.targets for column in one.columns]
    return Joint.from_matrix(joint.p_xy, y_labels=names, y_names=joint.y_names)


class Support:
    """A joint on its letters of positive mass, as dense C-contiguous tables or as sparse rows; `lift` leads back to all letters."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.x, self.y = joint.support()
        self.p_x: Array = joint.p_x[self.x]
        self.p_y: Array = joint.p_y[self.y]
        self.cells = len(self.p_x) * len(self.p_y)
        self.sparse = bool(
            joint.is_sparse and self.cells >= tables.SPARSE_CELLS and joint.p_xy.nnz <= tables.SPARSE_SHARE * self.cells
        )

    @cached_property
    def P(self) -> Array:
        """p(x, y), dense; the joint's own table, read-only, if all letters have mass."""
        if self.cells > tables.LARGEST_TABLE:
            raise InvalidJointError(
                f"this solver works on a dense table; the joint has {len(self.p_x):,} x {len(self.p_y):,} letters of positive mass, more "
                f"than {tables.LARGEST_TABLE:,} cells. Use the default solver or 'accelerated', which work on sparse rows, or group rare "
                "letters."
            )
        p_xy = tables.dense(self.joint.p_xy)
        return np.ascontiguousarray(p_xy if self.x.all() and self.y.all() else p_xy[np.ix_(self.x, self.y)])

    @cached_property
    def rows(self) -> Any:
        """p(x, y) as a scipy.sparse CSR array."""
        rows = sparse.csr_array(self.joint.p_xy)[self.x][:, self.y]
        rows.sort_indices()
        return rows

    @cached_property
    def csr(self) -> tuple[IntArray, IntArray, Array]:
        """p(x, y) as compiled code takes it: row x has its cells at first[x]:first[x+1], in these columns, with these probabilities."""
        rows = self.rows
        return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float)

    @cached_property
    def T(self) -> Array:
        """p(y|x), one row per y."""
        return np.ascontiguousarray((self.P / self.p_x[:, None]).T)

    @cached_property
    def h_y(self) -> float:
        """H(Y)."""
        return entropy(self.p_y)

    @cached_property
    def K(self) -> Array:
        """p(x|y), one column per y."""
        return self.P / self.p_y

    def lift(self, W: Array) -> Array:
        """An encoder of the full alphabet, columns summing to one; letters of zero mass get the column p(z)."""
        W = np.maximum(W, 0.0)
        W /= W.sum(axis=0)
        if W.shape[1] == self.joint.shape[0]:
            return W
        full = np.empty((W.shape[0], self.joint.shape[0]))
        full[:, self.x] = W
        p_z = W @ self.p_x
        full[:, ~self.x] = (p_z / p_z.sum())[:, None]
        return full

    def spread(self, values: Array) -> Array:
        """A number for each letter of X, 0 for those of zero mass."""
        full = np.zeros(self.joint.shape[0])
        full[self.x] = values
        return full

    def lifted(self, encoders: Sequence[Array]) -> Iterator[list[Array]]:
        """The encoders on the full alphabet, a few at a time to save memory."""
        step = max(1, BLOCK // max(max((W.size for W in encoders), default=1), 1))
        for first in range(0, len(encoders), step):
            yield [self.lift(W) for W in encoders[first : first + step]]

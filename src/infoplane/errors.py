"""Errors and warnings, each a sentence that says what was expected, what was found, and what to do."""


class InfoplaneError(Exception):
    """Base class of every error that infoplane raises on purpose.

    Examples
    --------
    >>> import infoplane as ip
    >>> try:
    ...     ip.Joint.from_matrix([[0.5, 0.6]])
    ... except ip.InfoplaneError as error:
    ...     print(type(error).__name__)
    InvalidJointError
    """


class InvalidJointError(InfoplaneError, ValueError):
    """The data given for p(x, y) is not a joint distribution, nor a table of counts or samples that could become one.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.Joint.from_counts([[3, -1]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    infoplane.errors.InvalidJointError: counts must be non-negative; found -1.0 at row 0, column 1 ...
    """


class InvalidEncoderError(InfoplaneError, ValueError):
    """The matrix given for p(z|x) is not a column-stochastic matrix that fits the joint.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.certify(ip.datasets.paper_uniform(), ip.bottleneck(0.2), [[0.5, 0.5, 0.5]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    infoplane.errors.InvalidEncoderError: each column of an encoder must sum to 1; column x = 0 sums to 0.5. ...
    """


class InvalidOptionError(InfoplaneError, ValueError):
    """An option of a solver, of `solve` or of `sweep` is outside the values that it can take.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.bottleneck(gamma=2)
    Traceback (most recent call last):
        ...
    infoplane.errors.InvalidOptionError: gamma must be in (0, 1]; above 1 only the trivial encoder is optimal; found 2.
    """


class InvalidAnswerError(InfoplaneError, ValueError):
    """The file given to be verified is no file of answers, or one that was damaged.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.verify("missing.npz")
    Traceback (most recent call last):
        ...
    infoplane.errors.InvalidAnswerError: 'missing.npz' cannot be read: No such file or directory.
    """


class InvalidMechanismError(InfoplaneError, ValueError):
    """The file given as a mechanism is none, or one that was damaged, or rows do not fit it.

    Examples
    --------
    >>> from infoplane.storage.mechanism import read_mechanism
    >>> read_mechanism("missing.json")
    Traceback (most recent call last):
        ...
    infoplane.errors.InvalidMechanismError: missing.json cannot be read: No such file or directory.
    """


class StoreError(InfoplaneError, OSError):
    """A file is no store, belongs to another sweep, or cannot be read."""


class StoreWriteError(StoreError):
    """A store cannot be written, as on a full disk; ``resumable`` if runs were kept and the same call goes on with them."""

    def __init__(self, message: str, *, resumable: bool = False) -> None:
        super().__init__(message)
        self.resumable = resumable


class UnsupportedProblemError(InfoplaneError, ValueError):
    """No formulation of the chosen solver covers the signs of (rho_z, rho_zx, rho_zy); the message says why.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.solve(ip.datasets.paper_uniform(), ip.funnel(3.5), "ib-1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    infoplane.errors.UnsupportedProblemError: ib-1 cannot solve rho = (2.5, 1.0, -3.5): F = rho_z H(Z) must be convex, ...
    """


class MissingExtraError(InfoplaneError, ImportError):
    """An optional dependency is needed; the message names the extra that installs it.

    Examples
    --------
    >>> import infoplane as ip
    >>> issubclass(ip.MissingExtraError, ImportError)
    True
    """


class PenaltyWarning(UserWarning):
    """The chosen penalty or relaxation lies outside what is proven, or a threshold was asked for that is false as the paper prints it.

    Examples
    --------
    >>> import infoplane as ip, warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     _ = ip.theorem_threshold("printed-2", sigma_G=1.0, L_q=1.0, relaxation=1.0)
    >>> [one.category.__name__ for one in said]
    ['PenaltyWarning']
    """


class FarSideWarning(UserWarning):
    """A given encoder lies beyond every optimum that was found: an optimum was missed, and its distance is negative.

    Examples
    --------
    >>> import infoplane as ip, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ip.FarSideWarning)
    ...     print(len(ip.efficiency(ip.datasets.paper_uniform(), {"two": ["u", "u", "v"]})))
    1
    """


class ContradictionWarning(UserWarning):
    """A proof contradicts itself, or a posterior that was met: nothing of it counts, and the answer is not certified.

    Examples
    --------
    >>> import infoplane as ip, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ip.ContradictionWarning)
    ...     print(ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), certify=True).status.name)
    CERTIFIED
    """


class NoWorkerWarning(UserWarning):
    """A cluster has no worker at present: a sweep waits for one, but not for ever.

    Examples
    --------
    >>> import infoplane as ip, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ip.NoWorkerWarning)
    """

"""Errors and warnings, each a sentence that says what was expected, what was found, and what to do."""


class InfoplaneError(Exception):
    """Base class of every error that infoplane raises on purpose."""


class InvalidJointError(InfoplaneError, ValueError):
    """The data given for p(x, y) is not a joint distribution, nor a table of counts or samples that could become one."""


class InvalidEncoderError(InfoplaneError, ValueError):
    """The matrix given for p(z|x) is not a column-stochastic matrix that fits the joint."""


class InvalidOptionError(InfoplaneError, ValueError):
    """An option of a solver, of `solve` or of `sweep` is outside the values that it can take."""


class InvalidAnswerError(InfoplaneError, ValueError):
    """The file given to be verified is no file of answers, or one that was damaged."""


class InvalidMechanismError(InfoplaneError, ValueError):
    """The file given as a mechanism is none, or one that was damaged, or rows do not fit it."""


class StoreError(InfoplaneError, OSError):
    """A file is no store, belongs to another sweep, or cannot be read."""


class StoreWriteError(StoreError):
    """A store cannot be written, as on a full disk; ``resumable`` if runs were kept and the same call goes on with them."""

    def __init__(self, message: str, *, resumable: bool = False) -> None:
        super().__init__(message)
        self.resumable = resumable


class UnsupportedProblemError(InfoplaneError, ValueError):
    """No formulation of the chosen solver covers the signs of (rho_z, rho_zx, rho_zy); the message says why."""


class MissingExtraError(InfoplaneError, ImportError):
    """An optional dependency is needed; the message names the extra that installs it."""


class PenaltyWarning(UserWarning):
    """The chosen penalty or relaxation lies outside what is proven, or a threshold was asked for that is false as the paper prints it."""


class FarSideWarning(UserWarning):
    """A given encoder lies beyond every optimum that was found: an optimum was missed, and its distance is negative."""


class ContradictionWarning(UserWarning):
    """A proof contradicts itself, or a posterior that was met: nothing of it counts, and the answer is not certified."""


class NoWorkerWarning(UserWarning):
    """A cluster has no worker at present: a sweep waits for one, but not for ever."""

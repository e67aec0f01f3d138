"""`verify`: the independent checker `infoplane_verify`, called with our checks of options and our errors."""

from __future__ import annotations

import os

import infoplane_verify
from infoplane_verify import RunCheck, UnreadableAnswerError

from ..checks import positive_number, whole_number
from ..errors import InvalidAnswerError


def verify(
    path: str | os.PathLike[str], *, gap: float = 1e-6, max_cells: int = 1_000_000, max_seconds: float = 60.0
) -> list[RunCheck]:
    """Check a file that `Frontier.save` or ``infoplane solve --out answer.npz`` has written; a `RunCheck` for each of its runs.

    This is `infoplane_verify.verify`, of a package of its own that needs nothing but NumPy and shares no code with the solvers and proofs
    that made the file: every loss, I(X;Z) and I(Y;Z) is recomputed, and every lower bound is proven again from the stored multipliers, by
    a slow and plain branch and bound (docs/howto/verify.md).

    Parameters
    ----------
    path
        The file.
    gap
        A run that is called certified must have a loss within this of its bound, in nats.
    max_cells, max_seconds
        How long to try, for each bound.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], certify=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     f.save(f"{folder}/answer.npz")
    ...     [finding.verdict.name for finding in ip.verify(f"{folder}/answer.npz")]
    ['VERIFIED', 'VERIFIED']
    """
    gap = positive_number("gap", gap)
    max_cells = whole_number("max_cells", max_cells)
    max_seconds = positive_number("max_seconds", max_seconds, finite=False)
    try:
        return infoplane_verify.verify(path, gap=gap, max_cells=max_cells, max_seconds=max_seconds)
    except UnreadableAnswerError as error:
        raise InvalidAnswerError(str(error)) from error

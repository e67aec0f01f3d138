"""Checks files of answers of infoplane, and shares no code with what made them: slow, obvious, NumPy and the standard library only.

    python -m infoplane_verify answer.npz

`verify(path)` returns a `RunCheck` for each run of the file, `passed` says whether all that is claimed was verified, and `sentence` says a
finding in words. docs/howto/verify.md has the mathematics. Read it in this order: archive (bytes to arrays), claims and families (arrays to
claims), numbers, verify, bound, bounds, search, line, bottleneck, funnel, tasks, exact, release.
"""

from .archive import UnreadableAnswerError
from .verify import CheckVerdict, RunCheck, passed, sentence, verify

__all__ = ["CheckVerdict", "RunCheck", "UnreadableAnswerError", "passed", "sentence", "verify"]

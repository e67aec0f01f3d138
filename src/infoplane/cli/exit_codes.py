"""Exit codes, and how an error or a Ctrl-C becomes one.

0 done, 2 usage, 3 bad data, 4 finished but not converged, 5 cannot write; 1 is a bug, and shows its traceback. 130 interrupted by Ctrl-C,
143 by SIGTERM, as batch systems send it, 129 by SIGHUP, a terminal that was closed: all three end a command in the same way.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from ..runtime.budget import heard_like_control_c

NOT_CONVERGED = 4
"""Exit code of a command that has finished, but not as well as was asked."""

INTERRUPTED = 128 + signal.SIGINT
"""What a shell reports of a process that Ctrl-C has ended."""

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a command as Ctrl-C does; not every system has the last."""


class Refused(click.ClickException):
    """An option that infoplane refuses."""

    exit_code = 2


class BadData(click.ClickException):
    """Data that is not a joint."""

    exit_code = 3


class CannotWrite(click.ClickException):
    """A disk that is full, or a place where nothing may be written."""

    exit_code = 5


class Interrupted(click.ClickException):
    """Ctrl-C before there was a result, or another end of a command that can be continued."""

    def __init__(self, message: str, code: int = INTERRUPTED) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = code  # of this end; click has one for all of a class


class Interruption:
    """Which signal came, if any. The command then counts as interrupted, even if the library returned a converged run."""

    def __init__(self, awaits_an_answer: bool = False) -> None:
        self.awaits_an_answer = awaits_an_answer
        self.signal: int | None = None

    @property
    def seen(self) -> bool:
        """Whether one came."""
        return self.signal is not None

    @property
    def code(self) -> int:
        """The exit code of an interrupted command."""
        return INTERRUPTED if self.signal is None else 128 + self.signal

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal came, also if the library has handled it."""
        if self.seen:
            raise KeyboardInterrupt


_noting: list[Interruption] = []
"""Those that remember signals, the innermost last."""


def _note(number: int, frame: FrameType | None) -> None:
    """Called without a frame once the library has heard a signal, and has ended with what there was."""
    for interruption in _noting:
        interruption.signal = number
    if frame is not None or not _noting[-1].awaits_an_answer:
        raise KeyboardInterrupt


@contextmanager
def interruptible(*, awaits_an_answer: bool = False) -> Iterator[Interruption]:
    """Remember the signals that end a command, and raise KeyboardInterrupt; one that is ignored, as by ``&`` or nohup, stays ignored.

    Who awaits an answer gets the library's best so far instead, where it has one.
    """
    interruption = Interruption(awaits_an_answer)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    if threading.current_thread() is not threading.main_thread():
        before = {}
    _noting.append(interruption)
    for number in before:
        signal.signal(number, _note)
    try:
        with heard_like_control_c(SIGNALS):
            yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _noting.pop()

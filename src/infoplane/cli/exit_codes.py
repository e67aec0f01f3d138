"""Exit codes, and how an error or a Ctrl-C becomes one.

0 done, 2 usage, 3 bad data, 4 finished but not converged, 5 cannot write; 1 is a bug, and shows its traceback. 130 interrupted by Ctrl-C,
143 by SIGTERM, as batch systems send it, 129 by SIGHUP, a terminal that was closed: all three end a command in the same way.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any

import click

from ..errors import (
    InfoplaneError,
    InvalidAnswerError,
    InvalidEncoderError,
    InvalidJointError,
    InvalidMechanismError,
    StoreWriteError,
)
from ..formatting import did_you_mean, shown_lines
from ..runtime.threads import heard_like_control_c

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


COMMANDS = (
    "solve",
    "frontier",
    "compare",
    "efficiency",
    "encode",
    "release",
    "apply",
    "audit",
    "verify",
    "resume",
    "status",
    "export",
    "reproduce",
    "datasets",
    "demo",
)
"""In the order that the help lists them; each command is in the module of its name."""


def documented(command: click.Command) -> str:
    r"""The help of a command, where ``\b`` as written in a raw docstring is the character with which click keeps a paragraph's lines."""
    return (command.help or "").replace("\\b", "\b")


def example(command: click.Command) -> list[str]:
    """The first example in the help of a command, with the commands before it that make its files: it works in an empty folder."""
    lines = [line.strip() for line in documented(command).partition("Example")[2].splitlines()[1:]]
    own = next(at for at, line in enumerate(lines) if line.startswith(f"infoplane {command.name}"))
    return lines[: own + 1]


class Commands(click.Group):
    """A group that imports each command only when it is called, and turns infoplane's errors into exit codes."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All of them."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name not in COMMANDS:
            return None
        if name not in self.commands:
            command: click.Command = getattr(import_module(f"{__package__}.{name}"), name)
            command.help = documented(command)
            self.add_command(command)
        return self.commands[name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names, and its arguments."""
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(
                f"there is no command {args[0]!r}{did_you_mean(args[0], COMMANDS)}; the commands are {', '.join(COMMANDS)}."
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors that infoplane raises on purpose end as one sentence on stderr."""
        with _said_safely(), _printed():
            return self._with_exit_codes(ctx)

    def _with_exit_codes(self, ctx: click.Context) -> Any:
        code = INTERRUPTED
        try:
            with interruptible() as interruption:
                try:
                    return super().invoke(ctx)
                finally:
                    code = interruption.code
        except click.NoSuchOption as error:
            raise _explained(error) from None
        except click.MissingParameter as error:
            shown = "".join(f"\n  {line}" for line in example(error.ctx.command)) if error.ctx else ""
            raise click.UsageError(f"{error.format_message()} This works as it stands:{shown}", error.ctx) from None
        except (InvalidJointError, InvalidEncoderError, InvalidAnswerError, InvalidMechanismError) as error:
            raise BadData(str(error)) from error
        except StoreWriteError as error:
            raise CannotWrite(str(error)) from error
        except InfoplaneError as error:
            raise Refused(str(error)) from error
        except MemoryError as error:
            raise Refused("there is not enough memory for this; try fewer --starts or --clusters.") from error
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted before there was a result.", code) from error

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Parse the command line."""
        with _said_safely(), _printed():
            return super().make_context(*arguments, **options)


@contextmanager
def _printed() -> Iterator[None]:
    """What was printed inside is out at the end, or an OSError says why not."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            _discard_output()
            raise


def _discard_output() -> None:
    """What is left of stdout goes nowhere: Python would try to write it once more at its end, and complain."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _said_safely() -> Iterator[None]:
    """Errors are printed as `printing` does, whatever the data or the command line put into them; a full disk is one of them."""
    try:
        try:
            yield
        except BrokenPipeError:
            raise  # the reader of the output has seen enough, which click answers without a word
        except OSError as error:
            where = error.filename or "standard output"
            raise CannotWrite(f"{where}: {error.strerror or error}. Make room, or name another file.") from error
    except click.ClickException as error:
        error.__dict__["message"] = shown_lines(error.message)
        raise


def _explained(error: click.NoSuchOption) -> click.NoSuchOption:
    """The error, with what to do if Python has the option and the command line has not."""
    from .options import IN_PYTHON

    said = IN_PYTHON.get(error.option_name)
    if said is None:
        return error
    message = f"{error.message} It is an option of a solver in Python only: {said}."
    return click.NoSuchOption(error.option_name, message, ctx=error.ctx)


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

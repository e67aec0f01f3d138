"""Exit codes, and how an error or a Ctrl-C becomes one.

0 done, 2 usage, 3 bad data, 4 finished but not converged, 130 interrupted; 1 is a bug, and shows its traceback.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import click

from ..errors import InfoplaneError, InvalidEncoderError, InvalidJointError

USAGE, BAD_DATA, NOT_CONVERGED, INTERRUPTED = 2, 3, 4, 130


class Refused(click.ClickException):
    """An option that cannot be, told in a sentence on stderr."""

    exit_code = USAGE


class BadData(click.ClickException):
    """Data that is not a joint."""

    exit_code = BAD_DATA


class Interrupted(click.ClickException):
    """Ctrl-C, with nothing to show for it."""

    exit_code = INTERRUPTED


COMMANDS = ("solve", "frontier", "compare", "status", "export", "reproduce", "datasets", "demo")
"""In the order in which people need them; each is in the module of its name."""


def documented(command: click.Command) -> str:
    """The help of a command: docstrings are raw, and click keeps the lines of a paragraph that begins with the backspace character."""
    return (command.help or "").replace("\\b", "\b")


class Commands(click.Group):
    """A group that imports a command when it is called, and turns infoplane's errors into exit codes."""

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

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors that infoplane raises on purpose end as one sentence on stderr."""
        try:
            return super().invoke(ctx)
        except (InvalidJointError, InvalidEncoderError) as error:
            raise BadData(str(error)) from error
        except InfoplaneError as error:
            raise Refused(str(error)) from error
        except MemoryError as error:
            raise Refused("there is not enough memory for this; try fewer --starts or --clusters.") from error
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted before there was a result.") from error


class Interruption:
    """Whether Ctrl-C was pressed: a run that it ended may look converged, the command was interrupted all the same."""

    seen = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if one was swallowed."""
        if self.seen:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Note SIGINT and pass it on as KeyboardInterrupt; a process told to ignore it (a shell's &) still does."""
    interruption = Interruption()
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        interruption.seen = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)

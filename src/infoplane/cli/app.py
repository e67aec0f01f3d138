"""The group of commands: each is imported when it is called, errors become exit codes, and what is printed is out at the end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from .. import __version__
from ..errors import (
    InfoplaneError,
    InvalidAnswerError,
    InvalidEncoderError,
    InvalidJointError,
    InvalidMechanismError,
    StoreWriteError,
)
from ..formatting import did_you_mean, shown_lines
from .output import BAD_DATA, CANNOT_WRITE, INTERRUPTED, USAGE, Ended, interruptible

COMMANDS = {
    "solve": "solve",
    "frontier": "frontier",
    "compare": "frontier",
    "efficiency": "efficiency",
    "encode": "encode",
    "release": "release",
    "apply": "encode",
    "audit": "audit",
    "compare-releases": "release",
    "verify": "answers",
    "resume": "answers",
    "status": "answers",
    "export": "answers",
    "reproduce": "reproduce",
    "datasets": "demo",
    "demo": "demo",
}
"""The module of each command, in the order that the help lists them."""


def example(command: click.Command) -> list[str]:
    """The first example in the help of a command, with the commands before it that make its files: it works in an empty folder."""
    lines = [line.strip() for line in (command.help or "").partition("Example")[2].splitlines()[1:]]
    own = next(at for at, line in enumerate(lines) if line.startswith(f"infoplane {command.name}"))
    return lines[: own + 1]


class Commands(click.Group):
    """A group that imports each command only when it is called, and turns infoplane's errors into exit codes."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All of them."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name in COMMANDS and name not in self.commands:
            module = import_module(f"{__package__}.{COMMANDS[name]}")
            self.add_command(getattr(module, name.replace("-", "_")))
        return self.commands.get(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names, and its arguments."""
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(
                f"there is no command {args[0]!r}{did_you_mean(args[0], [*COMMANDS])}; the commands are {', '.join(COMMANDS)}."
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors that infoplane raises on purpose end as one sentence on stderr."""
        with _spoken():
            try:
                with interruptible() as ctx.obj:
                    return super().invoke(ctx)
            except click.NoSuchOption as error:
                raise _explained(error) from None
            except click.MissingParameter as error:
                shown = "".join(f"\n  {line}" for line in example(error.ctx.command)) if error.ctx else ""
                raise click.UsageError(f"{error.format_message()} This works as it stands:{shown}", error.ctx) from None
            except click.BadParameter as error:
                raise _with_the_nearest(error) from None
            except (InvalidJointError, InvalidEncoderError, InvalidAnswerError, InvalidMechanismError) as error:
                raise Ended(str(error), BAD_DATA) from error
            except StoreWriteError as error:
                raise Ended(str(error), CANNOT_WRITE) from error
            except InfoplaneError as error:
                raise Ended(str(error), USAGE) from error
            except MemoryError as error:
                raise Ended("there is not enough memory for this; try fewer --starts or --clusters.", USAGE) from error
            except KeyboardInterrupt as error:
                code = INTERRUPTED if ctx.obj is None else ctx.obj.code
                raise Ended("interrupted before there was a result.", code) from error

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Parse the command line."""
        with _spoken():
            return super().make_context(*arguments, **options)


@contextmanager
def _spoken() -> Iterator[None]:
    """What was printed inside is out at the end; errors are printed as `output.note` does, whatever the data or the command line put into
    them, and a full disk is one of them.
    """
    try:
        try:
            yield
        finally:
            _flush()
    except BrokenPipeError:
        raise  # the reader of the output has seen enough, which click answers without a word
    except OSError as error:
        said = f"{error.filename or 'standard output'}: {error.strerror or error}. Make room, or name another file."
        raise Ended(shown_lines(said), CANNOT_WRITE) from error
    except click.ClickException as error:
        error.__dict__["message"] = shown_lines(error.message)
        raise


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        # What is left goes nowhere: Python would try to write it once more at its end, and complain.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _explained(error: click.NoSuchOption) -> click.NoSuchOption:
    """The error, with what to do if Python has the option and the command line has not."""
    from .options import in_python

    said = in_python(error.option_name)
    sweeps = error.ctx is not None and any(option.name == "grid" for option in error.ctx.command.params)
    if sweeps and error.option_name in ("--gamma", "--beta"):
        message = f"{error.message} Parameters are swept here: give --grid LOW:HIGH:COUNT, or one to infoplane solve."
    elif not said:
        return error
    else:
        message = f"{error.message} It is an option of a solver in Python only: {said}."
    return click.NoSuchOption(error.option_name, message, ctx=error.ctx)


def _with_the_nearest(error: click.BadParameter) -> click.BadParameter:
    """The error; of a word that is none of those to choose from, with the one that may have been meant."""
    given = re.match(r"'(.*?)' ", error.message)
    if given and error.param is not None and isinstance(error.param.type, click.Choice):
        error.__dict__["message"] += did_you_mean(given[1], list(map(str, error.param.type.choices)))
    return error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="%(prog)s %(version)s")
def infoplane() -> None:
    """How much may a released or learned Z say about X and about Y?

    Solves the information bottleneck, the privacy funnel and their relatives for a table p(x,y), and hands over the
    encoder p(z|x). Results go to stdout, everything else to stderr.

    \b
    Exit codes: 0 done, 2 usage, 3 bad data, 4 finished but not converged or certified,
    5 cannot write, 130 interrupted and, with --store, resumable (143 by SIGTERM, 129 by SIGHUP), 1 a bug.

    \b
    infoplane demo                                  both problems on built-in data, with a picture
    infoplane solve heart --gamma 0.2               one encoder
    infoplane frontier heart --plot plane.png       the whole trade-off
    infoplane reproduce --quick                     the paper's evaluation, claim by claim
    """


def open_closed_streams() -> None:
    """Let every closed stream lead nowhere.

    Python has None in its place, which cannot be written to. And the next file that is opened, a store for instance, would get the number
    of the closed one: whatever prints by number, as compiled code does, would print into the store.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free is that of the closed stream.
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", errors="replace"))  # noqa: SIM115  as long as the process


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``infoplane ARGUMENTS`` and exit with its code."""
    open_closed_streams()
    infoplane.main(arguments, prog_name="infoplane")
    raise SystemExit(0)

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
from .output import INTERRUPTED, BadData, CannotWrite, Interrupted, Refused, interruptible

COMMANDS = {
    "solve": "solve",
    "frontier": "frontier",
    "compare": "compare",
    "efficiency": "efficiency",
    "encode": "encode",
    "release": "release",
    "apply": "encode",
    "audit": "audit",
    "compare-releases": "compare_releases",
    "verify": "answers",
    "resume": "answers",
    "status": "answers",
    "export": "answers",
    "reproduce": "reproduce",
    "datasets": "demo",
    "demo": "demo",
}
"""The module of each command, in the order that the help lists them."""


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
            module = import_module(f"{__package__}.{COMMANDS[name]}")
            command: click.Command = getattr(module, name.replace("-", "_"))
            command.help = documented(command)
            self.add_command(command)
        return self.commands[name]

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
        except click.BadParameter as error:
            raise _with_the_nearest(error) from None
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
    """Errors are printed as `output.note` does, whatever the data or the command line put into them; a full disk is one of them."""
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
    sweeps = error.ctx is not None and any(option.name == "grid" for option in error.ctx.command.params)
    if sweeps and error.option_name in ("--gamma", "--beta"):
        message = f"{error.message} Parameters are swept here: give --grid LOW:HIGH:COUNT, or one to infoplane solve."
    elif said is None:
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
    r"""How much may a released or learned Z say about X and about Y?

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


infoplane.help = documented(infoplane)


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

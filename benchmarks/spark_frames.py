"""Frames of pyspark become the joints that the same rows in memory become: tried by this script, since the tests have no Spark.

    pip install pyspark && python benchmarks/spark_frames.py

Needs Java. It ends with an error if a joint differs, and prints with which versions it was tried.
"""

from __future__ import annotations

from typing import Any

import narwhals
import numpy as np
import pandas as pd
import pyspark
from pyspark.sql import SparkSession

import infoplane as ip

ROWS = 2_000
CALLS: list[dict[str, Any]] = [
    {"x": "job", "y": "sex", "missing": "category"},
    {"x": "job", "y": "sex", "missing": "drop"},
    {"x": "job", "y": "sex", "missing": "error"},
    {"x": ["sex", "age"], "y": "job", "missing": "drop"},
    {"x": "age", "y": "sex", "weight": "n"},
    {"x": "age", "y": "sex", "bins": {"age": 4}},
    {"x": "jb", "y": "sex"},
]


def answer(frame: Any, call: dict[str, Any]) -> ip.Joint | str:
    """The joint, or the name of the error."""
    try:
        return ip.Joint.from_frame(frame, **call)
    except ip.InfoplaneError as error:
        return type(error).__name__


def main() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "job": rng.choice([*"abcde", None], ROWS),
            "sex": rng.choice(["m", "f"], ROWS),
            "age": rng.integers(18, 80, ROWS),
            "n": rng.integers(1, 5, ROWS),
        }
    )
    quiet = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false"}
    spark = SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
    # Not from the pandas frame: what is missing there, a NaN, Spark would take for a text.
    held = [[None if value != value else value for value in row] for row in rows.to_numpy().tolist()]
    there = spark.createDataFrame(held, list(rows.columns))
    for call in CALLS:
        here, found = answer(rows, call), answer(there, call)
        if here != found:
            raise SystemExit(f"{call}: {here!r} here, {found!r} from Spark")
        print(f"{call}: {found!r}")
    spark.stop()
    print(f"pyspark {pyspark.__version__}, narwhals {narwhals.__version__}, pandas {pd.__version__}")


if __name__ == "__main__":
    main()

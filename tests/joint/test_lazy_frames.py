"""Frames that are counted where they are: only the counts come here."""

import weakref
from datetime import datetime
from math import inf, nan

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from polars.io.plugins import register_io_source

from infoplane.errors import InvalidJointError
from infoplane.joint.frames import check_rows
from infoplane.joint.joint import Joint
from records import ROWS


def as_arrow(rows):
    return rows if isinstance(rows, pa.Table) else pa.table(rows)


def relation(rows):
    return duckdb.connect().from_arrow(as_arrow(rows))


def dataset(rows):
    """Batches of one row each, so that groups are put together from several."""
    return ds.dataset(pa.table(rows).to_batches(max_chunksize=1) or as_arrow(rows))


def dask(rows):
    return dd.from_pandas(pd.DataFrame(rows), npartitions=2)


LAZY = {"polars": pl.LazyFrame, "duckdb": relation, "pyarrow dataset": dataset, "dask": dask}
every_lazy = pytest.mark.parametrize("lazy", LAZY.values(), ids=LAZY)

CASES = {
    "samples": ({"x": "drug", "y": "sex"}, ROWS),
    "several columns": ({"x": ["drug", "dose"], "y": ["sex"], "smoothing": 1.0}, ROWS),
    "weights": ({"x": "drug", "y": "sex", "weight": "n"}, ROWS),
    "bins": ({"x": "dose", "y": "sex", "weight": "n", "bins": {"dose": 2}}, ROWS),
    "edges": ({"x": "dose", "y": "sex", "bins": {"dose": [0, 1.5]}}, ROWS),
    "names of ours": (
        {"x": ["n", "row"], "y": "c0", "weight": "w"},
        {"c0": ["a", "b"], "row": [0, 1], "n": [5, 6], "w": [3.0, 1.0]},
    ),
    "missing dropped": (
        {"x": ["x", "v"], "y": "y", "missing": "drop"},
        {"x": ["b", None, "a", "b"], "v": [1.5, 2.5, nan, 1.5], "y": [0, 1, 1, 0]},
    ),
    "missing a label": (
        {"x": ["x", "v"], "y": "y", "missing": "category"},
        {"x": ["b", None, "a", "b"], "v": [1.5, 2.5, nan, 1.5], "y": [0, 1, 1, 0]},
    ),
    "missing a bin": (
        {"x": "v", "y": "y", "missing": "category", "bins": {"v": 2}},
        {"v": [1.5, 2.5, nan, 1.5], "y": [0, 1, 1, 0]},
    ),
    **{
        f"dates by {rule}": (
            {"x": "when", "y": "y", "bins": {"when": rule}},
            {"when": [datetime(2023, 12, 31, 7), datetime(2024, 1, 1), datetime(2024, 5, 6, 9)], "y": [0, 1, 1]},
        )
        for rule in ("year", "month", "weekday", 2)
    },
}


@every_lazy
@pytest.mark.parametrize(("asked", "rows"), CASES.values(), ids=CASES)
def test_the_joint_is_that_of_the_frame_in_memory(lazy, asked, rows):
    found, expected = (Joint.from_frame(frame, **asked) for frame in (lazy(rows), pd.DataFrame(rows)))
    assert found == expected
    assert found.records == expected.records


BAD = {
    "column": (
        {"x": "drugs", "y": "sex"},
        ROWS,
        "x must name columns of the frame; found 'drugs', expected one of 'drug'",
    ),
    "text as weight": ({"x": "dose", "y": "sex", "weight": "drug"}, ROWS, "weights must be numeric; found String"),
    "missing": (
        {"x": "x", "y": "y"},
        {"x": ["a", None], "y": [0, 1]},
        "column 'x' must have no missing values; found 1",
    ),
    "nan": (
        {"x": "x", "y": "y"},
        {"x": [nan, 1.0, nan], "y": [0, 1, 1]},
        "column 'x' must have no missing values; found",
    ),
    "both missing": (
        {"x": "x", "y": "y", "missing": "category"},
        {"x": ["missing", None], "y": [0, 1]},
        "column 'x' has values called 'missing', and 1 that are missing",
    ),
    "text in bins": ({"x": "drug", "y": "sex", "bins": {"drug": 2}}, ROWS, "bins need numbers or dates; found String"),
    **{
        f"weight {weight}": (
            {"x": "x", "y": "y", "weight": "w"},
            {"x": [1, 2], "y": [0, 1], "w": [1.0, weight]},
            "weights .*must be (finite|non-negative|numbers)",
        )
        for weight in (-0.5, nan, inf, None)
    },
    "all dropped": (
        {"x": "x", "y": "y", "missing": "drop"},
        {"x": [nan, 1.0], "y": [1.0, nan]},
        "at least one row; found none",
    ),
}


@every_lazy
@pytest.mark.parametrize(("asked", "rows", "words"), BAD.values(), ids=BAD)
def test_what_is_refused_in_memory_is_refused_there(lazy, asked, rows, words):
    with pytest.raises(InvalidJointError, match=words):
        Joint.from_frame(lazy(rows), **asked)


@every_lazy
def test_no_rows(lazy):
    none = pa.table({"x": pa.array([], pa.int64()), "y": pa.array([], pa.int64())})
    frame = lazy(none.to_pandas()) if lazy in (pl.LazyFrame, dask) else lazy(none)
    with pytest.raises(InvalidJointError, match="at least one row; found none"):
        Joint.from_frame(frame, "x", "y")


def test_errors_in_a_dataset_name_its_rows():
    with pytest.raises(InvalidJointError, match=r"column 'x' .*the first in row 2 \(counting from 0\)"):
        Joint.from_frame(dataset({"x": ["a", "b", None], "y": [0, 1, 1]}), "x", "y")
    with pytest.raises(InvalidJointError, match=r"weights in column 'w' must be non-negative; found -1\.0 at row 1"):
        Joint.from_frame(dataset({"x": ["a", "b"], "y": [0, 1], "w": [1.0, -1.0]}), "x", "y", weight="w")


def test_what_an_engine_cannot_do_is_said_in_its_words():
    frame = pl.LazyFrame({"x": ["a"], "y": [1]}).with_columns(pl.col("x").str.to_integer(strict=True))
    with pytest.raises(
        InvalidJointError,
        match=r"the engine of the frame must be able to count its rows; polars said: .*parsing failed",
    ):
        Joint.from_frame(frame, "x", "y")


# -- the rows stay where they are -----------------------------------------------------------------------------------------


@pytest.fixture
def arrivals(monkeypatch):
    """How many rows every collected frame has."""
    seen = []
    collect = nw.LazyFrame.collect

    def counting(frame, *args, **kwargs):
        found = collect(frame, *args, **kwargs)
        seen.append(len(found))
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", counting)
    return seen


MANY = 300_000


@pytest.mark.parametrize("bins", [{}, {"v": [10, 50]}, {"v": 4}], ids=["values", "edges", "quantiles"])
def test_only_groups_arrive_from_duckdb(arrivals, bins):
    rows = duckdb.connect().sql(f"select i % 97 as v, i % 2 = 0 as y, 1 + i % 3 as n from range({MANY}) t(i)")
    joint = Joint.from_frame(rows, "v", "y", weight="n", bins=bins)
    assert joint.records == MANY * 2
    assert arrivals
    assert max(arrivals) <= 2 * 97


def test_polars_streams_a_source_that_never_exists_as_a_whole(arrivals, monkeypatch):
    """Measured on 20 million rows: 6 MB where the engine streams, 312 MB where it holds the columns in memory."""
    made, engines = [], []
    collect = pl.LazyFrame.collect
    monkeypatch.setattr(
        pl.LazyFrame, "collect", lambda frame, **more: engines.append(more.get("engine")) or collect(frame, **more)
    )

    def source(columns, _predicate, _rows, _size):
        assert set(columns) == {"v", "y"}, "the third column is not even read"
        for first in range(0, MANY, 10_000):
            made.append(first)
            v = np.arange(first, first + 10_000)
            yield pl.DataFrame({"v": v % 97, "y": v % 2, "text": ["x"] * 10_000}).select(columns)

    schema = {"v": pl.Int64, "y": pl.Int64, "text": pl.String}
    joint = Joint.from_frame(register_io_source(source, schema=schema), "v", "y")
    assert (joint.records, len(made)) == (MANY, MANY // 10_000)
    assert arrivals == [2 * 97]
    assert engines == ["streaming"]


def test_a_dataset_is_read_a_batch_at_a_time(tmp_path, monkeypatch):
    v = np.arange(MANY)
    pq.write_table(pa.table({"v": v % 97, "y": v % 2}), tmp_path / "many.parquet", row_group_size=10_000)
    sizes, alive, parts = [], [], []

    def counting(part, *args):
        sizes.append(len(part))
        parts.append(weakref.ref(part))
        alive.append(sum(one() is not None for one in parts))
        return check_rows(part, *args)

    monkeypatch.setattr("infoplane.joint.frames.check_rows", counting)
    joint = Joint.from_frame(ds.dataset(tmp_path / "many.parquet"), "v", "y")
    assert joint.records == sum(sizes) == MANY
    assert max(sizes) <= 10_000
    assert max(alive) <= 2

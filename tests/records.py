"""A small table of records, and the kinds of frames that hold one."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

ROWS = {
    "drug": ["b", "a", "b", "b", "a", "b"],
    "dose": [2, 1, 2, 1, 1, 2],
    "sex": ["m", "f", "f", "m", "f", "m"],
    "n": [1.0, 2.0, 0.5, 0.0, 4.0, 0.5],
}

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

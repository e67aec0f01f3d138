"""A small table of records, for tests of what becomes of one."""

ROWS = {
    "drug": ["b", "a", "b", "b", "a", "b"],
    "dose": [2, 1, 2, 1, 1, 2],
    "sex": ["m", "f", "f", "m", "f", "m"],
    "n": [1.0, 2.0, 0.5, 0.0, 4.0, 0.5],
}

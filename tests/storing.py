"""A small sweep and its store, for tests that look into the store or change it."""

import sqlite3
from contextlib import closing

import infoplane as ip
from infoplane.storage import database

UNIFORM = ip.datasets.paper_uniform()
GRID = [0.1, 0.25, 0.5, 0.8]


def swept(store=None, joint=UNIFORM, family=ip.bottleneck, grid=GRID, **options):
    options = {"solver": "ib-1", "starts": 5, "rng": 0, "chunk_seconds": 1e-9} | options
    return ip.sweep(joint, family, grid, store=store, **options)


def ask(path, question):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchall()


def change(path, *commands):
    with closing(sqlite3.connect(path)) as connection:
        for command in commands:
            connection.execute(command)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def forge(path, *commands):
    """Change a store as somebody does who knows of the checksums."""
    change(path, *commands)
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in database.COLUMNS.items():
            keys = columns[: 3 if columns[1] == "solver" else 1]
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall():
                connection.execute(
                    f"UPDATE {table} SET checksum = ? WHERE {' AND '.join(f'{key} = ?' for key in keys)}",
                    (database.checksum(row), *row[: len(keys)]),
                )
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def connecting(monkeypatch, *pragmas, how=None):
    """Let the writer's connection be of another kind."""
    real = database.connect

    def connect(path, given):
        connection = real(path, given if how is None or given != "mode=rw" else how)
        for pragma in pragmas if given == "mode=rw" else ():
            connection.execute(f"PRAGMA {pragma}")
        return connection

    monkeypatch.setattr(database, "connect", connect)

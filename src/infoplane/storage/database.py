"""The file of a store: SQLite, opened without trusting it, written by one process at a time, readable meanwhile.

Before SQLite sees a file, its first bytes must say that it is a store of this schema; then its tables must be those of `TABLES`, word for
word, so that nothing in it (a view, a trigger, a default) can be executed. Readers open it read-only. The writer uses a write-ahead log and
waits for the disk at every commit, so that what is committed survives whatever ends the process. In all tables ``grid_index`` says
which parameter it is, by its index in the grid.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import time
import zlib
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from ..errors import StoreError, StoreWriteError
from .files import check_regular, lock

APPLICATION_ID = int.from_bytes(b"ipln", "big")
"""What says in the first bytes of a SQLite file that it is ours."""

SCHEMA = 1
"""Number of the tables below, in the first bytes too: stores of another are refused."""

RUN = "grid_index INTEGER NOT NULL, solver INTEGER NOT NULL, start INTEGER NOT NULL"
"""The key of a run."""

TABLES = {
    "manifest": "key TEXT NOT NULL, value TEXT NOT NULL",
    "arrays": "name TEXT NOT NULL, dtype TEXT NOT NULL, data BLOB NOT NULL",
    "parameters": "grid_index INTEGER NOT NULL, value REAL NOT NULL, family TEXT NOT NULL, parameter REAL, rho_z REAL NOT NULL, "
    "rho_zx REAL NOT NULL, rho_zy REAL NOT NULL",
    "sessions": "session INTEGER NOT NULL, began REAL NOT NULL, ended REAL, outcome TEXT",
    "chunks": "chunk INTEGER NOT NULL, session INTEGER NOT NULL, units TEXT NOT NULL, ended REAL",
    "runs": f"{RUN}, loss REAL NOT NULL, ixz REAL NOT NULL, iyz REAL NOT NULL, clusters INTEGER NOT NULL, status TEXT NOT NULL, "
    "found_by TEXT NOT NULL, iterations INTEGER NOT NULL, seconds REAL NOT NULL, primal REAL, dual REAL, stationarity REAL, "
    "died INTEGER NOT NULL, lower_bound REAL, chunk INTEGER NOT NULL",
    "encoders": f"{RUN}, data BLOB NOT NULL",
    "traces": f"{RUN}, length INTEGER NOT NULL, data BLOB NOT NULL",
    "multipliers": f"{RUN}, data BLOB NOT NULL",
}
"""What is run, on which joint; when calls, and the parts of their work, began and ended; every run; and what is kept of the best. Each row
has a checksum too."""

COLUMNS = {table: tuple(one.split()[0] for one in columns.split(", ")) for table, columns in TABLES.items()}
"""The columns of every table."""

ROW: dict[str, Any] = {table: namedtuple(table, columns) for table, columns in COLUMNS.items()}
"""A row of every table."""

KEYS = {table: columns[: 3 if TABLES[table].startswith(RUN) else 1] for table, columns in COLUMNS.items()}
"""What no two rows of a table share."""

CREATE = {
    table: f"CREATE TABLE {table} ({columns}, checksum INTEGER NOT NULL, PRIMARY KEY ({', '.join(KEYS[table])})) WITHOUT ROWID"
    for table, columns in TABLES.items()
}
"""How tables are made, and what SQLite says of them ever after."""

Rows = dict[str, list[Any]]
"""Of some tables, by name; each row was found to have its checksum."""

T = TypeVar("T")


# -- is it a store? ------------------------------------------------------------------------------------------------------


def _check_header(path: Path) -> None:
    """Refuse a file that is no store, or one of another schema, from its first bytes and its size; SQLite is not asked."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            header = file.read(100)  # SQLite's own
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0") or _number(header, 68) != APPLICATION_ID:
        raise StoreError(f"{path} is not a store of infoplane; it was left as it is. Name another file.")
    if _number(header, 60) != SCHEMA:
        raise StoreError(
            f"{path} has schema {_number(header, 60)}, and this version of infoplane knows {SCHEMA}: use the version that made it, or name "
            "another file."
        )
    page_size = struct.unpack(">H", header[16:18])[0]
    # With a log beside it, the file itself may lag behind; SQLite knows.
    if not _beside(path, "-wal").exists() and size < _number(header, 28) * (65536 if page_size == 1 else page_size):
        raise StoreError(f"{path} is a store that was cut off; it was left as it is. Use a copy, or begin another.")


def _number(header: bytes, at: int) -> int:
    return int(struct.unpack(">I", header[at : at + 4])[0])


# -- rows with their checksums -----------------------------------------------------------------------------------------


def checksum(row: Sequence[Any]) -> int:
    """Of a row's values, as SQLite gives them back."""
    return zlib.crc32(repr([_as_kept(one) for one in row]).encode())


def _as_kept(value: Any) -> Any:
    """SQLite has no NaN and no -0.0, and may return a whole number for a float; bytes are summed up first."""
    if isinstance(value, (int, float)):
        return float(value) + 0.0 if value == value else None
    return (len(value), zlib.crc32(value)) if isinstance(value, bytes) else value


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[Any]], *, instead: bool = False) -> None:
    """Add rows to a table, each with its checksum; ``instead`` of those of the same key, if there are any."""
    columns = (*COLUMNS[table], "checksum")
    connection.executemany(
        f"INSERT {'OR REPLACE ' if instead else ''}INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
        ((*row, checksum(row)) for row in rows),
    )


def rows_of(connection: sqlite3.Connection, table: str, key: Sequence[Any] | None = None) -> Iterator[Any]:
    """Rows of a table, in the order of their keys, or that of one key; a ValueError names the first that does not have its checksum."""
    keys = KEYS[table]
    which = f"ORDER BY {', '.join(keys)}" if key is None else f"WHERE {' AND '.join(f'{name} = ?' for name in keys)}"
    for *row, summed in connection.execute(
        f"SELECT {', '.join(COLUMNS[table])}, checksum FROM {table} {which}", key or ()
    ):
        if summed != checksum(row):
            named = ", ".join(f"{name} {value!r}" for name, value in zip(keys, row, strict=False))
            raise ValueError(f"the row of {table} with {named} does not have its checksum")
        yield ROW[table](*row)


def contents(connection: sqlite3.Connection, tables: Iterable[str], keys: Iterable[str] = ()) -> Rows:
    """All rows of some tables, in the order of their keys; of others the ``keys`` alone, without what is large."""
    found = {table: list(rows_of(connection, table)) for table in tables}
    return found | {
        table: connection.execute(f"SELECT {', '.join(KEYS[table])} FROM {table}").fetchall() for table in keys
    }


# -- readers -----------------------------------------------------------------------------------------------------------


def read(path: Path, tables: Iterable[str], keys: Iterable[str] = ()) -> Rows:
    """The `contents` of a store as of one moment. One that nobody writes to is not touched, nor is anything beside it."""
    return _looked(path, lambda connection: contents(connection, tables, keys))


def read_row(path: Path, table: str, key: Sequence[Any]) -> Any:
    """The row of that key, if there is one."""
    return _looked(path, lambda connection: next(rows_of(connection, table, key), None))


def _looked(path: Path, look: Callable[[sqlite3.Connection], T]) -> T:
    while True:
        _check_header(path)
        before = _stamp(path)
        # Without a log nobody is writing. If a writer begins meanwhile, what was read may be inconsistent, and is read again.
        resting = not before[-1]
        try:
            with (
                damage_refused(path),
                closing(connect(path, "mode=ro&immutable=1" if resting else "mode=ro")) as connection,
            ):
                connection.execute("BEGIN")
                tables = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
                if tables != set(CREATE.values()):
                    raise StoreError(f"{path} has other tables than a store of infoplane; it was left as it is.")
                found = look(connection)
        except StoreError:
            if not resting or _stamp(path) == before:
                raise
        else:
            if not resting or _stamp(path) == before:
                return found


@contextmanager
def damage_refused(path: Path) -> Iterator[None]:
    """What SQLite refuses, and contents that make no sense, are a damaged store."""
    try:
        yield
    except StoreError:
        raise
    except sqlite3.Error as error:
        raise StoreError(f"{path} is damaged, or cannot be read: {error}. It was left as it is.") from error
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, zlib.error) as error:
        raise StoreError(f"{path} is damaged: {type(error).__name__}, {error}. It was left as it is.") from error


def _stamp(path: Path) -> tuple[int, int, int, bool]:
    """What changes if somebody writes; last, whether there is a log."""
    try:
        found = path.stat()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    return found.st_ino, found.st_size, found.st_mtime_ns, _beside(path, "-wal").exists()


def _beside(path: Path, ending: str) -> Path:
    """The file of that ending beside the store itself, whichever links lead to it: as SQLite names its log, and one lock for all names."""
    return Path(f"{os.path.realpath(path)}{ending}")


def connect(path: Path, how: str) -> sqlite3.Connection:
    """A connection that believes nothing of what the file says about itself."""
    uri = f"file:{quote(os.fspath(path.absolute()))}?{how}"
    # Half a minute for another one's lock within SQLite, which is held for the moment of a commit.
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30.0)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


# -- the writer --------------------------------------------------------------------------------------------------------


@contextmanager
def open_for_writing(path: Path, first: Mapping[str, Iterable[Sequence[Any]]]) -> Iterator[sqlite3.Connection]:
    """The connection of the only writer; a file that is not there is made with its ``first`` rows, and appears only once it is whole."""
    with ExitStack() as stack:
        stack.enter_context(_exclusive_lock(path))
        if path.exists():
            # Looked at read-only first: a damaged file is not even repaired.
            sound = _looked(path, lambda connection: connection.execute("PRAGMA quick_check(1)").fetchone())
            if sound != ("ok",):
                raise StoreError(f"{path} is damaged ({sound[0]}); it was left as it is.")
        else:
            _create(path, first)
        connection = stack.enter_context(closing(connect(path, "mode=rw")))
        with write_errors(path):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        yield connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it, on the disk, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def write_errors(path: Path, *, resumable: bool = False) -> Iterator[None]:
    """SQLite's errors and the system's, such as a full disk, as a `StoreWriteError`."""
    try:
        yield
    except StoreError:
        raise
    except (sqlite3.Error, OSError) as error:
        # A disk, or the right to write, can be mended; a row that SQLite refuses cannot.
        outside = isinstance(error, (sqlite3.OperationalError, OSError))
        advice = ": make room, or make it writable, and repeat the call" if outside else ""
        kept = f" What was finished before is kept{advice}." if resumable else ""
        said = getattr(error, "strerror", None) or error
        raise StoreWriteError(f"{path} cannot be written: {said}.{kept}", resumable=resumable) from error


def _create(path: Path, first: Mapping[str, Iterable[Sequence[Any]]]) -> None:
    new = _beside(path, "-new")
    with write_errors(path):
        # What a call that was killed here has left.
        for left in (new, _beside(new, "-journal")):
            left.unlink(missing_ok=True)
        try:
            with closing(connect(new, "mode=rwc")) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
                with transaction(connection):
                    for table in CREATE.values():
                        connection.execute(table)
                    for name, rows in first.items():
                        insert(connection, name, rows)
            os.replace(new, os.path.realpath(path))
        except BaseException:
            new.unlink(missing_ok=True)
            raise


# -- the lock ----------------------------------------------------------------------------------------------------------

HELD: set[int] = set()
"""Open locks of this process."""


def _let_go() -> None:
    """In a child that was forked, which would else hold the lock after its parent was killed."""
    while HELD:
        os.close(HELD.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextmanager
def _exclusive_lock(path: Path) -> Iterator[None]:
    """The right to write, or a refusal: a lock on an empty file beside the store, which ends with the process at the latest."""
    beside = _beside(path, "-lock")
    with write_errors(path):
        handle = _locked(path, beside)
    HELD.add(handle)
    try:
        yield
    finally:
        beside.unlink(missing_ok=True)
        HELD.discard(handle)
        os.close(handle)


def _locked(path: Path, beside: Path) -> int:
    """The lock, open; a StoreError if another has it, or if what is there is no lock."""
    # A quarter of a second of tries, 10 ms apart: `is_being_written` holds the lock for a moment, a writer for as long as it writes.
    for _ in range(25):
        if beside.exists():
            check_regular(beside)
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o666)
        found = os.fstat(handle)
        # The last owner may have removed the file just before: then this is a lock on nothing.
        if found.st_size == 0 and lock(handle) and os.fstat(handle).st_nlink > 0:
            return handle
        os.close(handle)
        if found.st_size > 0:
            raise StoreError(
                f"{beside} should be the lock of this store, and is another file; it was left as it is. Remove it."
            )
        time.sleep(0.01)
    raise StoreError(f"{path} is being written by another sweep; wait for it, or use another file.")


def is_being_written(path: Path) -> bool:
    """Whether some process holds the right to write."""
    with suppress(OSError):
        check_regular(beside := _beside(path, "-lock"))
        handle = os.open(beside, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            return not lock(handle, shared=True)
        finally:
            os.close(handle)
    return False

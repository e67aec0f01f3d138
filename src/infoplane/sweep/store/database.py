"""The file of a store: SQLite, opened without trusting it, written by one process at a time, readable meanwhile.

Before SQLite sees a file, its first bytes must say that it is a store of a schema that is known; then its tables must be those of that
schema, word for word, so that nothing in it (a view, a trigger, a default) can be executed. Readers open it read-only. The writer uses a
write-ahead log and waits for the disk at every commit, so that what is committed survives whatever ends the process. Stores of a
former schema can be read, but not continued. In all tables ``place`` is the index of the parameter in the grid.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from ...errors import InfoplaneError
from ...files import check_regular

APPLICATION_ID = int.from_bytes(b"ipln", "big")
SCHEMA = 4

TABLES_1 = (
    "CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, dtype TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE parameters (place INTEGER PRIMARY KEY, value REAL NOT NULL, family TEXT NOT NULL, parameter REAL, "
    "rho_z REAL NOT NULL, rho_zx REAL NOT NULL, rho_zy REAL NOT NULL)",
    "CREATE TABLE sessions (session INTEGER PRIMARY KEY, began REAL NOT NULL, ended REAL, outcome TEXT, pid INTEGER NOT NULL, "
    "engine TEXT NOT NULL)",
    "CREATE TABLE chunks (chunk INTEGER PRIMARY KEY, session INTEGER NOT NULL, units TEXT NOT NULL, ended REAL, seconds REAL)",
    "CREATE TABLE runs (place INTEGER NOT NULL, solver INTEGER NOT NULL, start INTEGER NOT NULL, loss REAL NOT NULL, ixz REAL NOT NULL, "
    "iyz REAL NOT NULL, clusters INTEGER NOT NULL, status TEXT NOT NULL, found_by TEXT NOT NULL, iterations INTEGER NOT NULL, "
    "seconds REAL NOT NULL, primal REAL, dual REAL, stationarity REAL, died INTEGER NOT NULL, "
    "lower_bound REAL, chunk INTEGER NOT NULL, PRIMARY KEY (place, solver, start)) WITHOUT ROWID",
    "CREATE TABLE encoders (place INTEGER NOT NULL, solver INTEGER NOT NULL, start INTEGER NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY (place, solver, start)) WITHOUT ROWID",
)

TABLES_2 = (
    *TABLES_1,
    "CREATE TABLE traces (place INTEGER NOT NULL, solver INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, "
    "data BLOB NOT NULL, PRIMARY KEY (place, solver, start)) WITHOUT ROWID",
)

TABLES_3 = (
    *TABLES_2,
    "CREATE TABLE multipliers (place INTEGER NOT NULL, solver INTEGER NOT NULL, start INTEGER NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY (place, solver, start)) WITHOUT ROWID",
)

COLUMNS = {
    "manifest": ("key", "value"),
    "arrays": ("name", "dtype", "data"),
    "parameters": ("place", "value", "family", "parameter", "rho_z", "rho_zx", "rho_zy"),
    "runs": (
        *("place", "solver", "start", "loss", "ixz", "iyz", "clusters", "status", "found_by", "iterations", "seconds"),
        *("primal", "dual", "stationarity", "died", "lower_bound", "chunk"),
    ),
    "encoders": ("place", "solver", "start", "data"),
    "traces": ("place", "solver", "start", "length", "data"),
    "multipliers": ("place", "solver", "start", "data"),
    "sessions": ("session", "began", "ended", "outcome", "pid", "engine"),
    "chunks": ("chunk", "session", "units", "ended", "seconds"),
}
"""The columns of every table; each row has a checksum of them. The last two tables say when calls, and parts of their work, began and
ended."""

BOOKKEEPING = ("sessions", "chunks")
"""The tables that say nothing of results; they have had checksums since schema 4, the others since 3."""


def _with_checksum(table: str, without: tuple[str, ...] = ()) -> str:
    name = table.removeprefix("CREATE TABLE ").partition(" ")[0]
    return table if name in without else table.replace("(", "(checksum INTEGER NOT NULL, ", 1)


TABLES = tuple(_with_checksum(table) for table in TABLES_3)

SCHEMAS = {1: TABLES_1, 2: TABLES_2, 3: tuple(_with_checksum(table, BOOKKEEPING) for table in TABLES_3), SCHEMA: TABLES}
"""Tables by schema; the first had no traces, the second neither checksums nor multipliers, the third no checksums of bookkeeping."""

T = TypeVar("T")


class StoreError(InfoplaneError, OSError):
    """A file is no store, belongs to another sweep, or cannot be read or written; ``resumable`` if runs were kept and can go on."""

    def __init__(self, message: str, *, resumable: bool = False) -> None:
        super().__init__(message)
        self.resumable = resumable


# -- is it a store? ------------------------------------------------------------------------------------------------------


def check_header(path: Path) -> None:
    """Refuse a file that is no store, or one of a newer schema, from its first 100 bytes and its size; SQLite is not asked."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            header = file.read(100)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0") or _number(header, 68) != APPLICATION_ID:
        raise StoreError(f"{path} is not a store of infoplane; it was left as it is. Name another file.")
    if _number(header, 60) > SCHEMA:
        raise StoreError(
            f"{path} has schema {_number(header, 60)}; this version of infoplane knows {SCHEMA}. Use the version that made it, or newer."
        )
    page_size = struct.unpack(">H", header[16:18])[0]
    # With a log beside it, the file itself may lag behind; SQLite knows.
    if not _size(_beside(path, "-wal")) and size < _number(header, 28) * (65536 if page_size == 1 else page_size):
        raise StoreError(f"{path} is a store that was cut off; it was left as it is. Use a copy, or begin another.")


def _number(header: bytes, at: int) -> int:
    return int(struct.unpack(">I", header[at : at + 4])[0])


def schema_of(connection: sqlite3.Connection) -> int:
    """The schema that a store says it has."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
    if found != set(SCHEMAS.get(schema_of(connection), ())):
        raise StoreError(f"{path} has other tables than a store of infoplane; it was left as it is.")


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
    """Add rows to a table of `COLUMNS`, each with its checksum; ``instead`` of those of the same key, if there are any."""
    columns = COLUMNS[table]
    connection.executemany(
        f"INSERT {'OR REPLACE ' if instead else ''}INTO {table} ({', '.join(columns)}, checksum) "
        f"VALUES ({', '.join('?' * (len(columns) + 1))})",
        ((*row, checksum(row)) for row in rows),
    )


def rows_of(
    connection: sqlite3.Connection, table: str, which: str = "", values: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """Rows of a table of `COLUMNS`, with all its columns; a ValueError, which names it, at the first that does not have its checksum."""
    summed = schema_of(connection) > (3 if table in BOOKKEEPING else 2)
    columns = (*COLUMNS[table], *(["checksum"] if summed else []))
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table} {which}", values):
        if summed and row[-1] != checksum(row[:-1]):
            raise ValueError(f"the row of {table} with {_named(table, row)} does not have its checksum")
        yield row[:-1] if summed else row


def _named(table: str, row: Sequence[Any]) -> str:
    """A row by its key."""
    columns = COLUMNS[table]
    key = columns[:3] if columns[:3] == ("place", "solver", "start") else columns[:1]
    return ", ".join(f"{name} {value!r}" for name, value in zip(key, row, strict=False))


# -- readers -----------------------------------------------------------------------------------------------------------


def read(path: Path, look: Callable[[sqlite3.Connection], T]) -> T:
    """What ``look`` finds, as of one moment. A store that nobody writes to is not touched, nor is anything beside it."""
    while True:
        check_header(path)
        before = _stamp(path)
        # Without a log nobody is writing. If a writer begins meanwhile, what was read may be inconsistent, and is read again.
        resting = not _beside(path, "-wal").exists()
        try:
            with closing(_connect(path, "mode=ro&immutable=1" if resting else "mode=ro")) as connection:
                connection.execute("BEGIN")
                _check_tables(path, connection)
                found = look(connection)
        except (sqlite3.Error, OverflowError, ValueError) as error:
            if resting and (_stamp(path) != before or _beside(path, "-wal").exists()):
                continue
            if isinstance(error, ValueError):
                raise
            raise unreadable(path, error) from error
        if not resting or _stamp(path) == before:
            return found


def unreadable(path: Path, error: Exception) -> StoreError:
    """What SQLite said, as an error of ours."""
    return StoreError(f"{path} is damaged, or cannot be read: {error}. It was left as it is.")


@contextmanager
def damage_refused(path: Path) -> Iterator[None]:
    """Contents that make no sense are reported as a damaged store."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError, zlib.error) as error:
        raise StoreError(f"{path} is damaged: {type(error).__name__}, {error}. It was left as it is.") from error


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _beside(path: Path, ending: str) -> Path:
    """The file of that ending beside the store itself, whichever links lead to it: as SQLite names its log, and one lock for all names."""
    return Path(f"{os.path.realpath(path)}{ending}")


def _connect(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.fspath(path.absolute()))}?{how}", uri=True, isolation_level=None, timeout=30.0
    )
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


# -- the writer --------------------------------------------------------------------------------------------------------


@contextmanager
def open_for_writing(path: Path, fill: Callable[[sqlite3.Connection], None]) -> Iterator[sqlite3.Connection]:
    """The connection of the only writer; a file that is not there is made and filled, and appears only once it is whole."""
    with ExitStack() as stack:
        stack.enter_context(_exclusive_lock(path))
        if path.exists():
            # Looked at read-only first: a damaged file is not even repaired.
            sound = read(path, lambda connection: connection.execute("PRAGMA quick_check(1)").fetchone())
            if sound != ("ok",):
                raise StoreError(f"{path} is damaged ({sound[0]}); it was left as it is.")
            _refuse_former_schema(path, read(path, schema_of))
        else:
            _create(path, fill)
        connection = stack.enter_context(closing(_connect(path, "mode=rw")))
        with sqlite_errors(path, "opened for writing"):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        yield connection


def _refuse_former_schema(path: Path, schema: int) -> None:
    if schema < SCHEMA:
        raise StoreError(
            f"{path} has schema {schema}, and this version of infoplane writes {SCHEMA}: it can be read and exported, but not continued. "
            "Continue it with the version that made it, or name another file."
        )


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
def sqlite_errors(path: Path, what: str, resumable: bool = False) -> Iterator[None]:
    """SQLite's errors, such as a full disk, as a `StoreError`."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, StoreError):
            raise
        # A disk, or the right to write, can be mended; a row that SQLite refuses cannot.
        outside = isinstance(error, (sqlite3.OperationalError, OSError))
        advice = ": make room, or make it writable, and repeat the call" if outside else ""
        kept = f" What was finished before is kept{advice}." if resumable else ""
        raise StoreError(f"{path} cannot be {what}: {error}.{kept}", resumable=resumable) from error


def _create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    new = _beside(path, "-new")
    with sqlite_errors(path, "made"):
        # What a call that was killed here has left.
        for left in (new, _beside(new, "-journal"), _beside(new, "-wal"), _beside(new, "-shm")):
            left.unlink(missing_ok=True)
        try:
            with closing(_connect(new, "mode=rwc")) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
                with transaction(connection):
                    for table in TABLES:
                        connection.execute(table)
                    fill(connection)
            os.replace(new, os.path.realpath(path))
        except BaseException:
            new.unlink(missing_ok=True)
            raise


@contextmanager
def _exclusive_lock(path: Path) -> Iterator[None]:
    """The right to write, or a refusal: an exclusive lock on an empty database beside the store, released when the process ends."""
    beside = _beside(path, "-lock")
    while True:
        with sqlite_errors(path, "written"):
            if beside.exists():
                check_regular(beside)
            # `is_being_written` holds the lock for a moment; a writer holds it for as long as it writes.
            lock = sqlite3.connect(beside, isolation_level=None, timeout=1.0)
        with closing(lock):
            try:
                file_number = beside.stat().st_ino
                lock.execute("PRAGMA journal_mode = OFF")
                lock.execute("BEGIN EXCLUSIVE")
                # The last owner may have removed the file just before: then this is a lock on nothing.
                if beside.stat().st_ino != file_number:
                    continue
            except FileNotFoundError:
                continue
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    raise StoreError(
                        f"{path} is being written by another sweep; wait for it, or use another file."
                    ) from error
                raise StoreError(f"{path} cannot be written: {error}.") from error
            except sqlite3.DatabaseError as error:
                raise StoreError(
                    f"{beside} should be the lock of this store, and is another file ({error}); it was left as it is. Remove it."
                ) from error
            try:
                yield
            finally:
                beside.unlink(missing_ok=True)
            return


def is_being_written(path: Path) -> bool:
    """Whether some process holds the right to write."""
    beside = _beside(path, "-lock")
    if not beside.is_file():
        return False
    try:
        with closing(
            sqlite3.connect(f"file:{quote(os.fspath(beside.absolute()))}?mode=ro", uri=True, timeout=0.0)
        ) as lock:
            lock.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        return "locked" in str(error)
    return False

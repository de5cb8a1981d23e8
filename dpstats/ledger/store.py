"""Open a ledger's file: connections, transactions and the reasons of their errors."""

import json
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from dpstats.errors import ArgumentError, LedgerError
from dpstats.ledger.tables import APPLICATION, SCHEMA, TRIGGERS, UPGRADES, VERSION

# File systems of other machines, whose locks SQLite cannot rely on.
_REMOTE = {
    "9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "gfs2", "lustre",
    "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
}  # fmt: skip
# What texts that are no longer as they were written raise when they are read.
DAMAGED = (UnicodeDecodeError, ZeroDivisionError, json.JSONDecodeError)
_OTHER_CONTENT = ("SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_NOTADB")  # no such table, and the like
WAIT = 30.0  # seconds for another process to finish its transaction
_REASONS = {
    "SQLITE_BUSY": f"another process has been using it for {WAIT:g} seconds; try again",
    "SQLITE_CANTOPEN": "there is no such file, or it may not be opened",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk is full or broken",
    "SQLITE_NOTADB": "it is not a ledger; make one with dpstats.Ledger.create",
    "SQLITE_CORRUPT": "its content is damaged; restore it from a backup",
    "SQLITE_READONLY": "it may not be written to; ask for write access to it and to its folder",
}


class Store:
    """Access one ledger's file, with a connection for each thread of each process.

    Every transaction reaches the disk before it returns (WAL with synchronous=FULL), or leaves
    the file as it was. SQLite writes it to a log first; what spends is moved to the file itself
    at once, so that who removes the log undoes no spending. A connection is never used after a
    fork.
    """

    def __init__(self, path: Path):
        self.path = path
        self._file = path.absolute()  # the process may change its folder
        self._local = threading.local()
        self._mark: tuple | None = None
        refuse_remote(path)
        with self.reading() as connection:
            version = self._check(connection)
        if version < VERSION:
            self._upgrade()

    def _check(self, connection: sqlite3.Connection) -> int:
        """Return the format of the file, or raise LedgerError where this version reads none."""
        ((application,),) = connection.execute("PRAGMA application_id")
        ((version,),) = connection.execute("PRAGMA user_version")
        if application != APPLICATION:
            raise LedgerError(f"{self.path}: {_REASONS['SQLITE_NOTADB']}")
        if version > VERSION:
            raise LedgerError(
                f"{self.path} was written by a later version of dpstats (format {version}, this "
                f"one reads up to {VERSION}); update dpstats"
            )
        return version

    def _upgrade(self) -> None:
        """Bring a file of an earlier format up to this one, unless another process just did."""
        with self.writing() as connection:
            for version in range(self._check(connection), VERSION):
                for statement in UPGRADES[version]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")

    def _connection(self) -> sqlite3.Connection:
        """Return the connection of this thread; a forked process opens its own.

        A connection writes to the file that it opened, whatever has become of its name, so what
        is spent there would be missing where others look.
        """
        if getattr(self._local, "process", None) != os.getpid():
            refuse_without_log(self._file)
            self._local.number = _file_number(self._file)
            self._local.connection = connect(self._file)
            self._local.process = os.getpid()
        elif self._local.number != _file_number(self._file):
            raise LedgerError(
                f"{self.path} was moved, removed or replaced while this process used it; open the "
                "ledger anew"
            )
        return self._local.connection

    def _begin(self, connection: sqlite3.Connection, begin: str) -> None:
        """Begin a transaction, or raise LedgerError where the file lost what this process saw."""
        try:
            connection.execute("PRAGMA shrink_memory")  # pages that SQLite keeps hide the file
            connection.execute(begin)
            kept = self._mark is None or _holds(connection, *self._mark)
        except sqlite3.DatabaseError as error:
            if self._mark is None or not error.sqlite_errorname.startswith(_OTHER_CONTENT):
                raise
            kept = False
        if not kept:
            raise LedgerError(
                f"{self.path} was overwritten while this process used it, and entries that were in "
                "it are gone: end all processes that use it, put the right file in its place and "
                "run `dpstats ledger verify`"
            )

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that sees the file as of one moment."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self, settled: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a transaction that no other one overlaps; on any error it is rolled back.

        Where it is to be ``settled`` it is moved out of the log, which takes milliseconds.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection
        if settled:
            with suppress(sqlite3.Error):  # what is in the log is safe, and moved by the next one
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._connection()
            try:
                self._begin(connection, begin)
                yield connection
                mark = _mark(connection)
                commit(connection)
                self._mark = mark
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.rollback()
                raise
        except (sqlite3.Error, *DAMAGED) as error:
            raise LedgerError(f"{self.path}: {_reason(error)}") from None


# What damage left of a hash or a count is compared as it is, for verify() to find.
_ENTRY = "SELECT id, CAST(hash AS BLOB) FROM audit "
_CALLS = "SELECT CAST(calls AS INTEGER) FROM totals WHERE scope = ''"


def _mark(connection: sqlite3.Connection) -> tuple:
    """Return the number and hash of the last audit entry, and how many calls were charged."""
    return (
        connection.execute(f"{_ENTRY} ORDER BY id DESC LIMIT 1").fetchone(),
        connection.execute(_CALLS).fetchone(),
    )


def _holds(connection: sqlite3.Connection, entry: tuple | None, calls: tuple | None) -> bool:
    """Tell whether a mark is of this file: nothing in a ledger is ever taken back."""
    if entry and connection.execute(f"{_ENTRY} WHERE id = ?", entry[:1]).fetchone() != entry:
        return False
    return calls is None or calls <= (connection.execute(_CALLS).fetchone() or (-1,))


def commit(connection: sqlite3.Connection) -> None:
    """Make a transaction durable."""
    connection.execute("COMMIT")


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, which must exist."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None,
                                 check_same_thread=False)  # fmt: skip
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def create(path: Path, fill) -> None:
    """Make a new file whole or not at all; ``fill(connection)`` writes its first rows."""
    if os.path.exists(path):
        raise ArgumentError(f"{path} exists; a ledger is never overwritten, so name another file")
    if not path.parent.is_dir():
        raise ArgumentError(f"there is no folder {path.parent} for the ledger {path.name}")
    refuse_remote(path.parent)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".ledger") as folder:
            made = Path(folder, path.name)
            _write(made, fill)
            os.link(made, path)  # fails where another process was faster
            _sync(path.parent)
    except FileExistsError:
        raise ArgumentError(f"{path} exists; a ledger is never overwritten") from None
    except OSError as error:
        raise LedgerError(f"cannot write {path}: {error.strerror}") from None


def _write(path: Path, fill) -> None:
    path.touch()
    try:
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(SCHEMA + TRIGGERS)
            connection.execute("BEGIN IMMEDIATE")
            fill(connection)
            commit(connection)
    except sqlite3.Error as error:
        raise LedgerError(f"cannot write {path.name}: {_reason(error)}") from None


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(error: Exception) -> str:
    """Say in words what went wrong; SQLite's extended codes begin with the plain ones."""
    if isinstance(error, DAMAGED):
        return _REASONS["SQLITE_CORRUPT"]
    name = getattr(error, "sqlite_errorname", None) or ""
    for start, reason in _REASONS.items():
        if name.startswith(start):
            return reason
    return f"SQLite stopped with {error}"


def beside(path: Path) -> tuple[Path, Path]:
    """Return the log and its index, which SQLite keeps beside a ledger that is in use.

    >>> [file.name for file in beside(Path("people.ledger"))]
    ['people.ledger-wal', 'people.ledger-shm']
    """
    return path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")


def refuse_without_log(path: Path) -> None:
    """Raise LedgerError where somebody removed the log of a ledger that was in use.

    SQLite makes the log before the index beside it and removes it after, so that an index which
    stays the same file has a log at any moment between.
    """
    log, index = beside(path)
    number = _file_number(index)
    if number is not None and not log.exists() and _file_number(index) == number:
        raise LedgerError(
            f"{log.name} was removed from beside {index.name}, and with it perhaps the newest "
            f"entries: end all processes that use the ledger, put {log.name} back or restore a "
            f"backup, and only where there is none remove {index.name} and run `dpstats ledger "
            "verify --head`"
        )


def _file_number(path: Path) -> int | None:
    """Return the number that the disk has for a file, None where there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def refuse_remote(path: Path) -> None:
    """Raise LedgerError where Linux says that the path is on another machine's disk."""
    kind = _file_system(path)
    if kind in _REMOTE:
        raise LedgerError(
            f"{path} is on a network file system ({kind}), whose locks do not protect a ledger; "
            "keep it on a local disk of the machine that runs the calls"
        )


def _file_system(path: Path, mounts: str = "/proc/self/mounts") -> str | None:
    """Return the kind of file system that holds the path, None where it cannot be told."""
    try:
        lines = [line.split() for line in Path(mounts).read_text().splitlines()]
    except OSError:
        return None
    resolved = path.resolve()
    points = {line[1].replace("\\040", " "): line[2] for line in lines}
    under = [point for point in points if resolved.is_relative_to(point)]
    return points[max(under, key=len)] if under else None

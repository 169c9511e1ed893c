"""Past regressions in one SQLite file: one transaction a regression, safe with many writers.

regression   one row: id, suite, seed, times, totals, verdict, the source's revision, the design
job          one row a job: what it was and how it ended
bucket       one row a failure bucket
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sim.regress.buckets import Bucket
from sim.regress.progress import Group
from sim.regress.records import JobRecord, JobSpec

BUSY_SECONDS = 60.0
SCHEMA = """
CREATE TABLE IF NOT EXISTS regression (
  id TEXT PRIMARY KEY, suite TEXT NOT NULL, seed INTEGER NOT NULL, cluster TEXT NOT NULL,
  slots INTEGER NOT NULL, state TEXT NOT NULL, verdict TEXT NOT NULL, started REAL NOT NULL,
  seconds REAL NOT NULL, jobs INTEGER NOT NULL, passed INTEGER NOT NULL, failed INTEGER NOT NULL,
  programs INTEGER NOT NULL, cycles INTEGER NOT NULL, comparisons INTEGER NOT NULL,
  revision TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS job (
  regression TEXT NOT NULL REFERENCES regression(id) ON DELETE CASCADE, id TEXT NOT NULL,
  name TEXT NOT NULL, kind TEXT NOT NULL, simulator TEXT NOT NULL, seed INTEGER NOT NULL,
  lat INTEGER NOT NULL, depth INTEGER NOT NULL, window INTEGER, page INTEGER NOT NULL,
  status TEXT NOT NULL, seconds REAL NOT NULL, attempt INTEGER NOT NULL,
  programs INTEGER NOT NULL, cycles INTEGER NOT NULL, PRIMARY KEY (regression, id));
CREATE TABLE IF NOT EXISTS bucket (
  regression TEXT NOT NULL REFERENCES regression(id) ON DELETE CASCADE, kind TEXT NOT NULL,
  pattern TEXT NOT NULL, operation TEXT NOT NULL, count INTEGER NOT NULL, job TEXT NOT NULL,
  seed INTEGER NOT NULL, rerun TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS regression_started ON regression(started);
"""
# Files of earlier versions lack them.
LATER = ("design", "design_path", "design_revision", "design_dirty")
COLUMNS = (
    *("id", "suite", "seed", "cluster", "slots", "state", "verdict", "started", "seconds"),
    *("jobs", "passed", "failed", "programs", "cycles", "comparisons", "revision"),
)


class HistoryError(RuntimeError):
    """The file cannot be used; the message names it."""


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the history, made and brought to its schema when needed; closed at the end.

    Write-ahead logging lets readers go on during a write. It needs shared memory, which network
    file systems lack: SQLite then stays with its rollback journal, which is as safe, only slower.

    Raises:
        HistoryError: the file is corrupt, locked for too long, or on a full disk.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(
            sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        ) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            _retry(connection, "PRAGMA journal_mode = WAL")
            with transaction(connection):
                for statement in filter(str.strip, SCHEMA.split(";")):
                    connection.execute(statement)
                there = {row[1] for row in connection.execute("PRAGMA table_info(regression)")}
                for name in LATER:
                    if name not in there:
                        added = f"ADD COLUMN {name} TEXT NOT NULL DEFAULT ''"
                        connection.execute(f"ALTER TABLE regression {added}")
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise HistoryError(f"{path}: {error}; move it away to begin a new one") from error


def _retry(connection: sqlite3.Connection, statement: str) -> None:
    """Execute a statement that SQLite refuses at once, without its busy timeout, when locked."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Take the write lock first, so that a transaction never fails half-way for another one."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # A full disk has rolled back already.
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def record(
    path: Path,
    summary: Mapping[str, Any],
    jobs: Mapping[str, JobSpec],
    records: Iterable[JobRecord],
    buckets: Iterable[Bucket],
) -> None:
    """Write one regression; writing it again, after a resume, replaces it. Raises HistoryError."""
    run = summary["id"]
    job_rows = [
        (
            *(run, item.id, spec.name, spec.kind, spec.simulator, spec.seed, spec.lat),
            *(spec.depth, spec.window, spec.page, item.status.value, item.seconds, item.attempt),
            *(item.programs, item.cycles),
        )
        for item in records
        for spec in (jobs[item.id],)
    ]
    bucket_rows = [
        (run, item.kind, item.pattern, item.operation, item.count, item.job, item.seed, item.rerun)
        for item in buckets
    ]
    design = summary["design"]
    stamp = [design["hash"], design["path"], design["revision"], str(int(design["dirty"]))]
    with connect(path) as connection, transaction(connection):
        connection.execute("DELETE FROM regression WHERE id = ?", (run,))
        names = (*COLUMNS, *LATER)
        connection.execute(
            f"INSERT INTO regression ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            [*(summary[name] for name in COLUMNS), *stamp],
        )
        connection.executemany(f"INSERT INTO job VALUES ({', '.join('?' * 15)})", job_rows)
        connection.executemany(f"INSERT INTO bucket VALUES ({', '.join('?' * 8)})", bucket_rows)


def mean_seconds(path: Path, last: int = 5) -> dict[Group, float]:
    """Return the mean seconds of a job by group over the last regressions; {} without any.

    Raises:
        HistoryError: the file cannot be used.
    """
    if not path.exists():
        return {}
    query = """
        SELECT name, simulator, avg(seconds) FROM job WHERE regression IN
          (SELECT id FROM regression ORDER BY started DESC LIMIT ?)
        GROUP BY name, simulator"""
    with connect(path) as connection:
        rows = connection.execute(query, (last,)).fetchall()
    return {(name, simulator): float(mean) for name, simulator, mean in rows}

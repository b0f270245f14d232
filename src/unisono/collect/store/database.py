"""The connection to SQLite or PostgreSQL: how a transaction begins, what is retried, what a user is told.

SQLite runs in WAL mode with synchronous=FULL: what was acknowledged survives a killed process and a power cut.

One thread writes, and commits together what came in together: a commit waits for the disk, and a hundred raters who
send at once would wait a hundred times. Each job has a savepoint of its own, so a bad one takes no other down. A future
is resolved only after its commit: acknowledged means on disk.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from unisono.collect.store import tables
from unisono.errors import DataError

T = TypeVar("T")
# What PostgreSQL, or the lack of it, says while it starts.
_STARTING = ("starting up", "Connection refused", "No such file or directory", "not yet accepting")
# Servers that start together agree on who makes the tables.
_START_LOCK = 7_210_337


class NotSavedError(Exception):
    """Nothing of this was saved, and sending it again is right: disk full, database locked or away."""


class Database:
    """One database of one study."""

    def __init__(self, url: str, wait_seconds: float = 3.0, read_only: bool = False) -> None:
        self.url = _parsed(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = _sqlite(self.url, wait_seconds, read_only) if self.is_sqlite else _postgres(self.url)
        self._writing = self._engine.execution_options(writes=True)
        # SQLite reads from one moment anyhow; PostgreSQL has to be asked to.
        isolation = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._reading = self._engine.execution_options(**isolation)

    @classmethod
    def to_read(cls, url: str) -> Database:
        """A database to look at: nothing is written, and one that was never begun is simply empty."""
        found = cls(url, read_only=True)
        if found._is_begun():
            return found
        empty = cls("sqlite://")
        empty.create()
        return empty

    def create(self) -> None:
        """Makes the tables where they are missing; refuses those of another version."""
        self._keep_private()
        try:
            with self._writing.begin() as connection:
                lock_start(connection)
                tables.metadata.create_all(connection)
                found = _version(connection)
                if found is None:
                    connection.execute(insert(tables.setting).values(key="version", value=str(tables.VERSION)))
        except DBAPIError as error:
            raise self._unusable(error) from None
        self._refuse_other(found)

    def wait_until_up(self, patience: float, tell: Callable[[], None]) -> None:
        """Waits for a server that does not listen yet or is still starting; `tell` is called once if it has to."""
        end, told = time.monotonic() + patience, False
        while not self.is_sqlite:
            try:
                return self.read(lambda connection: None)
            except NotSavedError as error:
                if time.monotonic() > end or not any(word in str(error) for word in _STARTING):
                    return None  # what is wrong is said by whoever needs the database
            if not told:
                tell()
            told = True
            time.sleep(0.5)
        return None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes; NotSavedError when it cannot be committed."""
        with _translated(), self._writing.begin() as connection:
            yield connection

    def read(self, query: Callable[[Connection], T]) -> T:
        """The answer of `query`, all of it from one moment."""
        with _translated(), self._reading.begin() as connection:
            return query(connection)

    def close(self) -> None:
        """Gives all connections back."""
        self._engine.dispose()

    def _keep_private(self) -> None:
        """Ratings are for their owner's eyes; SQLite gives its other files the same rights."""
        if not self.is_sqlite or not self.url.database or self.url.database == ":memory:":
            return
        path = Path(self.url.database)
        with contextlib.suppress(OSError):
            path.touch(mode=0o600)
            path.chmod(0o600)

    def _is_begun(self) -> bool:
        if self.is_sqlite and not Path(self.url.database or "").is_file():
            return False
        try:
            found = self.read(lambda c: _version(c) if inspect(c).has_table("setting") else None)
        except (DBAPIError, NotSavedError) as error:
            raise self._unusable(error) from None
        self._refuse_other(found)
        return found is not None

    def _unusable(self, error: Exception) -> DataError:
        return DataError(f"{self.shown}: cannot be opened as a database: {_reason(error)}.")

    def _refuse_other(self, version: str | None) -> None:
        if version not in (None, str(tables.VERSION)):
            raise DataError(f"{self.shown}: written by another version of unisono ({version}). Use that version.")

    @property
    def address(self) -> str:
        """The address with the password, for another process of ours."""
        return self.url.render_as_string(hide_password=False)

    @property
    def shown(self) -> str:
        """The address without the password, for messages."""
        return self.url.render_as_string(hide_password=True)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (OperationalError, PoolTimeout) as error:
        raise NotSavedError(_reason(error)) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise NotSavedError(_reason(error)) from error
        raise


def lock_start(connection: Connection) -> None:
    """Lets one server at a time make database and study agree. SQLite's writers are alone already."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_START_LOCK})")


def _version(connection: Connection) -> str | None:
    return connection.scalar(select(tables.setting.c.value).where(tables.setting.c.key == "version"))


def _reason(error: Exception) -> str:
    lines = str(getattr(error, "orig", error)).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _parsed(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError:
        raise DataError(
            "--database is not a database address. Write postgresql://user:password@host/name or sqlite:///file."
        ) from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite":
        raise DataError(f"--database names '{url.get_backend_name()}'. Use postgresql:// or sqlite:///.")
    return url


def _postgres(url: URL) -> Engine:
    try:
        return create_engine(url, pool_pre_ping=True, pool_size=5, connect_args={"connect_timeout": 5})
    except ModuleNotFoundError:
        raise DataError("PostgreSQL needs one more package: pip install 'unisono[postgres]'.") from None


def _sqlite(url: URL, wait_seconds: float, read_only: bool) -> Engine:
    options: dict[str, Any] = {"timeout": wait_seconds, "check_same_thread": False}
    if read_only:
        url = url.set(database=f"file:{quote(url.database or '')}", query={"mode": "ro", "uri": "true"})
    engine = create_engine(url, connect_args=options)
    event.listen(engine, "connect", _begin_by_hand if read_only else _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_by_hand(connection: Any, _record: Any) -> None:
    # The driver's own guess at when a transaction begins would leave reads outside of it.
    connection.isolation_level = None


def _configure_sqlite(connection: Any, record: Any) -> None:
    _begin_by_hand(connection, record)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: upgrading a read lock later fails without waiting.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


class RefusedError(Exception):
    """The request contradicts what is stored; sending it again would not help."""


class _Job(NamedTuple):
    work: Callable[[Connection], Any]
    future: Future[Any]


class Writer:
    """The only writer of a process."""

    def __init__(self, database: Database, together: int = 100, waiting: int = 5000) -> None:
        self._database = database
        self._together = together
        self._jobs: queue.Queue[_Job | None] = queue.Queue(waiting)
        self._thread = threading.Thread(target=self._run, name="collect-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Connection], T]) -> Future[T]:
        """Runs `work` in a transaction; the future holds its answer once that is committed."""
        job = _Job(work, Future())
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            job.future.set_exception(NotSavedError("too many requests are waiting"))
        return job.future

    def close(self) -> None:
        """Commits what is waiting, then stops."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        going = True
        while going:
            batch, going = self._take()
            if batch:
                self._commit(batch)

    def _take(self) -> tuple[list[_Job], bool]:
        """Waits for one job, then takes all others that are already there."""
        jobs: list[_Job] = []
        found = self._jobs.get()
        while found is not None:
            jobs.append(found)
            if len(jobs) == self._together:
                return jobs, True
            try:
                found = self._jobs.get_nowait()
            except queue.Empty:
                return jobs, True
        return jobs, False

    def _commit(self, batch: list[_Job]) -> None:
        try:
            with self._database.write() as connection:
                outcomes: list[tuple[Any, Exception | None]] = [_one(connection, job.work) for job in batch]
        except Exception as error:
            # The thread must outlive whatever went wrong; every sender learns of it.
            outcomes = [(None, error)] * len(batch)
        for job, (value, trouble) in zip(batch, outcomes, strict=True):
            if trouble is None:
                job.future.set_result(value)
            else:
                job.future.set_exception(trouble)


def _one(connection: Connection, work: Callable[[Connection], Any]) -> tuple[Any, Exception | None]:
    """What the work answers, or what went wrong with it."""
    try:
        with connection.begin_nested():
            return work(connection), None
    except OperationalError:
        # Disk full or connection lost: the whole transaction is gone, not this savepoint alone.
        raise
    except Exception as error:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise
        return None, error

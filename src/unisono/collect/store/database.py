"""The connection to SQLite or PostgreSQL: how a transaction begins, what is retried, what a user is told.

SQLite runs in WAL mode with synchronous=FULL: what was acknowledged survives a killed process and a power cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, insert, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from unisono.collect.store import tables
from unisono.errors import DataError

T = TypeVar("T")


class NotSavedError(Exception):
    """Nothing of this was saved, and sending it again is right: disk full, database locked or away."""


class Database:
    """One database of one study."""

    def __init__(self, url: str, wait_seconds: float = 3.0) -> None:
        self.url = _parsed(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = _sqlite(self.url, wait_seconds) if self.is_sqlite else _postgres(self.url)
        self._writing = self._engine.execution_options(writes=True)
        # SQLite reads from one moment anyhow; PostgreSQL has to be asked to.
        isolation = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reading = self._engine.execution_options(**isolation)

    def create(self) -> None:
        """Makes the tables where they are missing; refuses those of another version."""
        try:
            with self._writing.begin() as connection:
                tables.metadata.create_all(connection)
                key = tables.setting.c.key
                found = connection.scalar(select(tables.setting.c.value).where(key == "version"))
                if found is None:
                    connection.execute(insert(tables.setting).values(key="version", value=str(tables.VERSION)))
        except DBAPIError as error:
            raise DataError(f"{self.shown}: cannot be opened as a database: {_reason(error)}.") from None
        if found not in (None, str(tables.VERSION)):
            raise DataError(f"{self.shown}: written by another version of unisono ({found}). Use that version.")

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


def _sqlite(url: URL, wait_seconds: float) -> Engine:
    engine = create_engine(url, connect_args={"timeout": wait_seconds, "check_same_thread": False})
    event.listen(engine, "connect", _configure_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own guess at when a transaction begins would leave reads outside of it.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its lock at once: upgrading a read lock later fails without waiting.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

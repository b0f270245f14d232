"""One thread writes, and commits together what came in together.

A commit waits for the disk; a hundred raters who send at once would wait a hundred times. Here the jobs that piled up
during one commit share the next. Each job has a savepoint of its own, so a bad one takes no other down. A future is
resolved only after its commit: acknowledged means on disk.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, OperationalError

from unisono.collect.store.database import Database, NotSavedError

T = TypeVar("T")


class RefusedError(Exception):
    """The request contradicts what is stored; sending it again would not help."""


class _Job(NamedTuple):
    work: Callable[[Connection], Any]
    future: Future[Any]


class _Outcome(NamedTuple):
    value: Any
    error: Exception | None


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
                outcomes = [_one(connection, job.work) for job in batch]
        except Exception as error:
            # The thread must outlive whatever went wrong; every sender learns of it.
            outcomes = [_Outcome(None, error)] * len(batch)
        for job, outcome in zip(batch, outcomes, strict=True):
            if outcome.error is None:
                job.future.set_result(outcome.value)
            else:
                job.future.set_exception(outcome.error)


def _one(connection: Connection, work: Callable[[Connection], Any]) -> _Outcome:
    try:
        with connection.begin_nested():
            return _Outcome(work(connection), None)
    except OperationalError:
        # Disk full or connection lost: the whole transaction is gone, not this savepoint alone.
        raise
    except Exception as error:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise
        return _Outcome(None, error)

"""Options that say who does the work, and ratings that lie in shards."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unisono.cli.options import TablePath
from unisono.errors import SettingsError
from unisono.words import ENGINE_WORDS

if TYPE_CHECKING:
    from unisono.engines.protocol import Executor


class Engine(NamedTuple):
    """Who does the work, and where a fit is kept meanwhile."""

    engine: str | None  # None: nobody said
    workers: int | None
    scheduler: str | None
    checkpoint: Path | None
    resume: bool

    @property
    def asked_for(self) -> bool:
        return any(value for value in self)

    @contextmanager
    def for_traces(self) -> Iterator[Executor | None]:
        """Who works on recordings; None where nobody was asked for."""
        from unisono.engines.choice import open_engine

        if not self.asked_for:
            yield None
            return
        if self.checkpoint is not None or self.resume:
            raise SettingsError("--checkpoint and --resume are for shards of items; fits of traces are short.")
        with open_engine(self.engine or "serial", self.workers, self.scheduler) as executor:
            yield executor


class RatingsPath(TablePath):
    """A table to read, `-`, or shards: their folder, or a pattern for Parquet files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = str(value)
        pattern = any(sign in text for sign in "*?[") and text.endswith(".parquet")
        if pattern or (Path(text) / "shards.json").is_file():
            return text
        if Path(text).is_dir():
            self.fail(f"'{text}' is a folder without shards.json; `unisono shard` makes shards of a table.", param, ctx)
        return super().convert(value, param, ctx)


ratings_or_shards_argument = click.argument("ratings", type=RatingsPath(), metavar="RATINGS")
_OPTIONS = [
    click.option(
        "--engine",
        type=click.Choice(ENGINE_WORDS),
        help="Who works on shards of items, or on recordings.  [default: serial]",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), metavar="N", help="Processes at work.  [default: one per core]"
    ),
    click.option("--scheduler", metavar="ADDRESS", help="An existing cluster of Dask or Ray; without, a local one."),
    click.option(
        "--checkpoint",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Keep a fit of shards here every few iterations.",
    ),
    click.option("--resume", is_flag=True, help="Continue the fit that the checkpoint holds."),
]


def engine_options(command: Any) -> Any:
    """The command with these options, which it gets as the argument `engine`."""
    return _with_options(command, "engine", Engine, _OPTIONS)


class Jobs(NamedTuple):
    """Who does tasks that are independent of each other, such as folds."""

    jobs: int | None
    engine: str | None
    scheduler: str | None

    @contextmanager
    def open(self) -> Iterator[int | Executor]:
        """So many processes, or an executor."""
        from unisono.engines.choice import open_engine

        if self.engine is None and self.scheduler is None:
            yield 1 if self.jobs is None else self.jobs
            return
        workers = None if self.jobs == -1 else self.jobs
        with open_engine(self.engine or "serial", workers, self.scheduler) as executor:
            yield executor


_JOBS = [
    click.option("--jobs", type=int, metavar="N", help="Processes at once; -1 for one per core.  [default: 1]"),
    click.option("--engine", type=click.Choice(ENGINE_WORDS), help="Who works on folds and models: see docs/scale.md."),
    click.option("--scheduler", metavar="ADDRESS", help="An existing cluster of Dask or Ray; without, a local one."),
]


def jobs_options(command: Any) -> Any:
    """The command with these options, which it gets as the argument `jobs`."""
    return _with_options(command, "jobs", Jobs, _JOBS)


def _with_options(command: Any, name: str, kind: Any, options: list[Any]) -> Any:
    @functools.wraps(command)
    def gathered(*arguments: Any, **given: Any) -> Any:
        return command(*arguments, **{name: kind(*(given.pop(field) for field in kind._fields))}, **given)

    decorated: Any = gathered
    for option in reversed(options):
        decorated = option(decorated)
    return decorated

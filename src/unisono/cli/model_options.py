"""Options about the model and its execution: engines and workers, kinds of annotators and covariates."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from unisono.cli import setting_table, table_options
from unisono.cli.option_groups import MODEL, NEW_FOLDER, WORK, by_name, option, with_options
from unisono.errors import SettingsError
from unisono.maths.structure_words import ENGINE_WORDS

if TYPE_CHECKING:
    from unisono.scale.executors import Executor


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
        from unisono.scale.executors import open_engine

        if not self.asked_for:
            yield None
            return
        if self.checkpoint is not None or self.resume:
            raise SettingsError("--checkpoint and --resume are for shards of items; fits of traces are short.")
        with open_engine(self.engine or "serial", self.workers, self.scheduler) as executor:
            yield executor


def _is_rated(path: Path) -> bool:
    """Whether ratings can be had from shards (their folder, or a pattern for Parquet files), or from a study."""
    pattern = path.suffix == ".parquet" and any(sign in str(path) for sign in "*?[")
    return pattern or (path / "shards.json").is_file() or table_options.is_rating_folder(path)


_LACKING = "shards.json, ratings.csv or study.toml; `unisono shard` makes shards of a table."
ratings_or_shards_argument = click.argument(
    "ratings", type=table_options.TablePath(_is_rated, _LACKING), metavar="RATINGS", required=False
)


def _as_one(name: str, kind: Any, *options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """These options as one argument of the command, with what a `takes` above it has for the same."""

    def decorate(decorated: Any) -> Any:
        @functools.wraps(decorated)
        def gathered(**given: Any) -> Any:
            return decorated(**{name: kind(*(given.pop(field, None) for field in kind._fields))}, **given)

        return with_options(gathered, options)

    return decorate


engine_options = _as_one(
    "engine",
    Engine,
    option(WORK, "--engine", "Who works on shards, or on recordings.  [default: serial]", click.Choice(ENGINE_WORDS)),
    option(WORK, "--workers N", "Processes.  [default: one per core]", setting_table.FROM_ONE),
    option(WORK, "--checkpoint DIR", "Keep a fit of shards here every few iterations.", NEW_FOLDER),
    option(WORK, "--resume", "Continue the fit that the checkpoint holds.", is_flag=True),
)


class Jobs(NamedTuple):
    """Who does tasks that are independent of each other, such as folds."""

    jobs: int | None
    engine: str | None
    scheduler: str | None

    @contextmanager
    def open(self) -> Iterator[int | Executor]:
        """So many processes, or an executor."""
        from unisono.scale.executors import open_engine

        if self.engine is None and self.scheduler is None:
            yield 1 if self.jobs is None else self.jobs
            return
        workers = None if self.jobs == -1 else self.jobs
        with open_engine(self.engine or "serial", workers, self.scheduler) as executor:
            yield executor


_ONE_PER_CORE = "Processes at once; -1 for one per core.  [default: 1]"
jobs_options = _as_one("jobs", Jobs, option(WORK, "--jobs N", _ONE_PER_CORE, int))


kind_option = option(
    MODEL,
    "--kind KIND=PATTERN,...",
    "Annotators by name: judge='gpt-*,llama*'; others are human.",
    name="kinds",
    each=by_name,
)
covariate_option = option(
    MODEL,
    "--covariate COLUMN,...",
    "Columns about single ratings (numbers, or few words): length, position, a batch.",
    name="covariates",
)

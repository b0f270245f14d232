"""Options of `unisono fuse` that say who does the work, and ratings that lie in shards."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import click

from unisono.cli.options import TablePath
from unisono.words import ENGINE_WORDS


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
        help="Who works on shards; a table is made into shards first.  [default: serial]",
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

    @functools.wraps(command)
    def gathered(*arguments: Any, **given: Any) -> Any:
        return command(*arguments, engine=Engine(*(given.pop(name) for name in Engine._fields)), **given)

    decorated: Any = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated

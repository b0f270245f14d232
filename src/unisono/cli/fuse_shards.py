"""`unisono fuse` for ratings that lie in shards, or that are made into shards for an engine."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unisono.cli.engine_options import Engine
from unisono.cli.progress import estimation_progress
from unisono.cli.talk import print_json, say, tell
from unisono.errors import EngineError, SettingsError
from unisono.io.shards import ShardFolder, is_sharded, open_shards

INTERRUPTED, LOST = 130, 5
OF_TABLES = ("item", "annotator", "dims", "scale")  # words about reading that hold for shards too


def in_shards(ratings: str, engine: Engine, reading: dict[str, Any]) -> bool:
    """Whether this fusion works on shards; traces are spread by recordings, without."""
    pattern = ratings.endswith(".parquet") and any(sign in ratings for sign in "*?[")
    if pattern or is_sharded(ratings):
        return True
    if not engine.asked_for:
        return False
    from unisono.io.sharding import has_time

    return not has_time(ratings, **reading)


def fuse_in_shards(
    ratings: str,
    engine: Engine,
    reading: dict[str, Any],
    settings: dict[str, Any],
    *,
    copies: Any,
    model: str,
    start: Path | None,
    refused: dict[str, Any],
    out: Path | None,
    report: bool,
    as_json: bool,
) -> int:
    """Fuses and writes; the exit code. `refused` are options that there are for tables in memory alone."""
    from unisono.engines.choice import open_engine
    from unisono.sharded.fusion import fuse_shards

    _refuse(refused | {name: value for name, value in reading.items() if name not in OF_TABLES})
    if out is None:
        raise SettingsError("A fusion of shards is written to a folder: give --out DIR.")
    if engine.resume and engine.checkpoint is None:
        raise SettingsError("--resume needs --checkpoint DIR, where the fit was kept.")
    table = not is_sharded(ratings)
    try:
        with (
            _shards(ratings, reading) as folder,
            open_engine(engine.engine or "serial", engine.workers, engine.scheduler) as executor,
        ):
            with estimation_progress("Estimating") as watching:
                result = fuse_shards(
                    folder,
                    executor,
                    model=model,
                    scale=reading["scale"],
                    copies=copies,
                    start=start,
                    checkpoint=engine.checkpoint,
                    resume=engine.resume,
                    on_step=watching,
                    on_phase=watching.say,
                    **settings,
                )
            with estimation_progress("Writing") as watching:
                command = shlex.join(["unisono", *sys.argv[1:]])  # as it would be typed again
                result.save(out, report=report, as_csv=table, command=command, on_phase=watching.say)
            if as_json:
                print_json(result.summary_data | {"out": str(out)})
            else:
                tell(result.summary())
                written = ["truth.csv" if table else "truth/", *(f"{name}.csv" for name in result.tables())]
                more = [name for name in ("summary.json", "fit/", "report.html") if (out / name).exists()]
                tell(f"\nWritten to {out}: {', '.join([*written, *more])}")
            return 0 if result.fuser.trace_.converged else 4
    except KeyboardInterrupt:
        if engine.checkpoint is None:
            raise
        say(f"Interrupted. {_kept(engine)}")
        return INTERRUPTED
    except EngineError as error:
        say(f"Error: {error} {_kept(engine)}".rstrip())
        return LOST


def _kept(engine: Engine) -> str:
    from unisono.sharded.checkpoint import FILE

    if engine.checkpoint is None or not (engine.checkpoint / FILE).is_file():
        return ""
    return f"The fit so far is kept in {engine.checkpoint}: run the same again with --resume."


def _refuse(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if value is not None and value is not False:
            option = {"dims": "dim", "kinds": "kind"}.get(name, name).replace("_", "-")
            raise SettingsError(
                f"--{option} is for tables in memory, not for shards: fuse a table that fits, without --engine, "
                f"or leave --{option} away. See docs/scale.md."
            )


@contextmanager
def _shards(ratings: str, reading: dict[str, Any]) -> Iterator[ShardFolder]:
    """The shards that are there, or shards of the table, for as long as they are needed."""
    columns = {name: reading[name] for name in ("item", "annotator", "dims")}
    if is_sharded(ratings):
        _refuse(columns)
        yield open_shards(ratings)
        return
    from unisono.io.sharding import write_shards

    with tempfile.TemporaryDirectory(prefix="unisono-shards-") as scratch:
        with estimation_progress("Reading") as watching:
            watching.say("making shards")
            folder = write_shards(ratings, Path(scratch) / "shards", **columns)
        yield folder

"""`unisono shard`, and `unisono fuse` for ratings in shards: tables larger than memory, or spread over workers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli import model_options, setting_table, table_options, terminal
from unisono.cli.option_groups import RESULT, TABLE, WORK, command, option
from unisono.errors import EngineError, SettingsError

if TYPE_CHECKING:
    from unisono.scale.shard_folder import ShardFolder

OF_CELLS = ("labels", "missing")  # what cells mean


@command("shard")
@click.argument("table", metavar="TABLE")
@option(RESULT, "-o, --out DIR", "Folder to make.", click.Path(path_type=Path), required=True)
@option(TABLE, "--item COLUMN", "Column that names the item.")
@option(TABLE, "--annotator COLUMN", "Column that names the annotator.")
@table_options.dim_option
@option(WORK, "--rows N", "Judgements in a shard, about.", setting_table.FROM_ONE, default=1_000_000)
@click.option("--labels", type=setting_table.LABELS, hidden=True)
@click.option("--missing", hidden=True)
@table_options.json_option
def shard_command(table: str, out: Path, rows: int, as_json: bool, **columns: Any) -> None:
    """Make shards of TABLE, which may be larger than memory: Parquet files sorted by item, annotators as numbers.

    TABLE has one row per judgement: delimited text, a Parquet file, or a pattern for several ('ratings/*.parquet').
    What cells mean is said as to `fuse`: --missing, --labels.
    Work on shards with `unisono fuse DIR --out RESULT`; see docs/scale.md.
    """
    from unisono.scale.shard_writer import write_shards

    with terminal.estimation_progress("Making shards") as watching:
        watching.say("reading")
        found = write_shards(table, out, rows=rows, **columns)
    counts = {
        "out": str(out),
        "shards": len(found.files),
        "judgements": sum(found.judgements),
        "items": sum(found.items),
        "annotators": len(found.annotators),
        "dimensions": list(found.dimensions),
    }
    if as_json:
        terminal.print_json(counts)
        return
    names = ", ".join(found.dimensions)
    terminal.tell(
        f"{counts['judgements']:,} judgements of {counts['items']:,} items by {counts['annotators']:,} annotators "
        f"({names}) in {counts['shards']} shards: {out}"
    )


INTERRUPTED, LOST = 130, 5
# What there is for tables in memory alone.
IN_MEMORY = (
    *("kinds", "humans", "covariates", "categories", "window", "lag", "features_drive", "width", "restarts", "jobs"),
    *("shared", "reference_kind"),
)
OF_TABLES = ("item", "annotator", "dims", "scale", *OF_CELLS)  # words about reading that hold for shards too


def in_shards(ratings: str, engine: model_options.Engine, reading: dict[str, Any]) -> bool:
    """Whether this fusion works on shards; traces are spread by recordings, without."""
    from unisono.scale.shard_folder import is_sharded

    pattern = ratings.endswith(".parquet") and any(sign in ratings for sign in "*?[")
    if pattern or is_sharded(ratings):
        return True
    if not engine.asked_for:
        return False
    from unisono.scale.shard_writer import has_time

    return not has_time(ratings, **reading)


def fuse_in_shards(
    ratings: str,
    engine: model_options.Engine,
    reading: dict[str, Any],
    asked: dict[str, Any],
    *,
    model: str,
    out: Path | None,
    report: bool,
    as_json: bool,
) -> int:
    """Fuses and writes; the exit code."""
    from unisono.scale.executors import open_engine
    from unisono.scale.shard_folder import is_sharded
    from unisono.scale.sharded_fusion import fuse_shards

    settings = {name: value for name, value in asked.items() if name not in (*IN_MEMORY, "seed", "category_model")}
    _refuse({name: asked.get(name) for name in IN_MEMORY})
    _refuse({name: value for name, value in reading.items() if name not in OF_TABLES})
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
            with terminal.estimation_progress("Estimating") as watching:
                result = fuse_shards(
                    folder,
                    executor,
                    model=model,
                    scale=reading.get("scale"),
                    missing=None if table else reading.get("missing"),
                    checkpoint=engine.checkpoint,
                    resume=engine.resume,
                    on_step=watching,
                    on_phase=watching.say,
                    **settings,
                )
            with terminal.estimation_progress("Writing") as watching:
                result.save(out, report=report, as_csv=table, command=terminal.typed_command(), on_phase=watching.say)
            if as_json:
                terminal.print_json(result.summary_data | {"out": str(out)})
            else:
                terminal.tell(result.summary())
                written = ["truth.csv" if table else "truth/", *(f"{name}.csv" for name in result.tables())]
                more = [name for name in ("summary.json", "fit/", "report.html") if (out / name).exists()]
                terminal.tell(f"\nWritten to {out}: {', '.join([*written, *more])}")
            return 0 if result.fuser.trace_.converged else 4
    except KeyboardInterrupt:
        if engine.checkpoint is None:
            raise
        terminal.say(f"Interrupted. {_kept(engine)}")
        return INTERRUPTED
    except EngineError as error:
        terminal.say(f"Error: {error} {_kept(engine)}".rstrip())
        return LOST


def _kept(engine: model_options.Engine) -> str:
    from unisono.scale.shard_em import FILE

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
    columns: dict[str, Any] = {name: reading.get(name) for name in ("item", "annotator", "dims", "labels")}
    from unisono.scale.shard_folder import is_sharded, open_shards

    if is_sharded(ratings):
        _refuse(columns)
        yield open_shards(ratings)
        return
    from unisono.scale.shard_writer import write_shards

    with tempfile.TemporaryDirectory(prefix="unisono-shards-") as scratch:
        with terminal.estimation_progress("Reading") as watching:
            watching.say("making shards")
            folder = write_shards(ratings, Path(scratch) / "shards", **columns, missing=reading.get("missing"))
        yield folder

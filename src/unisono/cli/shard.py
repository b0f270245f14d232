"""`unisono shard`: a table of any size as a folder of shards that `unisono fuse` works on part by part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unisono.cli.options import json_option
from unisono.cli.progress import estimation_progress
from unisono.cli.talk import print_json, tell


def _columns(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str] | None:
    pairs = [
        (name.strip(), column.strip() or name.strip()) for name, _, column in (one.partition("=") for one in given)
    ]
    return dict(pairs) or None


@click.command("shard")
@click.argument("table", metavar="TABLE")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to make.")
@click.option("--item", metavar="COLUMN", help="Column that names the item.")
@click.option("--annotator", metavar="COLUMN", help="Column that names the annotator.")
@click.option(
    "--dim", "dims", multiple=True, callback=_columns, metavar="NAME[=COLUMN]",
    help="Dimension to use, and its column if that is called differently. Repeatable.",
)  # fmt: skip
@click.option(
    "--rows", type=click.IntRange(min=1), default=1_000_000, show_default=True, metavar="N",
    help="Judgements in a shard, about.",
)  # fmt: skip
@json_option
def command(table: str, out: Path, rows: int, as_json: bool, **columns: Any) -> None:
    """Make shards of TABLE, which may be larger than memory: Parquet files sorted by item, annotators as numbers.

    TABLE has one row per judgement: delimited text, a Parquet file, or a pattern for several ('ratings/*.parquet').
    Work on shards with `unisono fuse DIR --out RESULT`; see docs/scale.md.
    """
    from unisono.io.sharding import write_shards

    with estimation_progress("Making shards") as watching:
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
        print_json(counts)
        return
    names = ", ".join(found.dimensions)
    tell(
        f"{counts['judgements']:,} judgements of {counts['items']:,} items by {counts['annotators']:,} annotators "
        f"({names}) in {counts['shards']} shards: {out}"
    )

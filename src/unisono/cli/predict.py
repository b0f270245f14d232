"""`unisono predict`: the truth of items that nobody has rated, from a saved fit and their features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unisono.cli.options import TablePath, item_options, table_argument
from unisono.cli.talk import say
from unisono.data.introduction import counted


@click.command("predict")
@click.argument("fit", type=click.Path(exists=True, file_okay=False, path_type=Path))
@table_argument("features")
@item_options
@click.option("--ratings", type=TablePath(), metavar="FILE", help="Ratings of these items by annotators of the fit.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="CSV file to write.")
def command(fit: Path, features: str, reading: dict[str, Any], ratings: str | None, out: Path | None) -> None:
    """Predict the truth of new items (or recordings) from their FEATURES with the model saved in FIT.

    FIT is the folder that `unisono fuse --out` wrote, or the fit/ in it. With --ratings, ratings of the new items by
    annotators already known are used as well. The table has the columns of truth.csv.
    """
    from unisono.api import load, on_clock
    from unisono.io.atomic import atomic_path
    from unisono.io.tables import read_item_table, read_ratings
    from unisono.io.writing import csv_text

    fuser = load(fit)
    reading["rate"] = reading["rate"] or getattr(fuser, "rate_", None)  # traces keep the clock of the fit
    table = read_item_table(features, **reading, complete=True)
    if ratings is None:
        fused = fuser.predict(table)
    else:
        rated = read_ratings(ratings, **reading)
        fused = fuser.fuse(rated, on_clock(table, rated, complete=True))
    text = csv_text(fused.rounded_columns())
    if out is None:
        click.echo(text, nl=False)
        return
    with atomic_path(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    say(f"Predicted {counted(len(fused.items), 'item')}; written to {out}.")

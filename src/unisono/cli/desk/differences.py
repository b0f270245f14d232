"""What another choice changes: two results of one table beside each other, by dimension and by item."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from unisono.errors import DataError

MOVED = 5  # items that are named


def difference(before: Path, after: Path) -> dict[str, Any]:
    """By dimension: correlation of the estimates, how far they moved, and the items that moved most."""
    if not all((folder / "truth.csv").is_file() for folder in (before, after)):
        raise DataError("One of these has no truth to compare.")
    first, second = (pl.read_csv(folder / "truth.csv", infer_schema_length=None) for folder in (before, after))
    keys = [name for name in ("recording", "time", "item") if name in first.columns and name in second.columns]
    first, second = (one.with_columns(pl.col(key).cast(pl.String) for key in keys) for one in (first, second))
    names = [name for name in first.columns if f"{name}_sd" in first.columns and f"{name}_sd" in second.columns]
    both = first.join(second, on=keys, how="inner", suffix=" after")
    if not names or not len(both):
        raise DataError("These results have no estimates in common.")
    reliability = _reliability(before), _reliability(after)
    return {
        "items": len(both),
        "dimensions": [_moved(both, keys, name, *reliability) for name in names],
    }


def _moved(
    both: pl.DataFrame, keys: Sequence[str], name: str, before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    now = pl.col(f"{name} after")
    moved = both.with_columns((now - pl.col(name)).alias("moved")).filter(pl.col("moved").is_finite())
    figures = moved.select(
        pl.corr(name, f"{name} after").alias("correlation"),
        pl.col("moved").abs().mean().alias("mean"),
        pl.col("moved").abs().max().alias("most"),
        (now.is_between(pl.col(f"{name}_low"), pl.col(f"{name}_high"))).mean().alias("inside"),
    ).row(0, named=True)
    far = moved.sort(pl.col("moved").abs(), descending=True).head(MOVED)
    rows = [{"item": ", ".join(row[key] for key in keys), "moved": row["moved"]} for row in far.to_dicts()]
    return {"name": name, "before": before.get(name), "after": after.get(name), "items": rows} | figures


def _reliability(folder: Path) -> dict[str, Any]:
    """The agreement of annotators with the truth fused from the others, by dimension."""
    found = json.loads((folder / "summary.json").read_text(encoding="utf-8")).get("agreement")
    return found if isinstance(found, dict) else {}

"""Truth of items for tools that hold records: Label Studio, Inspect AI, crowd-kit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from unisono.errors import DataError
from unisono.io.exporting.truth import NAME, Truth

_EPOCH = re.compile(r"(.+)/epoch (\d+)")


def write_label_studio(truth: Truth, path: Path, options: dict[str, Any]) -> None:
    """Tasks with predictions: a number (or stars) per dimension, whose control has the dimension's name."""
    truth.need_items()
    form, to_name = options.get("form") or "number", options.get("to_name") or "item"
    tasks = []
    for _, item, rows in truth.parts():
        results = [
            {
                "from_name": name,
                "to_name": to_name,
                "type": form,
                "value": {form: round(mean) if form == "rating" else mean},
                "meta": {"sd": sd, "low": low, "high": high},
            }
            for name, mean, sd, low, high in _numbers(truth, rows.start)
        ]
        data: dict[str, Any] = {"item": item}
        tasks.append({"data": data, "predictions": [{"model_version": NAME, "result": results}]})
    path.write_text(json.dumps(tasks, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_inspect(truth: Truth, path: Path, options: dict[str, Any]) -> None:
    """Lines for `precomputed_scores`: the value of a sample, by dimension if there are several."""
    truth.need_items()
    lines = []
    for _, item, rows in truth.parts():
        found = _EPOCH.fullmatch(item)
        entry: dict[str, Any] = {"id": found[1] if found else item}
        if found:
            entry["epoch"] = int(found[2])
        numbers = list(_numbers(truth, rows.start))
        values = {name: mean for name, mean, *_ in numbers}
        entry["value"] = values if len(values) > 1 else numbers[0][1]
        entry["metadata"] = {name: {"sd": sd, "low": low, "high": high} for name, _, sd, low, high in numbers}
        lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def write_crowd_kit(truth: Truth, path: Path, options: dict[str, Any]) -> None:
    """The table task, label that crowd-kit's metrics take; of one dimension."""
    truth.need_items()
    if len(truth.dimensions) > 1:
        known = ", ".join(truth.dimensions)
        raise DataError(f"{truth.source}: crowd-kit knows one label per task. Choose one of {known} with --dim.")
    pl.DataFrame({"task": truth.items, "label": truth.mean[:, 0]}).write_csv(path)


class Number(NamedTuple):
    """What is known of one dimension of an item."""

    name: str
    mean: float
    sd: float
    low: float
    high: float


def _numbers(truth: Truth, row: int) -> list[Number]:
    columns = (truth.mean[row], truth.sd[row], truth.low[row], truth.high[row])
    return [Number(name, *cells) for name, *cells in zip(truth.dimensions, *(c.tolist() for c in columns), strict=True)]

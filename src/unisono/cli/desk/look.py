"""The first rows of a table and how they were understood: which column is what, where scales end, what was noted.

A table that is refused is shown as well, with the message and the ways out of it, so that roles can be chosen by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unisono.cli.desk.choices import reading_of, ways_out
from unisono.errors import DataError, LeftOutWarning, SettingsError, in_shell, taken
from unisono.fusers.model_registry import KIND_MODELS, MODELS, SERIES_MODELS
from unisono.tables import categories, item_table
from unisono.tables.ratings import Ratings
from unisono.tables.reading import categories_reader, comparisons_reader, raw_table
from unisono.tables.reading.column_roles import KIND, plain_name
from unisono.tables.reading.open_table import open_table

ROWS = 8
NAMED = 500  # annotators who are named on the page


def look_at(path: str, choices: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of a table, refused or not."""
    seen: dict[str, Any] = {"name": Path(path).name, "columns": [], "rows": []}
    try:
        table = open_table(path, choices.get("sheet"))
        seen |= _first_rows(table)
        with taken(Warning) as told:
            if choices.get("comparisons"):
                seen |= _of_comparisons(path, seen["columns"])
            else:
                seen |= _of_answers(table, choices)
        notes = " ".join(seen.get("notes", ()))
        # What was left out is said at its column.
        told = [one for one in told if one[1] is not LeftOutWarning]
        seen["warnings"] = [text for text, _ in told if text.partition(": ")[2] != notes]
    except (DataError, SettingsError) as error:
        seen["refused"] = refusal(in_shell(error))
        if seen["columns"] and not choices.get("comparisons") and _may_be_pairs(path):
            seen["refused"]["ways"].insert(0, ways_out("--comparisons FILE")[0]._asdict())
    return seen


def _may_be_pairs(path: str) -> bool:
    """Whether what are no ratings can be read as comparisons, by columns of their names."""
    try:
        with taken(Warning):
            return bool(comparisons_reader.read_comparisons(path).layout)
    except DataError:
        return False


def refusal(message: str) -> dict[str, Any]:
    """A message with its ways out."""
    return {"message": message, "ways": [way._asdict() for way in ways_out(message)]}


def _first_rows(table: raw_table.Table) -> dict[str, Any]:
    cells = [raw_table.as_text(column) for column in table.head.frame.head(ROWS).get_columns()]
    rows = [["" if cell is None else cell[:80] for cell in row] for row in zip(*cells, strict=True)]
    return {"columns": [{"name": name, "role": "", "why": ""} for name in table.columns], "rows": rows}


def _of_comparisons(path: str, columns: list[dict[str, Any]]) -> dict[str, Any]:
    found = comparisons_reader.read_comparisons(path)
    return {
        "holds": "comparisons", "items": len(found.items), "annotators": list(found.annotators[:NAMED]),
        "answers": found.n, "dimensions": [], "series": False,
        "notes": [f"Read as {found.layout}.", *found.notes], "columns": columns,
    }  # fmt: skip


def _of_answers(table: raw_table.Table, choices: Mapping[str, Any]) -> dict[str, Any]:
    found = categories_reader.read_answers(table, **reading_of(choices))
    known: Ratings | categories.Categories | None = found.ratings if found.ratings is not None else found.categories
    assert known is not None
    classes = () if found.categories is None else found.categories.dimensions
    words = {one.name: list(one.classes[:20]) for one in classes}
    readings = [one.reading for one in found if one is not None and one.reading is not None]
    notes = list(dict.fromkeys(note for reading in readings for note in reading.notes))
    of_words = found.categories.reading.dimensions if found.categories and found.categories.reading else {}
    kinds = None if found.ratings is None else found.ratings.kinds
    return {
        "holds": "ratings",
        "series": found.ratings is not None and found.ratings.is_series,
        "items": len(known.items),
        "annotators": list(known.annotators[:NAMED]),
        "kinds": {} if kinds is None else {kind: sum(one == kind for one in kinds) for kind in sorted(set(kinds))},
        "models": _models(found.ratings),
        "answers": sum(one.n for one in classes) if found.ratings is None else found.ratings.J,
        "dimensions": [] if found.ratings is None else _dimensions(found.ratings),
        "categories": [{"name": name, "classes": own} for name, own in words.items()],
        "notes": notes,
        "columns": _roles(table.columns, readings[0], of_words),
    }  # fmt: skip


def _models(ratings: Ratings | None) -> list[str]:
    """The models that there are for such ratings, beside the one that is recommended."""
    if ratings is None:
        return []
    each = (MODELS | SERIES_MODELS | KIND_MODELS).items()
    return [
        name for name, one in each if name != "auto" and (one.series if ratings.is_series else one.fuser) is not None
    ]


def _dimensions(ratings: Ratings) -> list[dict[str, Any]]:
    ends = ratings.scale.to_dict(ratings.dimensions)
    sources = {} if ratings.reading is None else ratings.reading.dimensions
    return [
        {
            "name": name,
            "column": sources.get(name, name),
            "least": float(np.nanmin(ratings.value[:, d])),
            "most": float(np.nanmax(ratings.value[:, d])),
            "scale": ratings.scale.words(d),
            "ends": ends[name],
            "given": ratings.scale.given[d],
        }
        for d, name in enumerate(ratings.dimensions)
    ]


def _roles(columns: Sequence[str], reading: item_table.Reading, words: Mapping[str, str]) -> list[dict[str, str]]:
    """What every column was taken for, and why where it is not used."""
    joined = {name: "annotator" for name in reading.annotator.split(",") if reading.annotator not in columns}
    roles = dict.fromkeys(reading.item_parts, "item") | joined
    roles |= {reading.item: "item", reading.annotator: "annotator"}
    roles |= {} if reading.time is None else {reading.time: "time"}
    roles |= dict.fromkeys(reading.dimensions.values(), "rating") | dict.fromkeys(words.values(), "category")
    why = {one.column: one.why for one in reading.left_out if one.column not in words.values()}
    spread = "annotators" if reading.annotator not in columns and not joined.keys() & set(columns) else ""
    spread = spread or ("items" if reading.item not in columns and not reading.item_parts else "")
    found = []
    for name in columns:
        role = "kind" if plain_name(name) == KIND and name not in roles else roles.get(name, "")
        if not role and name not in why and spread:
            role = spread
        found.append({"name": name, "role": role, "why": why.get(name, "")})
    return found

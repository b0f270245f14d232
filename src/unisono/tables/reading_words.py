"""How a table was read: roles of columns as plain values, and the lines that `check` and `fuse` print first."""

from __future__ import annotations

import shlex
from typing import Any

from unisono.tables.categories import Categories
from unisono.tables.item_table import Reading
from unisono.tables.ratings import Ratings

MOST_NAMED = 12  # dimensions, and columns left out, that are named


def reading_data(ratings: Ratings) -> dict[str, Any] | None:
    """The roles of the columns as plain values, for JSON; None where no table was read."""
    how = ratings.reading
    return None if how is None else _roles_and_scale(ratings.source, how, ratings.scale.to_dict(ratings.dimensions))


def category_reading_data(answers: Categories) -> dict[str, Any] | None:
    """The same of a table of categories alone, which have no scale."""
    return None if answers.reading is None else _roles_and_scale(answers.source, answers.reading, {})


def _roles_and_scale(source: str, how: Reading, scale: dict[str, Any]) -> dict[str, Any]:
    return {
        "source": source,
        **column_roles(how),
        "scale": scale,
        "numeric_left_out": [one.column for one in how.left_out if one.numeric],
    }


def column_roles(how: Reading) -> dict[str, Any]:
    """Which column became what, which were left out and why."""
    return {
        "item": how.item,
        "annotator": how.annotator,
        "time": how.time,
        "dimensions": dict(how.dimensions),
        "left_out": {one.column: one.why for one in how.left_out},
        "notes": list(how.notes),
    }


def reading_lines(data: dict[str, Any] | None) -> list[str]:
    """Which column is the item, the annotator, the time; the dimensions; what was left out and how to take it in."""
    if data is None:
        return []
    time = f", time '{data['time']}'" if data["time"] is not None else ""
    named = [
        f"'{name}'" if name == column else f"'{name}' (from '{column}')" for name, column in data["dimensions"].items()
    ]
    labels = f"item '{data['item']}', annotator '{data['annotator']}'{time}"
    lines = [f"Read {data['source']}: {labels}, dimension{'s' * (len(named) != 1)} {_some(named)}."]
    lines += _scale_lines(data["scale"])
    lines += [f"  {note}" for note in data["notes"]]
    aside = list(data["left_out"].items())
    lines += [f"  left out '{column}': {why}" for column, why in aside[:MOST_NAMED]]
    if len(aside) > MOST_NAMED:
        lines.append(f"  left out {len(aside) - MOST_NAMED} more")
    if data["numeric_left_out"]:
        example = " ".join(
            f"--dim {shlex.quote(name)}" for name in [*list(data["dimensions"])[:1], data["numeric_left_out"][0]]
        )
        lines.append(f"  To choose the columns yourself name all that count, for example {example}")
    return lines


def _scale_lines(scale: dict[str, Any]) -> list[str]:
    """One line per scale, with the dimensions on it where there are several."""
    by_words: dict[str, list[str]] = {}
    for name, own in scale.items():
        by_words.setdefault(own["words"], []).append(f"'{name}'")
    if len(by_words) == 1:
        return [f"  {words}" for words in by_words]
    return [f"  {words}: {_some(names)}" for words, names in by_words.items()]


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

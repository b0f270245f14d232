"""`unisono collect quality`: what the ratings of a running study are worth so far."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unisono.cli.talk import number, print_json, print_table, tell
from unisono.data.introduction import counted
from unisono.evaluate.quality import Quality, too_early

if TYPE_CHECKING:
    from unisono.collect.store.database import Database
    from unisono.collect.studies import StudyFolder

SHOWN = 10  # items of the truth, and raters to look at, on a screen
AGREEMENT = "In brackets: 95 % intervals. Needed: ratings per item for a correlation of {target:g} with the truth."

NO_NUMBERS = "The study asks for no numbers. `unisono fuse` fuses choices once they are exported."


def quality_of_study(study: StudyFolder, store: Database, target: float) -> Quality:
    """Exports the ratings into a folder that is thrown away, and looks at them. Excluded raters are left out."""
    from unisono.api.quality import quality
    from unisono.collect.export.write import export_tables

    series = study.study.mode == "trace"
    kind = "series" if series else "items"
    with tempfile.TemporaryDirectory(prefix="unisono-quality-") as place:
        export_tables(study, store, Path(place) / "export")
        path = Path(place) / "export" / "ratings.csv"
        item = "recording" if series else "item"
        rated, raters, rows = _counts(path, item)
        scale = {one.name: one.ends for one in study.study.dimensions if one.is_number}
        if raters < 2 or not scale:
            why = too_early(kind, raters, 0) if scale else NO_NUMBERS
            return Quality(kind, len(rated), raters, rows, why)
        columns = {"item": item, "annotator": "annotator", "dims": list(scale)}
        timed: dict[str, Any] = {"time": "time", "time_unit": "s", "rate": study.study.trace.rate} if series else {}
        unrated = len({one.name for one in study.catalogue.items} - rated)
        return quality(path, scale=scale, target=target, unrated=unrated, **columns, **timed)


def show_quality(found: Quality, as_json: bool) -> None:
    """Prints it for people, or for machines."""
    if as_json:
        print_json(found.to_dict())
        return
    what = "recording" if found.kind == "series" else "item"
    counts = [(found.judgements, "judgement"), (found.items, what), (found.raters, "rater")]
    tell(", ".join(counted(n, one) for n, one in counts))
    if found.too_early:
        tell(found.too_early)
        return
    rows = [
        [row["name"], _cell(row["alpha"]), _cell(row["icc_a1"]), _enough(row["enough"], found)]
        for row in found.dimensions
    ]
    print_table(["agreement", "alpha", "ICC(A,1)", "needed"], rows)
    tell(AGREEMENT.format(target=found.target))
    tell(still_needed(found.needed, what))
    _show_unusual(found)
    _show_truth(found, what)
    for alert in found.alerts:
        tell(f"{alert['severity']}: {alert['message']}")


def still_needed(needed: dict[str, Any], what: str) -> str:
    """How many ratings are missing, in words."""
    has = f"{needed['fewest']}" if needed["fewest"] == needed["most"] else f"{needed['fewest']} to {needed['most']}"
    if needed["per_item"] is None:
        return f"Every {what} has {has}; how many are enough in every dimension cannot be told yet."
    missing = f"{counted(needed['ratings'], 'rating')} still needed" if needed["ratings"] else "that is enough"
    return f"Every {what} has {has}, {needed['per_item']} are enough in every dimension: {missing}."


def _show_unusual(found: Quality) -> None:
    if not found.unusual:
        tell("No rater stands out.")
        return
    rows = [
        [row["annotator"], row["dimension"] or "all", row["words"], number(row["probability"])] for row in found.unusual
    ]
    print_table(["rater to look at", "dimension", "why", "probability"], rows[:SHOWN])
    if len(rows) > SHOWN:
        tell(f"The first {SHOWN} of {len(rows)}; --json has all.")


def _show_truth(found: Quality, what: str) -> None:
    if found.kind == "series":
        tell(f"The truth so far of {counted(len(found.truth), what)} is in --json.")
        return
    names = [row["name"] for row in found.dimensions]
    rows = [[row["item"], str(row["ratings"]), *map(_cell, row["values"])] for row in found.truth[:SHOWN]]
    print_table(["truth so far", "ratings", *names], rows)
    if len(found.truth) > SHOWN:
        tell(f"The first {SHOWN} of {counted(len(found.truth), what)}; in brackets: 90 % intervals. --json has all.")


def _cell(figure: list[float]) -> str:
    value, low, high = figure
    return f"{number(value, 2)} [{number(low, 2)}, {number(high, 2)}]"


def _enough(enough: int | None, found: Quality) -> str:
    tried = found.needed["tried"]
    return str(enough) if enough is not None else f"more than {tried}" if tried else "?"


def _counts(path: Path, item: str) -> tuple[set[str], int, int]:
    """Items and raters in the table, and how many judgements they are."""
    with path.open(encoding="utf-8", newline="") as stream:
        pairs = {(row[item], row["annotator"]) for row in csv.DictReader(stream)}
    return {one for one, _ in pairs}, len({rater for _, rater in pairs}), len(pairs)

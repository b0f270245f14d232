"""What `unisono collect status`, `check`, `quality` and `pay` print and write about a study."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.terminal import number, print_json, print_table, tell
from unisono.errors import DataError
from unisono.tables.labels import counted

if TYPE_CHECKING:
    from unisono.collect.export.pay import Rules
    from unisono.collect.store.database import Database
    from unisono.collect.studies import StudyFolder
    from unisono.evaluate.study_quality import Quality
    from unisono.fusers.compared_items import Pairwise

Chosen = list[dict[str, Any]] | None  # comparisons to be handed out next, where a study chooses


def write_pay(study: StudyFolder, store: Database, out: Path, rules: Rules, annotators: Path | None) -> None:
    """Writes the lists, and says how many are on each."""
    from unisono.collect.export.pay import verdicts, write_lists

    spammers = spammer_probabilities(annotators) if annotators else {}
    found = store.read(lambda connection: verdicts(connection, study, rules, spammers))
    for path in write_lists(found, study.study.raters.source, out):
        click.echo(path)
    look = sum(one.is_doubtful for one in found)
    bad = sum(bool(one.reason) for one in found) - look
    paid = sum(one.bonus > 0 for one in found)
    counts = f"{len(found) - bad - look} to approve, {bad} to reject, {look} to look at first, {paid} with a bonus"
    click.echo(f"{counts}. Nothing was sent.", err=True)


def spammer_probabilities(path: Path) -> dict[str, float]:
    """The column `spammer` of the annotators_overall.csv that `unisono fuse` writes."""
    from unisono.collect.studies.items import read_rows
    from unisono.tables.reading.open_table import open_table

    if path.is_file() and {"annotator", "dimension"} <= set(open_table(path).columns):
        raise DataError(
            f"{path} has one row per annotator and dimension. Give annotators_overall.csv, which `unisono fuse` writes "
            "beside it: it says of each annotator how likely they are a spammer."
        )
    found: dict[str, float] = {}
    for where, cells in read_rows(path, ("annotator", "spammer")):
        try:
            found[cells["annotator"]] = float(cells["spammer"] or 0)
        except ValueError:
            raise DataError(f"{where}: spammer is '{cells['spammer']}'. It is a probability from 0 to 1.") from None
    return found


def show(found: dict[str, Any]) -> None:
    """Prints the figures of `unisono.collect.export.raters`."""
    tell(f"{found['title']} ({found['phase']})")
    wanted = f" of {found['wanted']}" if found["wanted"] else ""
    ratings = "rating" if (found["wanted"] or found["ratings"]) == 1 else "ratings"
    each = f"{found['fewest']}" if found["fewest"] == found["most"] else f"{found['fewest']} to {found['most']}"
    tell(f"{found['ratings']}{wanted} {ratings}; {each} per item")
    tell(", ".join(f"{count} {state}" for state, count in found["raters"].items() if count) or "no raters yet")
    if found["people"]:
        names = ["rater", "state", "pages", "s per item", "reference error %", "checks failed", "to look at"]
        print_table(names, map(_person, found["people"]))
    if found["asks"]:
        tell(f"{counted(len(found['asks']), 'second session')} to decide about, on your page")


def show_estimate(found: dict[str, Any]) -> None:
    """Prints the figures of `unisono.collect.studies.duration`."""
    others = [f"{found[name]} {name}" for name in ("references", "practice") if found[name]]
    pairs = f"{counted(found['items'], 'pair')} of {counted(found['compared'], 'item')}"
    tell(", ".join([pairs if found["compared"] else counted(found["items"], "item"), *others]))
    if found["skipped"]:
        tell(f"no items: {', '.join(found['skipped'])}")
    if found["untranslated"]:
        tell(f"in English, unless lang.toml says them: {', '.join(found['untranslated'])}")
    for after in found["unreached"]:
        tell(f"warning: an attention check comes after {after} items, and a rater gets {found['items_per_rater']}")
    minutes = f"about {found['minutes_per_rater']:g} minute{'s' * (found['minutes_per_rater'] != 1)}"
    tell(f"{counted(found['pages_per_rater'], 'page')} and {minutes} per rater")
    if found["raters"] is not None:
        cost = "" if found["cost"] is None else f", {found['cost']:.2f} in all before fees"
        tell(f"{counted(found['raters'], 'rater')} for the ratings that the study wants{cost}")


def _person(person: dict[str, Any]) -> list[str]:
    return [
        person["annotator"],
        person["state"],
        f"{person['done']}/{person['pages']}" + (f" ({person['broken']} broken)" if person["broken"] else ""),
        _one_decimal(person["evidence"]["time"]["median"]),
        _one_decimal(person["reference_error"]),
        str(person["checks_failed"] + person["evidence"]["checks_skipped"]),
        "; ".join(person["doubts"]),
    ]


def _one_decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


SHOWN = 10  # items of the truth, and raters to look at, on a screen
AGREED = {"alpha": "alpha", "icc_a1": "ICC(A,1)"}
AGREEMENT = "In brackets: 95 % intervals. Needed: {rating}s per item for a correlation of {target:g} with the truth."
NOTHING_COMPARED = "Nothing has been compared yet."
FEW_COMPARED = (
    "Too early: two raters and as many comparisons as items ({M}) are the least that tells anything; so far there are "
    "{raters} and {n}."
)
NO_NUMBERS = "The study asks for no numbers. `unisono fuse` fuses choices once they are exported."


def quality_of_study(study: StudyFolder, store: Database, target: float) -> tuple[Quality, Chosen]:
    """Exports the answers into a folder that is thrown away, and looks at them. Excluded raters are left out.

    Beside it what is chosen to be handed out next, where the study chooses.
    """
    from unisono.api.study_planning import quality
    from unisono.collect.export.write import export_tables
    from unisono.evaluate.study_quality import Quality, too_early

    series = study.study.mode == "trace"
    kind = "series" if series else "items"
    with tempfile.TemporaryDirectory(prefix="unisono-quality-") as place:
        export_tables(study, store, Path(place) / "export")
        if study.study.mode == "compare":
            return _of_comparisons(study, Path(place) / "export" / "comparisons.csv", target)
        path = Path(place) / "export" / "ratings.csv"
        item = "recording" if series else "item"
        rated, raters, rows = _counts(path, item)
        scale = {one.name: one.ends for one in study.study.dimensions if one.is_number}
        if raters < 2 or not scale:
            why = too_early(kind, raters, 0) if scale else NO_NUMBERS
            return Quality(kind, len(rated), raters, rows, why), None
        columns = {"item": item, "annotator": "annotator", "dims": list(scale)}
        timed: dict[str, Any] = {"time": "time", "time_unit": "s", "rate": study.study.trace.rate} if series else {}
        unrated = len({one.name for one in study.catalogue.items} - rated)
        return quality(path, scale=scale, target=target, unrated=unrated, **columns, **timed), None


MOST_NEXT = 500  # numerical: comparisons whose order is stored; others come as before


def _of_comparisons(study: StudyFolder, path: Path, target: float) -> tuple[Quality, Chosen]:
    """From one fit; nothing is chosen before there are any answers."""
    from unisono.api.study_planning import quality_of_comparisons
    from unisono.evaluate.study_quality import Quality

    chooses, M = study.study.compare.chosen == "next", len(study.catalogue.members)
    with path.open(encoding="utf-8", newline="") as stream:
        people = [row["annotator"] for row in csv.DictReader(stream)]
    if not people:
        return Quality("comparisons", M, 0, 0, NOTHING_COMPARED), [] if chooses else None
    found, result = quality_of_comparisons(path, target)
    if found.raters < 2 or found.judgements < M:
        why = FEW_COMPARED.format(M=M, raters=found.raters, n=found.judgements)
        found = Quality("comparisons", M, found.raters, found.judgements, why)
    return found, _most_telling(study, result.fuser) if chooses else None


def _most_telling(study: StudyFolder, fuser: Pairwise) -> list[dict[str, Any]]:
    from unisono.fusers.pair_design import next_sets

    sets = [[one.name for one in item.together] for item in study.catalogue.items]
    at, told = next_sets(fuser, sets, MOST_NEXT)
    names = [item.name for item in study.catalogue.items]
    return [{"name": names[n], "information": float(nats)} for n, nats in zip(at.tolist(), told, strict=True)]


def store_next(database: str, chosen: Chosen) -> None:
    """What to hand out next, in this order."""
    from unisono.collect.store.assign import put_next
    from unisono.collect.store.database import Database

    if not chosen:
        return
    store = Database(database)
    store.create()
    with store.write() as connection:
        put_next(connection, [row["name"] for row in chosen])
    store.close()


def show_quality(found: Quality, chosen: Chosen, as_json: bool) -> None:
    """Prints it for people, or for machines; with what was `chosen` to be handed out next, if anything is."""
    if as_json:
        print_json(found.to_dict() | ({} if chosen is None else {"next": chosen}))
        return
    what = "recording" if found.kind == "series" else "item"
    counts = [
        (found.judgements, "comparison" if found.kind == "comparisons" else "judgement"),
        (found.items, what),
        (found.raters, "rater"),
    ]
    tell(", ".join(counted(n, one) for n, one in counts))
    if found.too_early:
        tell(found.too_early)
    if chosen:
        tell("These tell most, and are handed out next:")
        print_table(["next", "nats"], [[row["name"], number(row["information"])] for row in chosen[:SHOWN]])
    if found.too_early:
        return
    rows = [
        [row["name"], *(_cell(row[name]) for name in AGREED if name in row), _enough(row["enough"], found)]
        for row in found.dimensions
    ]
    shown = [AGREED[name] for name in AGREED if name in found.dimensions[0]]
    print_table(["agreement", *shown, "needed"], rows)
    rating = "comparison" if found.kind == "comparisons" else "rating"
    tell(AGREEMENT.format(rating=rating, target=found.target))
    tell(still_needed(found.needed, what, rating))
    _show_unusual(found)
    _show_truth(found, what)
    for alert in found.alerts:
        tell(f"{alert['severity']}: {alert['message']}")


def still_needed(needed: dict[str, Any], what: str, rating: str = "rating") -> str:
    """How many ratings are missing, in words."""
    has = f"{needed['fewest']}" if needed["fewest"] == needed["most"] else f"{needed['fewest']} to {needed['most']}"
    if needed["per_item"] is None:
        return f"Every {what} has {has}; how many are enough in every dimension cannot be told yet."
    missing = f"{counted(needed['ratings'], rating)} still needed" if needed["ratings"] else "that is enough"
    return f"Every {what} has {has}, {needed['per_item']} are enough in every dimension: {missing}."


def _show_unusual(found: Quality) -> None:
    if not found.unusual:
        tell("No rater stands out.")
        return
    rows = [
        [row["annotator"], row["dimension"] or "all", row["words"], _probability(row["probability"])]
        for row in found.unusual
    ]
    print_table(["rater to look at", "dimension", "why", "probability"], rows[:SHOWN])
    if len(rows) > SHOWN:
        tell(f"The first {SHOWN} of {len(rows)}; --json has all.")


def _show_truth(found: Quality, what: str) -> None:
    if found.kind == "series":
        tell(f"The truth so far of {counted(len(found.truth), what)} is in --json.")
        return
    names = [row["name"] for row in found.dimensions]
    pairs = found.kind == "comparisons"
    rows = [
        [row["item"], str(row["ratings"]), *map(_cell, row["values"]), *[_probability(row.get("above"))] * pairs]
        for row in found.truth[:SHOWN]
    ]
    head = ["comparisons", *names, "above the next"] if pairs else ["ratings", *names]
    print_table(["truth so far", *head], rows)
    if len(found.truth) > SHOWN:
        tell(f"The first {SHOWN} of {counted(len(found.truth), what)}; in brackets: 90 % intervals. --json has all.")


def _probability(p: float | None) -> str:
    return "" if p is None else number(p)


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

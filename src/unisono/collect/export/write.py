"""The files of an export.

ratings.csv        item,annotator,<dimensions>  or  recording,time,annotator,<dimensions>
truth.csv          the known values, where there are any
comparisons.csv    annotator,left,right,dimension,answer,seconds,time  in place of ratings.csv; of more than two
                   annotator,item_1 ...,dimension,best,worst,seconds,time
features.csv       red, green and blue from 0 to 1, for stimuli made here
references.csv     what was said of the hidden references, each time
remarks.csv        free texts about items
trials.csv         one row per answered page: how long, in which place, by what, disturbed how
raters.csv         one row per rater: how far, how fast, how close to the references
questionnaire.csv  what raters said of themselves, where the study asks
log.jsonl          everything that was ever received, in order
study.toml         the study as it is now
<regime>/          ratings, truth and features of one regime, for studies that have several

In trials.csv `item` and `annotator` are those of ratings.csv; response times are those of the first answer, the values
count as last corrected.
"""

from __future__ import annotations

import csv
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection

from unisono.collect.export import raters as rater_table
from unisono.collect.export.answers import Answer, TracedPass, answers, counting, label, seconds, traces
from unisono.collect.export.doubts import Devices, Visit, visits
from unisono.collect.export.raters import comparison_header, comparison_rows, plain, questionnaire_table
from unisono.collect.store import reading
from unisono.collect.store.database import Database
from unisono.collect.store.raters import excluded_ids
from unisono.collect.studies import Item, Study, StudyFolder
from unisono.collect.studies.schema import Value
from unisono.tables.atomic_files import atomic_directory, atomic_path

Row = list[str]
# These say who raters are elsewhere, or what they wrote of themselves.
_PRIVATE = ("raters.csv", "questionnaire.csv", "log.jsonl")


def export_study(folder: StudyFolder, database: Database, out: Path) -> list[Path]:
    """Writes everything to the folder `out`, all of it as of one moment; the files written."""
    with atomic_directory(out) as place:
        database.read(lambda connection: _write_all(connection, folder, place))
        names = sorted(path.relative_to(place) for path in place.rglob("*") if path.is_file())
    for name in _PRIVATE:
        if (out / name).exists():
            (out / name).chmod(0o600)
    return [out / name for name in names]


def export_tables(folder: StudyFolder, database: Database, out: Path) -> None:
    """Writes ratings and what is known of the items alone, without people and log: for a look in between."""
    with atomic_directory(out) as place:
        database.read(lambda connection: _write_tables(connection, folder, answers(connection), place))


def export_zip(folder: StudyFolder, database: Database, path: Path) -> None:
    """The same as one archive."""
    place = path.with_suffix(".files")
    files = export_study(folder, database, place)
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(place))
    shutil.rmtree(place)


def _write_all(connection: Connection, folder: StudyFolder, place: Path) -> None:
    rated = answers(connection)
    _write_tables(connection, folder, rated, place)
    table = rater_table.rater_table(connection, folder, rated)
    _csv(place / "raters.csv", rater_table.HEADER, table)
    names, rows = trial_header(folder.study), trial_rows(connection, folder.study)
    _csv(place / "trials.csv", names, ([row.get(name, "") for name in names] for row in rows))
    if told := questionnaire_table(connection, folder):
        _csv(place / "questionnaire.csv", told[0], told[1:])
    _write_log(connection, place / "log.jsonl")
    shutil.copyfile(folder.path / "study.toml", place / "study.toml")


def _write_tables(connection: Connection, folder: StudyFolder, rated: list[Answer], place: Path) -> None:
    study = folder.study
    if study.mode == "trace":
        _write_traces(connection, folder, place)
    elif study.mode == "compare":
        header = comparison_header(study.compare.together)
        _csv(place / "comparisons.csv", header, comparison_rows(connection, study.rated))
        _write_remarks(folder, counting(connection, rated), place)
        _write_known(folder.catalogue.members, study.rated, place)
    else:
        _write_ratings(folder, counting(connection, rated), place)


def _write_ratings(folder: StudyFolder, rated: list[Answer], place: Path) -> None:
    names = folder.study.rated
    items = [answer for answer in rated if answer.role == "item"]
    _csv(place / "ratings.csv", ["item", "annotator", *names], (_rating(a, names) for a in items))
    hidden = [
        [a.item, a.annotator, str(a.repetition), *_cells(a.values, names)] for a in rated if a.role == "reference"
    ]
    if folder.catalogue.references or hidden:
        _csv(place / "references.csv", ["item", "annotator", "repetition", *names], hidden)
    _write_remarks(folder, rated, place)
    _write_known(folder.catalogue.items, names, place)
    groups = sorted({item.group for item in folder.catalogue.items})
    for group in groups if len(groups) > 1 else []:
        _write_group(folder, items, group, place / group)


def _write_group(folder: StudyFolder, items: list[Answer], group: str, place: Path) -> None:
    """One regime by itself; its truth has the dimension that varies alone, since the other is a constant."""
    members = tuple(item for item in folder.catalogue.items if item.group == group)
    mine = {item.name for item in members}
    names = folder.study.rated
    _csv(place / "ratings.csv", ["item", "annotator", *names], (_rating(a, names) for a in items if a.item in mine))
    _write_known(members, [name for name in names if name == group], place)


def _write_remarks(folder: StudyFolder, rated: list[Answer], place: Path) -> None:
    """Free texts about items: those of the study, one row where a rater wrote anything."""
    names = [asked.name for asked in folder.study.dimensions if asked.kind == "text"]
    said = [a for a in rated if a.role != "check" and any(str(a.values.get(name, "")).strip() for name in names)]
    rows = ([a.item, a.annotator, str(a.repetition), *(plain(str(a.values.get(n, ""))) for n in names)] for a in said)
    if names:
        _csv(place / "remarks.csv", ["item", "annotator", "repetition", *names], rows)


def _write_known(items: tuple[Item, ...], names: list[str], place: Path) -> None:
    known = [name for name in names if any(name in item.truth for item in items)]
    if known:
        rows = ([item.name, *_cells(item.truth, known)] for item in items if item.truth)
        _csv(place / "truth.csv", ["item", *known], rows)
    coloured = [(item.name, item.colour.rgb) for item in items if item.colour is not None]
    if coloured:
        _csv(place / "features.csv", ["item", "red", "green", "blue"], ([n, *_rgb(rgb)] for n, rgb in coloured))


def _write_traces(connection: Connection, folder: StudyFolder, place: Path) -> None:
    names, rate = folder.study.names, folder.study.trace.rate
    header = ["recording", "time", "annotator", *names]
    hidden: list[TracedPass] = []

    def rows() -> Iterator[Row]:
        for trace in traces(connection, folder):
            if trace.role == "item":
                yield from _trace_rows(trace, names, rate, [])
            else:
                hidden.append(trace)

    _csv(place / "ratings.csv", header, rows())
    if hidden:
        all_hidden = (row for trace in hidden for row in _trace_rows(trace, names, rate, [str(trace.repetition)]))
        _csv(place / "references.csv", ["recording", "time", "annotator", "repetition", *names], all_hidden)
    _write_walks(folder, place)


def _trace_rows(trace: TracedPass, names: list[str], rate: float, extra: Row) -> Iterator[Row]:
    """Frames from the first touch on: before it there is no opinion to tell."""
    for frame, values in enumerate(zip(*(trace.values[name] for name in names), strict=True)):
        if any(value is not None for value in values):
            yield [trace.item, seconds(frame, rate), trace.annotator, *extra, *map(_number, values)]


def _write_walks(folder: StudyFolder, place: Path) -> None:
    walks = [(item.name, item.walk) for item in folder.catalogue.items if item.walk is not None]
    if not walks:
        return
    known = [name for name in folder.study.names if name in ("saturation", "brightness")]
    truth = (
        [name, seconds(frame, walk.rate), *map(_number, values)]
        for name, walk in walks
        for frame, values in enumerate(zip(*(getattr(walk, k) for k in known), strict=True))
    )
    _csv(place / "truth.csv", ["recording", "time", *known], truth)
    features = (
        [name, seconds(frame, walk.rate), *_rgb(rgb)] for name, walk in walks for frame, rgb in enumerate(walk.frames)
    )
    _csv(place / "features.csv", ["recording", "time", "red", "green", "blue"], features)


def _write_log(connection: Connection, path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for row in reading.all_events(connection):
            known = {name: getattr(row, name) for name in _LOGGED}
            line = {"annotator": label(row.rater_id), **known, "data": msgspec.Raw(row.payload.encode())}
            stream.write(msgspec.json.encode(line).decode() + "\n")


_LOGGED = ("id", "tab", "seq", "kind", "item", "role", "repetition", "part", "slot_id", "sent_at", "stored_at")


def _csv(path: Path, header: Row, rows: Iterable[Row]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([_safe(cell) for cell in row] for row in rows)


def _safe(cell: str) -> str:
    """A cell that no spreadsheet runs: names of files and words of choices may begin like a formula, as numbers do."""
    if not cell or cell[0].isalnum():
        return cell
    try:
        float(cell)
    except ValueError:
        return plain(cell)
    return cell


def _rating(answer: Answer, names: list[str]) -> Row:
    return [answer.item, answer.annotator, *_cells(answer.values, names)]


def _cells(values: Mapping[str, Value], names: list[str]) -> Row:
    return [value if isinstance(value := values.get(name), str) else _number(value) for name in names]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _rgb(rgb: tuple[int, int, int]) -> Row:
    return [f"{channel / 255:.6g}" for channel in rgb]


_KEYS = ["item", "annotator", "role", "repetition", "position", "pass"]
_ABOUT = ["response_seconds", "confirmed_seconds", "times_answered", "plays", "pauses", "stalls", "stalled_seconds"]
_PAUSES = ("pause", "blur", "outside")


def trial_header(study: Study) -> list[str]:
    """Values where pages are rated; traces have theirs, over time, in ratings.csv."""
    sliders = [one.name for one in study.asked if one.kind == "slider"]
    by = [f"by_{name}" for name in study.answered] if study.mode != "trace" else ["by"]
    values = study.answered if study.mode != "trace" else []
    return [*_KEYS, *values, *_ABOUT, *(f"start_{name}" for name in sliders), *by, "screen", "window"]


def trial_rows(connection: Connection, study: Study) -> Iterator[dict[str, str]]:
    """The rows of trials.csv, by rater in the order of their way; cells by column."""
    found = visits(connection)
    first = {one.slot_id: one for one in reversed(found)}
    times = Counter(one.slot_id for one in found)
    notes, devices, left_out = _notes(connection), Devices(connection), excluded_ids(connection)
    kind = "pass" if study.mode == "trace" else "rating"
    for row in reading.latest(connection, "rating", "pass"):
        if row.rater_id in left_out or (row.kind != kind and row.role != "check"):
            continue
        data = msgspec.json.decode(row.payload)
        device = devices.at(row.rater_id, row.tab, row.seq)
        yield (
            _key(row, study)
            | _answered(data, first.get(row.slot_id), times[row.slot_id])
            | _disturbed(data, notes.get(row.slot_id, {}))
            | ({"screen": device.screen, "window": device.window} if device else {})
        )


def _key(row: Any, study: Study) -> dict[str, str]:
    names = study.passes[row.part] if study.mode == "trace" and row.role != "check" else []
    cells = (row.item, label(row.rater_id), row.role, row.repetition, row.position + 1, " ".join(names))
    return dict(zip(_KEYS, map(str, cells), strict=True))


def _answered(data: dict[str, Any], first: Visit | None, times: int) -> dict[str, str]:
    cells = {name: _cell(value) for name, value in data.get("values", {}).items()}
    cells |= {f"start_{name}": _cell(value) for name, value in data["start"].items()}
    cells |= {f"by_{name}": source for name, source in data.get("sources", {}).items()}
    if first is not None:
        cells |= {"response_seconds": _cell(first.claimed), "confirmed_seconds": f"{first.confirmed:.3f}"}
    return cells | {"times_answered": str(times), "by": data.get("by", "")}


def _disturbed(data: dict[str, Any], notes: dict[str, float]) -> dict[str, str]:
    """Of traces from the notes that came with them, of ratings from what they say themselves."""
    pauses = sum(notes.get(name, 0) for name in _PAUSES)
    plays, stalls = (max(notes.get(name, 0), data.get(f"{name}s", 0)) for name in ("play", "stall"))
    lost = max(notes.get("stalled_ms", 0), data.get("stalled_ms", 0)) / 1000
    known = {"plays": plays, "pauses": pauses, "stalls": stalls, "stalled_seconds": lost}
    return {name: _cell(float(value)) for name, value in known.items()}


def _notes(connection: Connection) -> dict[int, dict[str, float]]:
    """How often what was noted on a page, and how many milliseconds it stood still."""
    found: dict[int, dict[str, float]] = {}
    for row in reading.notes(connection):
        data = msgspec.json.decode(row.payload)
        mine = found.setdefault(row.slot_id, {})
        mine[data["name"]] = mine.get(data["name"], 0) + 1
        mine["stalled_ms"] = mine.get("stalled_ms", 0) + data.get("lasted_ms", 0)
    return found


def _cell(value: float | str | None) -> str:
    if value is None:
        return ""
    return plain(value) if isinstance(value, str) else f"{value:.10g}"

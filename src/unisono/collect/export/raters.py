"""One row per rater: where they came from, how far they got, how fast, how close to references and checks.

Plain counts and medians for the researcher's eye; what raters do with a scale is for `unisono fuse` to say. Beside
them, what raters said of themselves, and of pairs: one row per rater, pair and dimension. A hidden reference should be
given its true value; where that is not known, what raters give it on average. For traces this holds frame by frame,
without regard to delay. `summary` is how the study is doing, for the researcher's page and `unisono collect status`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from statistics import fmean, median
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.export.answers import Answer, answers, label, traces
from unisono.collect.export.doubts import Devices, Evidence, Limits, Spent, Stalled, doubts, spent, stalls, visits
from unisono.collect.store import agree, arrivals, log, raters, reading
from unisono.collect.store.raters import excluded_ids
from unisono.collect.store.reading import all_replies
from unisono.collect.studies import Keys, StudyFolder
from unisono.collect.studies.catalogue import split_set
from unisono.collect.studies.schema import LEAST, LETTERS, PLACES, Check, Value

HEADER = [
    "annotator", "state", "excluded", "source", "outside_id", "session", "code", "joined", "last_seen", "finished",
    "returns", "pages", "pages_done", "pages_broken", "pages_broken_alone", "pages_unseen", "pages_together",
    "median_seconds", "confirmed_seconds", "time_confirmed_percent", "reference_error_percent", "stalls",
    "stalled_seconds", "checks_passed", "checks_failed", "checks_skipped", "browser", "device", "completion_code",
    "comment", "doubts",
]  # fmt: skip


STATES = ("joined", "active", "finished", "left", "declined", "full")


class Standing(NamedTuple):
    """How one rater is doing."""

    annotator: str
    state: str
    pages: int
    done: int
    broken: int
    joined_at: int
    seen_at: int
    finished_at: int | None
    median_seconds: float | None
    reference_error: float | None  # mean distance from the references, in percent of the scale
    checks_passed: int
    checks_failed: int
    completion_code: str  # empty until the rater has finished
    excluded: bool
    # What the researcher calls an invited rater, and what the rater had to say.
    name: str
    comment: str
    # How often, and for how many seconds, what plays stood still.
    stalls: int
    stalled_seconds: float
    evidence: Evidence
    # Reasons to look before paying, by the limits that hold without any said.
    doubts: list[str]


_AS_STORED = ("state", "done", "broken", "joined_at", "seen_at", "finished_at")


def standings(connection: Connection, folder: StudyFolder, rated: list[Answer]) -> list[Standing]:
    """All raters."""
    by_rater: dict[str, list[Answer]] = {}
    for answer in rated:
        by_rater.setdefault(answer.annotator, []).append(answer)
    distances = reference_distances(connection, folder, rated)
    checks = agree.known_checks(connection, folder)
    keys, common = Keys.found(folder.path), folder.study.raters.completion_code
    told, left_out = _told(connection), excluded_ids(connection)
    evidence, stalled = _evidence(connection, folder), stalls(connection)
    found = []
    for row in reading.rater_rows(connection):
        name, stood, seen = label(row.id), stalled.get(row.id, Stalled()), evidence(row)
        mine, off = by_rater.get(name, []), distances.get(name, [])
        times = [answer.shown_ms / 1000 for answer in mine]
        verdicts = [_passed(checks[a.item], a) for a in mine if a.role == "check" and a.item in checks]
        standing = Standing(
            annotator=name,
            pages=row.slots,
            median_seconds=round(median(times), 2) if times else None,
            reference_error=round(fmean(off), 2) if off else None,
            checks_passed=sum(verdicts),
            checks_failed=len(verdicts) - sum(verdicts),
            completion_code=(common or (keys.code(row.name) if keys else "")) if row.state == "finished" else "",
            excluded=row.id in left_out,
            name=(row.outside or "") if row.source == "invited" else "",
            comment=told.get(name, {}).get("comment", ""),
            stalls=stood.times,
            stalled_seconds=round(stood.seconds, 1),
            evidence=seen,
            doubts=doubts(seen, Limits()),
            **{field: getattr(row, field) for field in _AS_STORED},
        )
        found.append(standing)
    return found


def _evidence(connection: Connection, folder: StudyFolder) -> Callable[[Any], Evidence]:
    """What the server saw of every rater."""
    alone, skipped = reading.broken_alone(connection), reading.skipped_checks(connection)
    time = spent(visits(connection))
    shown = (*folder.catalogue.items, *folder.catalogue.references)
    blind = log.unseen(connection, {item.name for item in shown if item.has_file})

    def evidence(row: Any) -> Evidence:
        known = (alone.get(row.id, 0), skipped.get(row.id, 0), blind[row.id])
        return Evidence(row.done, *known, time.get(row.id, Spent()))

    return evidence


def rater_table(connection: Connection, folder: StudyFolder, rated: list[Answer]) -> list[list[str]]:
    """The rows of raters.csv."""
    told = _told(connection)
    people = {label(row.id): row for row in reading.rater_rows(connection)}
    devices = Devices(connection)
    return [
        _row(standing, people[standing.annotator], told.get(standing.annotator, {}), devices)
        for standing in standings(connection, folder, rated)
    ]


def _passed(check: Check, answer: Answer) -> bool:
    return all(_is_near(answer.values.get(name), value, check.tolerance) for name, value in check.expected.items())


def _is_near(given: Value | None, expected: Value, tolerance: float) -> bool:
    if isinstance(given, float) and isinstance(expected, float):
        return abs(given - expected) <= tolerance
    return given == expected


def _told(connection: Connection) -> dict[str, dict[str, str]]:
    """Codes and comments that raters typed."""
    told: dict[str, dict[str, str]] = {}
    for row in reading.events(connection, "consent", "comment"):
        data = msgspec.json.decode(row.payload)
        key, text = ("code", data["code"]) if row.kind == "consent" else ("comment", data["text"])
        told.setdefault(label(row.rater_id), {})[key] = text
    return told


def _row(standing: Standing, person: Any, told: dict[str, str], devices: Devices) -> list[str]:
    seen, device = standing.evidence, devices.last(person.id)
    pages = standing.pages, standing.done, standing.broken, seen.broken_alone, seen.unseen, seen.time.together
    checks = standing.checks_passed, standing.checks_failed, seen.checks_skipped
    rounded = (None if value is None else round(value, 2) for value in (seen.time.median, seen.time.percent))
    figures = standing.median_seconds, *rounded, standing.reference_error
    return [
        standing.annotator,
        standing.state,
        "yes" if standing.excluded else "",
        person.source,
        *(plain(text or "") for text in (person.outside, person.session, told.get("code"))),
        *(_moment(at) for at in (standing.joined_at, standing.seen_at, standing.finished_at)),
        *map(str, (person.returns, *pages)),
        *("" if value is None else f"{value:.6g}" for value in figures),
        str(standing.stalls),
        f"{standing.stalled_seconds:g}",
        *map(str, checks),
        *((device.browser, device.kind) if device else ("", "")),
        standing.completion_code,
        plain(told.get("comment", "")),
        "; ".join(standing.doubts),
    ]


def plain(text: str) -> str:
    """Text that strangers typed: a spreadsheet would run a cell that starts like a formula.

    Some skip white space and line ends before it, and take the wide forms of the signs for the signs.
    """
    begins = unicodedata.normalize("NFKC", text).lstrip()
    return f"'{text}" if begins.startswith(("=", "+", "-", "@")) or text.startswith(("\t", "\r", "\n")) else text


def _moment(at: int | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")


def comparison_header(together: int) -> list[str]:
    """The columns of comparisons.csv."""
    items = ["left", "right"] if together == 2 else [f"item_{n + 1}" for n in range(together)]
    return ["annotator", *items, "dimension", *(["answer"] if together == 2 else ["best", "worst"]), "seconds", "time"]


def comparison_rows(connection: Connection, names: list[str]) -> Iterator[list[str]]:
    """The rows of comparisons.csv, items as they were shown; `answer` is left, right or tie."""
    left_out = excluded_ids(connection)
    for row in reading.latest(connection, "rating"):
        together = split_set(row.item)
        if row.role != "item" or not together or row.rater_id in left_out:
            continue
        data = msgspec.json.decode(row.payload)
        around = f"{data['shown_ms'] / 1000:.10g}", _moment(row.stored_at)
        shown = _as_shown(together, data)
        for name in names:
            if name not in data["values"]:
                continue
            said = [data["values"][name]]
            if len(shown) > 2:
                ends = said[0], data["values"][name + LEAST]
                said = [shown[LETTERS.index(letter)] for letter in ends]
            yield [label(row.rater_id), *shown, name, *said, *around]


def _as_shown(together: tuple[str, ...], data: dict[str, Any]) -> tuple[str, ...]:
    """From left to right."""
    if len(together) > 2:
        return tuple(together[PLACES.index(place)] for place in data["order"])
    return together if data["left"] == "first" else together[::-1]


def questionnaire_table(connection: Connection, folder: StudyFolder) -> list[list[str]]:
    """Header and rows of questionnaire.csv; empty where nobody was ever asked.

    Questions that have left the study file since keep their column, behind the others.
    """
    found, left_out = all_replies(connection), excluded_ids(connection)
    now = [question.name for question in folder.study.questions]
    gone = sorted({name for replies in found.values() for name in replies.values} - set(now))
    names = [*now, *gone]
    rows = [
        [label(rater_id), *(_cell(replies.values.get(name)) for name in names)]
        for rater_id, replies in sorted(found.items())
        if rater_id not in left_out
    ]
    return [["annotator", *names], *rows] if names else []


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    return plain(value.strip()) if isinstance(value, str) else f"{value:.10g}"


class Said(NamedTuple):
    """One value that a rater gave to a reference; `where` is the frame, 0 for ratings."""

    annotator: str
    item: str
    name: str
    where: int
    value: float


def reference_distances(connection: Connection, folder: StudyFolder, rated: list[Answer]) -> dict[str, list[float]]:
    """All distances, by rater."""
    if folder.study.reference is None:
        return {}
    scales = {asked.name: asked.ends for asked in folder.study.dimensions if asked.is_number}
    said = list(_traced(connection, folder) if folder.study.mode == "trace" else _rated(rated, set(scales)))
    truth = _averages(said) | _known(folder)
    width = {name: high - low for name, (low, high) in scales.items()}
    found: dict[str, list[float]] = {}
    for one in said:
        distance = 100 * abs(one.value - truth[one.item, one.name, one.where]) / width[one.name]
        found.setdefault(one.annotator, []).append(distance)
    return found


def _rated(rated: list[Answer], scales: set[str]) -> Iterator[Said]:
    for answer in rated:
        if answer.role == "reference":
            for name, value in answer.values.items():
                if name in scales and not isinstance(value, str):
                    yield Said(answer.annotator, answer.item, name, 0, value)


def _traced(connection: Connection, folder: StudyFolder) -> Iterator[Said]:
    for trace in traces(connection, folder, roles=("reference",)):
        for name, values in trace.values.items():
            for frame, value in enumerate(values):
                if value is not None:
                    yield Said(trace.annotator, trace.item, name, frame, value)


def _averages(said: list[Said]) -> dict[tuple[str, str, int], float]:
    together: dict[tuple[str, str, int], list[float]] = {}
    for one in said:
        together.setdefault((one.item, one.name, one.where), []).append(one.value)
    return {key: fmean(values) for key, values in together.items()}


def _known(folder: StudyFolder) -> dict[tuple[str, str, int], float]:
    """True values of the references: of colours and files one each, of walks one per frame."""
    found: dict[tuple[str, str, int], float] = {}
    for item in folder.catalogue.references:
        found |= {(item.name, name, 0): value for name, value in item.truth.items() if not isinstance(value, str)}
        if item.walk is not None:
            for name in ("saturation", "brightness"):
                values: list[float] = getattr(item.walk, name)
                found |= {(item.name, name, frame): value for frame, value in enumerate(values)}
    return found


def summary(connection: Connection, folder: StudyFolder) -> dict[str, Any]:
    """Everything on the researcher's page."""
    people = standings(connection, folder, answers(connection))
    items = _items(connection, folder)
    done = [item["done"] for item in items[: len(folder.catalogue.items)]]
    target = folder.study.design.ratings_per_item
    states = Counter(person.state for person in people)
    return {
        "title": folder.study.title,
        "mode": folder.study.mode,
        "phase": raters.phase(connection),
        "target": target,
        "ratings": sum(item["done"] for item in items),
        "wanted": target * len(done),
        "fewest": min(done, default=0),
        "most": max(done, default=0),
        "raters": {state: states.get(state, 0) for state in STATES},
        "items": items,
        "people": [_person(person) for person in people],
        "asks": _asks(connection),
    }


def _asks(connection: Connection) -> list[dict[str, Any]]:
    """Second sessions about which the researcher has not yet said whose they are."""
    begun = {row.id: row.session for row in reading.rater_rows(connection)}
    found = []
    for key, ask in arrivals.asks(connection).items():
        if not ask.answer:
            who = {"ask": key, "annotator": label(ask.rater_id), "name": ask.outside, "asked_at": ask.asked_at}
            found.append(who | {"begun_session": begun[ask.rater_id], "session": ask.session})
    return found


def _person(person: Standing) -> dict[str, Any]:
    seen = person.evidence
    time = seen.time._asdict() | {"percent": seen.time.percent}
    return person._asdict() | {"evidence": seen._asdict() | {"time": time}}


def _items(connection: Connection, folder: StudyFolder) -> list[dict[str, Any]]:
    """The items of the study file, rated or not, then those that have left it with ratings."""
    rows = {row.name: row for row in reading.item_rows(connection)}
    now = [item.name for item in folder.catalogue.items]
    gone = [name for name, row in rows.items() if row.done and name not in set(now)]
    known = {name: {"done": row.done, "active": row.load - row.done} for name, row in rows.items()}
    return [{"name": name, **known.get(name, {"done": 0, "active": 0})} for name in (*now, *gone)]

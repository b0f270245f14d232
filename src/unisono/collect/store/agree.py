"""Database and study file: what the one keeps of the other, and whether they still speak of the same ratings.

Only a server that starts writes here (`prepare`). Commands that look at a study check and change nothing.
"""

from __future__ import annotations

import time

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import assign, raters, reading
from unisono.collect.store.database import Database, lock_start
from unisono.collect.studies import StudyFolder
from unisono.collect.studies.schema import Check, Dimension
from unisono.errors import DataError


def plan_of(folder: StudyFolder) -> assign.Plan:
    """What assignment has to know of the study."""
    study, catalogue = folder.study, folder.catalogue
    return assign.Plan(
        items=tuple(item.name for item in catalogue.items),
        references=tuple(item.name for item in catalogue.references),
        reference_every=study.reference.every if study.reference else 10,
        checks=tuple((check.key, check.after) for check in study.checks),
        parts=len(study.passes),
        ratings_per_item=study.design.ratings_per_item,
        items_per_rater=study.design.items_per_rater,
        shuffled=study.design.order == "random",
        ranked=study.mode == "compare" and study.compare.chosen == "next",
    )


def prepare(database: Database, folder: StudyFolder) -> None:
    """Makes database and study file agree, or says why they cannot."""
    database.create()
    with database.write() as connection:
        lock_start(connection)
        _refuse_new_meaning(connection, folder)
        raters.put_setting(connection, "scales", _meaning(folder))
        checks = known_checks(connection, folder)
        raters.put_setting(connection, "checks", msgspec.json.encode(checks).decode())
        if raters.get_setting(connection, "keeps_asked") is None:
            raters.put_setting(connection, "keeps_asked", str(time.time_ns() // 1_000_000))
        assign.sync_items(connection, plan_of(folder))


def check_meaning(database: Database, folder: StudyFolder) -> None:
    """Refuses a study file under which the stored ratings would mean something else; changes nothing."""
    database.read(lambda connection: _refuse_new_meaning(connection, folder))


def known_checks(connection: Connection, folder: StudyFolder) -> dict[str, Check]:
    """Every attention check that raters may have met: those of the file, and those that were in it before."""
    stored = raters.get_setting(connection, "checks")
    before = msgspec.json.decode(stored, type=dict[str, Check]) if stored else {}
    return before | {check.key: check for check in folder.study.checks}


def _refuse_new_meaning(connection: Connection, folder: StudyFolder) -> None:
    before, told = raters.get_setting(connection, "scales"), _meaning(folder)
    if before not in (None, told) and reading.has_ratings(connection):
        raise DataError(
            f"{folder.path / 'study.toml'}: what ratings mean changed after ratings had come in. It was {before}, "
            f"and is {told} now. Put it back, or start a new folder for the new study."
        )


def _meaning(folder: StudyFolder) -> str:
    """All that gives a rating its meaning: scales, passes and, for stimuli made here, what they are made from."""
    study = folder.study
    passes = study.passes if study.mode == "trace" else [study.answered]
    parts: dict[str, object] = {"mode": study.mode, "passes": passes}
    if study.mode == "compare" and study.compare.together > 2:
        parts["together"] = study.compare.together
    parts["scales"] = [_scale(asked) for asked in study.dimensions if asked.kind != "text"]
    if study.items.source in ("colours", "walks"):
        parts |= {"seed": study.seed, "items": study.items, "rate": study.trace.rate}
        parts["reference"] = study.reference and study.reference.values
    return msgspec.json.encode(parts).decode()


def _scale(asked: Dimension) -> tuple[object, ...]:
    """What an answer is: the ends of a slider, the number of Likert points, the words to choose from."""
    if asked.kind == "slider":
        return (asked.name, asked.min, asked.max)
    return (asked.name, asked.kind, asked.choices if asked.kind == "choice" else len(asked.choices))

"""What raters said of themselves, one row per rater who was asked and counts."""

from __future__ import annotations

from sqlalchemy import Connection

from unisono.collect.export.answers import label
from unisono.collect.export.raters import plain
from unisono.collect.store.excluded import excluded_ids
from unisono.collect.store.questionnaire import all_replies
from unisono.collect.studies import StudyFolder
from unisono.collect.studies.schema import Value


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

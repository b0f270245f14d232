"""What raters said of themselves: of every page of the questionnaire, what was sent last."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading
from unisono.collect.studies.schema import Value


class _Page(msgspec.Struct):
    when: str
    values: dict[str, Value]


class Replies(NamedTuple):
    """The pages that a rater has sent, and what was answered on them."""

    pages: set[str]
    values: dict[str, Value]


def replies_of(connection: Connection, rater_id: int) -> Replies:
    """What one rater answered."""
    return _by_rater(connection, rater_id).get(rater_id, Replies(set(), {}))


def all_replies(connection: Connection) -> dict[int, Replies]:
    """What everybody answered."""
    return _by_rater(connection, None)


def _by_rater(connection: Connection, rater_id: int | None) -> dict[int, Replies]:
    last: dict[int, dict[str, dict[str, Value]]] = {}
    for row in reading.questionnaire_pages(connection, rater_id):
        page = msgspec.json.decode(row.payload, type=_Page)
        last.setdefault(row.rater_id, {})[page.when] = page.values
    return {
        one: Replies(set(pages), {name: value for page in pages.values() for name, value in page.items()})
        for one, pages in last.items()
    }

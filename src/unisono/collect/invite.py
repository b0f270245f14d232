"""Personal links: one rater per name, made before anybody comes."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.collect.app.context import now_ms
from unisono.collect.store.database import Database
from unisono.collect.store.raters import guests, invite
from unisono.collect.studies import Keys, StudyFolder
from unisono.collect.studies.folder import new_name


def invitations(
    folder: StudyFolder, database: Database, names: Sequence[str], count: int, url: str
) -> list[tuple[str, str]]:
    """(name, link) for the given names, or for `count` numbered guests."""
    keys = Keys.of(folder.path)
    with database.write() as connection:
        wanted = list(names) or guests(connection, count)
        found = [(name, invite(connection, name, new_name(), now_ms())) for name in wanted]
    return [(name, f"{url.rstrip('/')}/r/{keys.rater_token(public)}") for name, public in found]

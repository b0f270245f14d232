"""Links that raters come by: the address for a platform, personal links, and signed ones."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

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


def signed_links(folder: StudyFolder, ids: Sequence[str], url: str) -> list[tuple[str, str]]:
    """(id, link) for identifiers of a platform; nothing is stored."""
    keys = Keys.of(folder.path)
    return [(one, f"{url.rstrip('/')}/?id={quote(one, safe='')}&sig={keys.signature(one)}") for one in ids]


def address_of(folder: StudyFolder, url: str) -> str:
    """What a platform is given, or everybody; what stands in brackets is filled in by the platform."""
    source, start = folder.study.raters.source, url.rstrip("/")
    if source == "prolific":
        # Prolific fills in what stands between {{% and %}}.
        return f"{start}/?" + "&".join(
            f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        )
    return f"{start}/?id={{id}}&sig={{signature}}" if source == "signed" else f"{start}/"

"""The door: how people become raters. Looking at it stores nothing; only the button does.

Its form, and the researcher's, are read with care: who joins, and what is pressed. Links that lead here are made below:
the address for a platform, personal links, signed ones.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from unisono.collect.app.context import Site, now_ms
from unisono.collect.store.arrivals import join
from unisono.collect.store.database import Database, RefusedError
from unisono.collect.store.raters import Arrival, guests, invite, phase
from unisono.collect.studies import Keys, StudyFolder
from unisono.collect.studies.folder import new_name

_LONGEST = 200
_TICKET = re.compile(r"[0-9a-f]{32}")
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


class Platform(NamedTuple):
    """The names under which a platform hands over its identifiers; a signed identifier needs no session."""

    person: str
    session: str | None
    others: tuple[str, ...]


PLATFORMS = {
    "prolific": Platform("PROLIFIC_PID", "SESSION_ID", ("STUDY_ID",)),
    "mturk": Platform("workerId", "assignmentId", ("hitId", "turkSubmitTo")),
    "signed": Platform("id", None, ("sig",)),
}


async def welcome(request: Request) -> Response:
    """What the study is about, and the button that begins it."""
    site: Site = request.app.state.site
    source = site.study.raters.source
    if source == "invited":
        return _refuse(site, "invited")
    given = identifiers(request.query_params, source)
    if source == "mturk" and request.query_params.get("assignmentId") == PREVIEW:
        return HTMLResponse(site.render("welcome.html", given={}, ticket="", preview=True))
    if given is None:
        return _refuse(site, "stranger")
    if source == "signed" and not _is_signed(site, given):
        return _refuse(site, "lost")
    if await site.read(phase) != "open":
        return _refuse(site, "closed")
    # Who comes with identifiers is known by them; others get a ticket, so that Back and Begin lead to the same place.
    ticket = secrets.token_hex(16) if source == "open" else ""
    return HTMLResponse(site.render("welcome.html", given=given, ticket=ticket, preview=False))


async def begin(request: Request) -> Response:
    """Makes a rater of whoever pressed the button."""
    site: Site = request.app.state.site
    source = site.study.raters.source
    sender = request.client.host if request.client else ""
    if not site.limiter.allows("join", sender):
        return _refuse(site, "slow", 429)
    form = await read_form(request)
    given = identifiers(QueryParams(form), source)
    if source == "invited" or given is None:
        return _refuse(site, "invited" if source == "invited" else "stranger")
    if source == "signed" and not _is_signed(site, given):
        return _refuse(site, "lost")
    ticket = form.get("ticket", "")
    name = site.keys.name_for(ticket) if _TICKET.fullmatch(ticket) else new_name()
    arrival = _arrival(name, given, source)
    try:
        found = await site.write(lambda c: join(c, arrival, site.is_over, now_ms()))
    except RefusedError as refusal:
        return _refuse(site, str(refusal))
    if found is None:
        return HTMLResponse(site.render("asked.html", given=given), 409)
    return RedirectResponse(f"{site.root}/r/{site.keys.rater_token(found)}", 303)


def identifiers(given: QueryParams, source: str) -> dict[str, str] | None:
    """What the platform says of the person; None when it says too little."""
    platform = PLATFORMS.get(source)
    if platform is None:
        return {}
    needed = {platform.person, platform.session} - {None}
    found = {name: given[name] for name in (*needed, *platform.others) if name and _is_word(given.get(name, ""))}
    return found if needed <= set(found) and found.get("assignmentId") != PREVIEW else None


def _is_signed(site: Site, given: dict[str, str]) -> bool:
    return site.keys.is_signed(given["id"], given.get("sig", ""))


def _is_word(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isprintable()


def _arrival(name: str, given: dict[str, str], source: str) -> Arrival:
    platform = PLATFORMS.get(source)
    if platform is None:
        return Arrival(name, source)
    if platform.session is None:
        return Arrival(name, source, given[platform.person])
    return Arrival(name, source, given[platform.person], given[platform.session], given)


def _refuse(site: Site, why: str, status: int = 403) -> Response:
    return HTMLResponse(site.message(why), status)


routes = [Route("/", welcome), Route("/", begin, methods=["POST"])]


_MOST_FIELDS = 20


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; of those that come twice, the first. Too many are refused."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        pairs = parse_qsl(body, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise HTTPException(400, f"a form has at most {_MOST_FIELDS} fields") from None
    return dict(reversed(pairs))


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

"""A rater's own routes. Every one starts with the token in the link; nothing else says who the rater is."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from unisono.collect.app.context import Site, now_ms
from unisono.collect.app.messages import decode_batch
from unisono.collect.app.view import rater_view, study_view
from unisono.collect.store import reading
from unisono.collect.store.log import append
from unisono.collect.studies import Item
from unisono.collect.studies.schema import PLACES

Handler = Callable[[Request, Site, int], Awaitable[Response]]


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def wants_page(request: Request) -> bool:
    """Whether a person looks at the answer, and not a script."""
    return "text/html" in request.headers.get("accept", "")


def trouble(request: Request, site: Site, error: dict[str, Any], status: int, key: str = "trouble") -> Response:
    """Something that is over in a moment: a page for people, JSON for scripts, which try again by themselves."""
    headers = {"retry-after": "2"}
    if wants_page(request):
        return HTMLResponse(site.message(key), status, headers)
    return answer(error, status, headers)


def for_rater(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Lets a handler see requests with a true token only, at the pace the study allows."""

    async def guarded(request: Request) -> Response:
        site: Site = request.app.state.site
        token = request.path_params["token"]
        rater_id = await site.rater_id(token)
        if rater_id is None:
            sender = request.client.host if request.client else ""
            status = 404 if site.limiter.allows("link", sender) else 429
            return _unknown(request, site, status)
        if not site.limiter.allows("rater", str(rater_id)):
            return trouble(request, site, {"error": "too many requests"}, 429, "slow")
        return await handler(request, site, rater_id)

    return guarded


async def page(request: Request, site: Site, rater_id: int) -> Response:
    """The rater's page: a shell that the scripts fill."""
    return HTMLResponse(site.render("rater.html", sentences=msgspec.json.encode(site.sentences.texts).decode()))


async def state(request: Request, site: Site, rater_id: int) -> Response:
    """The study and where the rater stands in it."""
    view = await site.write(lambda connection: rater_view(connection, site, rater_id))
    return answer(view | {"study": study_view(site)})


async def events(request: Request, site: Site, rater_id: int) -> Response:
    """Takes in what the rater did; answers when it is on disk."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return answer({"error": "send application/json"}, 415)
    try:
        batch = decode_batch(await request.body())
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return answer({"error": str(error)[:300]}, 422)
    entries = site.judge.entries(batch, now_ms())
    receipt = await site.write(lambda c: append(c, rater_id, batch.tab, entries, site.book, now_ms()))
    if site.next is not None:
        site.answered += sum(entry.completes for entry in entries)
        site.next.look(site.answered)
    rejected = [{"seq": seq, "why": why} for seq, why in receipt.rejected.items()]
    return answer({**receipt._asdict(), "rejected": rejected})


async def media(request: Request, site: Site, rater_id: int) -> Response:
    """What is shown in one of the rater's slots."""
    wanted = _number(request.path_params["slot"])
    slots = await site.read(lambda connection: reading.slots_of(connection, rater_id))
    names = [slot.item for slot in slots if slot.id == wanted and slot.role != "check"]
    item = site.catalogue.find(names[0]) if names else None
    if wanted is not None and names:
        await site.keep_asked(rater_id, wanted)
    side = request.path_params.get("side")
    if item is not None and item.together:
        item = dict(zip(PLACES, item.together, strict=False)).get(side or "")
    elif side is not None:
        item = None
    return _file(item) if item else answer({"error": "not found"}, 404)


async def practice(request: Request, site: Site, rater_id: int) -> Response:
    """What is shown in a practice item."""
    index = _number(request.path_params["index"])
    items = site.catalogue.practice
    return _file(items[index]) if index is not None and index < len(items) else answer({"error": "not found"}, 404)


def _number(text: str) -> int | None:
    # Python refuses to read a number of thousands of digits, with an exception of its own.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _file(item: Item) -> Response:
    headers = {"cache-control": "private, max-age=86400"}
    if item.walk is not None:
        frames = "".join(f"{red:02x}{green:02x}{blue:02x}" for red, green, blue in item.walk.frames)
        return answer({"rate": item.walk.rate, "seconds": item.walk.seconds, "frames": frames}, headers=headers)
    if item.path is None or not item.is_there:
        return answer({"error": "not found"}, 404)
    kind = mimetypes.guess_type(item.path.name)[0] or "application/octet-stream"
    return FileResponse(item.path, media_type=kind, headers=headers)


def _unknown(request: Request, site: Site, status: int) -> Response:
    if wants_page(request):
        return HTMLResponse(site.message("lost"), status)
    return answer({"error": "unknown link"}, status)


routes = [
    Route("/r/{token:str}", for_rater(page)),
    Route("/r/{token:str}/state", for_rater(state)),
    Route("/r/{token:str}/events", for_rater(events), methods=["POST"]),
    Route("/r/{token:str}/media/{slot:str}", for_rater(media)),
    Route("/r/{token:str}/media/{slot:str}/{side:str}", for_rater(media)),
    Route("/r/{token:str}/practice/{index:str}", for_rater(practice)),
]

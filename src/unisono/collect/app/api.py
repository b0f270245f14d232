"""A rater's own routes. Every one starts with the token in the link; nothing else says who the rater is.

A browser is told the study without its secrets, the rater's way, and what is done of it. References look like items:
roles, names and truth stay here, and media are addressed by slot.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable
from math import ceil
from random import Random
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from unisono.collect.app import guard, messages
from unisono.collect.app.context import Site, now_ms, prose
from unisono.collect.store import assign, raters, reading
from unisono.collect.store.assign import free_in
from unisono.collect.store.log import append, too_many_broken
from unisono.collect.store.reading import replies_of
from unisono.collect.studies import Dimension, Item, checks, schema

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
        batch = messages.decode_batch(await request.body())
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
    wanted = number(request.path_params["slot"])
    slots = await site.read(lambda connection: reading.slots_of(connection, rater_id))
    names = [slot.item for slot in slots if slot.id == wanted and slot.role != "check"]
    item = site.catalogue.find(names[0]) if names else None
    if wanted is not None and names:
        await site.keep_asked(rater_id, wanted)
    side = request.path_params.get("side")
    if item is not None and item.together:
        item = dict(zip(schema.PLACES, item.together, strict=False)).get(side or "")
    elif side is not None:
        item = None
    return _file(item) if item else answer({"error": "not found"}, 404)


async def practice(request: Request, site: Site, rater_id: int) -> Response:
    """What is shown in a practice item."""
    index = number(request.path_params["index"])
    items = site.catalogue.practice
    return _file(items[index]) if index is not None and index < len(items) else answer({"error": "not found"}, 404)


def number(text: str) -> int | None:
    """A number in an address or a form; None for anything else."""
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


PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


def rater_view(connection: Connection, site: Site, rater_id: int) -> dict[str, Any]:
    """Everything a browser needs to go on where the rater stopped."""
    row = raters.by_id(connection, rater_id)
    if row.state == "left":
        assign.reclaim(connection, rater_id, site.plan)
        raters.touch(connection, rater_id, now_ms())
        row = raters.by_id(connection, rater_id)
    past = reading.events(connection, "step", "comment", rater_id=rater_id)
    steps = [msgspec.json.decode(done.payload)["name"] for done in past if done.kind == "step"]
    rated = reading.latest(connection, "rating", rater_id=rater_id)
    answers = {done.slot_id: msgspec.json.decode(done.payload) for done in rated}
    mine = reading.slots_of(connection, rater_id)
    states = reading.states_of(connection, rater_id)
    slots = [slot for slot in mine if site.shows(slot.role, slot.item)]
    pages, replies = replies_of(connection, rater_id)
    # Nothing is left to answer, and too little was answered: what could not be shown may be tried again.
    stuck = row.state == "active" and all(slot.state == "done" for slot in slots) and too_many_broken(states)
    # All that this rater had to do has left the study, and nothing of it was done.
    spent = row.state == "active" and not stuck and not slots and not any(slot.state == "done" for slot in mine)
    return {
        "rater": row.name,
        "state": "full" if spent else row.state,
        "phase": raters.phase(connection),
        "stuck": stuck,
        "steps": sorted(set(steps)),
        "breaks": steps.count("break"),
        # Pages of the questionnaire still to fill in, and what was answered on others.
        "due": checks.pages_due(site.study, pages, replies),
        "replies": replies,
        "commented": any(done.kind == "comment" for done in past),
        "slots": [_slot(site, slot, answers.get(slot.id, {})) for slot in slots],
        "full": _full(connection, site) if spent or row.state == "full" else None,
        "finish": _finish(site, row) if row.state == "finished" else None,
    }


def study_view(site: Site) -> dict[str, Any]:
    """The study as raters may see it; the same for all of them."""
    study = site.study
    texts = {name: prose(getattr(study.texts, name)) for name in ("consent", "instructions", "thanks", "contact")}
    texts["thanks"] = texts["thanks"] or prose(site.sentences["thanks"])
    return {
        "title": study.title,
        "mode": study.mode,
        "dimensions": [_dimension(dimension) for dimension in study.asked],
        "unlike": {name: name + schema.LEAST for name in study.rated if name + schema.LEAST in study.answered},
        "pads": study.pads,
        "questions": study.questions,
        "passes": study.passes,
        "texts": {name: [block._asdict() for block in blocks] for name, blocks in texts.items()},
        "break_every": study.design.break_every,
        "rate": study.trace.rate,
        "countdown": study.trace.countdown,
        "play": study.practice.play,
        "practice": [_practice(site, index, item) for index, item in enumerate(site.catalogue.practice)],
        "zoom": study.design.zoom,
        "play_share": study.design.play_share,
        "ask_code": study.raters.ask_code,
        "ask_comment": study.raters.ask_comment,
        # Colours are judged against a neutral grey, whatever the theme.
        "neutral": study.items.source in ("colours", "walks"),
    }


def shown(item: Item, url: str) -> dict[str, Any]:
    """How the browser shows an item; nothing in it tells an item from a reference."""
    if item.colour is not None:
        return {"media": "colour", "rgb": item.colour.rgb}
    if item.media == "text":
        return {"media": "text", "text": item.text}
    return {"media": item.media, "url": url}


def _dimension(dimension: Dimension) -> dict[str, Any]:
    fields = ("name", "question", "kind", "choices", "min", "max", "step")
    view = {name: getattr(dimension, name) for name in fields}
    return view | {"anchors": dimension.points, "required": dimension.required or dimension.kind != "text"}


def _practice(site: Site, index: int, item: Item) -> dict[str, Any]:
    truth = item.truth if site.study.practice.feedback else {}
    known = {name: value for name, value in truth.items() if name in site.study.names}
    start = _starts(site, site.study.names, f"practice/{index}")
    return {**shown(item, f"practice/{index}"), "dimensions": site.study.rated, "truth": known, "start": start}


def _slot(site: Site, slot: Any, answer: dict[str, Any]) -> dict[str, Any]:
    names = site.judge.dimensions(slot)
    view = {
        "id": slot.id,
        "done": slot.state == "done",
        "dimensions": names,
        "start": _starts(site, names, f"slot/{slot.id}"),
        "values": answer.get("values"),
    }
    if check := site.study.find_check(slot.item) if slot.role == "check" else None:
        return view | {"media": "check", "text": check.text}
    item = site.catalogue.find(slot.item)
    if item is not None and item.together:
        return view | _set(site, slot.id, item.together, answer)
    return view | (shown(item, f"media/{slot.id}") if item else {})


def _set(site: Site, slot_id: int, together: tuple[Item, ...], answer: dict[str, Any]) -> dict[str, Any]:
    """Items to compare, from left to right: as they were when answered, else the same at every reload."""
    places = list(schema.PLACES[: len(together)])
    drawn = Random(f"{site.study.seed}/slot/{slot_id}/left")
    if len(places) == 2:
        left = answer.get("left") or places[drawn.random() < 0.5]
        names, order = [left, *(one for one in places if one != left)], {"left": left}
    else:
        names = answer.get("order") or drawn.sample(places, len(places))
        order = {"order": names}
    items = dict(zip(places, together, strict=True))
    return {"media": "set", **order, "sides": [shown(items[name], f"media/{slot_id}/{name}") for name in names]}


def _starts(site: Site, names: list[str], where: str) -> dict[str, float]:
    sliders = [one for one in site.study.asked if one.kind == "slider" and one.name in names]
    return {slider.name: _start(slider, site.study.seed, where) for slider in sliders}


def _start(dimension: Dimension, seed: int, where: str) -> float:
    """Where the untouched handle stands: always the same for a slot, so that a reload does not move it."""
    share = Random(f"{seed}/{where}/{dimension.name}").random() if dimension.start == "random" else 0.5
    steps = round(share * (dimension.max - dimension.min) / dimension.step)
    return min(dimension.max, round(dimension.min + steps * dimension.step, 10))


def _full(connection: Connection, site: Site) -> dict[str, Any]:
    """No place: for good, or until somebody who has left has been waited for. Minutes are None where it is for good."""
    over = site.is_over(connection)
    wait = free_in(connection, site.patience, now_ms())
    code = site.study.raters.full_code
    back = PROLIFIC.format(code=code) if code and site.study.raters.source == "prolific" else ""
    return {"minutes": None if over else max(1, ceil(wait / 60_000)), "code": code, "return_url": back}


def _finish(site: Site, row: Any) -> dict[str, Any]:
    code = site.study.raters.completion_code or site.keys.code(row.name)
    extra = msgspec.json.decode(row.extra, type=dict[str, str])
    back = site.study.raters.return_url.replace("{code}", code).replace("{id}", quote(row.outside or "", safe=""))
    if site.study.raters.source == "prolific" and not back:
        back = PROLIFIC.format(code=code)
    return {"code": code, "return_url": back, "submit": mturk_submit(extra)}


def mturk_submit(extra: dict[str, str]) -> dict[str, str] | None:
    """Where MTurk wants to be told; only MTurk itself is believed to be MTurk."""
    target = urlsplit(extra.get("turkSubmitTo", ""))
    if target.scheme != "https" or target.netloc not in guard.MTURK_HOSTS:
        return None
    return {"url": f"https://{target.netloc}/mturk/externalSubmit", "assignment": extra.get("assignmentId", "")}

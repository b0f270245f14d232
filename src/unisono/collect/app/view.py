"""What a rater's browser is told: the study without its secrets, the rater's way, and what is done of it.

References look like items: roles, names and truth stay here, and media are addressed by slot.
"""

from __future__ import annotations

from math import ceil
from random import Random
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from sqlalchemy import Connection

from unisono.collect.app.context import Site, now_ms, prose
from unisono.collect.app.guard import MTURK_HOSTS
from unisono.collect.store import assign, raters, reading
from unisono.collect.store.assign import free_in
from unisono.collect.store.log import too_many_broken
from unisono.collect.store.reading import replies_of
from unisono.collect.studies import Dimension, Item
from unisono.collect.studies.choices import pages_due
from unisono.collect.studies.schema import LEAST, PLACES

PROLIFIC = "https://app.prolific.com/submissions/complete?cc={code}"


def rater_view(connection: Connection, site: Site, rater_id: int) -> dict[str, Any]:
    """Everything a browser needs to go on where the rater stopped."""
    row = raters.by_id(connection, rater_id)
    if row.state == "left":
        assign.reclaim(connection, rater_id, site.plan)
        raters.touch(connection, rater_id, now_ms())
        row = raters.by_id(connection, rater_id)
    past = reading.payloads_of(connection, rater_id, ("step", "comment"))
    steps = [msgspec.json.decode(done.payload)["name"] for done in past if done.kind == "step"]
    rated = reading.latest(connection, "rating", rater_id)
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
        "due": pages_due(site.study, pages, replies),
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
        "unlike": {name: name + LEAST for name in study.rated if name + LEAST in study.answered},
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
    places = list(PLACES[: len(together)])
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
    if target.scheme != "https" or target.netloc not in MTURK_HOSTS:
        return None
    return {"url": f"https://{target.netloc}/mturk/externalSubmit", "assignment": extra.get("assignmentId", "")}

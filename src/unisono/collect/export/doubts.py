"""What makes it doubtful that a rater did the work: what the server saw, beside what the browser said.

A doubt is a reason to look before paying, and no verdict: a slow line or a broken file can look like it. Beside it,
what raters sat at, as their pages said, and how often and how long what plays stood still because nothing had arrived.

Pages come one after another, so a page cannot have been looked at for longer than since the page before was answered.
Answers wait in the browser while the connection is down, and then arrive together: of such a delivery the server knows
how long all of it can have taken, and shares that among its pages as they claim.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading

# Requests that follow one another faster than this are one delivery: nobody answers page upon page in less.
_DELIVERY_MS = 1000
# Seconds. It takes a person longer than this to answer a sight or a sound at all, before any judgement.
FASTEST = 0.2


class Visit(NamedTuple):
    """One page, from when it was there until it was answered."""

    event_id: int
    rater_id: int
    slot_id: int
    claimed: float  # seconds, as the browser says; of a trace, as long as the recording played
    confirmed: float  # seconds, as far as the server can tell
    # Came within half of the time that it claims after what came before it.
    together: bool


class Spent(NamedTuple):
    """The pages of one rater together, each with all its visits: corrections make no page more."""

    pages: int = 0
    claimed: float = 0.0
    confirmed: float = 0.0
    median: float | None = None
    together: int = 0
    # Pages of whose claimed time less than half is possible.
    impossible: int = 0
    # Pages answered before anybody can have reacted to what was there.
    instant: int = 0

    @property
    def percent(self) -> float | None:
        """How much of the claimed time is confirmed."""
        return 100 * self.confirmed / self.claimed if self.claimed > 0 else None


def visits(connection: Connection) -> list[Visit]:
    """All of them, by rater in the order in which they arrived."""
    found: list[Visit] = []
    for _, rows in groupby(reading.page_ends(connection), key=lambda row: row.rater_id):
        before = None
        for delivery in _deliveries(list(rows)):
            found += _visits(delivery, delivery[0].stored_at if before is None else before)
            before = delivery[-1].stored_at
    return found


def spent(found: Sequence[Visit]) -> dict[int, Spent]:
    """What each rater's visits come to."""
    by_rater = groupby(found, key=lambda one: one.rater_id)
    return {rater_id: _spent(_pages(rows)) for rater_id, rows in by_rater}


def _pages(rows: Iterable[Visit]) -> list[Visit]:
    """One visit per page: whoever corrects an answer has looked again, at the same page."""
    found: dict[int, Visit] = {}
    for row in rows:
        first = found.get(row.slot_id)
        if first is not None:
            row = first._replace(claimed=first.claimed + row.claimed, confirmed=first.confirmed + row.confirmed)
        found[row.slot_id] = row
    return list(found.values())


def _spent(pages: list[Visit]) -> Spent:
    confirmed = [one.confirmed for one in pages]
    return Spent(
        len(pages),
        sum(one.claimed for one in pages),
        sum(confirmed),
        median(confirmed),
        sum(one.together for one in pages),
        sum(one.confirmed < one.claimed / 2 for one in pages),
        sum(seconds < FASTEST for seconds in confirmed),
    )


def _deliveries(rows: list[Any]) -> Iterator[list[Any]]:
    """What arrived in one go."""
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or rows[at].stored_at - rows[at - 1].stored_at >= _DELIVERY_MS:
            yield rows[start:at]
            start = at


def _visits(delivery: list[Any], before: int) -> Iterator[Visit]:
    claims = [_claimed(row) for row in delivery]
    possible = (delivery[-1].stored_at - before) / 1000
    share = min(1.0, possible / sum(claims)) if sum(claims) > 0 else 1.0
    last = before
    for row, claimed in zip(delivery, claims, strict=True):
        if row.kind in reading.ANSWERS:
            gap = (row.stored_at - last) / 1000
            yield Visit(row.id, row.rater_id, row.slot_id, claimed, share * claimed, gap < claimed / 2)
        last = row.stored_at


def _claimed(row: Any) -> float:
    if row.kind not in reading.ANSWERS:
        return 0.0
    data = msgspec.json.decode(row.payload)
    return float(data["shown_ms"]) / 1000 if row.kind == "rating" else float(data["seconds"])


class Evidence(NamedTuple):
    """What the server knows of how one rater's pages were done."""

    answered: int
    # Said to be broken, though others could answer them or nobody else says so.
    broken_alone: int = 0
    # Attention checks that were got round.
    checks_skipped: int = 0
    # Answered, though their file was never asked for.
    unseen: int = 0
    # How long the pages took.
    time: Spent = Spent()


class Limits(NamedTuple):
    """How much of it is still no doubt."""

    # Percent of the rater's pages.
    most_broken: float = 10.0
    # Percent of the answered pages.
    most_unseen: float = 10.0
    # Percent of the claimed time that the server has to be able to confirm.
    least_confirmed: float = 50.0
    # Percent of pages that may come in one go with others: after an outage, but also from a script.
    most_together: float = 50.0
    # Percent of pages that may be faster than anybody is, or whose claimed time may be impossible, one in any case: a
    # line that is now slow and now fast makes few such pages, and a rater may press Enter too soon.
    most_hasty: float = 20.0


def doubts(seen: Evidence, limits: Limits) -> list[str]:
    """The doubts about one rater, in words."""
    found = []
    pages = seen.answered + seen.broken_alone
    if 100 * seen.broken_alone > limits.most_broken * pages:
        found.append(f"{seen.broken_alone} of {pages} pages said to be broken, by this rater alone")
    if seen.checks_skipped:
        found.append(f"attention checks got round: {seen.checks_skipped}")
    if 100 * seen.unseen > limits.most_unseen * seen.answered:
        found.append(f"{seen.unseen} of {seen.answered} pages answered unseen: their files were never asked for")
    return found + _about_time(seen.time, limits)


def _about_time(time: Spent, limits: Limits) -> list[str]:
    found = []
    if time.percent is not None and time.percent < limits.least_confirmed:
        found.append(f"claims {time.claimed:.1f} seconds, of which {time.confirmed:.1f} are possible")
    if time.pages > 1 and 100 * time.together > limits.most_together * time.pages:
        found.append(f"{time.together} of {time.pages} pages came in one go with others")
    most_hasty = max(1, limits.most_hasty * time.pages / 100)
    if time.impossible > most_hasty and not found:
        found.append(f"{time.impossible} of {time.pages} pages claim times that are not possible")
    if time.instant > most_hasty:
        found.append(
            f"{time.instant} of {time.pages} pages in less than {FASTEST:g} seconds, faster than anybody reacts"
        )
    return found


# In this order: most browsers also name those that they descend from.
_BROWSERS = (
    ("Edge", r"Edg(?:A|iOS)?/(\d+)"),
    ("Opera", r"OPR/(\d+)"),
    ("Samsung Internet", r"SamsungBrowser/(\d+)"),
    ("Firefox", r"(?:Firefox|FxiOS)/(\d+)"),
    ("Chrome", r"(?:Chrome|CriOS)/(\d+)"),
    ("Safari", r"Version/(\d+).*Safari/"),
)


class Device(NamedTuple):
    """What one page said of where it is shown."""

    browser: str
    kind: str
    screen: str
    window: str


class Devices:
    """What every rater said, in the order in which it was said within a tab."""

    def __init__(self, connection: Connection) -> None:
        self._by_tab: dict[tuple[int, str], list[tuple[int, Device]]] = {}
        self._last: dict[int, Device] = {}
        for row in reading.events(connection, "device", order=("rater_id", "sent_at", "tab", "seq")):
            device = _device(row.payload)
            self._by_tab.setdefault((row.rater_id, row.tab), []).append((row.seq, device))
            self._last[row.rater_id] = device
        for said in self._by_tab.values():
            said.sort(key=lambda one: one[0])

    def last(self, rater_id: int) -> Device | None:
        """The newest of a rater."""
        return self._last.get(rater_id)

    def at(self, rater_id: int, tab: str, seq: int) -> Device | None:
        """That of a tab as it was when it sent its event `seq`."""
        said = self._by_tab.get((rater_id, tab), [])
        place = bisect([one for one, _ in said], seq)
        return said[place - 1][1] if place else None


def browser_of(agent: str) -> str:
    """`Firefox 128` in what a browser says of itself; nothing for one that is not known."""
    found = ((name, re.search(pattern, agent)) for name, pattern in _BROWSERS)
    return next((f"{name} {match[1]}" for name, match in found if match), "")


def kind_of(agent: str, touch: bool) -> str:
    """phone, tablet or computer."""
    if "Mobi" in agent and "iPad" not in agent:
        return "phone"
    # A tablet of Apple calls itself a computer, and is the only such computer that fingers touch.
    is_tablet = re.search(r"iPad|Android|Tablet", agent) or ("Macintosh" in agent and touch)
    return "tablet" if is_tablet else "computer"


def _device(payload: str) -> Device:
    said = msgspec.json.decode(payload)
    screen, window = ("x".join(f"{side:g}" for side in said[name]) for name in ("screen", "window"))
    return Device(browser_of(said["agent"]), kind_of(said["agent"], said["touch"]), screen, window)


class Stalled(NamedTuple):
    """All stalls of one rater."""

    times: int = 0
    seconds: float = 0.0


def stalls(connection: Connection) -> dict[int, Stalled]:
    """Of traces from the notes that came with them, of ratings from what they say themselves."""
    found: dict[int, Stalled] = {}
    for row in reading.notes(connection):
        data = msgspec.json.decode(row.payload)
        if data["name"] == "stall":
            _add(found, row.rater_id, 1, data.get("lasted_ms", 0))
    for row in reading.latest(connection, "rating"):
        data = msgspec.json.decode(row.payload)
        if data.get("stalls"):
            _add(found, row.rater_id, data["stalls"], data.get("stalled_ms", 0))
    return found


def _add(found: dict[int, Stalled], rater_id: int, times: int, ms: float) -> None:
    before = found.get(rater_id, Stalled())
    found[rater_id] = Stalled(before.times + times, before.seconds + ms / 1000)

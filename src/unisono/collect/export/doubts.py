"""What makes it doubtful that a rater did the work: what the server saw, beside what the browser said.

A doubt is a reason to look before paying, and no verdict: a slow line or a broken file can look like it. Beside it,
what raters sat at, as their pages said, and how often and how long what plays stood still because nothing had arrived.
"""

from __future__ import annotations

import re
from bisect import bisect
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.export.times import FASTEST, Spent
from unisono.collect.store import reading


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
        for row in reading.devices(connection):
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

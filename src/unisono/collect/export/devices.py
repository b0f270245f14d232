"""What raters sat at: browser, kind of device, screen and window, as their pages said."""

from __future__ import annotations

import re
from bisect import bisect
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection

from unisono.collect.store import reading

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

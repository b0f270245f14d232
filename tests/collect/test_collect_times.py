"""Seconds that the server believes: claims beside arrivals, honest raters with bad lines left in peace."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from unisono.collect.export import times
from unisono.collect.export.doubts import Evidence, Limits, doubts


def end(arrived: float, seconds: float | None = None, kind: str = "rating") -> Any:
    """Something that ended a page: when it came in, and how long the page claims to have been there."""
    if seconds is None:
        return SimpleNamespace(id=1, rater_id=1, kind="consent", slot_id=None, stored_at=1000 * arrived, payload="{}")
    payload = {"shown_ms": 1000 * seconds} if kind == "rating" else {"seconds": seconds}
    known = {"id": 1, "rater_id": 1, "kind": kind, "slot_id": 7, "stored_at": 1000 * arrived}
    return SimpleNamespace(**known, payload=json.dumps(payload))


def seen(monkeypatch: pytest.MonkeyPatch, *ends: Any) -> times.Spent:
    monkeypatch.setattr(times.reading, "page_ends", lambda connection: [end(0), *ends])
    return times.spent(times.visits(None))[1]  # type: ignore[arg-type]


def doubted(found: times.Spent) -> list[str]:
    return doubts(Evidence(found.pages, time=found), Limits())


def test_one_page_after_another_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = seen(monkeypatch, end(5, 4), end(9, 4), end(14, 4))
    assert (found.claimed, found.confirmed, found.median, found.together) == (12, 12, 4, 0)
    assert doubted(found) == []


def test_no_page_took_longer_than_since_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    found = seen(monkeypatch, end(2, 6), end(4, 6), end(6, 6))
    assert (found.confirmed, found.median) == (6, 2)
    assert "claims 18.0 seconds, of which 6.0 are possible" in doubted(found)
    # Instructions and breaks end pages too: their time is not that of an item.
    late = seen(monkeypatch, end(60), end(61, 6), end(62, 6))
    assert late.confirmed == 2


def test_what_waited_for_the_line_is_believed_as_far_as_it_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six pages that were answered while the line was down arrive together; the rest came one by one."""
    online = [end(5 * n, 4) for n in range(1, 9)]
    queue = [end(100, 5) for _ in range(3)] + [end(100.2, 5) for _ in range(3)]
    found = seen(monkeypatch, *online, *queue)
    assert found.confirmed == pytest.approx(found.claimed)
    assert doubted(found) == []
    # Had all of them come like that, somebody would have to look.
    assert found.together == 5
    assert doubted(seen(monkeypatch, *queue)) == ["5 of 6 pages came in one go with others"]


def test_traces_take_as_long_as_they_play(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen(monkeypatch, end(61, 60, "pass"), end(122, 60, "pass")).median == 60
    assert seen(monkeypatch, end(15, 60, "pass"), end(30, 60, "pass")).median == 15


def test_a_delayed_answer_costs_nobody_the_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    found = seen(monkeypatch, end(9, 4), end(10.5, 4), end(14, 4), end(18, 4))
    assert found.confirmed == pytest.approx(4 + 1.5 + 3.5 + 4)
    assert doubted(found) == []

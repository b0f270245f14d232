"""Seconds that the server believes: claims beside arrivals, honest raters with bad lines left in peace."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace
from typing import Any

import pytest

from unisono.collect.export import doubts as times
from unisono.collect.export.doubts import Evidence, Limits, doubts

_PAGES = itertools.count()


def end(arrived: float, seconds: float | None = None, kind: str = "rating", page: int | None = None) -> Any:
    """Something that ended a page, one of its own or that one: when it came in, and how long the page claims."""
    if seconds is None:
        return SimpleNamespace(id=1, rater_id=1, kind="consent", slot_id=None, stored_at=1000 * arrived, payload="{}")
    payload = {"shown_ms": 1000 * seconds} if kind == "rating" else {"seconds": seconds}
    slot_id = next(_PAGES) if page is None else page
    known = {"id": 1, "rater_id": 1, "kind": kind, "slot_id": slot_id, "stored_at": 1000 * arrived}
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


def test_corrections_make_no_page_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """One page is answered again and again, at leisure, and the others in one go."""
    slowly = [end(5 * n, 5, page=-1) for n in range(1, 20)]
    found = seen(monkeypatch, *slowly, *(end(96, 5) for _ in range(9)))
    assert (found.pages, found.together, found.impossible) == (10, 9, 9)
    assert found.median is not None
    assert found.median < 0.2
    # Looking again at a page takes time, and does no harm.
    again = seen(monkeypatch, end(5, 5), end(10, 5, page=-1), end(15, 5), end(20, 5, page=-1))
    assert (again.pages, again.claimed, again.confirmed) == (3, 20, 20)
    assert doubted(again) == []


@pytest.mark.parametrize(
    ("claim", "said"),
    [(6, "4 of 10 pages claim times that are not possible"), (0.01, "4 of 10 pages in less than 0.2 seconds")],
)
def test_part_of_the_pages_in_no_time_is_looked_at(claim: float, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = [end(6 * n, 6) for n in range(1, 7)]
    found = doubted(seen(monkeypatch, *honest, *(end(37.5 + n / 100, claim) for n in range(4))))
    assert any(said in doubt for doubt in found)
    assert doubted(seen(monkeypatch, *honest, *(end(37.5 + n / 100, claim) for n in range(1)))) == []

"""Best-worst trials, and comparisons that are chosen by what their answers are expected to tell."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from collect_exports import exported, table
from collect_questions import PAIRS
from collect_support import Rater, collect, make_app
from command_line import unisono_here as run
from unisono.collect.studies import StudyFolder, load_study, open_folder
from unisono.collect.studies.catalogue import SEPARATOR, choose_sets
from unisono.collect.studies.schema import Compare
from unisono.errors import DataError

pytestmark = pytest.mark.slow

SETS = (
    PAIRS.replace('more joy?"', 'most joy?"\nleast = "Which has least joy?"')
    .replace('calmer?"', 'calmest?"\nleast = "Which is least calm?"')
    .replace("[items]", "[compare]\ntogether = 4\n[items]")
)
WORDS = {"first": 0, "second": 1, "third": 2, "fourth": 3}


def study(folder: Path, text: str = SETS, items: int = 9) -> StudyFolder:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(text)
    rows = "".join(f"i{n},Letter {n}.\n" for n in range(items))
    (folder / "texts.csv").write_text("item,text\n" + rows)
    return open_folder(folder)


def number(side: dict[str, Any]) -> int:
    return int(side["text"].removeprefix("Letter ").removesuffix("."))


def choose(rater: Rater, slot: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Joy grows with the number of the letter, calm falls with it."""
    shown = [number(side) for side in slot["sides"]]
    most, least = ("ABCDEF"[shown.index(end(shown))] for end in (max, min))
    said = {"joy": most, "joy least": least, "calm": least, "calm least": most} | changed.pop("values", {})
    event = rater.event("rating", slot=slot["id"], values=said, start={}, shown_ms=2500, order=slot["order"])
    receipt: dict[str, Any] = rater.send({**event, **changed}).json()
    return receipt


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_everybody_meets_as_many_others_and_none_twice(n: int) -> None:
    names = [f"i{number}" for number in range(41)]
    sets = choose_sets(names, Compare(together=n, partners=n * (n - 1)), 1, "s")
    assert len(sets) == 41
    assert set(Counter(place for one in sets for place in one).values()) == {n}
    met = Counter(frozenset((a, b)) for one in sets for a in one for b in one if a < b)
    assert set(met.values()) == {1}
    reached, new = {0}, {0}
    while new:
        new = {b for one in sets if new & set(one) for b in one} - reached
        reached |= new
    assert len(reached) == 41
    # As many items as a set has are one set; fewer are refused.
    assert choose_sets(names[:n], Compare(together=n), 1, "s") == [tuple(range(n))]
    with pytest.raises(DataError, match="a comparison takes"):
        choose_sets(names[: n - 1], Compare(together=n), 1, "s")


def test_most_and_least_are_exported_as_they_were_shown_and_fused(tmp_path: Path) -> None:
    folder = study(tmp_path / "study")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        orders = set()
        for _ in range(3):
            rater = Rater.join(client, f"tab0000{_}")
            assert len(rater.slots) == 9
            for slot in rater.slots:
                assert choose(rater, slot)["rejected"] == []
                orders.add(tuple(slot["order"]))
            again = Rater(client, rater.link, f"tab0001{_}")
            again.look()
            assert [slot["order"] for slot in again.slots] == [slot["order"] for slot in rater.slots]
            assert rater.do("finish")["rejected"] == []
    assert len(orders) > 10  # of 24
    out = exported(folder, tmp_path / "out")
    rows = table(out / "comparisons.csv")
    items = [f"item_{n}" for n in range(1, 5)]
    assert list(rows[0]) == ["annotator", *items, "dimension", "best", "worst", "seconds", "time"]
    for row in rows:
        shown = [row[item] for item in items]
        ends = (max(shown), min(shown)) if row["dimension"] == "joy" else (min(shown), max(shown))
        assert (row["best"], row["worst"]) == ends
    trials = table(out / "trials.csv")
    assert {"joy", "joy least", "by_joy least"} <= set(trials[0])
    found = run("fuse", folder.path, "--out", tmp_path / "fused")
    assert found.returncode == 0, found.stderr
    truth = table(tmp_path / "fused" / "truth.csv")
    joy, calm = ([float(row[name]) for row in truth] for name in ("joy", "calm"))
    assert np.corrcoef(joy, range(9))[0, 1] > 0.95
    assert np.corrcoef(calm, range(9))[0, 1] < -0.95
    assert "best and worst" in run("check", folder.path).stdout


WRONG = [
    ({"values": {"joy least": "A", "joy": "A"}}, "joy cannot be most and least of the same one"),
    ({"values": {"joy": "E"}}, "joy must be one of A, B, C, D"),
    ({"values": {"joy": "left"}}, "joy must be one of A, B, C, D"),
    ({"order": ["first", "second", "third"]}, "the order has to name every item once"),
    ({"order": ["first", "first", "second", "third"]}, "the order has to name every item once"),
    ({"left": "first"}, "only comparisons have a left side"),
]


@pytest.mark.parametrize(("changed", "why"), WRONG, ids=[why for _, why in WRONG])
def test_what_cannot_be_is_refused(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    with TestClient(make_app(study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        receipt = choose(rater, rater.slots[0], **changed)
        assert receipt["acked"] == []
        assert why in receipt["rejected"][0]["why"]


BROKEN = [
    ("together = 4", "together = 7", ["compare.together is 7", "Show 2 to 6"]),
    ('least = "Which has least joy?"', "", ["dimensions[1].least", "least of it"]),
    ("together = 4", "together = 2", ["dimensions[1].least", "three items or more"]),
    ("together = 4", 'together = 4\nchosen = "random"', ["compare.chosen", "evenly"]),
]


@pytest.mark.parametrize(("found", "instead", "said"), BROKEN, ids=[said[0] for _, _, said in BROKEN])
def test_a_wrong_declaration_is_said(tmp_path: Path, found: str, instead: str, said: list[str]) -> None:
    assert found in SETS
    (tmp_path / "study.toml").write_text(SETS.replace(found, instead, 1))
    with pytest.raises(DataError) as caught:
        load_study(tmp_path / "study.toml")
    for part in said:
        assert part in str(caught.value)


NEXT = PAIRS.replace("[items]", '[compare]\nchosen = "next"\n[design]\nitems_per_rater = 4\n[items]')


def compare(rater: Rater, slot: dict[str, Any]) -> None:
    """Who is told by number: large differences are clear."""
    one, other = (number(side) for side in slot["sides"])
    side = "left" if one > other else "right"
    event = rater.event(
        "rating", slot=slot["id"], values={"joy": side, "calm": side}, start={}, shown_ms=2500, left=slot["left"]
    )
    assert rater.send(event).json()["rejected"] == []


def test_who_comes_next_gets_the_pairs_that_tell_most(tmp_path: Path) -> None:
    folder = study(tmp_path / "study", NEXT, 8)
    assert "Nothing has been compared yet" in collect("quality", folder.path).stdout
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        for turn in range(6):
            rater = Rater.join(client, f"tab0000{turn}")
            for slot in rater.slots:
                compare(rater, slot)
        order = [one["name"] for one in json.loads(collect("quality", folder.path, "--json").stdout)["next"]]
        assert sorted(order) == sorted(item.name for item in folder.catalogue.items)
        # Every item in one pair before one comes again.
        assert len({name for pair in order[:4] for name in pair.split(SEPARATOR)}) == 8
        first, second = Rater.join(client, "tab00010"), Rater.join(client, "tab00011")
        given = [
            {SEPARATOR.join(sorted(f"i{number(side)}" for side in slot["sides"])) for slot in one.slots}
            for one in (first, second)
        ]
        assert given[0] == set(order[:4])
        assert given[1] == set(order[4:8])  # what others have before them is not asked again
        assert order[0] in collect("quality", folder.path).stdout
        figures = json.loads(collect("quality", folder.path, "--json").stdout)
        assert (figures["kind"], figures["judgements"], figures["too_early"]) == ("comparisons", 24, "")
        assert [row["name"] for row in figures["dimensions"]] == ["joy", "calm"]
        ranked = [int(row["item"].strip("i")) for row in figures["truth"]]
        assert np.corrcoef(ranked, range(8))[0, 1] < -0.8  # the highest first
        assert all(row["above"] >= 0.5 for row in figures["truth"][:-1])
        assert "above the next" in collect("quality", folder.path).stdout
    evenly = collect("quality", study(tmp_path / "other", PAIRS, 8).path, "--json").stdout
    assert "next" not in json.loads(evenly)


def test_a_server_chooses_by_itself(tmp_path: Path) -> None:
    folder = study(tmp_path / "study", NEXT, 8)
    app = make_app(folder)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        for slot in rater.slots:
            compare(rater, slot)
        for _ in range(600):
            figures = app.state.site.next.look(0)["figures"]
            if figures is not None:
                break
            time.sleep(0.1)
        assert figures["judgements"] >= 2
        other = Rater.join(client, "tab00001")
        given = {SEPARATOR.join(sorted(f"i{number(side)}" for side in slot["sides"])) for slot in other.slots}
        assert given == {one["name"] for one in figures["next"][:4]}

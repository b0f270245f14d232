"""Comparisons: which pairs are made, what is taken for an answer, and what comes out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from collect_exports import exported, table
from collect_questions import PAIRS, pair_study
from collect_support import Rater, collect, make_app, make_site
from command_line import unisono_here as run
from unisono.collect.app.build import build
from unisono.collect.store.database import Database
from unisono.collect.store.raters import set_excluded
from unisono.collect.studies import load_study, open_folder
from unisono.collect.studies.catalogue import choose_sets
from unisono.collect.studies.schema import Compare
from unisono.errors import DataError

pytestmark = pytest.mark.slow


def compare(rater: Rater, slot: dict[str, Any], **values: Any) -> dict[str, Any]:
    said = {"joy": "left", "calm": "tie"} | values
    left = {"left": slot["left"]} if "left" in slot else {}
    event = rater.event("rating", slot=slot["id"], values=said, start={}, shown_ms=2500, **left)
    answer = rater.send(event)
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


def shown(slot: dict[str, Any]) -> list[str]:
    return [side["text"] for side in slot["sides"]]


@pytest.mark.parametrize("partners", [2, 3, 4, 8])
def test_everybody_has_as_many_partners_and_all_are_connected(partners: int) -> None:
    names = [f"i{number}" for number in range(21)]
    pairs = choose_sets(names, Compare(partners=partners), 1, "s")
    counts = Counter(place for pair in pairs for place in pair)
    assert set(counts.values()) == {partners + partners % 2}
    assert all(first < second for first, second in pairs)
    reached, new = {0}, {0}
    while new:
        new = {b for pair in pairs for a, b in (pair, pair[::-1]) if a in new} - reached
        reached |= new
    assert len(reached) == 21
    assert pairs != choose_sets(names, Compare(partners=partners), 2, "s")


def test_one_more_item_changes_the_pairs_beside_it_alone() -> None:
    names = [f"i{number}" for number in range(40)]
    before = {(names[a], names[b]) for a, b in choose_sets(names, Compare(partners=4), 1, "s")}
    more = [*names, "new"]
    after = {(more[a], more[b]) for a, b in choose_sets(more, Compare(partners=4), 1, "s")}
    assert len(before - after) <= 3
    assert sum("new" in pair for pair in after) == 4


def test_few_items_meet_all_others_and_too_many_are_refused() -> None:
    assert len(choose_sets("abcd", Compare(), 1, "s")) == len(choose_sets("abcd", Compare(partners=3), 1, "s")) == 6
    with pytest.raises(DataError, match=r"101 items make 5050 pairs\. Set compare\.partners"):
        choose_sets([str(number) for number in range(101)], Compare(), 1, "s")
    with pytest.raises(DataError, match="there are 1 items to compare"):
        choose_sets(["a"], Compare(), 1, "s")
    with pytest.raises(DataError, match="hard to name in a pair"):
        choose_sets(["a", "b ↔ c"], Compare(), 1, "s")


WRONG = [
    ({"joy": "first"}, {}, "joy must be one of left, tie, right"),
    ({"joy": 1}, {}, "joy must be one of"),
    ({"joy": "a"}, {}, "joy must be one of"),
    ({"calm": "left", "other": "left"}, {}, "every dimension needs exactly one value"),
    ({}, {"left": None}, "only comparisons have a left side, and all of them"),
]


@pytest.mark.parametrize(("values", "fields", "why"), WRONG, ids=[str(one[:2]) for one in WRONG])
def test_an_answer_that_was_not_offered_is_refused(
    tmp_path: Path, values: dict[str, Any], fields: dict[str, Any], why: str
) -> None:
    with TestClient(make_app(pair_study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        slot = {key: value for key, value in rater.slots[0].items() if key not in fields}
        receipt = compare(rater, slot, **values)
        assert receipt["acked"] == []
        assert why in receipt["rejected"][0]["why"]
        event = rater.event("rating", slot=slot["id"], values={"joy": "left"}, start={}, shown_ms=1, left="middle")
        assert rater.send(event).status_code == 422


def test_what_was_left_is_left_in_the_export(tmp_path: Path, database_url: str) -> None:
    folder = pair_study(tmp_path / "study")
    texts = {item.text: item.name for item in folder.catalogue.members}
    said: list[tuple[str, str, str, str]] = []
    with TestClient(build(make_site(folder, database_url)), base_url="http://127.0.0.1") as client:
        for number in range(4):
            rater = Rater.join(client, f"tab0000{number}")
            assert len(rater.slots) == 3
            for slot in rater.slots:
                names = [texts[text] for text in shown(slot)]
                answer = "left" if names[0] < names[1] else "right"
                assert compare(rater, slot, joy=answer, why="=1")["rejected"] == []
                if number != 1:
                    said.append((f"r{number + 1:04d}", *names, answer))
            assert rater.do("finish")["rejected"] == []
    database = Database(database_url)
    with database.write() as connection:
        set_excluded(connection, 2, True, 1)
    database.close()
    out = exported(folder, tmp_path / "out", database_url)
    rows = table(out / "comparisons.csv")
    assert list(rows[0]) == ["annotator", "left", "right", "dimension", "answer", "seconds", "time"]
    joy = [(row["annotator"], row["left"], row["right"], row["answer"]) for row in rows if row["dimension"] == "joy"]
    assert joy == said
    # Both sides of a pair come first now and then, and the answers follow the items.
    assert {row[3] for row in said} == {"left", "right"}
    assert {row["answer"] for row in rows if row["dimension"] == "calm"} == {"tie"}
    assert rows[0]["seconds"] == "2.5"
    assert rows[0]["time"].endswith("+00:00")
    assert not (out / "ratings.csv").exists()
    assert {row["why"] for row in table(out / "remarks.csv")} == {"'=1"}


def test_a_pair_stays_as_it_was_shown_whatever_is_edited(tmp_path: Path) -> None:
    folder = pair_study(tmp_path / "study", "[compare]\npartners = 2\n")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        before = [shown(slot) for slot in rater.slots]
        compare(rater, rater.slots[0])
    (folder.path / "study.toml").write_text("seed = 99\n" + (folder.path / "study.toml").read_text())
    with (folder.path / "texts.csv").open("a") as stream:
        stream.write("d,New.\ne,Newer.\n")
    folder = open_folder(folder.path)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        again = Rater(client, rater.link, "tab00002")
        again.look()
        # The same pairs, also those that would not be made any more; what was answered keeps its sides.
        assert [set(shown(slot)) for slot in again.slots] == [set(texts) for texts in before]
        assert shown(again.slots[0]) == before[0]
        assert again.slots[0]["values"]["joy"] == "left"
        for slot in again.slots[1:]:
            assert compare(again, slot)["rejected"] == []
        assert again.do("finish")["rejected"] == []


def test_files_of_a_pair_are_found_by_slot_and_side(tmp_path: Path) -> None:
    text = PAIRS.replace('source = "table"', 'source = "files"\nmedia = "image"')
    (tmp_path / "study" / "media").mkdir(parents=True)
    for name in "ab":
        (tmp_path / "study" / "media" / f"{name}.png").write_bytes(name.encode())
    folder = pair_study(tmp_path / "study", text=text)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater, other = Rater.join(client), Rater.join(client, "tab00001")
        (slot,) = rater.slots
        urls = [side["url"] for side in slot["sides"]]
        assert sorted(urls) == [f"media/{slot['id']}/first", f"media/{slot['id']}/second"]
        assert client.get(f"{rater.link}/media/{slot['id']}/first").content == b"a"
        assert client.get(f"{rater.link}/media/{slot['id']}/second").content == b"b"
        for path in (f"media/{slot['id']}", f"media/{slot['id']}/third", f"media/{slot['id']}/first/x"):
            assert client.get(f"{rater.link}/{path}").status_code == 404
        assert client.get(f"{other.link}/media/{slot['id']}/first").status_code == 404
        # Gone with one of its files, the pair holds nobody up.
        (folder.path / "media" / "a.png").unlink()
        assert rater.look()["slots"] == []


def test_checks_know_sides_and_the_estimate_counts_pairs(tmp_path: Path) -> None:
    check = '[[checks]]\nafter = 1\ntext = "Say B."\nexpected = { joy = "right" }\n'
    folder = pair_study(tmp_path / "study", check)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        for slot in rater.slots:
            assert compare(rater, slot, joy="right")["rejected"] == []
        rater.do("finish")
    (row,) = table(exported(folder, tmp_path / "out") / "raters.csv")
    assert (row["checks_passed"], row["pages_done"]) == ("1", "4")
    assert len(table(tmp_path / "out" / "comparisons.csv")) == 6
    found = json.loads(collect("check", folder.path, "--json").stdout)
    assert (found["items"], found["compared"], found["pages_per_rater"]) == (3, 3, 4)
    assert "3 pairs of 3 items" in collect("check", folder.path).stdout
    status = json.loads(collect("status", folder.path, "--json").stdout)
    assert [item["name"] for item in status["items"]] == ["a ↔ b", "a ↔ c", "b ↔ c"]
    worth = json.loads(collect("quality", folder.path, "--json").stdout)
    assert (worth["items"], worth["raters"]) == (3, 1)
    assert "two raters" in worth["too_early"]


BROKEN = [
    ("[items]", "[compare]\npartners = -1\n[items]", ["compare.partners is -1"]),
    ("[items]", "[compare]\npartner = 1\n[items]", ["compare.partner is not known", "Did you mean 'partners'?"]),
    ("[items]", '[reference]\nitems = ["a"]\n[items]', ["reference is ['a']", "no hidden references"]),
    ("[items]", '[practice]\nitems = ["a"]\n[items]', ["practice is ['a']", "not practised"]),
    ("[items]", '[[pads]]\nx = "joy"\ny = "calm"\n[items]', ["pads", "no pad"]),
    ('name = "calm"', 'name = "calm"\nkind = "likert"\nchoices = ["a", "b"]', ["dimensions[2].kind is 'likert'"]),
    (
        "[items]",
        '[[checks]]\nafter = 1\ntext = "t"\nexpected = { joy = "A" }\n[items]',
        ["checks[1].expected.joy is 'A'", "'left', 'tie' and 'right'"],
    ),
]


@pytest.mark.parametrize(("found", "instead", "said"), BROKEN, ids=[b[1][-30:] for b in BROKEN])
def test_a_wrong_declaration_is_said(found: str, instead: str, said: list[str], tmp_path: Path) -> None:
    assert found in PAIRS
    path = tmp_path / "study.toml"
    path.write_text(PAIRS.replace(found, instead, 1))
    with pytest.raises(DataError) as caught:
        load_study(path)
    for part in [str(path), *said]:
        assert part in str(caught.value)


def test_collected_pairs_are_fused_from_the_study_and_from_its_export(tmp_path: Path) -> None:
    """Everybody says a has more joy than b, and b more than c; on calm nobody sees a difference."""
    folder = pair_study(tmp_path / "p")
    texts = {item.text: item.name for item in folder.catalogue.members}
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        for number in range(4):
            rater = Rater.join(client, f"tab0000{number}")
            for slot in rater.slots:
                first, second = (texts[text] for text in shown(slot))
                compare(rater, slot, joy="left" if first < second else "right")
            rater.do("finish")
    out = tmp_path / "fused"
    found = run("fuse", folder.path, "--out", out)
    assert found.returncode == 0, found.stderr
    truth = {row["item"]: float(row["joy"]) for row in table(out / "truth.csv")}
    assert truth["a"] > truth["b"] > truth["c"]
    collect("export", folder.path, "--out", tmp_path / "export")
    for way in ([tmp_path / "export"], ["--comparisons", tmp_path / "export"]):
        again = run("fuse", *way)
        assert again.stdout.splitlines()[1:] == (out / "truth.csv").read_text().splitlines()[1:]
    assert "sides, one row per dimension" in run("check", folder.path).stdout

"""Likert scales, choices and free words about items: what is taken, what is refused, and what comes out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import unisono as un
from collect_exports import exported, table
from collect_questions import KINDS, question_study, reply
from collect_support import RATE_STUDY, Rater, collect, make_app, make_site
from unisono.collect.app.build import build
from unisono.collect.studies import load_study, open_folder
from unisono.errors import DataError

pytestmark = pytest.mark.slow

OLD = Path(__file__).parent.parent / "support" / "old_collect.sql"
LIKERT = 'choices = ["not at all", "", "partly", "", "very much"]'
CHOICE = 'choices = ["home", "work", "something else"]'


@pytest.fixture
def rater(tmp_path: Path, database_url: str) -> Iterator[Rater]:
    folder = question_study(tmp_path / "study")
    with TestClient(build(make_site(folder, database_url)), base_url="http://127.0.0.1") as client:
        yield Rater.join(client)


WRONG = [
    ({"topic": "garden"}, "topic must be one of home, work, something else"),
    ({"topic": 1}, "topic must be one of"),
    ({"clear": 6}, "clear must lie between 1.0 and 5.0"),
    ({"clear": 0}, "clear must lie between"),
    ({"clear": 2.5}, "clear must be a whole number"),
    ({"clear": "very much"}, "clear must be a number"),
    ({"joy": "much"}, "joy must be a number"),
    ({"joy": 101}, "joy must lie between"),
    ({"remark": 5}, "remark must be text"),
    ({"clear": None}, "every dimension needs exactly one value"),
    ({"other": "x"}, "every dimension needs exactly one value"),
]


@pytest.mark.parametrize(("values", "why"), WRONG, ids=[str(one[0]) for one in WRONG])
def test_an_answer_that_was_not_offered_is_refused(rater: Rater, values: dict[str, Any], why: str) -> None:
    receipt = reply(rater, rater.slots[0], **values)
    assert receipt["acked"] == []
    assert why in receipt["rejected"][0]["why"]
    assert not rater.look()["slots"][0]["done"]


def test_a_text_beyond_all_measure_and_a_start_that_is_none_are_refused(rater: Rater) -> None:
    slot = rater.slots[0]
    values: dict[str, Any] = {"joy": 5, "clear": 1, "topic": "home", "remark": "x" * 2001}
    event = rater.event("rating", slot=slot["id"], values=values, start={}, shown_ms=5)
    assert rater.send(event).status_code == 422
    event = rater.event("rating", slot=slot["id"], values=values | {"remark": "x"}, start={"clear": 1}, shown_ms=5)
    assert rater.send(event).json()["rejected"][0]["why"] == "only sliders start somewhere"
    assert rater.look()["slots"][0]["values"] is None


def test_answers_come_back_after_a_reload_and_only_sliders_start_somewhere(rater: Rater) -> None:
    first = rater.slots[0]
    assert set(first["start"]) == {"joy"}
    said = {"joy": 5.0, "clear": 4.0, "topic": "home", "remark": "Grüße 你好 \u0000"}
    assert reply(rater, first, **said)["rejected"] == []
    assert rater.look()["slots"][0]["values"] == said
    asked = {one["name"]: one for one in rater.state["study"]["dimensions"]}
    assert asked["clear"]["choices"][0] == "not at all"
    assert (asked["topic"]["kind"], asked["remark"]["required"]) == ("choice", False)


def test_numbers_and_words_are_exported_for_fuse_and_texts_by_themselves(tmp_path: Path, database_url: str) -> None:
    folder = question_study(tmp_path / "study")
    with TestClient(build(make_site(folder, database_url)), base_url="http://127.0.0.1") as client:
        for number in range(3):
            rater = Rater.join(client, f"tab0000{number}")
            for place, (slot, topic) in enumerate(zip(rater.slots, ("home", "work", "home"), strict=True)):
                remark = "=HYPERLINK(1)" if number == 1 and topic == "work" else " " if number == 2 else None
                reply(
                    rater,
                    slot,
                    joy=(20, 0, 10)[place] + number,
                    clear=(3 * place + 2 * number) % 5 + 1,
                    topic=topic,
                    remark=remark,
                )
            assert rater.do("finish")["rejected"] == []
    out = exported(folder, tmp_path / "out", database_url)
    rows = table(out / "ratings.csv")
    assert list(rows[0]) == ["item", "annotator", "joy", "clear", "topic"]
    assert {row["clear"] for row in rows} == {"1", "2", "3", "4", "5"}
    assert {row["topic"] for row in rows} == {"home", "work"}
    (remark,) = table(out / "remarks.csv")
    assert (remark["annotator"], remark["remark"]) == ("r0002", "'=HYPERLINK(1)")
    assert list(un.read_ratings(out / "ratings.csv").dimensions) == ["joy", "clear"]
    words = un.read_categories(out / "ratings.csv", categories=["topic"])
    assert [choices.name for choices in words.dimensions] == ["topic"]


def test_checks_references_and_truth_know_words(tmp_path: Path) -> None:
    extra = '[[checks]]\nafter = 1\ntext = "Say work."\nexpected = { topic = "work", clear = 2 }\ntolerance = 0\n'
    extra += '[reference]\nevery = 1\nitems = ["c"]\n'
    text = KINDS.replace('source = "table"', 'source = "table"\ntruth = "truth.csv"')
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "truth.csv").write_text("item,clear,topic\na,2,home\nc,5,work\n")
    folder = question_study(tmp_path / "study", extra, text)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        assert [slot["dimensions"][-1] for slot in rater.slots if slot["media"] == "check"] == ["topic"]
        for slot in rater.slots:
            assert reply(rater, slot, clear=2, topic="work")["rejected"] == []
    out = exported(folder, tmp_path / "out")
    (row,) = table(out / "raters.csv")
    assert (row["checks_passed"], row["checks_failed"]) == ("1", "0")
    # Two points of four from the truth, each time; joy is as everybody says, and words have no distance.
    assert float(row["reference_error_percent"]) == pytest.approx((75 + 0) / 2)
    assert table(out / "truth.csv") == [{"item": "a", "clear": "2", "topic": "home"}]
    (tmp_path / "study" / "truth.csv").write_text("item,topic\na,garden\n")
    with pytest.raises(DataError, match=r"truth\.csv row 2: topic is 'garden'\. The choices are 'home', 'work'"):
        open_folder(folder.path)


BROKEN = [
    ('kind = "likert"', 'kind = "liker"', ["dimensions[2].kind is 'liker'", "'slider', 'likert', 'choice', 'text'"]),
    (LIKERT, "", ["dimensions[2].choices is []", "Offer at least two"]),
    (LIKERT, 'choices = ["", "", "yes"]', ["dimensions[2].choices", "both ends"]),
    (LIKERT, f"choices = {['a', *[''] * 10, 'b']}", ["at most 11 points"]),
    (CHOICE, "choices = []", ["dimensions[3].choices is []", "Offer at least two"]),
    (CHOICE, 'choices = ["home"]', ["dimensions[3].choices is ['home']", "Offer at least two"]),
    (CHOICE, 'choices = ["home", "Home "]', ["dimensions[3].choices is 'Home'", "twice"]),
    (CHOICE, 'choices = ["home", " "]', ["dimensions[3].choices is ''", "needs a word"]),
    (CHOICE, 'choices = ["home", "NA"]', ["dimensions[3].choices is 'NA'", "no answer"]),
    (CHOICE, 'choices = ["1", "2"]', ["dimensions[3].choices is '1'", 'kind = "likert"']),
    (CHOICE, f'choices = ["home", "{"x" * 61}"]', ["60 characters"]),
    (CHOICE, CHOICE + '\nanchors = ["a", "b"]', ["dimensions[3].anchors", "Only sliders"]),
    ('kind = "text"', 'kind = "text"\nchoices = ["a", "b"]', ["dimensions[4].choices", "This kind offers none"]),
    ('anchors = ["none", "a lot"]', "", ["dimensions[1].anchors is []", "both ends"]),
    ('anchors = ["none", "a lot"]', 'choices = ["a", "b"]', ["dimensions[1].choices", "Sliders have anchors"]),
    ('mode = "rate"', 'mode = "trace"', ["dimensions[2].kind is 'likert'", "Only sliders can be traced"]),
    ("[items]", '[[pads]]\nx = "joy"\ny = "clear"\n[items]', ["pads[1].y is 'clear'", "two sliders"]),
]
CHECK = '[[checks]]\nafter = 1\ntext = "t"\nexpected = EXPECTED\n[items]'
EXPECTED = [
    ('{ topic = "wrok" }', ["checks[1].expected.topic is 'wrok'", "Did you mean 'work'?"]),
    ("{ topic = 1 }", ["checks[1].expected.topic is 1.0", "The choices are"]),
    ("{ clear = 6 }", ["checks[1].expected.clear is 6.0", "1.0 to 5.0 in whole numbers"]),
    ('{ remark = "x" }', ["checks[1].expected.remark", "no free text"]),
]
ALL_BROKEN = BROKEN + [("[items]", CHECK.replace("EXPECTED", value), said) for value, said in EXPECTED]


@pytest.mark.parametrize(("found", "instead", "said"), ALL_BROKEN, ids=[f"{b[1][-30:]}" for b in ALL_BROKEN])
def test_a_wrong_declaration_is_said(found: str, instead: str, said: list[str], tmp_path: Path) -> None:
    assert found in KINDS
    path = tmp_path / "study.toml"
    path.write_text(KINDS.replace(found, instead, 1))
    with pytest.raises(DataError) as caught:
        load_study(path)
    for part in [str(path), *said]:
        assert part in str(caught.value)


def test_choices_may_not_change_under_answers_but_a_text_may_be_added(tmp_path: Path) -> None:
    folder = question_study(tmp_path / "study", text=KINDS.replace('kind = "text"', 'kind = "text"\nrequired = true'))
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        assert "every dimension" in reply(rater, rater.slots[0])["rejected"][0]["why"]
        assert "must not be empty" in reply(rater, rater.slots[0], remark=" ")["rejected"][0]["why"]
        assert reply(rater, rater.slots[0], remark="odd")["rejected"] == []
    more = KINDS.replace("[items]", '[[dimensions]]\nname = "why"\nquestion = "Why?"\nkind = "text"\n[items]')
    (folder.path / "study.toml").write_text(more)
    make_site(open_folder(folder.path)).close()
    (folder.path / "study.toml").write_text(KINDS.replace('"home", ', '"house", '))
    with pytest.raises(DataError, match="what ratings mean changed"):
        make_site(open_folder(folder.path))


def test_a_database_from_before_there_were_questions_goes_on(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    check = '\n[[checks]]\nafter = 1\ntext = "Set both to the left."\nexpected = { saturation = 0 }\n'
    (study / "study.toml").write_text(RATE_STUDY.format(per_regime=1) + check)
    with sqlite3.connect(study / "collect.db") as old:
        old.executescript(OLD.read_text())
    old.close()
    folder = open_folder(study)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        site = client.app.state.site  # type: ignore[attr-defined]
        rater = Rater(client, f"/r/{site.keys.rater_token('2c2c2efe7de0')}", "tab00009")
        assert [slot["done"] for slot in rater.look()["slots"]] == [True, False, False]
        assert rater.slots[0]["values"] == {"saturation": 1.0, "brightness": 2.0}
        rater.rate_all()
    rows = table(exported(folder, tmp_path / "out") / "ratings.csv")
    assert [row["saturation"] for row in rows] == ["99", "20", "50", "50"]
    status = json.loads(collect("status", study, "--json").stdout)
    assert [person["checks_failed"] for person in status["people"]] == [0, 1]

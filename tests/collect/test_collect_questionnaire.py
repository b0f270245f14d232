"""Questions about the raters: before the first item and after the last, checked, kept, and exported by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from collect_exports import exported, table
from collect_questions import KINDS, QUESTIONS, question_study, reply
from collect_support import Rater, make_app, make_site
from unisono.collect.app.build import build
from unisono.collect.store.database import Database
from unisono.collect.store.raters import set_excluded
from unisono.collect.studies import load_study, open_folder
from unisono.errors import DataError

pytestmark = pytest.mark.slow

BEFORE: dict[str, Any] = {"age": 33, "place": "village"}


def answer(rater: Rater, when: str, **values: Any) -> dict[str, Any]:
    said = {name: value for name, value in values.items() if value is not None}
    return rater.do("answers", when=when, values=said)


@pytest.fixture
def rater(tmp_path: Path, database_url: str) -> Iterator[Rater]:
    folder = question_study(tmp_path / "study", QUESTIONS)
    with TestClient(build(make_site(folder, database_url)), base_url="http://127.0.0.1") as client:
        yield Rater.join(client)


WRONG = [
    ("before", {"age": 17}, "age must lie between 18.0 and 120.0"),
    ("before", {"age": "old"}, "age must be a number"),
    ("before", {"age": None}, "not all questions are answered"),
    ("before", {"place": "moon"}, "place must be one of city, village"),
    ("before", {"tired": 2}, "there is no such question"),
    ("before", {"shoe": 43}, "there is no such question"),
    ("after", {"tired": 6}, "tired must lie between"),
    ("after", {"tired": 1.5}, "tired must be a whole number"),
    ("after", {"tired": 1, "guess": 3}, "guess must be text"),
]


@pytest.mark.parametrize(("when", "values", "why"), WRONG, ids=[str(one[1]) for one in WRONG])
def test_an_answer_that_was_not_offered_is_refused(rater: Rater, when: str, values: dict[str, Any], why: str) -> None:
    receipt = answer(rater, when, **((BEFORE | values) if when == "before" else values))
    assert receipt["acked"] == []
    assert why in receipt["rejected"][0]["why"]
    assert rater.look()["due"] == ["before", "after"]
    assert rater.state["replies"] == {}


def test_an_endless_text_a_third_page_and_too_many_answers_are_refused(rater: Rater) -> None:
    long = {"tired": 1, "guess": "x" * 2001}
    assert rater.send(rater.event("answers", when="after", values=long)).status_code == 422
    assert rater.send(rater.event("answers", when="during", values={})).status_code == 422
    many = {f"q{number}": 1 for number in range(41)}
    assert rater.send(rater.event("answers", when="before", values=many)).status_code == 422


def test_pages_are_due_until_they_are_sent_and_needed_to_finish(rater: Rater) -> None:
    assert rater.look()["due"] == ["before", "after"]
    assert answer(rater, "before", **BEFORE)["rejected"] == []
    assert rater.look()["due"] == ["after"]
    assert rater.state["replies"] == {"age": 33.0, "place": "village"}
    for slot in rater.slots:
        reply(rater, slot)
    assert rater.do("finish")["rejected"][0]["why"] == "not all questions are answered yet"
    # A text that nobody needs can be left out.
    assert answer(rater, "after", tired=2)["rejected"] == []
    assert rater.look()["due"] == []
    assert rater.do("finish")["rejected"] == []
    assert rater.look()["finish"]["code"]


def test_answers_are_exported_one_row_per_rater_and_not_of_the_excluded(tmp_path: Path, database_url: str) -> None:
    folder = question_study(tmp_path / "study", QUESTIONS)
    with TestClient(build(make_site(folder, database_url)), base_url="http://127.0.0.1") as client:
        for number in range(3):
            rater = Rater.join(client, f"tab0000{number}")
            answer(rater, "before", age=20, place="city")
            answer(rater, "before", age=30.5 + number, place="village")
            answer(rater, "after", tired=number + 1, guess="\n=1+1" if number else " ")
    database = Database(database_url)
    with database.write() as connection:
        set_excluded(connection, 2, True, 1)
    database.close()
    rows = table(exported(folder, tmp_path / "out", database_url) / "questionnaire.csv")
    assert list(rows[0]) == ["annotator", "age", "place", "tired", "guess"]
    assert [(row["annotator"], row["age"], row["tired"], row["guess"]) for row in rows] == [
        ("r0001", "30.5", "1", ""),
        ("r0003", "32.5", "3", "'=1+1"),
    ]


def test_questions_may_come_and_go_while_raters_are_at_work(tmp_path: Path) -> None:
    folder = question_study(tmp_path / "study", QUESTIONS)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        answer(rater, "before", **BEFORE)
        reply(rater, rater.slots[0])
    changed = QUESTIONS.replace('name = "age"', 'name = "years"')
    (folder.path / "study.toml").write_text(KINDS + changed)
    folder = open_folder(folder.path)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater(client, rater.link, "tab00002")
        assert rater.look()["due"] == ["before", "after"]
        # A page that was loaded before the change is refused, and asked anew.
        assert answer(rater, "before", **BEFORE)["rejected"][0]["why"] == "there is no such question"
        assert answer(rater, "before", years=34, place="city")["rejected"] == []
    assert table(exported(folder, tmp_path / "out") / "questionnaire.csv") == [
        {"annotator": "r0001", "years": "34", "place": "city", "tired": "", "guess": ""}
    ]
    (folder.path / "study.toml").write_text(KINDS)
    rows = table(exported(open_folder(folder.path), tmp_path / "bare") / "questionnaire.csv")
    assert rows == [{"annotator": "r0001", "place": "city", "years": "34"}]


def test_final_answers_stay_as_they_are(tmp_path: Path) -> None:
    folder = question_study(tmp_path / "study", QUESTIONS + "[design]\nfinal = true\n")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        answer(rater, "before", **BEFORE)
        answer(rater, "after", tired=1)
        for slot in rater.slots:
            reply(rater, slot)
        rater.do("finish")
        assert "final" in answer(rater, "after", tired=3)["rejected"][0]["why"]


BROKEN = [
    ('kind = "number"', 'kind = "date"', ["questions[1].kind is 'date'", "'number', 'likert', 'choice', 'text'"]),
    ('kind = "number"', "", ["questions[1].kind is missing"]),
    ("max = 120", "", ["questions[1].min is 18.0", "both min and max"]),
    ("max = 120", "max = 18", ["questions[1].min is 18.0", "below max"]),
    ('choices = ["city", "village"]', 'choices = ["city"]', ["questions[2].choices is ['city']", "at least two"]),
    ('choices = ["city", "village"]', 'choices = ["a", "b"]\nmin = 1', ["questions[2].min is 1.0", "Only numbers"]),
    ('name = "place"', 'name = "age"', ["questions[2].name is 'age'", "Another question"]),
    ('name = "place"', 'name = "Annotator"', ["questions[2].name is 'Annotator'", "column of that name"]),
    ('name = "place"', 'name = "a,b"', ["questions[2].name is 'a,b'", "Start with a letter"]),
    ('question = "Where do you live?"', 'question = " "', ["questions[2].question", "Write what raters are asked"]),
    ('kind = "text"\nwhen', 'kind = "text"\nchoices = ["a", "b"]\nwhen', ["questions[4].choices", "offers none"]),
    ('when = "after"', 'when = "later"', ["questions[3].when is 'later'", "'before', 'after'"]),
]


@pytest.mark.parametrize(("found", "instead", "said"), BROKEN, ids=[b[1][-30:] for b in BROKEN])
def test_a_wrong_declaration_is_said(found: str, instead: str, said: list[str], tmp_path: Path) -> None:
    assert found in QUESTIONS
    path = tmp_path / "study.toml"
    path.write_text(KINDS + QUESTIONS.replace(found, instead, 1))
    with pytest.raises(DataError) as caught:
        load_study(path)
    for part in [str(path), *said]:
        assert part in str(caught.value)


def test_a_page_has_an_end(tmp_path: Path) -> None:
    many = "".join(f'[[questions]]\nname = "q{n}"\nquestion = "?"\nkind = "text"\n' for n in range(41))
    (tmp_path / "study.toml").write_text(KINDS + many)
    with pytest.raises(DataError, match=r"questions is '41 before'.*at most 40"):
        load_study(tmp_path / "study.toml")

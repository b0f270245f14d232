"""Raters read every sentence in the language of the study, and the place of all sentences is one."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import unisono.collect
from collect_support import RATE_STUDY, Rater, collect, make_app, rate_study
from unisono.collect.languages.sentences import INCLUDED, included, sentences_of
from unisono.collect.studies import StudyFolder, open_folder
from unisono.errors import DataError

ROOM = Path(unisono.collect.__file__).parent
PAGES = [path for path in (ROOM / "templates").glob("*.html") if path.name not in ("admin.html", "login.html")]
SCRIPTS = [*(ROOM / "static" / "rater").glob("*.js"), ROOM / "static" / "welcome.js"]
GAP = re.compile(r"\{\w+\}")


def study_in(folder: Path, language: str, own: str = "", extra: str = "") -> StudyFolder:
    folder.mkdir()
    text = f'language = "{language}"\n' + RATE_STUDY.format(per_regime=1) + extra
    (folder / "study.toml").write_text(text, encoding="utf-8")
    if own:
        (folder / "lang.toml").write_text(own, encoding="utf-8")
    return open_folder(folder)


def test_languages_of_both_directions_are_included() -> None:
    assert {"en", "de", "es", "fr", "zh", "hi", "ar", "he"} <= set(INCLUDED)


@pytest.mark.parametrize("language", INCLUDED)
def test_every_language_has_every_sentence_with_the_same_gaps(language: str) -> None:
    english, other = included("en"), included(language)
    assert list(other) == list(english)
    for key, text in other.items():
        assert text.strip() == text != ""
        assert sorted(GAP.findall(text)) == sorted(GAP.findall(english[key])), key
    # What is the same in both is a word they share, not a sentence that was forgotten.
    same = {key for key in english if other[key] == english[key]}
    assert language == "en" or same <= {"pause", "start", "saturation", "first_of_two", "second_of_two", "more_letters"}


def test_no_sentence_stands_in_a_page_or_a_script() -> None:
    for page in PAGES:
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", page.read_text(encoding="utf-8"), flags=re.S)
        labels = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', text)
        shown = [*labels, re.sub(r"<[^>]*>", "", text)]
        assert not re.search(r"[A-Za-z]", "".join(shown)), (page.name, shown)
    for script in SCRIPTS:
        code = re.sub(r"^\s*//.*$|console\.error\(.*$|new Error\(.*$|^import .*$", "", script.read_text(), flags=re.M)
        for literal in re.findall(r'"([^"\n]*)"|`([^`]*)`', code):
            words = re.sub(r"\$\{[^}]*\}", "", "".join(literal))
            # Names of elements, classes, events and keys are short and small; sentences have a capital or a full stop.
            allowed = words in {"Content-Type", "POST", "Space", "BUTTON", "Enter", "KeyZ", "IMG", "VIDEO", "AUDIO"}
            spoken = re.search(r"(?<![a-z])[A-Z][a-z]|[a-z][.…!?]$|[a-z] [a-z]+ [a-z]", words)
            assert allowed or not spoken, (script.name, words)


def test_every_sentence_is_said_somewhere_and_every_one_said_exists() -> None:
    english = set(included("en"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in [*PAGES, *SCRIPTS, *(ROOM / "app").glob("*.py")])
    said = set(re.findall(r"say\.(\w+)", code)) - {"language", "direction"}
    said |= set(re.findall(r'sentence\("(\w+)"', code))
    assert said <= english
    words = set(re.findall(r'"(\w+)"|\bsay\.(\w+)', code))
    named = {one for pair in words for one in pair if one}
    named |= {f"{name}_{end}" for name in named for end in ("heading", "low", "high")} | {"green", "blue"}
    # Why somebody is refused is said by the store.
    assert english - named <= {"full", "full_heading", "again", "again_heading"}


def test_the_door_and_every_refusal_speak_the_language(tmp_path: Path) -> None:
    folder = study_in(tmp_path / "s", "de-AT", extra="\n[limits]\nraters = 1\n")
    page = {"accept": "text/html"}
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        door = client.get("/").text
        assert '<html lang="de-AT" dir="ltr">' in door
        assert "Beginnen" in door
        rater = Rater.join(client)
        rater.rate(rater.slots[0])
        assert "Alle Plätze sind vergeben" in client.post("/").text
        assert "Dieser Link funktioniert nicht" in client.get("/r/wrong", headers=page).text
        assert "Hier ist nichts" in client.get("/nowhere", headers=page).text
        shell = client.get(rater.link).text
        assert "Diese Seite braucht JavaScript" in shell
        assert "Begin as" not in door + shell
        assert rater.state["study"]["texts"]["thanks"][0]["lines"] == ["Vielen Dank für Ihre Teilnahme."]
        # The researcher's page is in English, and says so.
        assert '<html lang="en" dir="ltr">' in client.get("/admin/login").text


def test_what_goes_wrong_is_told_to_people_as_a_page_and_to_scripts_as_data(tmp_path: Path) -> None:
    folder = study_in(tmp_path / "s", "fr", extra="\n[limits]\nrequests_per_second = 0.001\n")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        link = Rater.join(client).link
        answers = [client.get(link, headers={"accept": "text/html"}) for _ in range(12)]
        assert answers[-1].status_code == 429
        assert "Trop de monde à la fois" in answers[-1].text
        assert client.get(f"{link}/state").json() == {"error": "too many requests"}


def test_a_small_file_makes_another_language_and_check_names_what_is_left(tmp_path: Path) -> None:
    folder = study_in(tmp_path / "s", "pt-BR", own='begin = "Começar"\nprogress_of = "{done} de {total}"\n')
    assert folder.sentences["begin"] == "Começar"
    assert folder.sentences["next"] == "Next"
    missing = json.loads(collect("check", folder.path, "--json").stdout)["untranslated"]
    assert set(missing) == set(included("en")) - {"begin", "progress_of"}
    assert "in English, unless lang.toml says them: begin_as_another," in collect("check", folder.path).stdout


def test_own_words_replace_those_of_an_included_language(tmp_path: Path) -> None:
    folder = study_in(tmp_path / "s", "es", own='next = "Adelante"\n')
    assert (folder.sentences["next"], folder.sentences["back"]) == ("Adelante", "Atrás")
    assert json.loads(collect("check", folder.path, "--json").stdout)["untranslated"] == []


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ('beginn = "x"', "Did you mean 'begin'"),
        ("begin = 3", "begin is 3"),
        ('begin = " "', "Write the sentence in quotes"),
        ('begin = "x {done}"', "nothing to fill in"),
        ('progress_of = "{don} / {total}"', "may hold {done}, {total}"),
        ("begin = x", "not valid TOML"),
    ],
)
def test_mistakes_in_the_file_are_named(tmp_path: Path, own: str, told: str) -> None:
    with pytest.raises(DataError, match=r"lang\.toml") as caught:
        study_in(tmp_path / "s", "pt", own=own)
    assert told in str(caught.value)


def test_a_file_in_latin_1_is_refused(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "s").path
    (folder / "lang.toml").write_bytes('back = "zurück"'.encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        open_folder(folder)


def test_the_printed_sentences_are_a_file_to_translate(tmp_path: Path) -> None:
    printed = collect("sentences", "--language", "hi").stdout
    assert tomllib.loads(printed) == included("hi")
    (tmp_path / "lang.toml").write_text(printed, encoding="utf-8")
    assert sentences_of("xx", tmp_path).missing == ()


@pytest.mark.parametrize(
    ("language", "direction"),
    [("ar", "rtl"), ("he-IL", "rtl"), ("fa", "rtl"), ("ur", "rtl"), ("az-Arab", "rtl"), ("de", "ltr")],
)
def test_the_direction_of_the_language(tmp_path: Path, language: str, direction: str) -> None:
    assert sentences_of(language, tmp_path).direction == direction

"""A preview is the rater's way from the door to the code, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from collect_people import Mouse
from collect_support import Rater, Server, make_app, rate_study

FAST = "\n[limits]\nrequests_per_second = 100\n"
PROLIFIC = '\n[raters]\nsource = "prolific"\ncompletion_code = "C123"\n'


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("extra", [FAST, FAST + PROLIFIC, FAST + '\n[raters]\nsource = "invited"\n'])
def test_a_new_study_is_rated_to_its_end_and_its_folder_stays_as_it_was(tmp_path: Path, extra: str) -> None:
    folder = rate_study(tmp_path / "study", extra=extra).path
    before = content(folder)
    with Server(folder, verb="preview") as server, httpx.Client(base_url=server.url) as client:
        assert "Preview: nothing is stored" in client.get("/").text
        rater = Rater.join(client)
        rater.rate_all()
        assert rater.look()["finish"]["code"]
        assert content(folder) == before
    assert content(folder) == before
    assert "Nothing is stored" in server.log.read_text()


def test_a_study_with_ratings_keeps_exactly_those(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study", extra=FAST)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        assert "Preview" not in client.get("/").text
        Rater.join(client).rate_all()
    before = content(folder.path)
    assert "collect.db" in before
    with Server(folder.path, verb="preview") as server, httpx.Client(base_url=server.url) as client:
        Rater.join(client).rate_all()
    assert content(folder.path) == before


def test_every_page_says_that_it_is_a_preview(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    rate_study(tmp_path / "study", per_regime=1, extra=FAST)
    with Server(tmp_path / "study", verb="preview") as server:
        page = open_page(viewport={"width": 390, "height": 844})
        page.goto(server.url)
        person = Mouse(page)
        person.begin()
        page.get_by_role("slider").first.wait_for()
        expect(page.get_by_text("Preview: nothing is stored")).to_be_visible()
        assert [one["id"] for one in Axe().run(page).response["violations"]] == []
        person.rate(2)
        assert person.finish()

"""Beginning and finishing in a real browser: one place per person, and the code for whoever has done everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from collect_people import Mouse
from collect_support import Server, rate_study

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
SCREENS = [(1280, 800), (1280, 650), (390, 844), (844, 390)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("finishing") / "study"
    rate_study(folder, per_regime=1, extra="\n[limits]\nrequests_per_second = 100\n")
    with Server(folder) as server:
        yield server


@pytest.fixture
def admin(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as client:
        client.post("/admin/login", data={"token": server.admin_token()})
        client.post("/admin/phase", data={"phase": "open"})
        yield client


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: "{}x{}".format(*screen))
def test_back_and_begin_is_one_rater_and_a_closed_study_still_gives_the_code(
    server: Server, admin: httpx.Client, open_page: OpenPage, screen: tuple[int, int]
) -> None:
    def people() -> int:
        return len(admin.get("/admin/data").json()["people"])

    before = people()
    page = open_page(viewport=dict(zip(("width", "height"), screen, strict=True)))
    page.goto(server.url)
    person = Mouse(page)
    person.press("Begin")
    page.get_by_role("button", name="I agree").wait_for()
    link = page.url
    page.go_back()
    person.press("Begin")
    page.get_by_role("button", name="I agree").wait_for()
    assert page.url == link
    person.press("I agree")
    person.press("Continue")
    person.rate(1)
    # Closed while the last item is on the screen.
    admin.post("/admin/phase", data={"phase": "closed"})
    person.judge()
    person.submit()
    expect(page.get_by_text("Anything you want to tell us?")).to_be_visible()
    page.reload()
    code = person.finish()
    assert len(code) == 8
    assert people() == before + 1
    # The next person at this screen gets a place of their own.
    admin.post("/admin/phase", data={"phase": "open"})
    page.goto(server.url)
    person.press("Begin")
    page.get_by_role("button", name="I agree").wait_for()
    assert page.url != link
    # Somebody else, while the one before has not finished.
    second = page.url
    page.go_back()
    person.press("Begin as somebody else")
    page.get_by_role("button", name="I agree").wait_for()
    assert page.url not in (link, second)
    assert people() == before + 3

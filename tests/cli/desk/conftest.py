"""A desk, and pages of browsers on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from desk_server import DeskServer
from firefox import Firefox


@pytest.fixture(scope="session")
def desk() -> Iterator[DeskServer]:
    with DeskServer() as server:
        yield server


@pytest.fixture(scope="session")
def firefox() -> Iterator[Firefox]:
    found = Firefox()
    yield found
    found.close()


@pytest.fixture
def open_desk(browser: Browser, desk: DeskServer) -> Iterator[Callable[..., Page]]:
    """Opens tabs; a script error or a broken rule of the policy fails the test."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(120_000)

    def open_one(link: str = "", width: int = 1280) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "policy" in said.text.lower() else None)
        page.goto(link or desk.link)
        return page

    yield open_one
    context.close()
    assert complaints == []

"""Databases, Firefox and pages of browsers for the tests of the collection tool."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from collect_support import Postgres
from firefox import Firefox
from unisono.collect.store.database import Database


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    # Not below pytest's own folder: another user has to reach it, and socket paths must be short.
    place = Path(tempfile.mkdtemp(prefix="collect-pg-"))
    place.chmod(0o755)
    server = Postgres(place / "pg")
    yield server
    server.stop()
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'collect.db'}"
    url: str = request.getfixturevalue("postgres").fresh()
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    found = Database(database_url)
    found.create()
    yield found
    found.close()


@pytest.fixture(scope="session")
def firefox() -> Iterator[Firefox]:
    found = Firefox()
    yield found
    found.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages in contexts of their own; a script error or a broken rule of the policy fails the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(context: BrowserContext | None = None, **options: Any) -> Page:
        if context is None:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
            context.set_default_timeout(30_000)
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.extend(_complaint(message.type, message.text)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def _complaint(kind: str, text: str) -> list[str]:
    # A connection that is cut on purpose is reported by the browser itself.
    expected = "Failed to load resource" in text or "net::ERR" in text
    return [text] if kind == "error" and not expected else []

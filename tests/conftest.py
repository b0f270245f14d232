"""What holds for every test: hypothesis is patient, and one Chromium serves all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# No test fails because a machine is busy: hypothesis would count milliseconds.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for a browser or a database server, directly or through a fixture, has their marker."""
    for item in items:
        for name, marker in (("browser", "browser"), ("firefox", "browser"), ("postgres", "postgres")):
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(marker)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    import chromium

    # Generous, since a busy machine is no failure; what is there is seen at once.
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium.program(), args=chromium.OPTIONS)
        yield found
        found.close()

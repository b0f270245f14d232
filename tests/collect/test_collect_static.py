"""Scripts and style sheets are kept by browsers under a name that changes with their content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from collect_support import Rater, make_app, rate_study


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(make_app(rate_study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        yield client


def test_every_file_a_page_asks_for_can_be_kept(client: TestClient) -> None:
    pages = [client.get("/").text, client.get("/admin/login").text, client.get(Rater.join(client).link).text]
    asked = {found for page in pages for found in re.findall(r'(?:src|href)="(/static/[^"]+)"', page)}
    assert len(asked) >= 6
    for path in asked:
        assert re.match(r"/static/[0-9a-f]{12}/", path)
        answer = client.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    script = next(path for path in asked if path.endswith("rater/main.js"))
    for name in re.findall(r'from "\./([a-z]+\.js)"', client.get(script).text):
        assert "immutable" in client.get(script.replace("main.js", name)).headers["cache-control"]


def test_a_page_of_an_older_version_still_finds_its_files_but_keeps_none(client: TestClient) -> None:
    for path in ("/static/base.css", "/static/0123456789ab/base.css"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert client.get("/static/0123456789ab/nothing.css").status_code == 404

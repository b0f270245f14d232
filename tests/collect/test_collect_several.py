"""Several studies on one server: each below its own name, with its own admin, links and database."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from collect_people import Mouse
from collect_support import Rater, Server, collect, rate_study, trace_study

FAST = "\n[limits]\nrequests_per_second = 100\n"


# Where each study keeps its ratings, for commands beside the server; nothing for the file in its folder.
DATABASES: dict[Path, tuple[str, ...]] = {}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("several")
    folders = [place / "colours", place / "second study"]
    for number, folder in enumerate(folders, 1):
        rate_study(folder, per_regime=number, extra=FAST)
        url = request.getfixturevalue("postgres").fresh() if request.param == "postgres" else ""
        DATABASES[folder] = ("--database", url) if url else ()
    options = [word for folder in folders for word in DATABASES[folder]]
    with Server(folders[0], str(folders[1]), *options) as server:
        yield server


def ratings(folder: Path) -> int:
    found: int = json.loads(collect("status", folder, "--json", *DATABASES[folder]).stdout)["ratings"]
    return found


def test_each_has_its_raters_and_its_database(server: Server) -> None:
    other = server.folder.parent / "second study"
    with httpx.Client(base_url=f"{server.url}/colours") as first, httpx.Client(base_url=server.url) as bare:
        assert bare.get("/").status_code == 404
        assert bare.get("/colours").status_code == 307
        answer = first.post("/", follow_redirects=False)
        link = answer.headers["location"]
        assert link.startswith("/colours/r/")
        rater = Rater(bare, link)
        rater.do("consent")
        assert len(rater.look()["slots"]) == 2
        before = (ratings(server.folder), ratings(other))
        rater.rate_all()
        assert (ratings(server.folder), ratings(other)) == (before[0] + 2, before[1])
        # A link of one study opens nothing in the other.
        assert bare.get(link.replace("/colours/", "/second-study/")).status_code == 404


def test_each_has_its_own_admin(server: Server) -> None:
    links = [(server.folder.parent / name / "admin-link.txt").read_text() for name in ("colours", "second study")]
    assert [link.split("/")[3] for link in links] == ["colours", "second-study"]
    tokens = [link.strip().partition("#")[2] for link in links]
    with httpx.Client(base_url=server.url) as client:
        assert client.post("/second-study/admin/login", data={"token": tokens[0]}).status_code == 403
        answer = client.post("/colours/admin/login", data={"token": tokens[0]})
        assert answer.headers["location"] == "/colours/admin"
        assert "Path=/colours/admin" in answer.headers["set-cookie"]
        assert client.get("/colours/admin/data").json()["title"] == "Colours"
        assert client.get("/second-study/admin/data").status_code == 401


def test_each_is_exported_by_itself(server: Server) -> None:
    other = server.folder.parent / "second study"
    with httpx.Client(base_url=server.url) as client:
        for name, folder in (("colours", server.folder), ("second-study", other)):
            rater = Rater(client, client.post(f"/{name}/", follow_redirects=False).headers["location"])
            rater.do("consent")
            rater.look()
            rater.rate_all()
            token = (folder / "admin-link.txt").read_text().strip().partition("#")[2]
            client.post(f"/{name}/admin/login", data={"token": token})
        tables = {}
        for name in ("colours", "second-study"):
            archive = zipfile.ZipFile(io.BytesIO(client.get(f"/{name}/admin/export.zip").content))
            tables[name] = {row["item"] for row in csv.DictReader(io.StringIO(archive.read("ratings.csv").decode()))}
        for name, folder, count in (("colours", server.folder, 2), ("second-study", other, 4)):
            assert collect("export", folder, "--out", folder / "out", *DATABASES[folder]).returncode == 0
            with (folder / "out" / "ratings.csv").open(newline="") as stream:
                assert {row["item"] for row in csv.DictReader(stream)} == tables[name]
            assert len(tables[name]) == count
        # Signing out of one leaves the other signed in.
        client.post("/colours/admin/logout")
        assert client.get("/colours/admin/data").status_code == 401
        assert client.get("/second-study/admin/data").status_code == 200
        # Pausing one leaves the other open.
        client.post("/second-study/admin/phase", data={"phase": "paused"})
        states = {name: client.post(f"/{name}/", follow_redirects=False).status_code for name in tables}
        assert states["colours"] == 303 != states["second-study"]
        client.post("/second-study/admin/phase", data={"phase": "open"})


@pytest.mark.slow
def test_figures_come_from_the_database_of_the_study(server: Server) -> None:
    token = (server.folder / "admin-link.txt").read_text().strip().partition("#")[2]
    with httpx.Client(base_url=f"{server.url}/colours", timeout=30) as client:
        with httpx.Client(base_url=server.url) as bare:
            rater = Rater(bare, client.post("/", follow_redirects=False).headers["location"])
            rater.do("consent")
            rater.look()
            rater.rate_all()
        client.post("/admin/login", data={"token": token})
        found = client.post("/admin/quality").json()
        while found["running"]:
            time.sleep(0.1)
            found = client.get("/admin/quality").json()
    assert found["error"] == ""
    assert found["figures"]["judgements"] == ratings(server.folder) > 0


def test_guards_stand_before_each(server: Server) -> None:
    headers = {"host": "elsewhere.example"}
    assert httpx.get(f"{server.url}/colours/", headers=headers).status_code == 421
    evil = {"origin": "https://elsewhere.example"}
    assert httpx.post(f"{server.url}/second-study/", headers=evil).status_code == 403
    assert "content-security-policy" in httpx.get(f"{server.url}/colours/").headers


def test_a_rater_goes_all_the_way_in_a_browser(server: Server, open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.goto(f"{server.url}/second-study/")
    person = Mouse(page)
    person.begin()
    person.rate(4)
    assert person.finish()
    page.goto((server.folder.parent / "second study" / "admin-link.txt").read_text().strip())
    expect(page.get_by_text("As of")).to_be_visible()


def test_below_a_public_path_links_have_both_parts(tmp_path: Path) -> None:
    for name in ("one", "two"):
        trace_study(tmp_path / name)
    public = "https://example.org/studies"
    with Server(tmp_path / "one", str(tmp_path / "two"), "--public-url", public) as server:
        assert (tmp_path / "two" / "admin-link.txt").read_text().startswith(f"{public}/two/admin/login#")
        page = httpx.get(f"{server.url}/two/").text
        assert 'action="/studies/two/"' in page
        assert 'src="/studies/two/static/' in page
    said = server.log.read_text()
    assert f"{public}/one/" in said
    assert said.count("All that came in is saved") == 2


@pytest.mark.parametrize("names", [("a/colours", "b/colours"), ("x y", "x.y"), ("good", "health"), ("good", "颜色")])
def test_names_that_cannot_be_told_apart_are_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        rate_study(tmp_path / name)
    run = collect("serve", *(tmp_path / name for name in names))
    assert run.returncode == 3
    assert "Rename" in run.stderr
    assert not list(tmp_path.rglob("collect.db"))


def test_one_database_for_two_studies_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        rate_study(tmp_path / name)
    run = collect("serve", tmp_path / "one", tmp_path / "two", "--database", f"sqlite:///{tmp_path / 'x.db'}")
    assert run.returncode == 2
    assert "--database 2 times" in run.stderr
    assert json.loads(collect("status", tmp_path / "one", "--json").stdout)["ratings"] == 0

"""The desk in browsers: from the command to a downloaded result, refusals, cancel, two tabs, a killed server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from command_line import unisono_here
from desk_server import DeskServer, lives
from firefox import Firefox, wait_for
from museum import MUSEUM
from unisono.tables.datasets import dataset_path

OpenDesk = Callable[..., Page]
SUMMARIES = dataset_path("squality")
MUSEUM_OF = {piece.name: piece for piece in MUSEUM}


def drop(page: Page, name: str, content: bytes) -> None:
    page.locator("#file").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def understood(page: Page, name: str) -> None:
    expect(page.locator("#facts")).to_contain_text(name)
    expect(page.locator("#coming")).to_have_text("")


def axe(page: Page) -> list[str]:
    return [f"{one['id']} {one['nodes'][0]['target']}" for one in Axe().run(page).response["violations"]]


def slow_table(items: int = 60_000) -> bytes:
    """A fusion of this takes long enough to be watched and to be stopped."""
    rng = np.random.default_rng(0)
    who = (rng.integers(0, 997, items)[:, None] + 7 * np.arange(5)) % 997
    truth = np.repeat(rng.normal(0, 1, (items, 3)), 5, axis=0)
    frame = pl.DataFrame({"item": np.repeat(np.arange(items), 5), "annotator": who.ravel()})
    noisy = (truth + rng.normal(0, 0.7, truth.shape)).round(3)
    frame = frame.with_columns(pl.Series(name, noisy[:, d]) for d, name in enumerate("uvw"))
    return frame.write_csv().encode()


def test_from_the_command_to_a_downloaded_result_in_two_minutes(browser, tmp_path):
    began = time.monotonic()
    with DeskServer() as server:
        page = browser.new_page()
        page.goto(server.link)
        page.locator("#file").set_input_files(SUMMARIES)
        page.get_by_role("button", name="Fuse", exact=True).click()
        frame = page.frame_locator("#panel iframe")
        expect(frame.get_by_role("heading", name="What is the answer?")).to_be_visible(timeout=110_000)
        with page.expect_download() as download:
            page.get_by_role("link", name="Truth").click()
        download.value.save_as(tmp_path / "truth.csv")
        page.close()
    assert time.monotonic() - began < 120
    unisono_here("fuse", str(SUMMARIES), "--out", "result", "--no-report", cwd=tmp_path)
    assert (tmp_path / "truth.csv").read_text() == (tmp_path / "result" / "truth.csv").read_text()


@pytest.mark.parametrize("width", [1440, 390])
def test_every_guess_is_changed_by_a_click_and_nothing_sticks_out(open_desk: OpenDesk, width: int) -> None:
    page = open_desk(width=width)
    assert axe(page) == []
    rows = [
        f"{m},{k},{(m + i) % 5 + 1},{(m * i) % 4},{-99 if (m + i) % 5 == 0 else (m + i) % 4 + 1}"
        for m in range(12)
        for i, k in enumerate("xyz")
    ]
    drop(page, "odd.csv", ("clip,rater,joy,fear,hope\n" + "\n".join(rows)).encode())
    expect(page.locator("#refused")).to_contain_text("--missing -99")
    assert axe(page) == []
    page.get_by_role("button", name="-99 means missing").click()
    understood(page, "36 judgements of 12 items by 3 annotators")
    page.get_by_label("What column fear is").select_option(label="not used")
    expect(page.locator("#dimensions tbody th")).to_have_text(["joy", "hope"])
    page.get_by_label("Lowest answer of joy").fill("0")
    page.get_by_label("Highest answer of joy").fill("9")
    page.get_by_label("Highest answer of joy").press("Tab")
    expect(page.locator("#dimensions")).to_contain_text("as you said")
    page.locator("#more summary").click()
    assert page.locator("#fields [name=missing]").input_value() == "-99"
    assert axe(page) == []
    page.locator("#model").select_option("mean")
    page.get_by_role("button", name="Fuse", exact=True).click()
    expect(page.locator("#panel iframe")).to_be_visible()
    page.get_by_text("The same again").click()
    command = page.locator("#panel pre").first.inner_text()
    for words in ("--scale joy=0:9", "--dim joy --dim hope", "missing=-99", "--model mean", "--item clip"):
        assert words in command
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    "name", ["two answers", "a zip archive of two tables", "one row per number, and nobody by name"]
)
def test_a_refused_table_is_read_after_a_click_on_its_way_out(open_desk: OpenDesk, name: str) -> None:
    page = open_desk()
    piece = MUSEUM_OF[name]
    drop(page, "r.csv", piece.content)
    alert = page.locator("#refused p").first
    expect(alert).to_have_text(piece.refusal)
    assert page.get_by_role("button", name="Fuse", exact=True).is_disabled()
    page.locator("#refused button").first.click()
    understood(page, "judgements of 2 items")
    assert page.get_by_role("button", name="Fuse", exact=True).is_enabled()


@pytest.mark.slow
def test_set_aside_compare_and_load_again(open_desk: OpenDesk) -> None:
    page = open_desk()
    rng = np.random.default_rng(0)
    truth = rng.normal(5, 2, (40, 2))
    rows = [
        f"{m},s0{k},{v:.1f},{w:.1f}" for k in range(4) for m, (v, w) in enumerate(truth + rng.normal(0, 1, truth.shape))
    ]
    drop(page, "crowd.csv", "\n".join(["item,annotator,u,v", *rows]).encode())
    page.get_by_role("button", name="Fuse", exact=True).click()
    expect(page.locator("#panel iframe")).to_be_visible()
    page.get_by_label("Annotator to set aside").select_option("s01")
    page.get_by_role("button", name="Set aside and fuse").click()
    expect(page.locator("#difference tbody tr")).to_have_count(2)
    correlation = float(page.locator("#difference tbody td").first.inner_text())
    assert 0.5 < correlation < 0.999
    page.get_by_text("The same again").click()
    assert "without=s01" in page.locator("#panel pre").first.inner_text()
    page.get_by_role("button", name="Compare models").click()
    answer = "Does it help to model the dimensions jointly?"
    expect(page.locator("#panel")).to_contain_text(answer, timeout=300_000)
    page.reload()
    expect(page.locator("#tabs button")).to_have_count(3)


def test_traces_and_comparisons(open_desk: OpenDesk) -> None:
    page = open_desk()
    page.get_by_role("button", name="Traces of a colour").click()
    understood(page, "20 traces of 2 recordings")
    page.get_by_role("button", name="Fuse", exact=True).click()
    expect(page.frame_locator("#panel iframe").get_by_role("heading", name="What is the answer?")).to_be_visible()
    other = open_desk()
    pairs = "annotator,left,right,mood\n" + "".join(
        f"{k},{a},{b},left\n" for k in "xyz" for a, b in ("ab", "bc", "cd", "ad")
    )
    drop(other, "pairs.csv", pairs.encode())
    other.get_by_role("button", name="Read it as comparisons").click()
    understood(other, "12 comparisons of 4 items")
    other.get_by_role("button", name="Fuse", exact=True).click()
    expect(other.locator("#panel")).to_contain_text("Truth")
    expect(page.locator("#facts")).to_contain_text("20 traces")  # each tab keeps its own table


@pytest.mark.slow
def test_a_fusion_shows_how_far_it_is_and_stops_at_once(open_desk: OpenDesk, desk: DeskServer) -> None:
    page = open_desk()
    drop(page, "slow.csv", slow_table())
    page.get_by_role("button", name="Fuse", exact=True).click()
    expect(page.locator("#told")).to_contain_text("iteration")
    (child,) = desk.children()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#panel")).to_contain_text("Cancelled; nothing was written.")
    wait_for(lambda: not lives(child), 10)


@pytest.mark.slow
def test_fifty_megabytes(open_desk: OpenDesk, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 2_600_000
    frame = pl.DataFrame({"item": np.arange(n) // 4, "annotator": rng.integers(0, 200, n)}).unique()
    frame = frame.with_columns(pl.Series("quality", rng.integers(1, 8, len(frame))), pl.lit("x" * 8).alias("note"))
    frame.write_csv(tmp_path / "large.csv")
    assert (tmp_path / "large.csv").stat().st_size > 50e6
    page = open_desk()
    page.locator("#file").set_input_files(tmp_path / "large.csv")
    understood(page, f"{len(frame):,} judgements")
    page.locator("#model").select_option("mean")
    page.get_by_role("button", name="Fuse", exact=True).click()
    expect(page.locator("#panel iframe")).to_be_visible(timeout=300_000)


def test_nobody_without_the_token_and_no_other_site(desk: DeskServer) -> None:
    assert httpx.get(desk.link).status_code == 200
    for path in ("", "tables", "static/desk.js", f"{'0' * 40}/", f"{desk.token[:-1]}/", "jobs/x"):
        answer = httpx.get(desk.url + path)
        assert (answer.status_code, answer.text) == (404, "Nothing here.\n")
    assert httpx.get(desk.link, headers={"host": "evil.example"}).status_code == 421
    there = httpx.post(f"{desk.link}tables?sample=squality", headers={"origin": "https://evil.example"})
    assert there.status_code == 403
    table = httpx.post(f"{desk.link}tables?sample=squality").json()["table"]
    for choice in ({"out": "/tmp/x"}, {"gold": "/etc/passwd"}):
        assert httpx.post(f"{desk.link}tables/{table}/fuse", json=choice).status_code == 422
    assert httpx.post(f"{desk.link}tables/{table}/export", json={}).status_code == 404
    assert httpx.get(f"{desk.link}jobs/{table}/%2e%2e%2flock").status_code == 404
    policy = httpx.get(desk.link).headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert desk.token not in desk.log.read_text().replace(desk.link, "")


@pytest.mark.slow
def test_a_desk_that_is_killed_leaves_nothing_running_and_says_so(browser) -> None:
    server = DeskServer()
    page = browser.new_page()
    page.goto(server.link)
    page.locator("#file").set_input_files({"name": "slow.csv", "mimeType": "text/csv", "buffer": slow_table()})
    page.get_by_role("button", name="Fuse", exact=True).click()
    expect(page.locator("#told")).to_contain_text("iteration", timeout=120_000)
    (child,) = server.children()
    folders = [path for path in Path("/tmp").glob(f"unisono-app-*-{server.port}") if path.stat().st_uid == os.getuid()]
    assert [oct(path.stat().st_mode & 0o777) for path in folders] == ["0o700"]
    server.kill()
    wait_for(lambda: not lives(child), 10)
    expect(page.get_by_role("alert").first).to_contain_text("does not answer any more")
    page.close()
    with DeskServer(server.port) as again:  # who has the port clears what was left
        assert list(folders[0].iterdir()) == []
        assert again.token != server.token
    assert not folders[0].exists()


def test_the_export_of_a_study_says_what_its_dimensions_are(open_desk: OpenDesk) -> None:
    page = open_desk()
    study = b'title = "T"\n[[dimensions]]\nname = "joy"\nkind = "slider"\nmin = 0\nmax = 50\n'
    rows = "item,annotator,joy,age\n" + "".join(
        f"{m},{k},{10 + (m * 7 + i) % 20},{30 + i}\n" for m in range(8) for i, k in enumerate("xyz")
    )
    files = [("ratings.csv", rows.encode()), ("study.toml", study)]
    page.locator("#file").set_input_files([{"name": n, "mimeType": "text/plain", "buffer": b} for n, b in files])
    understood(page, "ratings.csv: 24 judgements")
    expect(page.get_by_label("Highest answer of joy")).to_have_value("50")


@pytest.mark.slow
def test_in_firefox(firefox: Firefox, desk: DeskServer) -> None:
    page = firefox.open()
    page.goto(desk.link)
    spot = page.see(
        "() => {const r = document.querySelector('[data-sample]').getBoundingClientRect(); return [r.x + 9, r.y + 9]}"
    )
    page.click(*spot)
    wait_for(
        lambda: page.see("() => !document.getElementById('fuse').disabled && !document.getElementById('go').hidden")
    )
    spot = page.see(
        "() => {const b = document.getElementById('fuse'); b.scrollIntoView({block: 'center'});"
        " const r = b.getBoundingClientRect(); return [r.x + 9, r.y + 9]}"
    )
    page.click(*spot)
    wait_for(lambda: page.see("() => document.querySelector('#panel iframe') !== null"))
    links = page.see("() => [...document.querySelectorAll('#panel a.file')].map(a => a.textContent)")
    assert {"Truth", "Report", "Methods paragraph"} <= set(links)
    assert firefox.complaints == []

"""The commands: what they print, what they write, and how they end."""

from __future__ import annotations

import ast
import csv
import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from collect_support import Postgres, Rater, Server, collect, rate_study
from unisono.collect.studies.folder import STARTERS


@pytest.mark.parametrize("name", STARTERS)
def test_new_writes_a_study_and_says_what_is_next(name: str, tmp_path: Path) -> None:
    run = collect("new", tmp_path / "s", "--template", name)
    assert run.returncode == 0
    assert (tmp_path / "s" / "study.toml").exists()
    assert all(Path(line).exists() for line in run.stdout.splitlines())
    assert "unisono collect serve" in run.stderr


def test_mistakes_end_with_the_right_code_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("title = 3\n")
    cases = [
        (("new", tmp_path / "x", "--template", "nonsense"), 2, "saturation-brightness-images"),
        (("new", tmp_path), 3, "there is a study here already"),
        (("serve", tmp_path), 3, "study.toml"),
        (("serve", tmp_path / "nowhere"), 3, "no such folder"),
        (("export", tmp_path / "nowhere"), 3, "no such folder"),
        (("invite", tmp_path), 2, "either NAMES or --count or --from"),
        (("status", tmp_path, "--database", "mysql://x/y"), 3, "study.toml"),
    ]
    for words, code, said in cases:
        run = collect(*words)
        assert (run.returncode, said in run.stderr, "Traceback" in run.stderr) == (code, True, False), run.stderr


def test_a_database_that_is_none_is_said(tmp_path: Path) -> None:
    rate_study(tmp_path / "s")
    for url, said in (("mysql://x/y", "Use postgresql:// or sqlite:///"), ("nonsense", "not a database address")):
        run = collect("status", tmp_path / "s", "--database", url)
        assert (run.returncode, said in run.stderr) == (3, True), run.stderr
    (tmp_path / "s" / "collect.db").write_text("this is not a database, whatever its name says\n" * 50)
    run = collect("status", tmp_path / "s")
    assert run.returncode == 3
    assert "cannot be opened as a database" in run.stderr


@pytest.mark.slow
def test_scales_that_change_after_ratings_came_in_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    rate_study(folder)
    with Server(folder) as server, httpx.Client(base_url=server.url) as client:
        rater = Rater.join(client)
        rater.rate(rater.slots[0])
    text = (folder / "study.toml").read_text()
    # Another seed makes other colours of the same names.
    changes = [('name = "brightness"', 'name = "lightness"'), ('title = "Colours"', 'title = "Colours"\nseed = 2')]
    for before, after in changes:
        (folder / "study.toml").write_text(text.replace(before, after))
        run = collect("status", folder)
        assert run.returncode == 3
        assert "changed after ratings had come in" in run.stderr
    (folder / "study.toml").write_text(text.replace('"Judge each colour."', '"Judge every colour."'))
    assert collect("status", folder).returncode == 0


@pytest.mark.slow
def test_invitations_are_links_that_work_and_stay(tmp_path: Path) -> None:
    rate_study(tmp_path / "s", extra='\n[raters]\nsource = "invited"\n')
    with Server(tmp_path / "s") as server:
        words = ("invite", tmp_path / "s", "--public-url", server.url)
        named = dict(line.split(",") for line in collect(*words, "anna", "ben").stdout.splitlines())
        again = dict(line.split(",") for line in collect(*words, "ben").stdout.splitlines())
        assert again["ben"] == named["ben"] != named["anna"]
        assert len(collect(*words, "--count", "3").stdout.splitlines()) == 3
        with httpx.Client() as client:
            rater = Rater(client, named["anna"])
            rater.do("consent", code="A7")
            rater.look()
            rater.rate_all()
    run = collect("export", tmp_path / "s", "--out", tmp_path / "out")
    assert run.returncode == 0
    with (tmp_path / "out" / "raters.csv").open(newline="") as stream:
        people = {row["outside_id"]: row for row in csv.DictReader(stream)}
    assert (people["anna"]["state"], people["anna"]["code"], people["ben"]["state"]) == ("finished", "A7", "joined")


def test_status_and_export_on_postgresql_beside_a_running_server(tmp_path: Path, postgres: Postgres) -> None:
    folder, url = tmp_path / "s", postgres.fresh()
    rate_study(folder)
    with Server(folder, "--database", url) as server, httpx.Client(base_url=server.url) as client:
        Rater.join(client).rate_all()
        Rater.join(client, "tab11111")
        found = json.loads(collect("status", folder, "--database", url, "--json").stdout)
        assert found["ratings"] == 6
        assert found["raters"]["active"] == 1
        assert found["raters"]["finished"] == 1
        shown = collect("status", folder, "--database", url).stdout
        assert "6 ratings; 1 per item" in shown
        run = collect("export", folder, "--database", url)
        assert run.returncode == 0
    assert len((folder / "export" / "ratings.csv").read_text().splitlines()) == 1 + 6
    assert not (folder / "collect.db").exists()


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['msgspec'] = None; sys.argv = ['unisono', 'collect', 'new', 'x']"
    words = [sys.executable, "-c", f"{code}; from unisono.cli.main import run; run()"]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (run.returncode, "Traceback" in run.stderr) == (2, False)
    assert "pip install 'unisono[collect]'" in run.stderr


def test_neither_fusers_nor_maths_are_imported() -> None:
    code = (
        "import sys, unisono.collect.app.serve, unisono.collect.app.signup, unisono.cli.collect_command;"
        "print([m for m in sys.modules if m.startswith(('unisono.fusers', 'unisono.maths', 'polars', 'scipy'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The words that settings take are data.
    assert set(ast.literal_eval(run.stdout)) <= {"unisono.maths", "unisono.maths.structure_words"}

"""`unisono compare` from outside: a table and words for people, JSON for machines, errors that help."""

import json

import polars as pl
import pytest

from command_line import unisono_here
from unisono.paper.simulation import simulate_items
from unisono.tables.exporting.result_folder import item_columns, rating_columns

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("compare")
    world = simulate_items(items=40, annotators=6, features=2, ratings_per_item=4, bias=0.5, transform="near-identity")
    pl.DataFrame(rating_columns(world.ratings)).write_csv(where / "ratings.csv")
    pl.DataFrame(item_columns(world.truth)).write_csv(where / "truth.csv")
    pl.DataFrame(item_columns(world.features)).write_csv(where / "features.csv")
    return where


def test_compare_prints_a_leaderboard_and_an_answer(folder):
    arguments = ["--reference", "truth.csv", "--features", "features.csv", "--models", "auto,mean", "--folds", "3"]
    done = unisono_here("compare", "ratings.csv", *arguments, "--out", "found.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "log density" in done.stdout
    assert "CCC" in done.stdout
    assert "Is the default better than the plain mean?" in done.stdout
    written = json.loads((folder / "found.json").read_text())
    assert {row["model"] for row in written["rows"]} == {"auto", "mean"}
    assert written["contrasts"][0]["log_density"]["folds"] == 3


def test_compare_speaks_json_without_numbers_that_are_none(folder):
    done = unisono_here("compare", "ratings.csv", "--models", "mean", "--folds", "2", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"][0]["ccc"] is None


def test_a_misspelt_model_gets_the_nearest_name(folder):
    done = unisono_here("compare", "ratings.csv", "--models", "auto,meen", cwd=folder)
    assert done.returncode == 2
    assert "Did you mean 'mean'?" in done.stderr


def test_evaluate_prints_scores_and_who_is_better(folder):
    arguments = ["--reference", "truth.csv", "--models", "auto,auto+gold,mean", "--folds", "3", "--out", "cv.json"]
    done = unisono_here("cross-validate", "ratings.csv", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "auto+gold" in done.stdout
    assert "significant" in done.stdout
    written = json.loads((folder / "cv.json").read_text())
    assert [row["model"] for row in written["models"]] == ["auto", "auto+gold", "mean"]
    assert len(written["models"][0]["folds"]) == 3


def test_evaluate_names_what_is_wrong(folder):
    done = unisono_here("cross-validate", "ratings.csv", "--reference", "features.csv", cwd=folder)
    assert done.returncode == 3
    assert "no dimension in common" in done.stderr
    done = unisono_here(
        "cross-validate", "ratings.csv", "--reference", "truth.csv", "--models", "autoo+gold", cwd=folder
    )
    assert done.returncode == 2
    assert "Did you mean 'auto'?" in done.stderr

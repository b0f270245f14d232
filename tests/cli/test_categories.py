"""Categories through the command line: the files, the words, the exit codes; with crowd-kit and without."""

from __future__ import annotations

import json

import polars as pl
import pytest

from category_cases import crowd
from command_line import unisono_here
from unisono.api import category_fusion as categories_api
from unisono.fusers import category_models


@pytest.fixture
def mixed(tmp_path):
    """A table with numbers and words, and the reference of the words."""
    found = crowd(1, M=24, K=6)
    frame = found.frame().with_columns(pl.Series("valence", [(7 * i) % 5 for i in range(found.votes.n)]))
    frame.write_csv(tmp_path / "mixed.csv")
    found.frame().write_csv(tmp_path / "words.csv")
    found.reference().write_csv(tmp_path / "reference.csv")
    return tmp_path


@pytest.mark.slow
def test_mixed_tables_give_both(mixed):
    done = unisono_here("fuse", "mixed.csv", "--category-model", "dawid-skene", "--out", "out", cwd=mixed)
    assert done.returncode == 0
    assert "'feeling' was taken for categories by the words; --categories none leaves them out." in done.stdout
    assert "Categories of 'feeling': 120 answers on 24 items by 6 annotators, 3 classes" in done.stdout
    assert "fused with the model 'dawid-skene'" in done.stdout
    assert (
        "truth.csv, annotators.csv, annotators_overall.csv, categories.csv, confusion.csv, summary.json, fit/"
        in done.stdout
    )
    truth = pl.read_csv(mixed / "out" / "truth.csv")
    assert {"valence_low", "feeling", "feeling_probability"} <= set(truth.columns)
    assert truth["feeling_probability"].min() > 1 / 3
    classes = pl.read_csv(mixed / "out" / "categories.csv")
    assert classes.columns == ["item", "dimension", "class", "probability", "votes"]
    assert classes.height == 24 * 3
    annotators = pl.read_csv(mixed / "out" / "annotators.csv")
    assert {"bias", "ratings", "accuracy", "agreement"} <= set(annotators.columns)
    assert annotators.filter(dimension="feeling")["ratings"].sum() == 120
    assert annotators.filter(dimension="feeling")["accuracy"].min() > 0
    assert annotators.filter(dimension="valence").height == 6
    confusion = pl.read_csv(mixed / "out" / "confusion.csv")
    assert confusion.height == 6 * 9
    summary = json.loads((mixed / "out" / "summary.json").read_text())
    assert summary["categories"]["feeling"]["model"] == "dawid-skene"
    scored = unisono_here("score", "out/truth.csv", "reference.csv", "--json", cwd=mixed)
    found = json.loads(scored.stdout)["categories"][0]
    assert found["n"] == 24
    assert found["accuracy"] > 0.85
    assert found["log_loss"] < 0.7
    again = unisono_here("fuse", "mixed.csv", "--category-model", "dawid-skene", "--out", "again", cwd=mixed)
    assert again.returncode == 0
    for name in ("truth.csv", "categories.csv", "confusion.csv", "annotators.csv"):
        assert (mixed / "out" / name).read_bytes() == (mixed / "again" / name).read_bytes()


def test_words_alone(mixed):
    done = unisono_here("fuse", "words.csv", "--category-model", "majority", "--out", "out", cwd=mixed)
    assert done.returncode == 0
    assert done.stdout.startswith("Read words.csv: item 'item', annotator 'annotator', category 'feeling'.")
    assert not (mixed / "out" / "fit").exists()
    assert "fit/" not in done.stdout
    shown = unisono_here("fuse", "words.csv", "--category-model", "majority", "--json", cwd=mixed)
    assert len(json.loads(shown.stdout)["truth"]) == 24
    plain = unisono_here("fuse", "words.csv", "--category-model", "majority", cwd=mixed)
    assert plain.stdout.splitlines()[0] == "item,feeling,feeling_probability"
    assert "the share of its votes" in plain.stderr


def test_check_shows_agreement_on_categories(mixed):
    done = unisono_here("check", "mixed.csv", cwd=mixed)
    assert done.returncode == 0
    assert "alpha (nominal)" in done.stdout
    assert "valence" in done.stdout
    alone = unisono_here("check", "words.csv", "--json", cwd=mixed)
    found = json.loads(alone.stdout)["categories"][0]
    assert found["answers"] == 120
    assert 0.2 < found["intervals"]["alpha"][0] < found["alpha"] < found["intervals"]["alpha"][1] <= 1


def test_check_points_out_who_always_says_the_same_and_noise(tmp_path):
    lines = ["item,annotator,topic"]
    for m in range(30):
        lines += [f"i{m},w{k},{'abc'[(m * (k + 2) + k) % 3]}" for k in range(3)] + [f"i{m},lazy,a"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    done = unisono_here("check", "t.csv", "--strict", cwd=tmp_path)
    assert done.returncode == 1
    assert "always chose the same class for 'topic': 'lazy'" in done.stdout
    assert "annotators do not clearly agree on 'topic'" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--categories", "feling"], 3, "words.csv has no column 'feling'"),
        (["--category-model", "gald"], 2, "Did you mean 'glad'"),
        (["--categories", "none"], 3, "no column that looks like a rating"),
        (["--gold", "reference.csv"], 3, "reference.csv"),
    ],
)
def test_mistakes_are_answered(mixed, arguments, code, message):
    done = unisono_here("fuse", "words.csv", *arguments, cwd=mixed)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_without_crowd_kit(mixed, monkeypatch):
    for module in (category_models, categories_api):
        monkeypatch.setattr(module, "installed", lambda: False)
    asked = unisono_here("fuse", "mixed.csv", "--categories", "feeling", "--out", "out", cwd=mixed)
    assert asked.returncode == 3
    assert 'pip install "unisono[categories]"' in asked.stderr
    assert not (mixed / "out").exists()
    alone = unisono_here("fuse", "words.csv", cwd=mixed)
    assert alone.returncode == 3
    assert 'pip install "unisono[categories]"' in alone.stderr
    beside = unisono_here("fuse", "mixed.csv", "--out", "out", cwd=mixed)
    assert beside.returncode == 0
    assert "were left out, since crowd-kit is not installed" in beside.stderr
    assert "feeling" not in pl.read_csv(mixed / "out" / "truth.csv").columns


def test_score_of_classes(tmp_path):
    (tmp_path / "truth.csv").write_text("item,topic,topic_probability\na,x,.9\nb,y,.8\nc,x,.6\n")
    (tmp_path / "reference.csv").write_text("item,topic,n\na,x,1\nb,x,2\nc,z,3\nd,x,4\n")
    done = unisono_here("score", "truth.csv", "reference.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["dimensions"] == []
    one = found["categories"][0]
    assert (one["n"], one["accuracy"], one["log_loss"], one["not_in_truth"]) == (3, pytest.approx(1 / 3), None, ["z"])
    assert one["macro_f1"] == pytest.approx((2 / 4 + 0 + 0) / 3)


def test_words_of_annotators_side_by_side(tmp_path):
    words = ("cats", "dogs", "birds")
    rows = "".join(f"i{m},{words[m % 3]},{words[m % 3]},{words[(m + (m % 4 == 0)) % 3]}\n" for m in range(12))
    (tmp_path / "wide.csv").write_text("item,rater1,rater2,rater3\n" + rows)
    done = unisono_here("check", "wide.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "Read wide.csv: item 'item', annotator 'name of the column', category 'rating'." in done.stdout
    assert "were taken for 3 annotators" in done.stdout
    found = json.loads(unisono_here("check", "wide.csv", "--json", cwd=tmp_path).stdout)
    assert (found["items"], found["annotators"], found["dimensions"]) == (12, 3, [])
    assert found["categories"][0]["answers"] == 36

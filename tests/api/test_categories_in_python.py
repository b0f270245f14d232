"""Categories through Python: check and score say of them what the commands say, and annotators have their figures."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from category_cases import crowd
from command_line import unisono_here


@pytest.fixture(scope="module")
def found():
    return crowd(1, M=24, K=6)


@pytest.fixture(scope="module")
def mixed(found):
    return found.frame().with_columns(pl.Series("valence", [(7 * i) % 5 for i in range(found.votes.n)]))


def test_check_says_of_categories_what_the_command_says(mixed, tmp_path):
    seen = un.check(mixed)
    mixed.write_csv(tmp_path / "mixed.csv")
    told = json.loads(unisono_here("check", "mixed.csv", "--json", cwd=tmp_path).stdout)
    assert [one.name for one in seen.dimensions] == ["valence"]
    assert [one.name for one in seen.categories] == ["feeling"]
    assert json.loads(json.dumps(seen.to_dict()["categories"])) == told["categories"]
    assert "feeling" in repr(seen)
    assert "3 classes" in repr(seen)
    assert "categories" not in un.check(mixed, categories="none").to_dict()


def test_check_of_categories_alone(found):
    seen = un.check(found.frame())
    assert (seen.items, seen.annotators, seen.judgements) == (24, 6, found.votes.n)
    assert seen.dimensions == ()
    assert 0.3 < seen.categories[0].alpha.value <= 1
    assert seen.reading["item"] == "item"
    assert list(seen.reading["dimensions"]) == ["feeling"]
    assert seen.annotators_per_item == (5, 5, 5)
    asked = un.check(found.frame().with_columns(code=pl.col("feeling").rank("dense")), categories=["code"])
    assert [one.name for one in asked.categories] == ["code"]


def test_score_takes_results_folders_and_tables(found, tmp_path):
    result = un.fuse(found.frame(), category_model="majority")
    result.save(tmp_path / "out")
    reference = found.reference()
    from_result = un.score(result, reference)
    (one,) = from_result.categories
    truth = dict(zip(reference["item"], reference["feeling"], strict=True))
    right = np.mean([truth[item] == said for item, said in result.truth.select("item", "feeling").iter_rows()])
    assert one.accuracy == pytest.approx(right)
    assert 0 < one.log_loss < 1
    assert "accuracy" in repr(from_result)
    from_folder = un.score(tmp_path / "out", reference.to_pandas()).categories[0]
    assert from_folder.accuracy == one.accuracy
    assert from_folder.log_loss == pytest.approx(one.log_loss, abs=1e-4)
    from_table = un.score(result.truth, reference).categories[0]
    assert from_table.accuracy == one.accuracy
    assert np.isnan(from_table.log_loss)


def test_score_of_numbers_and_classes_together(mixed, found):
    result = un.fuse(mixed, category_model="majority", model="mean")
    reference = found.reference().with_columns(valence=pl.int_range(24) % 5)
    scored = un.score(result, reference)
    assert [one.name for one in scored.dimensions] == ["valence"]
    assert [one.name for one in scored.categories] == ["feeling"]
    assert set(scored.to_dict()) > {"dimensions", "categories"}
    assert un.score(result, reference, categories="none").categories == ()


def test_score_without_anything_in_common(found):
    result = un.fuse(found.frame(), category_model="majority")
    with pytest.raises(un.DataError, match="categories alone"):
        un.score(result, found.reference().rename({"feeling": "mood"}))
    with pytest.raises(un.DataError, match="needs a reference"):
        un.score(result, None)


def test_annotators_overall_have_the_figures_of_categories(mixed, tmp_path):
    both = pl.concat(
        [mixed, pl.DataFrame({"item": ["clip0"], "annotator": ["w9"], "feeling": ["Freude"]})], how="diagonal"
    )
    result = un.fuse(both, category_model="majority", model="mean")
    overall = pl.DataFrame(result.annotators_overall)
    assert overall["annotator"].to_list() == [*(f"w{k}" for k in range(6)), "w9"]
    rows = pl.DataFrame(result.annotators).filter(dimension="feeling")
    assert overall["category_answers"].to_list() == rows["ratings"].to_list()
    np.testing.assert_allclose(overall["category_accuracy"], rows["accuracy"])
    alone = un.fuse(mixed.drop("valence"), category_model="majority")
    assert alone.annotators_overall.columns == [
        "annotator",
        "category_answers",
        "category_accuracy",
        "category_agreement",
    ]
    alone.save(tmp_path / "out")
    assert pl.read_csv(tmp_path / "out" / "annotators_overall.csv").height == 6


def test_figures_of_several_dimensions_are_weighed_by_answers(found):
    table = found.frame().with_columns(topic=pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.col("feeling")))
    result = un.fuse(table, category_model="majority")
    rows = pl.DataFrame(result.annotators).filter(pl.col("annotator") == "w0")
    overall = pl.DataFrame(result.annotators_overall).filter(pl.col("annotator") == "w0")
    expected = np.average(rows["accuracy"], weights=rows["ratings"])
    assert overall["category_answers"].item() == rows["ratings"].sum()
    assert overall["category_accuracy"].item() == pytest.approx(expected)


def test_predictions_keep_the_ids_of_their_features():
    rng = np.random.default_rng(0)
    features = pd.DataFrame({"item": np.arange(40), "length": rng.normal(size=40)})
    rows = [(m, w, features.length[m] + 0.4 * rng.normal()) for m in range(30) for w in (1, 2, 3)]
    ratings = pd.DataFrame(rows, columns=["item", "annotator", "score"])
    fuser = un.fuse(ratings, features=features.iloc[:30]).fuser
    new = features.iloc[30:]
    predicted = fuser.predict(new).truth
    assert isinstance(predicted, pd.DataFrame)
    assert len(new.merge(predicted, on="item")) == 10
    assert fuser.predict(pl.DataFrame(new)).truth["item"].dtype == pl.Int64

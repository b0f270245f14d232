"""What report.json says of kinds of annotators and of categories is what the other tables say."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from category_cases import crowd
from judged_tables import judged_ratings
from report_cases import (
    dossier_of_both,
    dossier_of_categories,
    dossier_of_items,
    dossier_of_judges,
    dossier_of_traces,
    mixed_table,
)
from unisono.report import report_categories


def test_groups_are_those_of_the_fit():
    data, ratings = dossier_of_judges(), judged_ratings(3, items=60, labels=24, per_label=3)[0]
    table = un.fuse(ratings).fuser.groups()
    kinds = data["summary"]["kinds"]
    assert [one["kind"] for one in kinds["groups"]] == list(table.kinds)
    for g, one in enumerate(kinds["groups"]):
        for what in ("leniency", "gain", "shared_error", "share", "effective"):
            np.testing.assert_allclose(list(one[what].values()), getattr(table, what)[g], rtol=1e-12)
    named = {row["annotator"]: row["kind"] for row in data["annotators"]["rows"]}
    assert named == dict(zip(ratings.annotators, ratings.kinds, strict=True))


def test_who_may_replace_people_is_what_judges_says():
    data, ratings = dossier_of_judges(), judged_ratings(3, items=60, labels=24, per_label=3)[0]
    table = un.judges(ratings).judge_columns()
    rows = {row["annotator"]: row for row in data["replacements"]}
    assert list(rows) == list(dict.fromkeys(table["judge"]))
    for i, (judge, dimension) in enumerate(zip(table["judge"], table["dimension"], strict=True)):
        d = ratings.dimensions.index(dimension)
        assert rows[judge]["advantage"][d] == pytest.approx(table["advantage"][i])
        assert rows[judge]["verdict"][d] == table["verdict"][i]


def test_without_kinds_and_categories_nothing_is_said():
    for data in (dossier_of_items(), dossier_of_traces()):
        assert data["replacements"] is None
        assert data["categories"] == []
        assert "kinds" not in data["summary"]


@pytest.mark.parametrize("alone", [True, False])
def test_classes_are_those_of_the_truth(alone):
    table = crowd(5, M=40, K=8, C=4, spammers=1).frame() if alone else mixed_table()
    (found,) = (dossier_of_categories() if alone else dossier_of_both())["categories"]
    result = un.fuse(table, categories=["feeling"])
    truth = {row["item"]: row for row in result.truth.to_dicts()}
    assert {row["item"] for row in found["rows"]} == set(truth)
    for row in found["rows"]:
        assert row["class"] == truth[row["item"]]["feeling"]
        assert row["probability"] == pytest.approx(truth[row["item"]]["feeling_probability"], abs=1e-6)
        assert sum(row["probabilities"]) == pytest.approx(1)
    votes = result.categories.group_by("class").agg(total=pl.col("votes").sum())
    assert dict(zip(found["classes"], found["answers_by_class"], strict=True)) == dict(votes.iter_rows())
    assert sum(found["items_by_class"]) == found["of"] == len(truth)
    np.testing.assert_allclose(np.array(found["confusion"], dtype=float).sum(axis=1), 1)
    accuracy = [row["accuracy"] for row in found["people"]["rows"]]
    assert accuracy == sorted(accuracy, reverse=True)


def test_a_long_table_of_classes_is_shown_in_part(monkeypatch):
    monkeypatch.setattr(report_categories, "MOST_CELLS", 1)
    result = un.fuse(crowd(5, M=80, K=8, C=4).frame(), categories=["feeling"])
    (found,) = report_categories.choices(result.chosen.for_report(), report_categories.Drawing(0, 0.95, 0))
    assert len(found["rows"]) == 30 < found["of"] == 80
    assert "least certain" in found["chosen_by"]
    least = min(result.truth["feeling_probability"])
    assert min(row["probability"] for row in found["rows"]) == pytest.approx(least, abs=1e-6)

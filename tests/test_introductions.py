"""Results, ratings and tables introduce themselves in a few lines, in a terminal and in a notebook."""

import numpy as np
import pytest

import unisono as un
from unisono.tables.item_table import ItemTable
from unisono.tables.labels import Introduction, counted
from unisono.tables.ratings import Ratings


def ratings(D=3, K=5):
    rng = np.random.default_rng(0)
    item_of, annotator_of = np.divmod(np.arange(20 * K), K)
    return Ratings.from_judgements(
        rng.normal(size=(20 * K, D)) + rng.normal(size=(20, D))[item_of],
        item_of,
        annotator_of,
        items=[f"i{m}" for m in range(20)],
        annotators=[f"<k{k}>" for k in range(K)],
        dimensions=[f"dim{d}" for d in range(D)],
        source="my ratings.csv",
    )


@pytest.mark.parametrize(("D", "K"), [(1, 2), (3, 5), (10, 20)])
def test_everything_fits_into_fifteen_lines(D, K):
    table = ratings(D, K)
    result = un.fuse(table, model="mean")
    known = ItemTable.from_rows(np.zeros((20, D)), items=table.items, columns=table.dimensions)
    asked = un.check(table), un.score(result, known), un.plan(result), un.next_ratings(result)
    compared = un.compare(table, models=["mean", "median"], folds=2)
    for shown in (table, known, result, result.fused, result.described, result.fit, result.fuser, *asked, compared):
        text = repr(shown)
        assert len(text.splitlines()) < 15, text
        assert "array(" not in text
        assert all(len(line) <= 120 for line in text.splitlines())


def test_a_result_says_what_was_fused_and_what_to_look_at_next():
    text = repr(un.fuse(ratings(), model="mean"))
    assert text.startswith("'my ratings.csv' fused with the model 'mean': truth of 20 items")
    assert "dim2" in text
    assert ".annotators" in text


def test_answers_in_notebooks_are_tables():
    table = ratings()
    result = un.fuse(table, model="mean")
    for shown in (un.check(table), un.score(result, result.truth), un.plan(result), un.next_ratings(result)):
        assert shown._repr_html_().count("<tr>") > 2
    assert un.compare(table, models=["mean", "median"], folds=2)._repr_html_().count("<tr>") == 3
    assert "alpha" in repr(un.check(table))


def test_ratings_say_how_many_and_where_they_lie():
    table = ratings(D=1)
    text = repr(table)
    assert "100 judgements of 20 items by 5 annotators" in text
    assert f"{table.value.max():.4g}" in text


def test_notebooks_get_a_table_with_labels_escaped():
    html = un.fuse(ratings(), model="mean").described._repr_html_()
    assert html.count("<tr>") == 6
    assert "&lt;k0&gt;" in html
    assert "<k0>" not in html


def test_long_tables_are_cut_and_say_so():
    rows = [(f"row {i}", "1") for i in range(30)]
    text = Introduction.of("title", ("a", "b"), rows, "hint").text()
    assert "... and 22 more" in text
    assert text.endswith("hint")
    assert (counted(1, "item"), counted(2000, "item")) == ("1 item", "2,000 items")

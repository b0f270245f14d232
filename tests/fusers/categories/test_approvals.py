"""Cells that name several classes: read as approvals, weighted as the mechanism pays, fused and described."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from unisono.tables.reading.category_columns import approval_weight

ROWS = [
    *(("a", "x", "joy"), ("a", "y", "joy|fear"), ("a", "z", "fear | joy")),
    *(("b", "x", "anger"), ("b", "y", "fear"), ("b", "z", "fear|fear")),
    *(("c", "x", "joy|fear|anger"), ("c", "y", "joy"), ("c", "z", "anger")),
]
TABLE = pl.DataFrame(ROWS, schema=["item", "annotator", "mood"], orient="row")


def test_cells_are_taken_apart():
    mood = un.read_categories(TABLE, "mood")["mood"]
    assert mood.classes == ("anger", "fear", "joy")
    own = np.flatnonzero(mood.item_of == 0)
    of_a = [(mood.annotator_of[j], mood.classes[mood.answer[j]], mood.weight[j]) for j in own]
    two = pytest.approx(2 / 3)
    assert of_a == [(0, "joy", 1.0), (1, "fear", two), (1, "joy", two), (2, "fear", two), (2, "joy", two)]
    assert mood.weight[mood.item_of == 2].tolist() == pytest.approx([4 / 9] * 3 + [1, 1])
    assert mood.single.n == 6


def test_weights_are_those_of_the_mechanism():
    np.testing.assert_allclose(approval_weight(np.array([1, 2, 3]), 4), [1, 0.75, 0.75**2])
    assert un.read_categories(TABLE.filter(~pl.col("mood").str.contains(r"\|")), "mood")["mood"].weight is None


def test_votes_are_weighted_sums():
    result = un.fuse(TABLE, categories="mood")
    one = result.chosen.fused["mood"]
    assert (one.model, one.temperature) == ("majority", 1.0)
    assert "weighted" in one.why
    votes = dict(zip(one.classes, one.votes[0], strict=True))
    assert votes == pytest.approx({"anger": 0, "fear": 4 / 3, "joy": 7 / 3})
    assert result.truth["mood"].to_list()[:2] == ["joy", "fear"]
    assert one.probability[0, 2] == pytest.approx(7 / 11)
    assert one.agreement[0] < one.agreement[1]  # x alone said anger of b


@pytest.mark.parametrize("model", ["smyth", "raykar", "regions", "majority"])
def test_the_order_of_rows_and_of_names_in_a_cell_does_not_matter(model):
    turned = TABLE.with_columns(mood=pl.col("mood").str.split("|").list.reverse().list.join("|"))[::-1]
    first, second = (
        un.fuse(table, categories="mood", category_model=model).chosen.fused["mood"] for table in (TABLE, turned)
    )
    np.testing.assert_array_equal(first.probability, second.probability)


def test_models_of_one_class_per_answer_say_so():
    with pytest.raises(un.DataError, match="'glad' takes one class per answer"):
        un.fuse(TABLE, categories="mood", category_model="glad")


def test_approvals_find_the_truth_that_single_choices_miss():
    """Annotators waver between the truth and one other class: made to choose they are right half of the time."""
    rng = np.random.default_rng(0)
    rows = {"one": [], "some": []}
    hits = {}
    truth = rng.integers(0, 5, 400)
    for m, c in enumerate(truth):
        for k in range(3):
            other = rng.choice([x for x in range(5) if x != c])
            rows["one"].append((f"{m:03}", f"r{k}", f"c{rng.choice([c, other])}"))
            rows["some"].append((f"{m:03}", f"r{k}", f"c{c}|c{other}"))
    for name, cells in rows.items():
        table = pl.DataFrame(cells, schema=["item", "annotator", "class"], orient="row")
        best = un.fuse(table, categories="class", category_model="majority").truth["class"].to_list()
        hits[name] = np.mean([one == f"c{c}" for one, c in zip(best, truth, strict=True)])
    assert hits["some"] > hits["one"] + 0.2


def test_check_counts_answers_that_name_one_class():
    assert un.check(TABLE, categories="mood").categories[0].answers == 6


def test_features_reach_the_models_that_know_of_them():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 150)
    said = np.where(rng.random(300) < 0.7, np.repeat(truth, 2), 1 - np.repeat(truth, 2))
    items = [f"{m:03}" for m in range(150)]
    twice = {"item": np.repeat(items, 2), "annotator": ["a", "b"] * 150, "spam": np.array(["no", "yes"])[said]}
    table = pl.DataFrame(twice)
    features = pl.DataFrame({"item": items, "length": truth * 2.0 + 0.5 * rng.normal(size=150)})

    def right(**how):
        best = un.fuse(table, categories="spam", **how).truth["spam"].to_list()
        return np.mean([(one == "yes") == bool(c) for one, c in zip(best, truth, strict=True)])

    assert right(category_model="raykar", features=features) > right(category_model="raykar") + 0.1
    with pytest.raises(un.DataError, match="works on numbers"):
        un.fuse(table, categories="spam", category_model="majority", features=features)

"""Coverage, connectivity and suspicion: what is counted, what is said, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.errors import DataError
from unisono.tables.coverage_and_outliers import connected_groups, coverage, raters_per_frame
from unisono.tables.item_table import Clock, ItemTable
from unisono.tables.rating_checks import check_ratings, require_known_items, require_overlap, usual_range
from unisono.tables.ratings import Ratings

NAN = float("nan")


def ratings(rows, dimensions=("v",)):
    """Ratings from (item, annotator, numbers...) rows."""
    items = sorted({row[0] for row in rows})
    annotators = sorted({row[1] for row in rows})
    return Ratings.from_judgements(
        np.array([row[2:] for row in rows], dtype=float),
        np.array([items.index(row[0]) for row in rows]),
        np.array([annotators.index(row[1]) for row in rows]),
        items=items,
        annotators=annotators,
        dimensions=dimensions,
        source="r.csv",
    )


def series(traces, length, dimensions=("v",)):
    """Series of one recording from annotator to numbers."""
    return Ratings.from_judgements(
        np.concatenate([np.reshape(trace, (length, -1)) for trace in traces.values()]).astype(float),
        np.zeros(len(traces), dtype=int),
        np.arange(len(traces)),
        items=("film",),
        annotators=tuple(traces),
        dimensions=dimensions,
        length=np.array([length]),
        clock=Clock(1.0, np.zeros(1)),
    )


def alerts(found):
    return {alert.kind: alert for alert in check_ratings(found)}


def random_ratings(seed=0, items=30, annotators=4, scale=(1.0,)):
    rng = np.random.default_rng(seed)
    names = [f"d{d}" for d in range(len(scale))]
    rows = [
        (f"i{m:02}", f"a{k}", *(rng.normal(size=len(scale)) * scale)) for m in range(items) for k in range(annotators)
    ]
    return ratings(rows, names)


def test_ordinary_ratings_raise_no_alert():
    assert check_ratings(random_ratings()) == []


def test_counts():
    found = coverage(
        ratings([("1", "x", 1, NAN), ("1", "y", NAN, NAN), ("2", "x", 1, 2), ("2", "y", NAN, 1)], ("v", "a"))
    )
    np.testing.assert_array_equal(found.per_item, [1, 2])
    np.testing.assert_array_equal(found.per_annotator, [2, 1])
    np.testing.assert_array_equal(found.raters, [[1, 0], [1, 2]])


def test_few_ratings_are_named():
    rows = [("1", "x", 1), ("1", "y", 2), ("2", "x", 4), ("3", "x", NAN), ("3", "z", NAN)]
    found = alerts(ratings(rows))
    assert found["single-rating-items"].labels == ("2",)
    assert found["unrated-items"].labels == ("3",)
    assert found["single-rating-annotators"].labels == ("y",)
    assert found["silent-annotators"].labels == ("z",)
    assert found["single-rating-annotators"].message == "1 annotator with a single item: 'y'."


def test_constant_raters_are_named_by_dimension():
    rows = [(f"{m}", k, 3 if k == "x" else m, m + 1) for m in range(4) for k in "xyz"]
    found = [alert for alert in check_ratings(ratings(rows, ("v", "a"))) if alert.kind == "constant-raters"]
    assert [alert.message for alert in found] == ["Annotator gives v the same value every time: 'x'."]
    assert "constant-raters" not in alerts(ratings([row for row in rows if row[0] != "3"], ("v", "a")))


def test_a_dimension_that_never_moves():
    rows = [(f"{m}", k, m, 7) for m in range(5) for k in "xy"]
    assert alerts(ratings(rows, ("v", "a")))["constant-dimension"].labels == ("a",)
    assert "constant-raters" not in alerts(ratings(rows, ("v", "a")))


def test_groups_that_share_no_item_are_named():
    rows = [("1", "x", 1), ("1", "y", 2), ("2", "y", 1), ("2", "u", 1), ("3", "z", 1), ("3", "w", 4), ("1", "w", NAN)]
    found = alerts(ratings(rows))["disconnected-groups"]
    assert found.labels == ("u", "x", "y", "w", "z")
    assert "2 groups" in found.message
    assert "(1) 'u', 'x' and 'y'; (2) 'w' and 'z'" in found.message
    rows[-1] = ("1", "w", 1)
    assert "disconnected-groups" not in alerts(ratings(rows))


@settings(max_examples=60)
@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1))
def test_groups_equal_a_naive_search(pairs):
    found = connected_groups(ratings([(f"{m}", f"{k}", 1.0) for m, k in sorted(pairs)]))
    groups = [{k} for _, k in pairs]
    for item in {m for m, _ in pairs}:
        together = {k for m, k in pairs if m == item}
        touched = [group for group in groups if group & together]
        groups = [group for group in groups if not group & together] + [set().union(*touched)]
    names = sorted({f"{k}" for _, k in pairs})
    assert {frozenset(names[k] for k in group) for group in found} == {frozenset(map(str, group)) for group in groups}


def test_scales_and_stray_values():
    assert alerts(random_ratings(scale=(1.0, 100.0)))["different-scales"].severity == "note"
    honest = random_ratings()
    value = honest.value.copy()
    value[5, 0] = 99
    found = alerts(honest.with_value(value))
    assert found["wild-values"].labels == ("a1",)
    assert "v is 99 by annotator 'a1' on 'i01'" in found["wild-values"].message.replace(honest.dimensions[0], "v")
    # What cannot be meant is not said to be unusual as well; what could be is.
    assert "unusual-values" not in found
    low, high = usual_range(value[:, 0])
    value = value.copy()
    value[5, 0] = high + 0.05 * (high - low)
    strange = alerts(honest.with_value(value))
    assert "far outside the others" in strange["unusual-values"].message
    assert "wild-values" not in strange


@pytest.mark.parametrize("shape", ["normal", "uniform", "exponential", "sparse"])
@pytest.mark.parametrize("size", [20, 500, 5000])
def test_the_usual_range_holds_honest_values_and_not_a_typing_error(shape, size):
    rng = np.random.default_rng(size)
    value = {
        "normal": rng.normal(size=size),
        "uniform": rng.integers(1, 10, size=size).astype(float),
        "exponential": rng.exponential(size=size),
        "sparse": np.where(rng.random(size) < 0.7, 0, rng.integers(0, 101, size=size)).astype(float),
    }[shape]
    low, high = usual_range(value)
    assert np.mean((value < low) | (value > high)) < 0.002
    if shape != "sparse":
        assert high < 99


def test_no_overlap_is_refused():
    require_overlap(ratings([("1", "x", 1), ("1", "y", 2)]))
    for rows in ([("1", "x", 1), ("2", "y", 2)], [("1", "x", 1), ("1", "y", NAN)]):
        with pytest.raises(DataError, match=r"r\.csv: No item has ratings by two annotators"):
            require_overlap(ratings(rows))
    with pytest.raises(DataError, match="No item"):
        require_overlap(ratings([("1", "x", 1, NAN), ("1", "y", NAN, 1)], ("v", "a")))


def test_gold_for_an_item_that_nobody_rated():
    found = ratings([("1", "x", 1), ("1", "y", 2)])
    gold = ItemTable.from_rows(np.ones((2, 1)), items=("1", "9"), columns=("v",), source="gold.csv")
    with pytest.raises(DataError, match=r"gold\.csv: item '9' not among the items of r\.csv"):
        require_known_items(gold, found)
    require_known_items(gold.select_items(["1"]), found)


def test_series_are_counted_by_frame():
    found = series({"x": [1, 2, NAN, NAN], "y": [NAN, 3, 4, NAN]}, 4)
    np.testing.assert_array_equal(raters_per_frame(found)[:, 0], [1, 2, 1, 0])
    np.testing.assert_array_equal(coverage(found).answers[:, 0], [2, 2])
    require_overlap(found)
    with pytest.raises(DataError, match="No frame of a recording"):
        require_overlap(series({"x": [1, 2, NAN, NAN], "y": [NAN, NAN, 3, 4]}, 4))


def test_traces_that_are_empty_or_meet_nobody():
    found = alerts(series({"x": [1, 2, NAN, NAN], "y": [1, 3, NAN, NAN], "z": [NAN, NAN, 4, 5], "w": [NAN] * 4}, 4))
    assert found["alone-in-time"].labels == ("z on film",)
    assert found["empty-traces"].labels == ("w on film",)
    assert "single-rating-annotators" not in found

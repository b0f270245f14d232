"""Judges beside people through `un.judges`: who may replace whom, what to label, systems with intervals."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from judged_tables import judged_frame, judged_ratings


@pytest.fixture(scope="module")
def judged():
    """Ratings of three systems; the judges dislike the second one."""
    ratings, panel = judged_ratings(0, items=150, labels=60, people=3, per_label=3)
    system = {item: f"system{m % 3}" for m, item in enumerate(ratings.items)}
    prompt = {item: f"p{m // 3}" for m, item in enumerate(ratings.items)}
    judge = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    disliked = np.array([system[item] == "system1" for item in ratings.items])[ratings.item_of]
    biased = ratings.with_value(ratings.value - 1.5 * (judge & disliked)[:, None])
    return biased, panel, system, prompt


def test_the_report_says_everything_about_every_judge(judged):
    ratings, *_ = judged
    found = un.judges(ratings)
    table = found.judge_columns()
    assert table["judge"] == [name for k in range(6) for name in [f"gpt-{k}"] * 2]
    assert all(rate == rate for rate in table["winning_rate"])
    assert set(table["replaces_people"]) <= {"yes", "no"}
    assert found.labelled == 60
    assert sorted(found.next_items) == sorted(ratings.items)
    assert (np.diff(found.reduction) <= 1e-12).all()
    labelled = set(np.array(ratings.items)[np.unique(ratings.item_of[ratings.annotator_of < 3])])
    assert not set(found.next_items[:20]) & labelled
    assert (np.diff(found.correlation, axis=0) > 0).all()
    assert found.systems is None
    assert set(found.to_dict()) >= {"judges", "groups", "next_items", "foretold"}


def test_systems_are_compared_whatever_judges_think_of_them(judged):
    ratings, panel, system, prompt = judged
    board = un.judges(ratings, by=system, prompt=prompt).systems
    true = panel.truth[[name == "system1" for name in system.values()]].mean(axis=0)[0]
    found = board.systems.filter((pl.col("dimension") == "d0") & (pl.col("system") == "system1"))
    # The judges' dislike is taken out: the interval is far narrower than their bias is large.
    assert found["low"][0] < true < found["high"][0]
    assert found["high"][0] - found["low"][0] < 1.5


def test_systems_and_prompts_are_columns_of_a_table(tmp_path):
    frame = judged_frame(items=60, labels=30)
    described = frame.select("item").unique().sort("item").with_row_index("n")
    described = described.select("item", pl.concat_str(pl.lit("s"), pl.col("n") % 2).alias("system"))
    joined = frame.join(described, on="item")
    one = un.judges(joined, by="system").systems.to_dict()
    two = un.judges(frame, by="system", items=described).systems.to_dict()
    assert one == two
    with pytest.raises(un.DataError, match="no column 'model'"):
        un.judges(joined, by="model")
    second = pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("x")).otherwise("system")
    with pytest.raises(un.DataError, match=r"system of item 'i000' is 'x', elsewhere 's0'"):
        un.judges(joined.with_columns(system=second), by="system")
    with pytest.raises(un.DataError, match="has no system"):
        un.judges(frame, by={"i000": "a"})
    with pytest.raises(un.DataError, match="give by="):
        un.judges(frame, prompt="system")


def test_judges_need_people_beside_them():
    bare, _ = judged_ratings(kinds=False)
    with pytest.raises(un.DataError, match="one kind of annotators"):
        un.judges(bare)
    few, _ = judged_ratings(labels=5, items=40)
    with pytest.raises(un.DataError, match=r"there is one system, 'a'"):
        un.judges(few, by=dict.fromkeys(few.items, "a"))

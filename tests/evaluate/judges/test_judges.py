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
    assert sorted(table["judge"]) == [name for k in range(6) for name in [f"gpt-{k}"] * 2]
    assert all(rate == rate for rate in table["winning_rate"])
    assert {said.split(",")[0].split(":")[0] for said in table["verdict"]} <= {
        "may replace a person",
        "helps",
        "useless",
    }
    assert found.judges.columns[:3] == ["judge", "dimension", "verdict"]
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
    with pytest.raises(un.DataError, match=r"one kind of annotators.*see `unisono leaderboard`"):
        un.judges(bare)
    few, _ = judged_ratings(labels=5, items=40)
    with pytest.raises(un.DataError, match=r"there is one system, 'a'"):
        un.judges(few, by=dict.fromkeys(few.items, "a"))


def rated(seed=0, items=300, people=3):
    """People near the top of a scale of 1 to 5, and judges of every sort."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(4.3, 0.6, items)
    judges = {
        "equal": truth + rng.normal(0, 0.4, items),
        "harsh": truth - 2 + rng.normal(0, 0.6, items),
        "constant": np.full(items, 5.0),
        "almost": np.where(rng.random(items) < 0.96, 5.0, rng.integers(1, 5, items)),
        "random": rng.integers(1, 6, items).astype(float),
        "against": 6 - truth + rng.normal(0, 0.5, items),
    }
    people = {f"h{k}": truth + rng.normal(0, 0.4, items) for k in range(people)}
    rows = [
        (f"i{m}", f"s{m % 4}", name, "judge" if name in judges else "human", float(np.clip(np.round(y[m]), 1, 5)))
        for name, y in (people | judges).items()
        for m in range(items)
    ]
    return pl.DataFrame(rows, schema=["item", "system", "annotator", "kind", "quality"], orient="row")


def verdicts(frame):
    table = un.judges(frame, reading={"dims": ["quality"]}).judges
    return dict(zip(table["judge"], table["verdict"], strict=True)), table


def test_verdicts_are_deserved():
    said, table = verdicts(rated())
    assert said["equal"] == "may replace a person"
    assert said["harsh"] == "helps, once its level and gain are corrected"
    for name in ("constant", "almost", "random"):
        assert said[name] == "useless: no better than a constant answer", name
    assert said["against"] == "harmful: rates against people"
    assert table["judge"].to_list()[0] == "equal"
    figures = {row["judge"]: row for row in table.iter_rows(named=True)}
    assert figures["harsh"]["leniency"] == pytest.approx(-2, abs=0.2)
    assert figures["constant"]["correlation"] == 0
    assert figures["equal"]["gain"] == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("seed", range(8))
def test_no_constant_judge_passes_whatever_people_say(seed):
    said, _ = verdicts(rated(seed, items=60))
    for name in ("constant", "almost", "random"):
        assert not said[name].startswith("may replace"), name
    assert said["constant"].startswith("useless")


def test_a_judge_nobody_can_compare_is_told():
    frame = rated(items=40).filter((pl.col("kind") == "judge") | pl.col("item").is_in([f"i{m}" for m in range(6)]))
    said, _ = verdicts(frame)
    assert said["equal"] == "useless: only 6 items with people, nothing can be told"


def test_a_favoured_system_is_named():
    frame = rated(1)
    kind = (pl.col("annotator") == "harsh") & (pl.col("system") == "s2")
    frame = frame.with_columns(quality=pl.when(kind).then(pl.col("quality") + 1).otherwise("quality"))
    table = un.judges(frame, by="system").judges
    favours = dict(zip(table["judge"], table["favours"], strict=True))
    assert favours["harsh"] == "s2"
    assert favours["equal"] == ""


def test_figures_of_a_group_are_averages_of_its_members():
    found = un.judges(rated())
    groups = pl.DataFrame(found.group_columns())
    panel = groups.filter(pl.col("kind") == "judge").row(0, named=True)
    people = groups.filter(pl.col("kind") == "human").row(0, named=True)
    assert (people["gain"], people["leniency"]) == (1, 0)
    assert 0.4 < people["correlation"] < 1
    for name in ("gain", "leniency", "correlation"):
        assert panel[name] == pytest.approx(found.judges[name].mean())
    fused = un.fuse(rated(), dims=["quality"])
    members = fused.annotators.filter(pl.col("kind") == "judge")
    own = pl.DataFrame(fused.fuser.groups().columns()).filter(pl.col("kind") == "judge").row(0, named=True)
    assert own["leniency"] == pytest.approx(members["bias"].mean())
    assert own["gain"] == pytest.approx(members["gain"].mean())


def test_every_judge_has_one_line_of_80_columns():
    """Also where it deserves something else on every dimension."""
    parts = [rated(seed).rename({"quality": f"q{seed}"}) for seed in range(4)]
    frame = parts[0]
    for part in parts[1:]:
        frame = frame.join(part, on=["item", "system", "annotator", "kind"])
    turned = pl.when(pl.col("annotator") == "equal").then
    frame = frame.with_columns(turned(6 - pl.col("q1")).otherwise("q1").alias("q1"))
    frame = frame.with_columns(turned(3.0).otherwise("q2").alias("q2"))
    found = un.judges(frame, reading={"dims": [f"q{d}" for d in range(4)]})
    shown = {row[0]: row[1:] for row in found.verdict_rows()}
    assert list(shown) == list(found.judged())
    assert len(shown) == 6
    assert shown["equal"][0] == "may replace 2, useless 1, harmful 1"
    assert shown["random"][0] == "useless"
    assert max(len(name) + sum(2 + len(cell) for cell in cells) for name, cells in shown.items()) <= 80
    assert "equal: may replace a person on 'q0' and 'q3', useless on 'q2'" in found.summary()
    short = un.judges(frame, reading={"dims": ["q0", "q1"]}).verdict_rows()
    assert {row[0]: row[1] for row in short}["equal"] == "may replace on q0, harmful on q1"


def test_people_needed_are_counted_from_none(judged):
    """Also where people rated every item already."""
    ratings, *_ = judged
    some, every = un.judges(ratings), un.judges(rated())
    assert (np.diff(every.correlation, axis=0) > 0).all()
    assert every.correlation[0, 0] < every.correlation[3, 0]
    assert "counted from none" in some.summary()
    assert "There are 3 per item now." in every.summary()


def test_a_report_introduces_itself_and_is_saved(tmp_path):
    found = un.judges(rated())
    assert "<table>" in found._repr_html_()
    assert "may replace a person" in repr(found)
    folder = found.save(tmp_path / "judges")
    assert pl.read_csv(folder / "judges.csv").height == 6
    assert (folder / "summary.json").exists()


def test_a_family_that_a_judge_favours_is_named():
    """It likes two models of one maker a little each."""
    frame = rated(2, items=400).with_columns(
        system=pl.col("system").replace_strict(
            {"s0": "lab/gpt-4", "s1": "lab/gpt-3.5", "s2": "Llama-2", "s3": "llama-3"}
        )
    )
    kind = (pl.col("annotator") == "harsh") & pl.col("system").str.contains("gpt")
    frame = frame.with_columns(quality=pl.when(kind).then(pl.col("quality") + 1).otherwise("quality"))
    table = un.judges(frame, by="system", reading={"dims": ["quality"]}).judges
    said = dict(zip(table["judge"], table["favours_family"], strict=True))
    assert said["harsh"] == "gpt"
    assert said["equal"] == said["constant"] == ""


def test_judges_count_where_people_rated_every_item():
    """The truth is what people say there; how many people are needed beside the judges is another question."""
    ratings, _ = judged_ratings(0, items=120, labels=120, people=3, per_label=3)
    useless = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    noise = np.random.default_rng(0).normal(size=ratings.value.shape)
    found = (
        un.judges(ratings).correlation,
        un.judges(ratings.with_value(np.where(useless[:, None], noise, ratings.value))).correlation,
    )
    assert (found[0][0] > 0.5).all()
    assert (found[1][0] < 0.3).all()
    assert (found[0][1] > found[0][0]).all()

"""People and judges through the front door: automatic, saved and loaded, honest about what it cannot know."""

import warnings

import numpy as np
import polars as pl
import pytest

import fuser_checks
import unisono as un
from judged_tables import judged_frame, judged_ratings
from unisono.fusers import make_fuser
from unisono.tables.annotator_kinds import with_kinds


@pytest.mark.parametrize("check", fuser_checks.ALL, ids=lambda check: check.__name__.removeprefix("check_"))
def test_one_group_passes_the_checks_of_every_fuser(check):
    check(lambda: make_fuser("groups"))


def unfair_judges(seed, people=3, **world):
    """People rate every item; what judges say of a third of the items is 1.5 too low."""
    ratings, panel = judged_ratings(seed, items=300, labels=300, people=people, per_label=people, noise=1.5, **world)
    unfair = np.arange(panel.M) < 100
    judged = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    lower = (judged & unfair[ratings.item_of])[:, None] * 1.5
    return ratings.with_value(ratings.value - lower), panel, unfair, judged


def means_of(ratings, chosen):
    n = np.bincount(ratings.item_of[chosen], minlength=ratings.M)
    return (
        np.stack([np.bincount(ratings.item_of[chosen], column[chosen]) for column in ratings.value.T], 1) / n[:, None]
    )


@pytest.mark.parametrize("seed", range(3))
def test_averages_of_sets_are_those_of_the_people_who_rated_every_item(seed):
    """Judges who err together on a set of items do not move its average, whatever the set."""
    ratings, panel, unfair, judged = unfair_judges(seed)
    people = means_of(ratings, ~judged)
    result = un.fuse(ratings)
    for chosen in (unfair, ~unfair, panel.truth[:, 0] > 0.5):
        away = (result.fused.mean - people)[chosen].mean(axis=0)
        error = people[chosen].std(axis=0, ddof=1) / np.sqrt(chosen.sum())
        assert (np.abs(away) < 0.1 * error).all()
    inside = [(low <= panel.truth) & (panel.truth <= high) for low, high in [result.fused.interval()]]
    assert 0.84 < np.mean(inside) < 0.95
    assert result.fuser.notes()["kinds"]["as_people_say"] == ["d0", "d1"]
    drawn = un.fuse(ratings, estimate="posterior")
    assert drawn.fuser.notes()["kinds"]["as_people_say"] == []
    error = people[unfair].std(axis=0, ddof=1) / np.sqrt(unfair.sum())
    assert (np.abs((drawn.fused.mean - people)[unfair].mean(axis=0)) > error).all()


def test_where_people_rated_some_items_judges_count_there_too():
    ratings, panel = judged_ratings(items=120, labels=60, noise=1.5)
    result = un.fuse(ratings)
    judged = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    labels = un.fuse(ratings.select_judgements(~judged), model="mean").fused
    error = [
        np.sqrt(
            np.mean(
                (
                    fused.mean[[fused.items.index(ratings.items[m]) for m in panel.labelled]]
                    - panel.truth[panel.labelled]
                )
                ** 2
            )
        )
        for fused in (result.fused, labels)
    ]
    assert error[0] < 0.8 * error[1]


def test_units_do_not_matter_to_groups():
    fuser_checks.check_units_do_not_matter(lambda: make_fuser("groups"), per_dimension=True)


def test_several_kinds_are_groups_without_being_asked():
    ratings, panel = judged_ratings()
    result = un.fuse(ratings)
    assert result.model == "groups"
    assert result.fused.items == ratings.items
    error = result.fused.mean - panel.truth
    unlabelled = np.setdiff1d(np.arange(panel.M), panel.labelled)
    assert np.sqrt((error[unlabelled] ** 2).mean()) < 0.8
    assert result.fused.sd[panel.labelled].mean() < result.fused.sd[unlabelled].mean()


def test_kinds_can_be_given_by_names():
    bare, _ = judged_ratings(kinds=False)
    named, _ = judged_ratings()
    expected = un.fuse(named).fused.mean
    np.testing.assert_array_equal(un.fuse(bare, kinds={"judge": "gpt-*"}).fused.mean, expected)
    np.testing.assert_array_equal(un.fuse(bare, humans="h*").fused.mean, expected)


def test_names_of_models_beside_people_are_pointed_out():
    bare, _ = judged_ratings(kinds=False, items=30, labels=20)
    with pytest.warns(un.DataWarning, match=r"'gpt-0'.*look like language models.*kinds=.*judge.*gpt-0"):
        assert un.fuse(bare).model == "auto"


def test_intervals_hold_where_everyone_alike_does_not():
    inside = {"groups": [], "joint": []}
    for seed in range(6):
        ratings, panel = judged_ratings(seed, items=150, shared=0.4)
        unlabelled = np.setdiff1d(np.arange(panel.M), panel.labelled)
        for model, found in inside.items():
            low, high = un.fuse(ratings, model=model).fused.interval()
            found.append(((low <= panel.truth) & (panel.truth <= high))[unlabelled].mean())
    assert 0.83 < np.mean(inside["groups"]) < 0.97
    assert np.mean(inside["joint"]) < 0.7


def test_a_saved_fit_comes_back_and_knows_newcomers_by_their_kind(tmp_path):
    ratings, _ = judged_ratings()
    result = un.fuse(ratings)
    result.save(tmp_path / "out")
    table = pl.read_csv(tmp_path / "out" / "groups.csv")
    assert table["kind"].to_list() == ["human"] * 2 + ["judge"] * 2
    assert "kind" in pl.read_csv(tmp_path / "out" / "annotators.csv").columns
    fuser = un.load(tmp_path / "out")
    again = fuser.fuse(ratings)
    np.testing.assert_allclose(again.mean, result.fused.mean, rtol=1e-12)
    np.testing.assert_allclose(again.cov, result.fused.cov, rtol=1e-12)
    assert again.freedom == result.fused.freedom
    renamed = un.Ratings.from_judgements(
        ratings.value,
        ratings.item_of,
        ratings.annotator_of,
        items=ratings.items,
        annotators=[f"{name}-again" for name in ratings.annotators],
        dimensions=ratings.dimensions,
    )
    with pytest.raises(un.DataError, match=r"'h0-again'.*Say of which kind \(one of 'human' and 'judge'\)"):
        fuser.fuse(renamed)
    newcomers = fuser.fuse(with_kinds(renamed, {"judge": "gpt*"}))
    assert np.corrcoef(newcomers.mean[:, 0], again.mean[:, 0])[0, 1] > 0.9


def test_judges_alone_are_told_what_cannot_be_known():
    ratings, _ = judged_ratings(labels=0)
    only = with_kinds(ratings.select_judgements(np.ones(ratings.J, bool)), {"judge": "*"})
    with pytest.warns(un.DataWarning, match="No rating by people"):
        result = un.fuse(only)
    assert result.summary().splitlines()[0].startswith("No rating by people")
    assert "40% (shared)" in result.summary().splitlines()[0]
    with pytest.warns(un.DataWarning, match="shared to 60%"):
        wider = un.fuse(only, shared=0.6)
    unsure = [one.fused.sd / one.fused.mean.std(axis=0) for one in (result, wider)]
    assert (unsure[1] > 1.5 * unsure[0]).all()


def test_one_lab_can_share_its_errors():
    world = fuser_checks.small_world()
    alone = [un.fuse(world.ratings, shared=share) for share in (0.0, 0.1, 0.2)]
    width = [(one.fused.sd / one.fused.mean.std(axis=0)).mean() for one in alone]
    assert width[0] < width[1] < width[2]
    assert "shared to 20% (shared)" in alone[2].summary().splitlines()[0]
    with pytest.raises(un.SettingsError, match="from 0 up to, but not including, 1"):
        un.fuse(world.ratings, shared=1.0)


def test_useless_judges_are_warned_of_and_do_no_harm():
    ratings, panel = judged_ratings(labels=40)
    move = np.random.default_rng(0).permutation(panel.M)
    judged = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    item = np.where(judged, move[ratings.item_of], ratings.item_of)
    labels = {"items": ratings.items, "annotators": ratings.annotators, "dimensions": ratings.dimensions}
    shuffled = un.Ratings.from_judgements(ratings.value, item, ratings.annotator_of, **labels, kinds=ratings.kinds)
    with pytest.warns(un.DataWarning, match="foretell next to nothing"):
        result = un.fuse(shuffled)
    unlabelled = np.setdiff1d(np.arange(panel.M), panel.labelled)
    error = np.sqrt(((result.fused.mean - panel.truth)[unlabelled] ** 2).mean(axis=0))
    people = ~judged & ~np.isnan(ratings.value[:, 0])
    alone = np.sqrt(((ratings.value[people].mean(axis=0) - panel.truth[unlabelled]) ** 2).mean(axis=0))
    assert (error < 1.02 * alone).all()


def test_few_labels_raise_a_suspicion_of_useless_judges():
    ratings, panel = judged_ratings(labels=12)
    judged = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    value = np.where(judged[:, None], np.random.default_rng(0).normal(size=ratings.value.shape), ratings.value)
    with pytest.warns(un.DataWarning, match="foretell next to nothing.*With 12 labelled items this may be chance"):
        result = un.fuse(ratings.with_value(value))
    unlabelled = np.setdiff1d(np.arange(panel.M), panel.labelled)
    spread = [result.fused.mean[at].std(axis=0) for at in (unlabelled, panel.labelled)]
    assert (spread[0] < 0.5 * spread[1]).all()


def test_families_of_judges_are_pointed_out():
    frame = judged_frame(items=60, labels=30)
    family = pl.when(pl.col("annotator") == "gpt-0").then(pl.lit("llm")).otherwise("kind")
    result = un.fuse(frame.with_columns(kind=family))
    notes = [alert.message for alert in result.alerts if alert.kind == "judges-of-several-kinds"]
    assert len(notes) == 1
    assert "'judge' and 'llm' are kinds of their own" in notes[0]
    assert not [alert for alert in un.fuse(frame).alerts if alert.kind == "judges-of-several-kinds"]


def test_a_group_on_another_scale_is_standardised_by_itself():
    ratings, _ = judged_ratings()
    judged = np.array([kind == "judge" for kind in ratings.kinds])[ratings.annotator_of]
    other = ratings.with_value(np.where(judged[:, None], 50 + 20 * ratings.value, ratings.value))
    first, second = un.fuse(ratings), un.fuse(other)
    assert np.corrcoef(first.fused.mean[:, 0], second.fused.mean[:, 0])[0, 1] > 0.98
    assert [alert.kind for alert in second.alerts if alert.kind == "other-units"] == ["other-units"]
    assert (second.fuser.groups().gain[1] > 5).all()


def test_what_groups_cannot_use_is_refused():
    ratings, panel = judged_ratings(items=30, labels=10)
    gold = un.ItemTable.from_rows(panel.truth[:3], items=ratings.items[:3], columns=ratings.dimensions)
    with pytest.raises(un.DataError, match="no place for known truths"):
        un.fuse(ratings, gold=gold)
    with pytest.raises(un.SettingsError, match="estimate"):
        un.fuse(ratings, estimate="shrunk")


def test_the_frame_in_decides_the_frame_out():
    truth = un.fuse(judged_frame(items=40, labels=20)).truth
    assert isinstance(truth, pl.DataFrame)
    assert len(truth) == 40


def test_plan_and_next_ask_people_and_know_what_judges_leave_open(tmp_path):
    ratings, panel = judged_ratings(labels=60)
    result = un.fuse(ratings)
    found = un.next_ratings(result)
    assert set(found.annotators) == {"h0", "h1", "h2", "h3"}
    labelled = {ratings.items[m] for m in panel.labelled}
    assert not labelled & set(found.items[:50])
    plan = un.plan(result)
    assert plan.people == 4
    judged = [kind == "judge" for kind in ratings.kinds]
    people = un.fuse(ratings.select_judgements(~np.array(judged)[ratings.annotator_of]), model="joint")
    assert (plan.correlation[0] > un.plan(people).correlation[0]).all()
    result.save(tmp_path / "out")
    np.testing.assert_allclose(un.plan(tmp_path / "out").correlation, plan.correlation)


def test_copies_among_judges_are_one_opinion_of_their_kind():
    frame = judged_frame(items=80, labels=40)
    twin = frame.filter(pl.col("annotator") == "gpt-0").with_columns(annotator=pl.lit("gpt-9"))
    result = un.fuse(pl.concat([frame, twin]))
    assert result.model == "groups"
    assert result.fuser.groups().annotators.tolist() == [4, 6]
    table = pl.DataFrame(result.annotators_overall)
    assert dict(table.select("annotator", "kind").iter_rows())["gpt-9"] == "judge"
    np.testing.assert_allclose(result.fused.mean, un.fuse(frame).fused.mean, atol=1e-6)
    assert len(un.next_ratings(result).annotators) == 4


@pytest.mark.parametrize("turned", [False, True])
def test_a_reference_that_runs_against_all_others_is_said_aloud(turned):
    ratings, _ = judged_ratings()
    human = np.array([kind == "human" for kind in ratings.kinds])[ratings.annotator_of]
    low, high = np.nanmin(ratings.value), np.nanmax(ratings.value)
    given = ratings.with_value(np.where(human[:, None] & turned, low + high - ratings.value, ratings.value))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        un.fuse(given)
    assert any("run against those of 'judge'" in str(one.message) for one in seen) == turned
